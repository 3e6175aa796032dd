/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/block_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "flow/block_private.h"
#include "flow/blocks.h"
#include "flow/bolt_flow.h"
#include "flow/flow_graph.h"
#include "image/bolt_table.h"
#include "image/jump_tables.h"
#include "image/landing_pads.h"

const char *const br2_block_verdict_names[BR2_BLOCK_VERDICTS] = {
    [BR2_BLOCK_KEPT] = "kept",
    [BR2_BLOCK_RETURN] = "returns, not needed",
    [BR2_BLOCK_RESUMES] = "kernel back to an entry",
    [BR2_BLOCK_NO_ENTRY] = "indirect, to no function's entry",
    [BR2_BLOCK_NO_TARGET] = "indirect, to no target of its table",
    [BR2_BLOCK_INNER_CALL] = "calls into its own function",
    [BR2_BLOCK_NO_INPUT] = "not in the code before llvm-bolt",
    [BR2_BLOCK_NO_NAME] = "function's name is not unique",
    [BR2_BLOCK_EMPTY] = "goes to one of several blocks at one address",
};

_Static_assert(BR2_OUTSIDE == BR2_NO_FUNCTION, "an edge's functions are taken as they are");

struct builder {
    const struct br2_flow_graph *graph;
    const struct br2_bolt_table *bolt; /* NULL: llvm-bolt did not write the image */
    struct br2_block_flow *flow;
    struct br2_jump_tables *tables;
    struct br2_symbol_names symbols;
    struct br2_addresses entries; /* where code of one range jumps into another */
    struct br2_addresses pads;    /* where the unwinder goes */
    size_t trace;                 /* of the graph's, the first of the edges to come */
    /* Of the function in hand: */
    uint32_t number;
    const struct br2_flow_function *function;
    struct br2_addresses targets;
    struct br2_addresses inner; /* entries inside it */
    struct br2_blocks blocks;
    uint64_t *passed; /* owned; per block: runs that went on to the next one */
};

static int compare_edges(const void *left, const void *right)
{
    const struct br2_block_edge *a = left;
    const struct br2_block_edge *b = right;
    int order = br2_compare_u64(a->from, b->from);
    order = order != 0 ? order : br2_compare_u64(a->to, b->to);
    return order != 0 ? order : br2_compare_u64(a->fall_through, b->fall_through);
}

static bool is_direct(enum br2_edge_kind kind)
{
    return kind == BR2_EDGE_COND || kind == BR2_EDGE_JUMP || kind == BR2_EDGE_CALL;
}

/* Finds the places inside functions that other functions go to. */
static int find_entries(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (is_direct(edge->kind) && edge->from != 0 && edge->to_function != BR2_NO_FUNCTION &&
            edge->from_function != edge->to_function &&
            !br2_addresses_add(&builder->entries, edge->to)) {
            return br2_fail_memory(err);
        }
    }
    int rc = br2_block_jumps_out(graph, &builder->entries, err);
    br2_addresses_sort(&builder->entries);
    return rc;
}

static int add_edge(struct builder *builder, const struct br2_block_edge *edge,
                    struct br2pgo_error *err)
{
    struct br2_block_flow *flow = builder->flow;
    if (!br2_grow(&flow->edges, &flow->edge_capacity, flow->edge_count, sizeof *flow->edges)) {
        return br2_fail_memory(err);
    }
    flow->edges[flow->edge_count++] = *edge;
    return 0;
}

static bool has_entry(const struct builder *builder, const struct br2_flow_edge *edge)
{
    return edge->to_function == BR2_NO_FUNCTION ||
           edge->to == builder->graph->functions[edge->to_function].range->start;
}

/* Whether an indirect jump of the function in hand may go there. */
static bool is_jump_target(const struct builder *builder, uint64_t address)
{
    return br2_addresses_have(&builder->targets, address) ||
           br2_jump_tables_in_data(builder->tables, address);
}

