/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/blocks.h"

#include <stdbool.h>

#include "base/mem.h"

static bool is_direct_branch(const struct br2_insn *insn)
{
    return insn->kind == BR2_INSN_COND || insn->kind == BR2_INSN_JUMP;
}

static bool is_inside(const struct br2_code *code, uint64_t address)
{
    return address >= code->start && address < code->end;
}

static bool ends_block(const struct br2_insn *insn)
{
    return is_direct_branch(insn) || insn->kind == BR2_INSN_INDIRECT_JUMP ||
           insn->kind == BR2_INSN_RETURN || insn->kind == BR2_INSN_STOP ||
           insn->kind == BR2_INSN_INVALID;
}

/* A jump behind a conditional branch belongs to its block, both within the function. */
static bool joins(const struct br2_code *code, size_t index)
{
    const struct br2_insn *branch = &code->insns[index];
    const struct br2_insn *next = &code->insns[index + 1];
    return branch->kind == BR2_INSN_COND && next->kind == BR2_INSN_JUMP &&
           is_inside(code, branch->target) && is_inside(code, next->target);
}

static void mark(const struct br2_code *code, uint64_t address, uint32_t *leads)
{
    size_t at = br2_code_find(code, address);
    if (at != SIZE_MAX) {
        leads[at] = 1;
    }
}

static void mark_all(const struct br2_code *code, const struct br2_addresses *addresses,
                     uint32_t *leads)
{
    for (size_t i = 0; i < addresses->count; i++) {
        mark(code, addresses->items[i], leads);
    }
}

static void mark_leaders(const struct br2_code *code, uint32_t *leads)
{
    leads[0] = 1;
    for (size_t i = 0; i < code->count; i++) {
        const struct br2_insn *insn = &code->insns[i];
        if (is_direct_branch(insn) || insn->kind == BR2_INSN_CALL) {
            mark(code, insn->target, leads);
        }
        if (i + 1 < code->count && ends_block(insn) && !joins(code, i)) {
            leads[i + 1] = 1;
        }
    }
}

/* Makes room; no block has begun. */
static int begin(const struct br2_code *code, struct br2_blocks *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_blocks){0};
    ret->starts = br2_calloc(code->count, sizeof *ret->starts);
    ret->block_of = br2_calloc(code->count, sizeof *ret->block_of);
    if (ret->starts == NULL || ret->block_of == NULL) {
        br2_blocks_done(ret);
        return br2_fail_memory(err);
    }
    return 0;
}

/* Numbers the blocks; until now `block_of` says which instructions lead one. */
static void number(const struct br2_code *code, struct br2_blocks *blocks)
{
    for (size_t i = 0; i < code->count; i++) {
        if (blocks->block_of[i] != 0) {
            blocks->starts[blocks->count++] = (uint32_t)i;
        }
        blocks->block_of[i] = (uint32_t)blocks->count - 1;
    }
}

int br2_blocks_find(const struct br2_code *code, const struct br2_addresses *targets,
                    const struct br2_addresses *entries, struct br2_blocks *ret,
                    struct br2pgo_error *err)
{
    int rc = begin(code, ret, err);
    if (rc == 0 && code->count != 0) {
        mark_leaders(code, ret->block_of);
        mark_all(code, targets, ret->block_of);
        mark_all(code, entries, ret->block_of);
        number(code, ret);
    }
    return rc;
}

int br2_blocks_at(const struct br2_code *code, const struct br2_addresses *starts,
                  struct br2_blocks *ret, struct br2pgo_error *err)
{
    int rc = begin(code, ret, err);
    if (rc == 0 && code->count != 0) {
        ret->block_of[0] = 1;
        mark_all(code, starts, ret->block_of);
        number(code, ret);
    }
    return rc;
}

void br2_blocks_done(struct br2_blocks *blocks)
{
    br2_free(blocks->starts);
    br2_free(blocks->block_of);
    *blocks = (struct br2_blocks){0};
}
