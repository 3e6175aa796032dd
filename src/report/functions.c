/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions, and who calls whom. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"

enum {
    F_RANK,
    F_SHARE,
    F_EXECUTED,
    F_ENTERED,
    F_TAKEN,
    F_MISPREDICTED,
    F_SIZE,
    F_RAN,
    F_COLD,
    F_ADDRESS,
    F_FILE,
    F_LINE,
    F_FUNCTION,
    F_SYMBOL,
    F_COLUMNS
};

static const struct br2_report_column function_columns[F_COLUMNS] = {
    [F_RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [F_SHARE] = {"share", "of instructions", BR2_VALUE_SHARE, false},
    [F_EXECUTED] = {"executed", "instructions", BR2_VALUE_COUNT, false},
    [F_ENTERED] = {"entries", "records", BR2_VALUE_COUNT, false},
    [F_TAKEN] = {"taken_branches", "records", BR2_VALUE_COUNT, true},
    [F_MISPREDICTED] = {"mispredicted", "records", BR2_VALUE_COUNT, false},
    [F_SIZE] = {"size", "bytes", BR2_VALUE_COUNT, false},
    [F_RAN] = {"ran", "bytes", BR2_VALUE_COUNT, false},
    [F_COLD] = {"cold", "bytes", BR2_VALUE_COUNT, false},
    [F_ADDRESS] = {"address", NULL, BR2_VALUE_ADDRESS, false},
    [F_FILE] = {"file", NULL, BR2_VALUE_FILE, false},
    [F_LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [F_FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
    [F_SYMBOL] = {"symbol", NULL, BR2_VALUE_TEXT, true},
};

static const struct br2_report_shape function_shape = {
    .name = "functions",
    .section = "functions",
    .title = "Functions by instructions executed",
    .note = "Cold is what no straight run was seen to execute.",
    .columns = function_columns,
    .column_count = F_COLUMNS,
};

enum {
    C_RANK,
    C_COUNT,
    C_OF_CALLER,
    C_OF_CALLEE,
    C_SITES,
    C_CALLER,
    C_CALLEE,
    C_FROM,
    C_TO,
    C_COLUMNS
};

static const struct br2_report_column call_columns[C_COLUMNS] = {
    [C_RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [C_COUNT] = {"count", "records", BR2_VALUE_COUNT, false},
    [C_OF_CALLER] = {"share_of_caller", "of its calls", BR2_VALUE_SHARE, false},
    [C_OF_CALLEE] = {"share_of_callee", "of its entries", BR2_VALUE_SHARE, false},
    [C_SITES] = {"sites", NULL, BR2_VALUE_COUNT, false},
    [C_CALLER] = {"caller_address", NULL, BR2_VALUE_ADDRESS, true},
    [C_CALLEE] = {"callee_address", NULL, BR2_VALUE_ADDRESS, true},
    [C_FROM] = {"caller", NULL, BR2_VALUE_TEXT, false},
    [C_TO] = {"callee", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape call_shape = {
    .name = "calls",
    .section = "functions",
    .title = "Calls, and jumps to other functions",
    .columns = call_columns,
    .column_count = C_COLUMNS,
};

/* The edges that start in each function: they are sorted by it. */
struct sums {
    uint64_t taken;
    uint64_t mispredicted;
};

static struct sums *sum_edges(const struct br2_flow_graph *graph)
{
    struct sums *sums = br2_calloc(graph->function_count + 1, sizeof *sums);
    for (size_t i = 0; sums != NULL && i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (edge->from_function != BR2_NO_FUNCTION) {
            sums[edge->from_function].taken += edge->count;
            sums[edge->from_function].mispredicted += edge->mispredicted;
        }
    }
    return sums;
}

static uint64_t count_ran(const struct br2_flow_function *function)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < function->code.count; i++) {
        bytes += function->counts[i] != 0 ? function->code.insns[i].size : 0;
    }
    return bytes;
}

static int add_function(struct br2_report_maker *maker, struct br2_report_table *table,
                        uint32_t number, const struct sums *sums, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = &maker->graph->functions[number];
    const struct br2_code_range *range = function->range;
    struct br2_report_place place;
    int rc = br2_report_place(maker, range->start, &place, err);
    if (rc != 0) {
        return rc;
    }
    uint64_t ran = count_ran(function);
    struct br2_report_value *row = br2_report_row(maker, table, maker->executed[number]);
    row[F_SHARE] = br2_value_share(maker->executed[number], maker->all_executed);
    row[F_EXECUTED] = br2_value_count(maker->executed[number]);
    row[F_ENTERED] = br2_value_count(function->entered);
    row[F_TAKEN] = br2_value_count(sums->taken);
    if (maker->graph->predictions_known) {
        row[F_MISPREDICTED] = br2_value_count(sums->mispredicted);
    }
    row[F_SIZE] = br2_value_count(range->end - range->start);
    row[F_RAN] = br2_value_count(ran);
    row[F_COLD] = br2_value_count(range->end - range->start - ran);
    row[F_ADDRESS] = br2_value_count(range->start);
    row[F_FILE] = place.file;
    row[F_LINE] = place.line;
    row[F_FUNCTION] = br2_value_text(maker->names[number]);
    row[F_SYMBOL] = br2_value_copy(maker, range->name);
    return 0;
}

/* One call site, later all of a caller and callee. */
struct call {
    uint32_t caller;
    uint32_t callee;
    uint64_t sites;
    uint64_t count;
};

static int compare_calls(const void *left, const void *right)
{
    const struct call *a = left;
    const struct call *b = right;
    int order = br2_compare_u64(a->caller, b->caller);
    return order != 0 ? order : br2_compare_u64(a->callee, b->callee);
}

static bool is_call(const struct br2_flow_edge *edge)
{
    bool leaves = edge->from_function != edge->to_function;
    return edge->kind == BR2_EDGE_CALL || edge->kind == BR2_EDGE_INDIRECT_CALL ||
           (leaves && edge->kind != BR2_EDGE_RETURN);
}

/* The calls of all pairs of functions, sorted by caller; `*ret_count` of them. */
static struct call *find_calls(const struct br2_flow_graph *graph, size_t *ret_count)
{
    struct call *calls = br2_calloc(graph->edge_count + 1, sizeof *calls);
    size_t count = 0;
    for (size_t i = 0; calls != NULL && i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (is_call(edge)) {
            calls[count++] = (struct call){edge->from_function, edge->to_function, 1, edge->count};
        }
    }
    *ret_count = 0;
    if (count == 0) {
        return calls;
    }
    qsort(calls, count, sizeof *calls, compare_calls);
    for (size_t i = 1; i < count; i++) {
        if (compare_calls(&calls[*ret_count], &calls[i]) == 0) {
            calls[*ret_count].sites++;
            calls[*ret_count].count += calls[i].count;
        } else {
            calls[++*ret_count] = calls[i];
        }
    }
    ++*ret_count;
    return calls;
}

static void set_address(const struct br2_report_maker *maker, uint32_t function,
                        struct br2_report_value *ret)
{
    if (function != BR2_NO_FUNCTION) {
        *ret = br2_value_count(maker->graph->functions[function].range->start);
    }
}

static void add_call(struct br2_report_maker *maker, struct br2_report_table *table,
                     const struct call *call, const uint64_t *out, const uint64_t *in)
{
    size_t outside = maker->graph->function_count;
    struct br2_report_value *row = br2_report_row(maker, table, call->count);
    row[C_COUNT] = br2_value_count(call->count);
    row[C_OF_CALLER] =
        br2_value_share(call->count, out[call->caller != BR2_NO_FUNCTION ? call->caller : outside]);
    row[C_OF_CALLEE] =
        br2_value_share(call->count, in[call->callee != BR2_NO_FUNCTION ? call->callee : outside]);
    row[C_SITES] = br2_value_count(call->sites);
    set_address(maker, call->caller, row + C_CALLER);
    set_address(maker, call->callee, row + C_CALLEE);
    row[C_FROM] = br2_value_text(br2_report_name(maker, call->caller));
    row[C_TO] = br2_value_text(br2_report_name(maker, call->callee));
}

static int add_calls(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    size_t outside = maker->graph->function_count;
    struct br2_report_table *table = br2_report_begin(maker, &call_shape);
    size_t count;
    struct call *calls = find_calls(maker->graph, &count);
    uint64_t *out = br2_calloc(outside + 1, sizeof *out);
    uint64_t *in = br2_calloc(outside + 1, sizeof *in);
    bool ok = calls != NULL && out != NULL && in != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        out[calls[i].caller != BR2_NO_FUNCTION ? calls[i].caller : outside] += calls[i].count;
        in[calls[i].callee != BR2_NO_FUNCTION ? calls[i].callee : outside] += calls[i].count;
    }
    bool all = maker->input->function == NULL;
    for (size_t i = 0; ok && i < count; i++) {
        if (all || br2_report_wants(maker, calls[i].caller) ||
            br2_report_wants(maker, calls[i].callee)) {
            add_call(maker, table, &calls[i], out, in);
        }
    }
    br2_report_end(maker, table);
    br2_free(calls);
    br2_free(out);
    br2_free(in);
    return ok ? 0 : br2_fail_memory(err);
}

int br2_report_functions(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    struct sums *sums = sum_edges(maker->graph);
    if (sums == NULL) {
        return br2_fail_memory(err);
    }
    struct br2_report_table *table = br2_report_begin(maker, &function_shape);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < maker->graph->function_count; i++) {
        if (maker->wanted[i]) {
            rc = add_function(maker, table, i, &sums[i], err);
        }
    }
    br2_report_end(maker, table);
    br2_free(sums);
    return rc != 0 ? rc : add_calls(maker, err);
}