static enum br2_block_verdict judge_edge(const struct builder *builder,
                                         const struct br2_flow_edge *edge)
{
    bool own = edge->from_function == edge->to_function && edge->to != 0;
    if (edge->from == 0) {
        bool back = edge->kind == BR2_EDGE_RETURN && has_entry(builder, edge);
        return back ? BR2_BLOCK_RESUMES : BR2_BLOCK_KEPT;
    }
    switch (edge->kind) {
    case BR2_EDGE_RETURN:
        return BR2_BLOCK_RETURN;
    case BR2_EDGE_CALL:
        return own && !has_entry(builder, edge) ? BR2_BLOCK_INNER_CALL : BR2_BLOCK_KEPT;
    case BR2_EDGE_INDIRECT_CALL:
        return has_entry(builder, edge) ? BR2_BLOCK_KEPT : BR2_BLOCK_NO_ENTRY;
    case BR2_EDGE_INDIRECT_JUMP: {
        /* A lazy stub's first call goes to its second half. */
        bool may = !own || has_entry(builder, edge) || builder->function->range->plt ||
                   is_jump_target(builder, edge->to);
        return may ? BR2_BLOCK_KEPT : BR2_BLOCK_NO_TARGET;
    }
    case BR2_EDGE_COND:
    case BR2_EDGE_JUMP:
    case BR2_EDGE_FALLTHROUGH:
    case BR2_EDGE_KINDS:
        break;
    }
    return BR2_BLOCK_KEPT;
}

/* Whether the edge goes from an indirect jump into another function, where it does not begin: the
 * unwinder to a landing pad, longjmp. What counts is that it gets there; it is no call. */
static bool is_unwinding(const struct builder *builder, const struct br2_flow_edge *edge)
{
    return edge->kind == BR2_EDGE_INDIRECT_JUMP && edge->from_function != edge->to_function &&
           !has_entry(builder, edge) && !is_jump_target(builder, edge->to);
}

/* The traces of an edge: graph and edges are walked side by side. */
static int take_traces(struct builder *builder, const struct br2_flow_edge *edge,
                       enum br2_block_verdict verdict, uint64_t from, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    bool wanted = (verdict == BR2_BLOCK_KEPT || verdict == BR2_BLOCK_RETURN) &&
                  edge->to_function != BR2_NO_FUNCTION &&
                  !graph->functions[edge->to_function].range->plt;
    int rc = 0;
    for (; rc == 0 && builder->trace < graph->trace_count; builder->trace++) {
        const struct br2_flow_trace *trace = &graph->traces[builder->trace];
        if (trace->from != edge->from || trace->to != edge->to || trace->kind != edge->kind) {
            break;
        }
        struct br2_block_trace taken = {
            .from = from,
            .to = trace->to,
            .end = trace->end,
            .count = trace->count,
            .mispredicted = trace->mispredicted,
            .returns = verdict == BR2_BLOCK_RETURN,
            .resumed = trace->resumed,
        };
        rc = wanted ? br2_block_traces_add(builder->flow, &taken, err) : 0;
    }
    return rc;
}

static int take_edge(struct builder *builder, const struct br2_flow_edge *edge,
                     struct br2pgo_error *err)
{
    enum br2_block_verdict verdict = judge_edge(builder, edge);
    struct br2_block_edge taken = {
        .from = edge->from,
        .to = edge->to,
        .from_function = edge->from_function,
        .to_function = edge->to_function,
        .count = edge->count,
        .mispredicted = edge->mispredicted,
    };
    if (is_unwinding(builder, edge)) {
        taken.from = 0;
        taken.from_function = BR2_OUTSIDE;
    }
    builder->flow->verdicts[verdict] += edge->count;
    int rc = take_traces(builder, edge, verdict, taken.from, err);
    return rc == 0 && verdict == BR2_BLOCK_KEPT ? add_edge(builder, &taken, err) : rc;
}

/* Whether control that reaches the end of a block may go on to the next one. */
static bool goes_on(const struct builder *builder, const struct br2_insn *last)
{
    uint64_t next = last->address + last->size;
    switch ((enum br2_insn_kind)last->kind) {
    case BR2_INSN_JUMP:
        return last->target == next;
    case BR2_INSN_INDIRECT_JUMP:
        return is_jump_target(builder, next);
    case BR2_INSN_RETURN:
    case BR2_INSN_STOP:
    case BR2_INSN_INVALID:
        return false;
    case BR2_INSN_PLAIN:
    case BR2_INSN_COND:
    case BR2_INSN_CALL:
    case BR2_INSN_INDIRECT_CALL:
    case BR2_INSN_SYSCALL:
        break;
    }
    return true;
}

/*
 * A run that starts behind a call, and was not got to from inside the function, goes on from the
 * call: the way from the call's block to this one was taken too.
 */
