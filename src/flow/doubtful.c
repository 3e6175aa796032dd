/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs that pass an indirect jump. Hardware logs every indirect jump, so such a run is a glitch.
 * An emulator that asks "did the program counter just go on?" does not log a jump to the very next
 * instruction, and there the run is what happened. The two are told apart by the whole recording:
 * the jump to the next instruction is never logged, and is missing too often to be a glitch.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "flow/flow_private.h"

/* The least share of an indirect jump's outcomes that runs passing it must have. Glitches are about
 * 1 in 7000 records. */
#define PASSED_SHARE_MIN 0.01

int br2_flow_doubt(struct br2_flow_builder *builder, const struct br2_flow_run *run,
                   const struct br2_insn *passes, struct br2pgo_error *err)
{
    if (!br2_grow(&builder->doubtful, &builder->doubtful_capacity, builder->doubtful_count,
                  sizeof *builder->doubtful)) {
        return br2_fail_memory(err);
    }
    builder->doubtful[builder->doubtful_count++] = (struct br2_doubtful_run){
        .start = run->start,
        .end = run->end,
        .jump = passes->address,
        .next = passes->address + passes->size,
        .count = run->count,
        .resumed = run->resumed,
    };
    return 0;
}

static int compare_jumps(const void *left, const void *right)
{
    const struct br2_doubtful_run *a = left;
    const struct br2_doubtful_run *b = right;
    return a->jump < b->jump ? -1 : a->jump > b->jump;
}

/* Records of the jump in the graph's edges; whether one of them goes to the next instruction. */
static uint64_t logged_outcomes(const struct br2_flow_graph *graph,
                                const struct br2_doubtful_run *run, bool *ret_to_next)
{
    size_t low = 0;
    size_t high = graph->edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->edges[middle].from < run->jump) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint64_t outcomes = 0;
    *ret_to_next = false;
    for (; low < graph->edge_count && graph->edges[low].from == run->jump; low++) {
        outcomes += graph->edges[low].count;
        *ret_to_next = *ret_to_next || graph->edges[low].to == run->next;
    }
    return outcomes;
}

/* All runs in doubt that pass one jump: `runs[0..count)`. */
static int settle(struct br2_flow_builder *builder, const struct br2_doubtful_run *runs,
                  size_t count, struct br2pgo_error *err)
{
    uint64_t passed = 0;
    for (size_t i = 0; i < count; i++) {
        passed += runs[i].count;
    }
    bool to_next;
    uint64_t logged = logged_outcomes(builder->graph, &runs[0], &to_next);
    if (to_next || (double)passed < PASSED_SHARE_MIN * (double)(passed + logged)) {
        builder->graph->run_verdicts[BR2_RUN_KEPT] -= passed;
        builder->graph->run_verdicts[BR2_RUN_PASSES_JUMP] += passed;
        return br2_addresses_add(&builder->logged, runs[0].jump) ? 0 : br2_fail_memory(err);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct br2_flow_run run = {.start = runs[i].start,
                                   .end = runs[i].end,
                                   .count = runs[i].count,
                                   .resumed = runs[i].resumed};
        rc = br2_flow_add_run(builder, &run, err);
    }
    return rc;
}

int br2_settle_doubtful(struct br2_flow_builder *builder, struct br2pgo_error *err)
{
    size_t count = builder->doubtful_count;
    if (count != 0) {
        qsort(builder->doubtful, count, sizeof *builder->doubtful, compare_jumps);
    }
    int rc = 0;
    size_t end;
    for (size_t i = 0; rc == 0 && i < count; i = end) {
        end = i + 1;
        while (end < count && builder->doubtful[end].jump == builder->doubtful[i].jump) {
            end++;
        }
        rc = settle(builder, builder->doubtful + i, end - i, err);
    }
    br2_addresses_sort(&builder->logged);
    return rc;
}
