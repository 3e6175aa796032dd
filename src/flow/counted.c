/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/counted.h"

bool br2_count_counted(struct br2_counted_into *into, const struct br2_counted *counted,
                       uint32_t view)
{
    struct br2_trace trace = {
        .from = counted->from,
        .to = counted->to,
        .run = counted->has_run ? br2_run_between(counted->to, counted->end) : BR2_RUN_NONE,
        .space = view,
        .count = counted->count,
        .mispredicted = counted->mispredicted,
        .first_seen = counted->time,
    };
    if (counted->has_branch) {
        into->stats->records += counted->count;
        into->stats->predictions += counted->predicted ? counted->count : 0;
    } else {
        trace.from = 0;
        trace.mispredicted = 0;
        trace.space |= BR2_SPACE_RUN_ONLY | (counted->resumed ? BR2_SPACE_RESUMED : 0) |
                       (counted->any_origin ? BR2_SPACE_ANY_ORIGIN : 0);
        into->stats->lone_runs += counted->count;
    }
    return br2_fold_trace(into->folded, into->spaces, &trace);
}

bool br2_count_repeats(struct br2_counted_into *into, const struct br2_sample *sample,
                       uint32_t view)
{
    struct br2_counting once = {.traces = &into->scratch};
    uint64_t times = sample->repeats + 1;
    br2_live_traces_clear(&into->scratch);
    if (!br2_count_sample(&once, sample, view)) {
        return false;
    }
    for (size_t i = 1; i < into->scratch.used; i++) {
        struct br2_trace trace = br2_live_traces_get(&into->scratch, i);
        trace.count *= times;
        trace.mispredicted *= times;
        if (!br2_fold_trace(into->folded, into->spaces, &trace)) {
            return false;
        }
    }
    br2_count_stats_add(into->stats, &once.stats, times);
    return true;
}