static bool continues_call(const struct builder *builder, size_t first)
{
    const struct br2_code *code = &builder->function->code;
    size_t block = builder->blocks.block_of[first];
    if (block == 0 || builder->blocks.starts[block] != first ||
        br2_addresses_have(&builder->inner, code->insns[first].address)) {
        return false;
    }
    enum br2_insn_kind last = br2_block_last(&builder->blocks, code, block - 1)->kind;
    return last == BR2_INSN_CALL || last == BR2_INSN_INDIRECT_CALL;
}

/* Counts the ends of blocks that a run of the function went over. */
static void take_run(struct builder *builder, const struct br2_flow_run *run)
{
    const struct br2_code *code = &builder->function->code;
    size_t first = br2_code_find(code, run->start);
    size_t last = br2_code_find(code, run->end);
    size_t end = builder->blocks.block_of[last];
    for (size_t block = builder->blocks.block_of[first]; block < end; block++) {
        builder->passed[block] += run->count;
    }
    if (run->resumed != 0 && continues_call(builder, first)) {
        builder->passed[builder->blocks.block_of[first] - 1] += run->resumed;
    }
}

static int add_fall_throughs(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_code *code = &builder->function->code;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i + 1 < builder->blocks.count; i++) {
        const struct br2_insn *last = br2_block_last(&builder->blocks, code, i);
        if (builder->passed[i] == 0) {
            continue;
        }
        if (!goes_on(builder, last)) {
            builder->flow->verdicts[BR2_BLOCK_NO_TARGET] += builder->passed[i];
            continue;
        }
        struct br2_block_edge edge = {
            .from = last->address + last->prefixes,
            .to = last->address + last->size,
            .from_function = builder->number,
            .to_function = builder->number,
            .count = builder->passed[i],
            .fall_through = true,
        };
        builder->flow->verdicts[BR2_BLOCK_KEPT] += edge.count;
        rc = add_edge(builder, &edge, err);
    }
    return rc;
}

/* Adds those of sorted addresses that lie inside the function. */
static bool add_inner(struct builder *builder, const struct br2_addresses *addresses)
{
    const struct br2_code *code = &builder->function->code;
    bool ok = true;
    size_t at = br2_addresses_from(addresses, code->start + 1);
    for (; ok && at < addresses->count && addresses->items[at] < code->end; at++) {
        ok = br2_addresses_add(&builder->inner, addresses->items[at]);
    }
    return ok;
}

/* The entries inside the function: its inner symbols, where other code goes into it, and its
 * landing pads. */
static int find_inner(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_code *code = &builder->function->code;
    const struct br2_symbol_names *symbols = &builder->symbols;
    builder->inner.count = 0;
    bool ok = true;
    size_t at = br2_symbol_names_from(symbols, code->start + 1);
    for (; ok && at < symbols->count && symbols->items[at].address < code->end; at++) {
        ok = br2_addresses_add(&builder->inner, symbols->items[at].address);
    }
    ok = ok && add_inner(builder, &symbols->labels) && add_inner(builder, &builder->entries) &&
         add_inner(builder, &builder->pads);
    br2_addresses_sort(&builder->inner);
    return ok ? 0 : br2_fail_memory(err);
}

/* The blocks of code that llvm-bolt moved: what it made them of is what counts. */
static int find_moved_blocks(struct builder *builder, const struct br2_bolt_fragment *fragment,
                             struct br2pgo_error *err)
{
    struct br2_addresses starts = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < fragment->count; i++) {
        const struct br2_bolt_place *place = &builder->bolt->places[fragment->first + i];
        ok = place->branch || br2_addresses_add(&starts, fragment->start + place->output);
    }
    const struct br2_code *code = &builder->function->code;
    int rc = ok ? br2_blocks_at(code, &starts, &builder->blocks, err) : br2_fail_memory(err);
    br2_addresses_done(&starts);
    return rc;
}

static int find_blocks(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_code *code = &builder->function->code;
    const struct br2_bolt_fragment *fragment =
        builder->bolt != NULL ? br2_bolt_fragment_at(builder->bolt, code->start) : NULL;
    return fragment != NULL
               ? find_moved_blocks(builder, fragment, err)
               : br2_blocks_find(code, &builder->targets, &builder->inner, &builder->blocks, err);
}

