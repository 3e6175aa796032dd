/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table: every outcome of every branch that was seen, one row each. */
#ifndef BR2_FLOW_EDGE_TABLE_H
#define BR2_FLOW_EDGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"

enum br2_edge_kind {
    BR2_EDGE_COND, /* conditional branch, taken */
    BR2_EDGE_JUMP,
    BR2_EDGE_CALL,
    BR2_EDGE_INDIRECT_CALL,
    BR2_EDGE_INDIRECT_JUMP,
    BR2_EDGE_RETURN,
    BR2_EDGE_FALLTHROUGH, /* conditional branch, not taken */
    BR2_EDGE_KINDS,
};
/* cond jump call icall ijump return fallthrough */
extern const char *const br2_edge_kind_names[BR2_EDGE_KINDS];

struct br2_edge {
    uint32_t image;    /* string number */
    uint32_t function; /* string number of the source's function, "" where it has none */
    uint64_t from;     /* link-time addresses; 0: outside the image */
    uint64_t to;
    enum br2_edge_kind kind;
    uint64_t count;
    uint64_t mispredicted;
    bool prediction_known;
    bool probability_known;
    double probability; /* share of the source's outcomes that went this way ... */
    uint64_t outcomes;  /* ... of so many: of a conditional branch those that a run leads to, also
                           where the taken ones among them are none and all that were seen count */
    bool outcomes_known;
};

/* Zero-initialise, then use. Rows are sorted by image, from, kind, to. */
struct br2_edge_table {
    struct br2_strings names;
    struct br2_edge *edges;
    size_t count;
    size_t capacity;
};

/* A new row at the end, zeroed; NULL when memory runs out. */
struct br2_edge *br2_edge_table_add(struct br2_edge_table *table);
/* Sets a row's probability, `of` among `outcomes`; unknown where there are none. */
void br2_edge_set_share(struct br2_edge *edge, uint64_t of, uint64_t outcomes);
/* Sets the probability of one of the two rows of a conditional branch that `taken` records and
 * `passed` runs are of; to `after_run` of those taken a run leads. */
void br2_edge_set_conditional(struct br2_edge *edge, uint64_t taken, uint64_t after_run,
                              uint64_t passed);
void br2_edge_table_sort(struct br2_edge_table *table);
void br2_edge_table_done(struct br2_edge_table *table);
/* NULL when equal (probabilities to 1e-6: files have six digits), else the first difference, in the
 * caller's memory. */
const char *br2_edge_table_difference(const struct br2_edge_table *a,
                                      const struct br2_edge_table *b, char *text, size_t size);

#endif
