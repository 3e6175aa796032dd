/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/flow_quality.h"

#include "base/mem.h"
#include "flow/density.h"

struct crossing {
    uint64_t in;
    uint64_t out;
};

int br2_flow_balance(const struct br2_flow_graph *graph, struct br2_flow_balance *ret,
                     struct br2pgo_error *err)
{
    *ret = (struct br2_flow_balance){.worst = BR2_NO_FUNCTION};
    struct crossing *functions = br2_calloc(graph->function_count + 1, sizeof *functions);
    if (functions == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (edge->from_function == edge->to_function) {
            continue;
        }
        if (edge->from_function != BR2_NO_FUNCTION) {
            functions[edge->from_function].out += edge->count;
            ret->crossings += edge->count;
        }
        if (edge->to_function != BR2_NO_FUNCTION) {
            functions[edge->to_function].in += edge->count;
            ret->crossings += edge->count;
        }
    }
    uint64_t most = 0;
    for (size_t i = 0; i < graph->function_count; i++) {
        const struct crossing *f = &functions[i];
        uint64_t difference = f->in > f->out ? f->in - f->out : f->out - f->in;
        ret->imbalance += difference;
        if (difference > most) {
            most = difference;
            ret->worst = (uint32_t)i;
            ret->worst_in = f->in;
            ret->worst_out = f->out;
        }
    }
    br2_free(functions);
    return 0;
}

int br2_flow_density(const struct br2_flow_graph *graph, uint32_t cutoff, double *ret,
                     struct br2pgo_error *err)
{
    struct br2_density *densities = br2_calloc(graph->function_count + 1, sizeof *densities);
    if (densities == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < graph->run_count; i++) {
        const struct br2_flow_run *run = &graph->runs[i];
        /* Up to the branch that ends the run, as perf2bolt counts. */
        densities[run->function].density += (double)run->count * (double)(run->end - run->start);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (edge->from_function != BR2_NO_FUNCTION) {
            densities[edge->from_function].samples += edge->count;
        }
        if (edge->to_function != BR2_NO_FUNCTION && edge->to_function != edge->from_function) {
            densities[edge->to_function].samples += edge->count;
        }
    }
    for (size_t i = 0; i < graph->function_count; i++) {
        const struct br2_code_range *range = graph->functions[i].range;
        densities[i].density /= (double)(range->end - range->start);
        densities[i].samples = range->plt ? 0 : densities[i].samples; /* no function to BOLT */
    }
    *ret = br2_density_at(densities, graph->function_count, cutoff);
    br2_free(densities);
    return 0;
}
