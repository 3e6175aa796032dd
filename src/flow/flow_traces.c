/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces of the flow graph: which branch led to which run. Edges and runs do not say that. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "flow/flow_private.h"

int br2_flow_add_trace(struct br2_flow_builder *builder, const struct br2_trace *trace,
                       const struct br2_judged_branch *branch, const struct br2_judged_run *run,
                       struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    if (!br2_grow(&graph->traces, &builder->trace_capacity, graph->trace_count,
                  sizeof *graph->traces)) {
        return br2_fail_memory(err);
    }
    /* Mispredictions are of two records where the newest repeats. */
    bool fewer = trace->mispredicted < trace->count;
    graph->traces[graph->trace_count++] = (struct br2_flow_trace){
        .from = branch->from,
        .to = branch->to,
        .end = run->end,
        .passes = run->passes != NULL ? run->passes->address : 0,
        .kind = branch->kind,
        .resumed = run->resumed,
        .count = trace->count,
        .mispredicted = fewer ? trace->mispredicted : trace->count,
    };
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct br2_flow_trace *a = left;
    const struct br2_flow_trace *b = right;
    int order = br2_compare_u64(a->from, b->from);
    order = order != 0 ? order : br2_compare_u64(a->to, b->to);
    order = order != 0 ? order : br2_compare_u64(a->kind, b->kind);
    return order != 0 ? order : br2_compare_u64(a->end, b->end);
}

void br2_flow_merge_traces(struct br2_flow_builder *builder)
{
    struct br2_flow_trace *traces = builder->graph->traces;
    size_t count = builder->graph->trace_count;
    if (count != 0) {
        qsort(traces, count, sizeof *traces, compare);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (traces[i].passes != 0 && br2_addresses_have(&builder->logged, traces[i].passes)) {
            continue;
        }
        if (kept != 0 && compare(&traces[kept - 1], &traces[i]) == 0) {
            traces[kept - 1].count += traces[i].count;
            traces[kept - 1].mispredicted += traces[i].mispredicted;
        } else {
            traces[kept++] = traces[i];
        }
    }
    builder->graph->trace_count = kept;
}
