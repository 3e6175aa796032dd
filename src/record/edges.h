/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exact counts of every outcome of every branch, added up over all runs of a file's code. */
#ifndef BR2_RECORD_EDGES_H
#define BR2_RECORD_EDGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/strings.h"
#include "record/area.h"
#include "record/record.h"

/* In the order of an edge table's rows (docs/formats.md). */
enum br2_exact_kind {
    BR2_EXACT_COND,
    BR2_EXACT_JUMP,
    BR2_EXACT_CALL,
    BR2_EXACT_INDIRECT_CALL,
    BR2_EXACT_INDIRECT_JUMP,
    BR2_EXACT_RETURN,
    BR2_EXACT_FALLTHROUGH,
};

struct br2_exact_edge {
    uint64_t from; /* link-time addresses; 0: outside the image */
    uint64_t to;
    uint32_t image; /* string number of the file's path */
    uint32_t kind;  /* enum br2_exact_kind */
    uint64_t count;
    uint64_t missed;
};

/* Zero-initialise, then use. */
struct br2_exact_edges {
    struct br2_strings images;
    struct br2_exact_edge *edges; /* a hash table; an edge of kind UINT32_MAX is a free slot */
    size_t count;
    size_t capacity; /* power of two, or 0 */
};

void br2_exact_edges_done(struct br2_exact_edges *edges);

/* Adds what the threads of an area counted; `thread` is a slot, or BR2_AREA_THREADS. Numbers in the
 * area are checked. Errors: BR2PGO_NO_MEMORY. */
int br2_exact_edges_add_thread(struct br2_exact_edges *edges, const struct br2_area *area,
                               uint32_t thread, struct br2pgo_error *err);
/* Adds outcomes of indirect branches of that area. */
int br2_exact_edges_add(struct br2_exact_edges *edges, const struct br2_area *area,
                        const struct br2_indirect_edge *added, size_t count,
                        struct br2pgo_error *err);

/* Writes the edge table as CSV, as br2pgo writes *.edges.csv. `name` may be NULL: the functions'
 * names are left empty. Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_exact_edges_write(const struct br2_exact_edges *edges, br2_function_name name, void *user,
                          struct br2_output *out, struct br2pgo_error *err);

#endif
