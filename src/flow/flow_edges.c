/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The flow graph as rows: every outcome of every branch that was seen. */
#include <string.h>

#include "flow/flow_graph.h"

struct row_maker {
    const struct br2_flow_graph *graph;
    struct br2_edge_table *table;
    uint32_t image;
};

static struct br2_edge *add_row(struct row_maker *maker, uint32_t function, uint64_t from,
                                uint64_t to, enum br2_edge_kind kind)
{
    const char *name =
        function != BR2_NO_FUNCTION ? maker->graph->functions[function].range->name : "";
    uint32_t number = br2_strings_add(&maker->table->names, name, strlen(name));
    struct br2_edge *row = number != BR2_NO_STRING ? br2_edge_table_add(maker->table) : NULL;
    if (row != NULL) {
        row->image = maker->image;
        row->function = number;
        row->from = from;
        row->to = to;
        row->kind = kind;
        row->prediction_known = maker->graph->predictions_known;
    }
    return row;
}

static bool add_edge_row(struct row_maker *maker, const struct br2_flow_edge *edge,
                         uint64_t outcomes)
{
    struct br2_edge *row = add_row(maker, edge->from_function, edge->from, edge->to, edge->kind);
    if (row == NULL) {
        return false;
    }
    row->count = edge->count;
    row->mispredicted = edge->mispredicted;
    if (edge->from != 0) { /* what else an outside source did is not known */
        br2_edge_set_share(row, edge->count, outcomes);
    }
    return true;
}

/* The end of the edges that share the source of edge `first`, and how often it was seen. */
static size_t same_source(const struct br2_flow_graph *graph, size_t first, uint64_t *ret_outcomes)
{
    size_t end = first;
    *ret_outcomes = 0;
    while (end < graph->edge_count && graph->edges[end].from == graph->edges[first].from) {
        *ret_outcomes += graph->edges[end++].count;
    }
    return end;
}

static bool add_edges_of(struct row_maker *maker, size_t first, size_t end, uint64_t outcomes)
{
    bool ok = true;
    for (size_t i = first; ok && i < end; i++) {
        ok = add_edge_row(maker, &maker->graph->edges[i], outcomes);
    }
    return ok;
}

/* The targets of an indirect jump, the next instruction among them: a recorder that does not log a
 * jump to it leaves runs that pass the jump (doubtful.c). */
static bool add_indirect_jump(struct row_maker *maker, uint32_t number, size_t index, size_t first,
                              size_t end)
{
    const struct br2_flow_function *function = &maker->graph->functions[number];
    const struct br2_insn *insn = &function->code.insns[index];
    uint64_t passed = function->counts[index] - function->ends[index];
    uint64_t outcomes = passed;
    for (size_t i = first; i < end; i++) {
        outcomes += maker->graph->edges[i].count;
    }
    if (passed != 0) {
        struct br2_edge *row =
            add_row(maker, number, insn->address, insn->address + insn->size, BR2_EDGE_FALLTHROUGH);
        if (row == NULL) {
            return false;
        }
        row->prediction_known = false;
        row->count = passed;
        br2_edge_set_share(row, passed, outcomes);
    }
    return add_edges_of(maker, first, end, outcomes);
}

static uint64_t taken_that_count(uint64_t taken, uint64_t after_run)
{
    return after_run != 0 ? after_run : taken;
}

double br2_taken_probability(uint64_t taken, uint64_t after_run, uint64_t passed)
{
    double of = (double)taken_that_count(taken, after_run);
    return of / (of + (double)passed);
}

/* Both outcomes of a conditional branch: two rows, also where one of them was never seen. */
static bool add_conditional(struct row_maker *maker, uint32_t number, size_t index, uint64_t taken,
                            uint64_t mispredicted)
{
    const struct br2_flow_function *function = &maker->graph->functions[number];
    const struct br2_insn *insn = &function->code.insns[index];
    uint64_t passed = function->counts[index] - function->ends[index];
    if (taken + passed == 0) {
        return true;
    }
    struct br2_edge *row = add_row(maker, number, insn->address, insn->target, BR2_EDGE_COND);
    if (row == NULL) {
        return false;
    }
    row->count = taken;
    row->mispredicted = mispredicted;
    br2_edge_set_conditional(row, taken, function->ends[index], passed);
    row = add_row(maker, number, insn->address, insn->address + insn->size, BR2_EDGE_FALLTHROUGH);
    if (row == NULL) {
        return false;
    }
    /* Branch records hold taken branches only: whether a passed one was predicted is unknown. */
    row->prediction_known = false;
    row->count = passed;
    br2_edge_set_conditional(row, taken, function->ends[index], passed);
    return true;
}

/* Walks a function's instructions and its edges, both in the order of addresses. */
static bool add_function(struct row_maker *maker, uint32_t number, size_t *edge)
{
    const struct br2_flow_graph *graph = maker->graph;
    const struct br2_code *code = &graph->functions[number].code;
    bool ok = true;
    for (size_t i = 0; ok && i < code->count; i++) {
        size_t first = *edge;
        uint64_t outcomes = 0;
        if (first < graph->edge_count && graph->edges[first].from == code->insns[i].address) {
            *edge = same_source(graph, first, &outcomes);
        }
        if (code->insns[i].kind == BR2_INSN_COND) {
            ok = add_conditional(maker, number, i, outcomes,
                                 outcomes != 0 ? graph->edges[first].mispredicted : 0);
        } else if (code->insns[i].kind == BR2_INSN_INDIRECT_JUMP) {
            ok = add_indirect_jump(maker, number, i, first, *edge);
        } else {
            ok = add_edges_of(maker, first, *edge, outcomes);
        }
    }
    return ok;
}

int br2_flow_graph_edges(const struct br2_flow_graph *graph, const char *image_name,
                         struct br2_edge_table *table, struct br2pgo_error *err)
{
    struct row_maker maker = {.graph = graph, .table = table};
    maker.image = br2_strings_add(&table->names, image_name, strlen(image_name));
    bool ok = maker.image != BR2_NO_STRING;
    size_t edge = 0;
    if (ok && graph->edge_count != 0 && graph->edges[0].from == 0) {
        uint64_t outcomes;
        edge = same_source(graph, 0, &outcomes);
        ok = add_edges_of(&maker, 0, edge, outcomes);
    }
    for (size_t i = 0; ok && i < graph->function_count; i++) {
        ok = add_function(&maker, (uint32_t)i, &edge);
    }
    if (!ok) {
        return br2_fail_memory(err);
    }
    br2_edge_table_sort(table);
    return 0;
}
