/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs that were counted apart from the branches before them. The branches to where a run starts
 * are counted too: of the runs that start there, the share is taken for resumed that these branches
 * are returns, or come from another function.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "flow/flow_private.h"

/* What the branches to one address are. */
struct arrival {
    uint64_t to;
    double all;
    double resumed;
};

static int compare_arrivals(const void *left, const void *right)
{
    const struct arrival *a = left;
    const struct arrival *b = right;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Fills in one for each target, sorted; returns the number of them. */
static size_t collect(const struct br2_flow_graph *graph, struct arrival *arrivals)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        bool inside = edge->from_function == edge->to_function && edge->kind != BR2_EDGE_RETURN;
        arrivals[count++] = (struct arrival){.to = edge->to,
                                             .all = (double)edge->count,
                                             .resumed = inside ? 0 : (double)edge->count};
    }
    qsort(arrivals, count, sizeof *arrivals, compare_arrivals);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && arrivals[kept - 1].to == arrivals[i].to) {
            arrivals[kept - 1].all += arrivals[i].all;
            arrivals[kept - 1].resumed += arrivals[i].resumed;
        } else {
            arrivals[kept++] = arrivals[i];
        }
    }
    return kept;
}

static void settle(struct br2_flow_run *run, const struct arrival *arrivals, size_t count)
{
    struct arrival wanted = {.to = run->start};
    const struct arrival *found =
        bsearch(&wanted, arrivals, count, sizeof *arrivals, compare_arrivals);
    if (found != NULL && found->all > 0) {
        double share = found->resumed / found->all;
        run->resumed += (uint64_t)(share * (double)run->any_origin + 0.5);
    }
    run->any_origin = 0;
}

int br2_settle_origins(struct br2_flow_graph *graph, struct br2pgo_error *err)
{
    bool any = false;
    for (size_t i = 0; i < graph->run_count && !any; i++) {
        any = graph->runs[i].any_origin != 0;
    }
    if (!any || graph->edge_count == 0) {
        return 0; /* without branches nothing is known of any */
    }
    struct arrival *arrivals = br2_calloc(graph->edge_count, sizeof *arrivals);
    if (arrivals == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = collect(graph, arrivals);
    for (size_t i = 0; i < graph->run_count; i++) {
        settle(&graph->runs[i], arrivals, count);
    }
    br2_free(arrivals);
    return 0;
}
