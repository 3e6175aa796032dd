/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The BOLT address translation table (.note.bolt_bat), which llvm-bolt -enable-bat writes: where
 * the code that it moved was in its input. Read as llvm-bolt 19 and later write it
 * (bolt/docs/BAT.md; what that leaves out was seen in tables of llvm-bolt 19).
 */
#ifndef BR2_IMAGE_BOLT_TABLE_H
#define BR2_IMAGE_BOLT_TABLE_H

#include "image/image.h"

/* The place of a basic block, or of a branch or call inside one. */
struct br2_bolt_place {
    uint32_t output; /* bytes from the fragment's start */
    uint32_t input;  /* bytes from the start of the input's function */
    bool branch;     /* a branch or call; false: the start of a block */
};

/* A function, or a part that was split off, where llvm-bolt has put it. */
struct br2_bolt_fragment {
    uint64_t start;
    size_t first; /* its places, sorted by output; of blocks at one address, all but the last are
                     empty. A block that was removed has a place behind the fragment's end. */
    size_t count;
    size_t parent; /* the fragment that the function begins with; often itself */
    size_t next;   /* another fragment of the function; SIZE_MAX: all that follow the parent by
                      this were seen */
};

struct br2_bolt_table {
    struct br2_bolt_fragment *fragments; /* owned; sorted by start; distinct */
    size_t fragment_count;
    size_t fragment_capacity;
    struct br2_bolt_place *places; /* owned */
    size_t place_count;
    size_t place_capacity;
};

/* Whether llvm-bolt wrote the file; whether it wrote the table into it. */
bool br2_bolt_rewrote(const struct br2_image *image);
bool br2_bolt_table_exists(const struct br2_image *image);

/*
 * Reads the table of an image that has one. Errors: BR2PGO_UNSUPPORTED (not in the form above: the
 * table has no version number, so that of an older llvm-bolt looks like a broken one);
 * BR2PGO_NO_MEMORY. `ret` is freed with br2_bolt_table_done, and is empty after a failure.
 */
int br2_bolt_table_read(const struct br2_image *image, struct br2_bolt_table *ret,
                        struct br2pgo_error *err);
void br2_bolt_table_done(struct br2_bolt_table *table);

/* The fragment that starts at `address`, or NULL. */
const struct br2_bolt_fragment *br2_bolt_fragment_at(const struct br2_bolt_table *table,
                                                     uint64_t address);

/* Of a fragment, the last block at or before `output`, a branch exactly there; NULL: none. */
const struct br2_bolt_place *br2_bolt_block(const struct br2_bolt_table *table,
                                            const struct br2_bolt_fragment *fragment,
                                            uint64_t output);
const struct br2_bolt_place *br2_bolt_branch(const struct br2_bolt_table *table,
                                             const struct br2_bolt_fragment *fragment,
                                             uint64_t output);

#endif
