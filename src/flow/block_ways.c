/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/block_ways.h"

#include "base/mem.h"

struct finding {
    const struct br2_flow_graph *graph;
    const struct br2_code *code;
    const struct br2_blocks *blocks;
    struct br2_block_ways *ways;
    size_t count; /* ways */
    size_t capacity;
};

static bool add(struct finding *f, uint32_t next)
{
    if (f->count == UINT32_MAX ||
        !br2_grow(&f->ways->next, &f->capacity, f->count, sizeof *f->ways->next)) {
        return false;
    }
    f->ways->next[f->count++] = next;
    return true;
}

static bool add_target(struct finding *f, uint64_t address)
{
    size_t target = br2_code_find(f->code, address);
    return target == SIZE_MAX || add(f, f->blocks->block_of[target]);
}

/* What may follow one block. */
static bool add_ways(struct finding *f, uint32_t block)
{
    const struct br2_insn *last = br2_block_last(f->blocks, f->code, block);
    bool goes_on = last->kind != BR2_INSN_JUMP && last->kind != BR2_INSN_INDIRECT_JUMP &&
                   last->kind != BR2_INSN_RETURN && last->kind != BR2_INSN_STOP;
    bool ok = !goes_on || block + 1 == f->blocks->count || add(f, block + 1);
    if (last->kind == BR2_INSN_COND || last->kind == BR2_INSN_JUMP) {
        return ok && add_target(f, last->target);
    }
    if (last->kind == BR2_INSN_INDIRECT_JUMP) {
        size_t count;
        size_t first = br2_flow_edges_from(f->graph, last->address, &count);
        for (size_t i = first; ok && i < first + count; i++) {
            ok = add_target(f, f->graph->edges[i].to);
        }
    }
    return ok;
}

/* The same ways from their ends, by counting first. */
static bool turn_round(struct br2_block_ways *ways, size_t count)
{
    ways->first_before = br2_calloc((size_t)ways->count + 2, sizeof *ways->first_before);
    ways->before = br2_calloc(count + 1, sizeof *ways->before);
    if (ways->first_before == NULL || ways->before == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        ways->first_before[ways->next[i] + 2]++;
    }
    for (size_t i = 2; i <= (size_t)ways->count + 1; i++) {
        ways->first_before[i] += ways->first_before[i - 1];
    }
    /* first_before[b + 1] now says where those of b begin, and moves on to where they end. */
    for (uint32_t block = 0; block < ways->count; block++) {
        for (uint32_t i = ways->first_next[block]; i < ways->first_next[block + 1]; i++) {
            ways->before[ways->first_before[ways->next[i] + 1]++] = block;
        }
    }
    return true;
}

int br2_block_ways_find(const struct br2_flow_graph *graph, uint32_t function,
                        const struct br2_blocks *blocks, struct br2_block_ways *ret,
                        struct br2pgo_error *err)
{
    struct finding f = {graph, &graph->functions[function].code, blocks, ret, 0, 0};
    *ret = (struct br2_block_ways){.count = (uint32_t)blocks->count};
    ret->first_next = br2_calloc(blocks->count + 1, sizeof *ret->first_next);
    bool ok = ret->first_next != NULL;
    for (uint32_t i = 0; ok && i < ret->count; i++) {
        ok = add_ways(&f, i);
        ret->first_next[i + 1] = (uint32_t)f.count;
    }
    return ok && turn_round(ret, f.count) ? 0 : br2_fail_memory(err);
}

void br2_block_ways_done(struct br2_block_ways *ways)
{
    br2_free(ways->first_next);
    br2_free(ways->next);
    br2_free(ways->first_before);
    br2_free(ways->before);
    *ways = (struct br2_block_ways){0};
}
