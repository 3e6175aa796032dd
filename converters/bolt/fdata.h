/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * BOLT's fdata in memory. One line of the file is one record:
 *   branch  kind name offset  kind name offset  mispredicted count
 *   sample  kind name offset  count                  (after the header line "no_lbr [events]")
 *   memory  kind name offset  kind name offset  count
 * Kind 0 is no symbol, 1 a symbol, 2 a local symbol, which means the same; 3, 4 and 5 are those of
 * memory records. Offsets are hexadecimal. A space or backslash in a name has a backslash before
 * it.
 */
#ifndef BR2_CONVERTERS_BOLT_FDATA_H
#define BR2_CONVERTERS_BOLT_FDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strings.h"
#include "flow/block_flow.h"

#define BR2_FDATA_UNKNOWN "[unknown]"

enum br2_fdata_class {
    BR2_FDATA_BRANCH,
    BR2_FDATA_SAMPLE,
    BR2_FDATA_MEMORY,
};

struct br2_fdata_place {
    bool symbol;
    uint32_t name; /* string number; without escapes */
    uint64_t offset;
};

struct br2_fdata_record {
    enum br2_fdata_class class;
    struct br2_fdata_place from; /* of a sample: the place */
    struct br2_fdata_place to;   /* of a sample: zero */
    uint64_t count;
    uint64_t mispredicted; /* of branches */
};

/* Zero-initialise, then use. */
struct br2_fdata {
    struct br2_strings names;
    struct br2_fdata_record *records; /* owned */
    size_t count;
    size_t capacity;
    bool no_lbr;           /* samples instead of branches ... */
    struct br2_buf events; /* ... of these events, as in the file */
    bool bolted;           /* collected in a binary that BOLT had rewritten */
};

void br2_fdata_done(struct br2_fdata *fdata);

/* The profile of a program's block flow, sorted. `ret` is empty before. BR2PGO_NO_MEMORY. */
int br2_fdata_build(struct br2_fdata *ret, const struct br2_block_flow *flow,
                    struct br2pgo_error *err);

/* Appends a record, whose names are numbers in fdata->names; false when memory runs out. */
bool br2_fdata_add(struct br2_fdata *fdata, const struct br2_fdata_record *record);

/* Sorts the records by class, source and target and sums those that have all in common.
 * BR2PGO_NO_MEMORY. */
int br2_fdata_sort(struct br2_fdata *fdata, struct br2pgo_error *err);

/*
 * Adds the records of `other`; sorted afterwards as by br2_fdata_sort. BR2PGO_INVALID when
 * one has branches and the other samples, or samples of other events, or when one is of a binary
 * rewritten by BOLT and the other not; BR2PGO_NO_MEMORY. The first file merged into an empty one
 * decides which it is.
 */
int br2_fdata_merge(struct br2_fdata *fdata, const struct br2_fdata *other,
                    struct br2pgo_error *err);

/* Multiplies all counts; they saturate. */
void br2_fdata_multiply(struct br2_fdata *fdata, uint64_t factor);

void br2_fdata_write(const struct br2_fdata *fdata, struct br2_buf *out);

/* Appends to an empty profile. Both orders of the header lines are taken. BR2PGO_CORRUPT with the
 * line's number; BR2PGO_NO_MEMORY. */
int br2_fdata_read(struct br2_fdata *ret, const uint8_t *bytes, size_t size,
                   struct br2pgo_error *err);

/* Whether they differ, compared record by record; `text` then says where first. */
bool br2_fdata_difference(const struct br2_fdata *a, const struct br2_fdata *b, char *text,
                          size_t size);

#endif