/* Prepares what depends on the function's code. */
static int begin_function(struct builder *builder, uint32_t number, struct br2pgo_error *err)
{
    builder->number = number;
    builder->function = &builder->graph->functions[number];
    const struct br2_code *code = &builder->function->code;
    int rc = br2_jump_tables_targets(builder->tables, code, &builder->targets, err);
    rc = rc != 0 ? rc : find_inner(builder, err);
    rc = rc != 0 ? rc : find_blocks(builder, err);
    if (rc == 0) {
        builder->passed = br2_calloc(builder->blocks.count + 1, sizeof *builder->passed);
        rc = builder->passed != NULL ? 0 : br2_fail_memory(err);
    }
    return rc;
}

static void end_function(struct builder *builder)
{
    br2_blocks_done(&builder->blocks);
    br2_free(builder->passed);
    builder->passed = NULL;
}

/* Runs and edges are sorted by address like the functions: both are walked along with them. */
static int take_function(struct builder *builder, uint32_t number, size_t *run, size_t *edge,
                         struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = begin_function(builder, number, err);
    for (; rc == 0 && *run < graph->run_count && graph->runs[*run].function == number; (*run)++) {
        take_run(builder, &graph->runs[*run]);
    }
    for (; rc == 0 && *edge < graph->edge_count && graph->edges[*edge].from_function == number;
         (*edge)++) {
        rc = take_edge(builder, &graph->edges[*edge], err);
    }
    rc = rc != 0 ? rc : add_fall_throughs(builder, err);
    end_function(builder);
    return rc;
}

static int take_runs(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    struct br2_block_flow *flow = builder->flow;
    flow->runs = br2_calloc(graph->run_count, sizeof *flow->runs);
    if (flow->runs == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < graph->run_count; i++) {
        const struct br2_flow_run *run = &graph->runs[i];
        if (!graph->functions[run->function].range->plt) {
            flow->runs[flow->run_count++] = (struct br2_block_run){
                .start = run->start, .end = run->end, .count = run->count, .resumed = run->resumed};
        }
    }
    return 0;
}

/* Makes one of what is equal: of branches to one place outside, and of kinds. */
static void merge_edges(struct br2_block_flow *flow)
{
    if (flow->edge_count != 0) {
        qsort(flow->edges, flow->edge_count, sizeof *flow->edges, compare_edges);
    }
    size_t kept = 0;
    for (size_t i = 0; i < flow->edge_count; i++) {
        if (kept != 0 && compare_edges(&flow->edges[kept - 1], &flow->edges[i]) == 0) {
            flow->edges[kept - 1].count += flow->edges[i].count;
            flow->edges[kept - 1].mispredicted += flow->edges[i].mispredicted;
        } else {
            flow->edges[kept++] = flow->edges[i];
        }
    }
    flow->edge_count = kept;
}

static int build(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = br2_jump_tables_open(graph->image, &builder->tables, err);
    rc = rc != 0 ? rc : br2_symbol_names_read(graph->image, &builder->symbols, err);
    rc = rc != 0 ? rc : br2_block_flow_name(builder->flow, graph, &builder->symbols, err);
    rc = rc != 0 ? rc : find_entries(builder, err);
    rc = rc != 0 ? rc : br2_landing_pads_read(graph->image, &builder->pads, err);
    size_t edge = 0;
    for (; rc == 0 && edge < graph->edge_count && graph->edges[edge].from == 0; edge++) {
        rc = take_edge(builder, &graph->edges[edge], err);
    }
    size_t run = 0;
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = take_function(builder, (uint32_t)i, &run, &edge, err);
    }
    return rc != 0 ? rc : take_runs(builder, err);
}

int br2_block_flow_build(const struct br2_flow_graph *graph, const struct br2_bolt_table *table,
                         struct br2_block_flow *ret, struct br2pgo_error *err)
{
    struct builder builder = {.graph = graph, .bolt = table, .flow = ret};
    int rc = build(&builder, err);
    merge_edges(ret);
    br2_block_traces_merge(ret);
    if (rc == 0 && table != NULL) {
        rc = br2_bolt_flow_translate(graph, table, &builder.symbols, ret, err);
    }
    br2_jump_tables_close(builder.tables);
    br2_symbol_names_done(&builder.symbols);
    br2_addresses_done(&builder.entries);
    br2_addresses_done(&builder.pads);
    br2_addresses_done(&builder.targets);
    br2_addresses_done(&builder.inner);
    return rc;
}

void br2_block_flow_done(struct br2_block_flow *flow)
{
    br2_strings_done(&flow->names);
    br2_free(flow->functions);
    br2_free(flow->edges);
    br2_free(flow->runs);
    br2_free(flow->traces);
    *flow = (struct br2_block_flow){0};
}
