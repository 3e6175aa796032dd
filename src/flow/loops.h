/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loops that ran. A loop has a header, which every way into it passes, and all blocks from
 * which a way leads back to the header without passing it. What is entered by a jump to a test at
 * its end has that test for its header, and a branch back to what comes before it. Code that jumps
 * backwards into the middle of other ways, as interpreters do, makes no loop.
 */
#ifndef BR2_FLOW_LOOPS_H
#define BR2_FLOW_LOOPS_H

#include "flow/blocks.h"
#include "flow/flow_graph.h"

#define BR2_NO_LOOP UINT32_MAX

struct br2_loop {
    uint64_t header; /* address */
    uint64_t back;   /* of the branch back that was taken most */
    uint64_t taken;  /* times it went back: by branches to the header, or on to it from within */
    uint64_t mispredicted; /* of branches back */
    uint32_t turn_block;   /* where the one at `back` leads: the header, or what comes before it */
    uint32_t function;
    uint32_t header_block;
    uint32_t parent; /* the loop around it, or BR2_NO_LOOP */
    uint32_t blocks;
};

/* Of one function. */
struct br2_function_loops {
    struct br2_blocks blocks;
    uint32_t *loop_of; /* per block: the innermost loop, or BR2_NO_LOOP */
};

struct br2_loops {
    struct br2_function_loops *functions; /* owned; as those of the graph */
    size_t function_count;
    struct br2_loop *loops; /* owned; by function, outer ones first */
    size_t count;
    size_t capacity;
};

/* Free with br2_loops_done, also after a failure. BR2PGO_NO_MEMORY. */
int br2_loops_find(const struct br2_flow_graph *graph, struct br2_loops *ret,
                   struct br2pgo_error *err);
void br2_loops_done(struct br2_loops *loops);

/* Whether a loop has the block, of the same function. */
bool br2_loop_has(const struct br2_loops *loops, uint32_t loop, uint32_t block);

#endif
