/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Basic blocks as BOLT sees them. A block begins at the function's start, at a target of a direct
 * branch or call in the function, at an entry, a landing pad or a target of an indirect jump, and
 * behind a branch or return; but not between a conditional branch and a jump behind it, and not
 * behind a call.
 */
#ifndef BR2_FLOW_BLOCKS_H
#define BR2_FLOW_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "image/code.h"
#include "image/jump_tables.h"

struct br2_blocks {
    uint32_t *starts;   /* owned; instruction numbers, sorted; the first is 0 */
    uint32_t *block_of; /* owned; per instruction */
    size_t count;
};

/* `targets` and `entries` may hold addresses outside the function. BR2PGO_NO_MEMORY. */
int br2_blocks_find(const struct br2_code *code, const struct br2_addresses *targets,
                    const struct br2_addresses *entries, struct br2_blocks *ret,
                    struct br2pgo_error *err);
/* Blocks that begin at the function's start and at `starts`, and nowhere else. */
int br2_blocks_at(const struct br2_code *code, const struct br2_addresses *starts,
                  struct br2_blocks *ret, struct br2pgo_error *err);
/*
 * The blocks of a function that ran, which may also be what no compiler would call one: they begin
 * at its start, at targets of its branches and of what was seen to jump within it, and behind
 * branches that are no calls. BR2PGO_NO_MEMORY.
 */
struct br2_flow_graph;
int br2_flow_blocks(const struct br2_flow_graph *graph, uint32_t function, struct br2_blocks *ret,
                    struct br2pgo_error *err);
void br2_blocks_done(struct br2_blocks *blocks);

/* The last instruction of a block. */
static inline const struct br2_insn *br2_block_last(const struct br2_blocks *blocks,
                                                    const struct br2_code *code, size_t block)
{
    size_t end = block + 1 < blocks->count ? blocks->starts[block + 1] : code->count;
    return &code->insns[end - 1];
}

#endif
