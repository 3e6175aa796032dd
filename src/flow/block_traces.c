/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The traces of a block flow. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "flow/block_private.h"

int br2_block_traces_add(struct br2_block_flow *flow, const struct br2_block_trace *trace,
                         struct br2pgo_error *err)
{
    if (!br2_grow(&flow->traces, &flow->trace_capacity, flow->trace_count, sizeof *flow->traces)) {
        return br2_fail_memory(err);
    }
    flow->traces[flow->trace_count++] = *trace;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct br2_block_trace *a = left;
    const struct br2_block_trace *b = right;
    int order = br2_compare_u64(a->from, b->from);
    order = order != 0 ? order : br2_compare_u64(a->to, b->to);
    order = order != 0 ? order : br2_compare_u64(a->end, b->end);
    order = order != 0 ? order : br2_compare_u64(a->returns, b->returns);
    return order != 0 ? order : br2_compare_u64(a->resumed, b->resumed);
}

void br2_block_traces_merge(struct br2_block_flow *flow)
{
    if (flow->trace_count != 0) {
        qsort(flow->traces, flow->trace_count, sizeof *flow->traces, compare);
    }
    size_t kept = 0;
    for (size_t i = 0; i < flow->trace_count; i++) {
        struct br2_block_trace *trace = &flow->traces[i];
        if (kept != 0 && compare(&flow->traces[kept - 1], trace) == 0) {
            flow->traces[kept - 1].count += trace->count;
            flow->traces[kept - 1].mispredicted += trace->mispredicted;
        } else {
            flow->traces[kept++] = *trace;
        }
    }
    flow->trace_count = kept;
}
