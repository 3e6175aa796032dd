/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where indirect calls and jumps go. */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"

/* The first target has so much of all: worth a compare and a direct call before the indirect one.
 */
#define PROMOTE_MIN 0.5

enum {
    I_RANK,
    I_COUNT,
    I_SHARE,
    I_TARGETS,
    I_ENTROPY,
    I_FIRST,
    I_LOW,
    I_HIGH,
    I_MISPREDICTED,
    I_RATE,
    I_KIND,
    I_ADDRESS,
    I_ADVICE,
    I_FILE,
    I_LINE,
    I_FUNCTION,
    I_COLUMNS
};

static const struct br2_report_column branch_columns[I_COLUMNS] = {
    [I_RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [I_COUNT] = {"count", "records", BR2_VALUE_COUNT, false},
    [I_SHARE] = {"share", "of records", BR2_VALUE_SHARE, true},
    [I_TARGETS] = {"targets", NULL, BR2_VALUE_COUNT, false},
    [I_ENTROPY] = {"entropy", "bits", BR2_VALUE_NUMBER, false},
    [I_FIRST] = {"first_share", NULL, BR2_VALUE_SHARE, false},
    [I_LOW] = {"first_low", NULL, BR2_VALUE_LOW, false},
    [I_HIGH] = {"first_high", NULL, BR2_VALUE_HIGH, false},
    [I_MISPREDICTED] = {"mispredicted", "records", BR2_VALUE_COUNT, true},
    [I_RATE] = {"mispredict_rate", NULL, BR2_VALUE_SHARE, false},
    [I_KIND] = {"kind", NULL, BR2_VALUE_TEXT, false},
    [I_ADDRESS] = {"address", NULL, BR2_VALUE_ADDRESS, false},
    [I_ADVICE] = {"advice", NULL, BR2_VALUE_TEXT, false},
    [I_FILE] = {"file", NULL, BR2_VALUE_FILE, false},
    [I_LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [I_FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape branch_shape = {
    .name = "indirect_branches",
    .section = "targets",
    .title = "Indirect calls and jumps",
    .note = "An entropy of n bits is that of 2^n targets with equal shares.",
    .columns = branch_columns,
    .column_count = I_COLUMNS,
};

enum {
    T_RANK,
    T_COUNT,
    T_SHARE,
    T_LOW,
    T_HIGH,
    T_ADDRESS,
    T_TARGET,
    T_FUNCTION,
    T_TO,
    T_COLUMNS
};

static const struct br2_report_column target_columns[T_COLUMNS] = {
    [T_RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [T_COUNT] = {"count", "records", BR2_VALUE_COUNT, false},
    [T_SHARE] = {"share", "of the branch", BR2_VALUE_SHARE, false},
    [T_LOW] = {"share_low", NULL, BR2_VALUE_LOW, false},
    [T_HIGH] = {"share_high", NULL, BR2_VALUE_HIGH, false},
    [T_ADDRESS] = {"address", NULL, BR2_VALUE_ADDRESS, false},
    [T_TARGET] = {"target", NULL, BR2_VALUE_ADDRESS, false},
    [T_FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
    [T_TO] = {"target_function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape target_shape = {
    .name = "targets",
    .section = "targets",
    .title = "Their targets, those of the branch that ran most first",
    .columns = target_columns,
    .column_count = T_COLUMNS,
};

/* One indirect branch and its edges. */
struct source {
    size_t first;
    size_t count;
    uint64_t sum;
    uint64_t mispredicted;
    uint64_t most; /* of one target */
};

static bool is_indirect(const struct br2_flow_edge *edge)
{
    return edge->from != 0 &&
           (edge->kind == BR2_EDGE_INDIRECT_CALL || edge->kind == BR2_EDGE_INDIRECT_JUMP);
}

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left;
    const struct source *b = right;
    int order = br2_compare_u64(b->sum, a->sum);
    return order != 0 ? order : br2_compare_u64(a->first, b->first);
}

/* The indirect branches that are wanted, that which ran most first. */
static struct source *find_sources(const struct br2_report_maker *maker, size_t *ret_count)
{
    const struct br2_flow_graph *graph = maker->graph;
    struct source *sources = br2_calloc(graph->edge_count + 1, sizeof *sources);
    *ret_count = 0;
    for (size_t i = 0; sources != NULL && i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (!is_indirect(edge) || !br2_report_wants(maker, edge->from_function)) {
            continue;
        }
        if (*ret_count == 0 || graph->edges[sources[*ret_count - 1].first].from != edge->from) {
            sources[(*ret_count)++].first = i;
        }
        struct source *source = &sources[*ret_count - 1];
        source->count++;
        source->sum += edge->count;
        source->mispredicted += edge->mispredicted;
        source->most = edge->count > source->most ? edge->count : source->most;
    }
    if (sources != NULL) {
        qsort(sources, *ret_count, sizeof *sources, compare_sources);
    }
    return sources;
}

static double entropy(const struct br2_flow_graph *graph, const struct source *source)
{
    double bits = 0;
    for (size_t i = source->first; i < source->first + source->count; i++) {
        double share = (double)graph->edges[i].count / (double)source->sum;
        bits -= share > 0 ? share * log2(share) : 0;
    }
    return bits > 0 ? bits : 0;
}

static int add_source(struct br2_report_maker *maker, struct br2_report_table *table,
                      const struct source *source, struct br2pgo_error *err)
{
    const struct br2_flow_edge *edge = &maker->graph->edges[source->first];
    struct br2_report_place place;
    int rc = br2_report_place(maker, edge->from, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_report_value *row = br2_report_row(maker, table, source->sum);
    row[I_COUNT] = br2_value_count(source->sum);
    row[I_SHARE] = br2_value_share(source->sum, maker->all_taken);
    row[I_TARGETS] = br2_value_count(source->count);
    row[I_ENTROPY] = br2_value_number(entropy(maker->graph, source));
    row[I_FIRST] = br2_value_share(source->most, source->sum);
    br2_report_interval(maker, source->most, source->sum, row + I_LOW);
    if (maker->graph->predictions_known) {
        row[I_MISPREDICTED] = br2_value_count(source->mispredicted);
        row[I_RATE] = br2_value_share(source->mispredicted, source->sum);
    }
    row[I_KIND] = br2_value_text(br2_edge_kind_names[edge->kind]);
    row[I_ADDRESS] = br2_value_count(edge->from);
    /* The linker's stubs have one target each, and no compiler to change them. */
    bool stub = maker->graph->functions[edge->from_function].range->plt;
    bool promote = !stub && row[I_LOW].known && row[I_LOW].is.number > PROMOTE_MIN;
    row[I_ADVICE] = br2_value_text(promote ? "promote" : NULL);
    row[I_FILE] = place.file;
    row[I_LINE] = place.line;
    row[I_FUNCTION] = br2_value_text(br2_report_name(maker, edge->from_function));
    return 0;
}

/* Edges of one source, the one that was seen most first. */
static int compare_edges(const void *left, const void *right)
{
    const struct br2_flow_edge *const *a = left;
    const struct br2_flow_edge *const *b = right;
    int order = br2_compare_u64((*b)->count, (*a)->count);
    return order != 0 ? order : br2_compare_u64((*a)->to, (*b)->to);
}

static void add_targets(struct br2_report_maker *maker, struct br2_report_table *table,
                        const struct source *source)
{
    const struct br2_flow_edge **edges = br2_calloc(source->count, sizeof *edges);
    if (edges == NULL) {
        maker->report->failed = true;
        return;
    }
    for (size_t i = 0; i < source->count; i++) {
        edges[i] = &maker->graph->edges[source->first + i];
    }
    qsort(edges, source->count, sizeof *edges, compare_edges);
    for (size_t i = 0; i < source->count; i++) {
        struct br2_report_value *row = br2_report_row(maker, table, source->sum);
        row[T_COUNT] = br2_value_count(edges[i]->count);
        row[T_SHARE] = br2_value_share(edges[i]->count, source->sum);
        br2_report_interval(maker, edges[i]->count, source->sum, row + T_LOW);
        row[T_ADDRESS] = br2_value_count(edges[i]->from);
        if (edges[i]->to != 0) {
            row[T_TARGET] = br2_value_count(edges[i]->to);
        }
        row[T_FUNCTION] = br2_value_text(br2_report_name(maker, edges[i]->from_function));
        row[T_TO] = br2_value_text(br2_report_name(maker, edges[i]->to_function));
    }
    br2_free(edges);
}

int br2_report_targets(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    size_t count;
    struct source *sources = find_sources(maker, &count);
    if (sources == NULL) {
        return br2_fail_memory(err);
    }
    int rc = 0;
    struct br2_report_table *table = br2_report_begin(maker, &branch_shape);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = add_source(maker, table, &sources[i], err);
    }
    br2_report_end(maker, table);
    table = br2_report_begin(maker, &target_shape);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        add_targets(maker, table, &sources[i]);
    }
    br2_report_end(maker, table);
    br2_free(sources);
    return rc;
}
