/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/range_table.h"

#include "base/mem.h"
#include "flow/flow_graph.h"

#define PAGE_MASK UINT64_C(0xfff)

void br2_range_table_done(struct br2_range_table *table)
{
    br2_free(table->runs);
    br2_free(table->branches);
    *table = (struct br2_range_table){0};
}

/* The graph's edges are sorted by source, target and kind; the kind is of no interest here. */
static void add_branch(struct br2_range_table *table, const struct br2_flow_edge *edge)
{
    struct br2_range *last =
        table->branch_count != 0 ? &table->branches[table->branch_count - 1] : NULL;
    if (last != NULL && last->first == edge->from && last->second == edge->to) {
        last->count += edge->count;
        return;
    }
    table->branches[table->branch_count++] =
        (struct br2_range){.first = edge->from, .second = edge->to, .count = edge->count};
}

int br2_range_table_build(const struct br2_flow_graph *graph, struct br2_range_table *table,
                          struct br2pgo_error *err)
{
    const struct br2_segment *segments;
    table->runs = br2_calloc(graph->run_count, sizeof *table->runs);
    table->branches = br2_calloc(graph->edge_count, sizeof *table->branches);
    if (table->runs == NULL || table->branches == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < graph->run_count; i++) {
        const struct br2_flow_run *run = &graph->runs[i];
        table->runs[table->run_count++] =
            (struct br2_range){.first = run->start, .second = run->end, .count = run->count};
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        add_branch(table, &graph->edges[i]);
    }
    table->base =
        br2_image_segments(graph->image, &segments) != 0 ? segments[0].address & ~PAGE_MASK : 0;
    return 0;
}
