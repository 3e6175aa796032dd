/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a flow graph took in, put in order and added up. */
#include <stdlib.h>

#include "base/compare.h"
#include "flow/flow_private.h"

static int compare_functions(const void *left, const void *right)
{
    const struct br2_flow_function *a = left;
    const struct br2_flow_function *b = right;
    return br2_compare_u64(a->range->start, b->range->start);
}

static int compare_runs(const void *left, const void *right)
{
    const struct br2_flow_run *a = left;
    const struct br2_flow_run *b = right;
    int order = br2_compare_u64(a->start, b->start);
    return order != 0 ? order : br2_compare_u64(a->end, b->end);
}

static int compare_edges(const void *left, const void *right)
{
    const struct br2_flow_edge *a = left;
    const struct br2_flow_edge *b = right;
    int order = br2_compare_u64(a->from, b->from);
    order = order != 0 ? order : br2_compare_u64(a->to, b->to);
    return order != 0 ? order : br2_compare_u64(a->kind, b->kind);
}

static int compare_timings(const void *left, const void *right)
{
    const struct br2_flow_timing *a = left;
    const struct br2_flow_timing *b = right;
    int order = br2_compare_u64(a->start, b->start);
    order = order != 0 ? order : br2_compare_u64(a->end, b->end);
    return order != 0 ? order : br2_compare_u64(a->cycles, b->cycles);
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count != 0) {
        qsort(items, count, size, compare);
    }
}

uint32_t br2_flow_graph_function(const struct br2_flow_graph *graph, uint64_t address)
{
    size_t low = 0;
    size_t high = graph->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->functions[middle].range->end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == graph->function_count || graph->functions[low].range->start > address) {
        return BR2_NO_FUNCTION;
    }
    return (uint32_t)low;
}

/* Functions were added in the order of a hash table; now they get that of addresses, and the
 * numbers kept in runs and edges follow. */
static void sort_functions(struct br2_flow_graph *graph)
{
    sort(graph->functions, graph->function_count, sizeof *graph->functions, compare_functions);
    for (size_t i = 0; i < graph->run_count; i++) {
        graph->runs[i].function = br2_flow_graph_function(graph, graph->runs[i].start);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct br2_flow_edge *edge = &graph->edges[i];
        edge->from_function = br2_flow_graph_function(graph, edge->from);
        edge->to_function = br2_flow_graph_function(graph, edge->to);
    }
}

static void merge_runs(struct br2_flow_graph *graph)
{
    sort(graph->runs, graph->run_count, sizeof *graph->runs, compare_runs);
    size_t kept = 0;
    for (size_t i = 0; i < graph->run_count; i++) {
        if (kept != 0 && compare_runs(&graph->runs[kept - 1], &graph->runs[i]) == 0) {
            graph->runs[kept - 1].count += graph->runs[i].count;
            graph->runs[kept - 1].resumed += graph->runs[i].resumed;
        } else {
            graph->runs[kept++] = graph->runs[i];
        }
    }
    graph->run_count = kept;
}

void br2_flow_merge_edges(struct br2_flow_graph *graph)
{
    sort(graph->edges, graph->edge_count, sizeof *graph->edges, compare_edges);
    size_t kept = 0;
    for (size_t i = 0; i < graph->edge_count; i++) {
        if (kept != 0 && compare_edges(&graph->edges[kept - 1], &graph->edges[i]) == 0) {
            graph->edges[kept - 1].count += graph->edges[i].count;
            graph->edges[kept - 1].mispredicted += graph->edges[i].mispredicted;
        } else {
            graph->edges[kept++] = graph->edges[i];
        }
    }
    graph->edge_count = kept;
}

static void merge_timings(struct br2_flow_graph *graph)
{
    sort(graph->timings, graph->timing_count, sizeof *graph->timings, compare_timings);
    size_t kept = 0;
    for (size_t i = 0; i < graph->timing_count; i++) {
        if (kept != 0 && compare_timings(&graph->timings[kept - 1], &graph->timings[i]) == 0) {
            graph->timings[kept - 1].count += graph->timings[i].count;
        } else {
            graph->timings[kept++] = graph->timings[i];
        }
    }
    graph->timing_count = kept;
}

/* Spreads the runs over the instructions they executed: +count where one starts, -count behind its
 * end, then sums. Unsigned arithmetic wraps and comes back. */
static void count_instructions(struct br2_flow_graph *graph)
{
    for (size_t i = 0; i < graph->run_count; i++) {
        const struct br2_flow_run *run = &graph->runs[i];
        struct br2_flow_function *function = &graph->functions[run->function];
        size_t last = br2_code_find(&function->code, run->end);
        function->counts[br2_code_find(&function->code, run->start)] += run->count;
        function->counts[last + 1] -= run->count;
        function->ends[last] += run->count;
    }
    for (size_t i = 0; i < graph->function_count; i++) {
        struct br2_flow_function *function = &graph->functions[i];
        for (size_t k = 1; k <= function->code.count; k++) {
            function->counts[k] += function->counts[k - 1];
        }
    }
}

void br2_flow_finish(struct br2_flow_graph *graph)
{
    merge_runs(graph);
    merge_timings(graph);
    sort_functions(graph);
    count_instructions(graph);
}
