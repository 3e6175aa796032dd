/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which blocks of a function may follow which, and which every way to a block passes. */
#ifndef BR2_FLOW_BLOCK_WAYS_H
#define BR2_FLOW_BLOCK_WAYS_H

#include "flow/blocks.h"
#include "flow/flow_graph.h"

/* By direct branches and by going on, and by the targets of indirect jumps that were seen. */
struct br2_block_ways {
    uint32_t count;         /* blocks */
    uint32_t *first_next;   /* owned, as all; per block, and one more: where its own begin in ... */
    uint32_t *next;         /* ... the blocks that may follow */
    uint32_t *first_before; /* the same for ... */
    uint32_t *before;       /* ... the blocks that may come before */
};

/* Free with br2_block_ways_done, also after a failure. BR2PGO_NO_MEMORY. */
int br2_block_ways_find(const struct br2_flow_graph *graph, uint32_t function,
                        const struct br2_blocks *blocks, struct br2_block_ways *ret,
                        struct br2pgo_error *err);
void br2_block_ways_done(struct br2_block_ways *ways);

/* A tree of blocks: below each are those that no way reaches without passing it. Ways begin at the
 * function's entry, and at what ran although nothing is known to lead to it: landing pads, targets
 * of indirect jumps that were not seen. What no way reaches, like padding, has no place. */
struct br2_dominators {
    uint32_t *first; /* owned; per block: its place in the tree, parents before children ... */
    uint32_t *size;  /* owned; ... and how many places from there are its own; 0: it has none */
};

/* `ran` says of each block whether it did. Free with br2_dominators_done, also after a failure.
 * BR2PGO_NO_MEMORY. */
int br2_dominators_find(const struct br2_block_ways *ways, const bool *ran,
                        struct br2_dominators *ret, struct br2pgo_error *err);
void br2_dominators_done(struct br2_dominators *dominators);

/* Whether every way to `block` passes `by`, or is it. */
bool br2_dominates(const struct br2_dominators *dominators, uint32_t by, uint32_t block);

#endif
