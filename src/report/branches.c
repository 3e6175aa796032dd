/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Branches, each by its address: two on one line, or of one macro, are two rows. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"

/* A forward branch that is taken at least so often is better inverted, so that the hot way falls
 * through; one that is taken more often than not is better laid out otherwise. */
#define INVERT_MIN 0.9
#define LAYOUT_MIN 0.5
/* Mispredictions in taken branches from which on one is called unpredictable. */
#define UNPREDICTABLE_MIN 0.1

enum {
    RANK,
    COST_RANK,
    EXECUTIONS,
    TAKEN,
    PASSED,
    SHARE,
    PROBABILITY,
    LOW,
    HIGH,
    EVIDENCE,
    MISPREDICTED,
    RATE,
    RATE_LOW,
    RATE_HIGH,
    KIND,
    ADDRESS,
    TARGET,
    ADVICE,
    FILE_NAME,
    LINE,
    DISCRIMINATOR,
    INLINED,
    FUNCTION,
    COLUMNS
};

static const struct br2_report_column columns[COLUMNS] = {
    [RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [COST_RANK] = {"cost_rank", NULL, BR2_VALUE_COUNT, false},
    [EXECUTIONS] = {"executions", "outcomes", BR2_VALUE_COUNT, false},
    [TAKEN] = {"taken", "records", BR2_VALUE_COUNT, true},
    [PASSED] = {"passed", "outcomes", BR2_VALUE_COUNT, true},
    [SHARE] = {"share", "of records", BR2_VALUE_SHARE, false},
    [PROBABILITY] = {"taken_probability", NULL, BR2_VALUE_SHARE, false},
    [LOW] = {"taken_low", NULL, BR2_VALUE_LOW, false},
    [HIGH] = {"taken_high", NULL, BR2_VALUE_HIGH, false},
    [EVIDENCE] = {"taken_of", "outcomes", BR2_VALUE_COUNT, true},
    [MISPREDICTED] = {"mispredicted", "records", BR2_VALUE_COUNT, false},
    [RATE] = {"mispredict_rate", "of taken", BR2_VALUE_SHARE, false},
    [RATE_LOW] = {"mispredict_low", "of taken", BR2_VALUE_LOW, false},
    [RATE_HIGH] = {"mispredict_high", "of taken", BR2_VALUE_HIGH, false},
    [KIND] = {"kind", NULL, BR2_VALUE_TEXT, false},
    [ADDRESS] = {"address", NULL, BR2_VALUE_ADDRESS, false},
    [TARGET] = {"target", NULL, BR2_VALUE_ADDRESS, true},
    [ADVICE] = {"advice", NULL, BR2_VALUE_TEXT, false},
    [FILE_NAME] = {"file", NULL, BR2_VALUE_FILE, false},
    [LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [DISCRIMINATOR] = {"discriminator", NULL, BR2_VALUE_COUNT, true},
    [INLINED] = {"inlined", NULL, BR2_VALUE_TEXT, true},
    [FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape shape = {
    .name = "branches",
    .section = "branches",
    .title = "Branches by how often they ran",
    .note =
        "Intervals are of 95 %, as if every outcome had been sampled alone. Only taken branches "
        "say whether they were predicted.",
    .columns = columns,
    .column_count = COLUMNS,
};

/* What is known of one branch instruction. */
struct branch {
    const struct br2_insn *insn;
    uint64_t taken;
    uint64_t mispredicted;
    uint64_t passed;
    uint64_t after_run; /* of `taken`: a run led to it */
    enum br2_edge_kind kind;
};

static const char *advise(const struct branch *branch, const struct br2_report_value *row)
{
    bool forward = branch->kind == BR2_EDGE_COND && branch->insn->target > branch->insn->address;
    bool known = row[LOW].known && forward;
    if (row[RATE_LOW].known && row[RATE_LOW].is.number >= UNPREDICTABLE_MIN) {
        return "unpredictable";
    }
    if (known && row[LOW].is.number >= INVERT_MIN) {
        return "invert";
    }
    return known && row[LOW].is.number > LAYOUT_MIN ? "lay out" : NULL;
}

static void fill_outcomes(struct br2_report_maker *maker, const struct branch *branch,
                          struct br2_report_value *row)
{
    uint64_t known = branch->after_run != 0 ? branch->after_run : branch->taken;
    row[EXECUTIONS] = br2_value_count(branch->taken + branch->passed);
    row[TAKEN] = br2_value_count(branch->taken);
    row[SHARE] = br2_value_share(branch->taken, maker->all_taken);
    if (branch->kind == BR2_EDGE_COND) {
        row[PASSED] = br2_value_count(branch->passed);
        row[PROBABILITY] = br2_value_number(
            br2_taken_probability(branch->taken, branch->after_run, branch->passed));
        row[EVIDENCE] = br2_value_count(known + branch->passed);
        br2_report_interval(maker, known, known + branch->passed, row + LOW);
    }
    if (maker->graph->predictions_known) {
        row[MISPREDICTED] = br2_value_count(branch->mispredicted);
        row[RATE] = br2_value_share(branch->mispredicted, branch->taken);
        br2_report_interval(maker, branch->mispredicted, branch->taken, row + RATE_LOW);
    }
    row[ADVICE] = br2_value_text(advise(branch, row));
}

static int add_branch(struct br2_report_maker *maker, struct br2_report_table *table,
                      uint32_t function, const struct branch *branch, struct br2pgo_error *err)
{
    struct br2_report_place place;
    int rc = br2_report_place(maker, branch->insn->address, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_report_value *row = br2_report_row(maker, table, branch->taken + branch->passed);
    fill_outcomes(maker, branch, row);
    row[KIND] = br2_value_text(br2_edge_kind_names[branch->kind]);
    row[ADDRESS] = br2_value_count(branch->insn->address);
    if (branch->insn->target != 0) {
        row[TARGET] = br2_value_count(branch->insn->target);
    }
    row[FILE_NAME] = place.file;
    row[LINE] = place.line;
    row[DISCRIMINATOR] = place.discriminator;
    row[INLINED] = place.inlined;
    row[FUNCTION] = br2_value_text(br2_report_name(maker, function));
    return 0;
}

/* The branch instruction's outcomes; false where none was seen. */
static bool find_outcomes(const struct br2_flow_graph *graph,
                          const struct br2_flow_function *function, size_t index,
                          struct branch *ret)
{
    const struct br2_insn *insn = &function->code.insns[index];
    size_t count;
    size_t first = br2_flow_edges_from(graph, insn->address, &count);
    *ret = (struct branch){.insn = insn, .after_run = function->ends[index]};
    for (size_t i = first; i < first + count; i++) {
        ret->taken += graph->edges[i].count;
        ret->mispredicted += graph->edges[i].mispredicted;
        ret->kind = graph->edges[i].kind;
    }
    if (insn->kind == BR2_INSN_COND) {
        ret->kind = BR2_EDGE_COND;
        ret->passed = function->counts[index] - function->ends[index];
    }
    return ret->taken + ret->passed != 0;
}

static int add_function(struct br2_report_maker *maker, struct br2_report_table *table,
                        uint32_t number, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = &maker->graph->functions[number];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < function->code.count; i++) {
        struct branch branch;
        if (function->code.insns[i].kind != BR2_INSN_PLAIN &&
            find_outcomes(maker->graph, function, i, &branch)) {
            rc = add_branch(maker, table, number, &branch, err);
        }
    }
    return rc;
}

static int compare_costs(const void *left, const void *right)
{
    const struct br2_report_row *a = left;
    const struct br2_report_row *b = right;
    int order = br2_compare_u64(b->values[MISPREDICTED].is.count, a->values[MISPREDICTED].is.count);
    return order != 0 ? order : br2_compare_u64(a->number, b->number);
}

/* What mispredictions cost is their number: of one branch all take about as long. */
static void rank_costs(const struct br2_report_maker *maker, struct br2_report_table *table)
{
    if (table == NULL || table->row_count == 0 || !maker->graph->predictions_known) {
        return;
    }
    qsort(table->rows, table->row_count, sizeof *table->rows, compare_costs);
    for (size_t i = 0; i < table->row_count; i++) {
        table->rows[i].values[COST_RANK] = br2_value_count(i + 1);
    }
}

int br2_report_branches(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    struct br2_report_table *table = br2_report_begin(maker, &shape);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < maker->graph->function_count; i++) {
        if (maker->wanted[i]) {
            rc = add_function(maker, table, i, err);
        }
    }
    rank_costs(maker, table);
    br2_report_end(maker, table);
    return rc;
}
