/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* flow_edges.c: the rows of a flow graph, and their probabilities. */
#include "flow_case.h"

#include "base/mem.h"

#define M BR2_RECORD_MISPREDICTED

struct row {
    const char *function;
    uint64_t from;
    uint64_t to;
    enum br2_edge_kind kind;
    uint64_t count;
    uint64_t mispredicted; /* NONE: unknown */
    double probability;    /* negative: unknown */
};
#define NONE UINT64_MAX

static void check_rows(const struct br2_edge_table *table, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < table->count && i < count; i++) {
        const struct br2_edge *edge = &table->edges[i];
        const struct row *row = &rows[i];
        print_message("row %zu: %llx %llx\n", i, (unsigned long long)edge->from,
                      (unsigned long long)edge->to);
        assert_string_equal(br2_strings_get(&table->names, edge->image, NULL), "image");
        assert_string_equal(br2_strings_get(&table->names, edge->function, NULL), row->function);
        assert_int_equal(edge->from, row->from);
        assert_int_equal(edge->to, row->to);
        assert_int_equal(edge->kind, row->kind);
        assert_int_equal(edge->count, row->count);
        assert_int_equal(edge->prediction_known, row->mispredicted != NONE);
        if (row->mispredicted != NONE) {
            assert_int_equal(edge->mispredicted, row->mispredicted);
        }
        assert_int_equal(edge->probability_known, row->probability >= 0);
        if (row->probability >= 0) {
            assert_true(edge->probability > row->probability - 1e-9);
            assert_true(edge->probability < row->probability + 1e-9);
        }
    }
    assert_int_equal(table->count, count);
}

static void take(struct flow_case *fc, const struct br2_branch_record *records, size_t count,
                 unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        fc_sample(fc, records, count);
    }
}

/* je: passed 3 times, never taken; jne: taken 6 times, 3 of them at the end of a run, passed once;
 * the indirect call went to two places, 3 and 1 times; the indirect jump once to another image. */
static const struct br2_branch_record loop[] = {{0x401019, 0x401010, M}, {0x401019, 0x401010, 0}};
static const struct br2_branch_record last[] = {{0x40101b, 0x401007, 0}, {0x401005, 0x401017, 0}};
static const struct br2_branch_record calls[] = {{0x401005, 0x401020, 0}};
static const struct br2_branch_record leaves[] = {{0x401007, FC_OTHER, M}};
static const struct br2_branch_record enters[] = {{FC_OTHER, 0x401010, 0}};

static const struct row wanted[] = {
    {"", 0, 0x401010, BR2_EDGE_CALL, 2, 0, -1},
    {"_start", 0x401005, 0x401017, BR2_EDGE_INDIRECT_CALL, 1, 0, 0.25},
    {"_start", 0x401005, 0x401020, BR2_EDGE_INDIRECT_CALL, 3, 0, 0.75},
    {"_start", 0x401007, 0, BR2_EDGE_INDIRECT_JUMP, 1, 1, 1},
    {"work", 0x401013, 0x401017, BR2_EDGE_COND, 0, 0, 0},
    {"work", 0x401013, 0x401015, BR2_EDGE_FALLTHROUGH, 3, NONE, 1},
    {"work", 0x401019, 0x401010, BR2_EDGE_COND, 6, 3, 3.0 / 4},
    {"work", 0x401019, 0x40101b, BR2_EDGE_FALLTHROUGH, 1, NONE, 1.0 / 4},
    {"work", 0x40101b, 0x401007, BR2_EDGE_RETURN, 1, 0, 1},
};

static void make(struct flow_case *fc)
{
    fc_open(fc, FC_PROGRAM, FC_TEXT);
    take(fc, loop, 2, 3);
    take(fc, last, 2, 1);
    take(fc, calls, 1, 3);
    take(fc, leaves, 1, 1);
    take(fc, enters, 1, 2);
    fc_build(fc);
    fc->graph->predictions_known = true;
}

static void test_rows(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_edge_table table = {0};
    make(&fc);
    assert_int_equal(br2_flow_graph_edges(fc.graph, "image", &table, NULL), 0);
    check_rows(&table, wanted, sizeof wanted / sizeof wanted[0]);
    br2_edge_table_done(&table);
    fc_close(&fc);
}

/* The shares of one source's outcomes sum to 1. */
static void test_shares(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_edge_table table = {0};
    make(&fc);
    assert_int_equal(br2_flow_graph_edges(fc.graph, "image", &table, NULL), 0);
    size_t sources = 0;
    for (size_t i = 0; i < table.count; sources++) {
        uint64_t from = table.edges[i].from;
        double sum = 0;
        for (; i < table.count && table.edges[i].from == from; i++) {
            sum += from != 0 ? table.edges[i].probability : 1;
        }
        assert_true(sum > 1 - 1e-12 && sum < 1 + 1e-12);
    }
    assert_int_equal(sources, 6);
    br2_edge_table_done(&table);
    fc_close(&fc);
}

/* Without predictions in the recording, none is claimed. */
static void test_unknown_predictions(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_edge_table table = {0};
    make(&fc);
    fc.graph->predictions_known = false;
    assert_int_equal(br2_flow_graph_edges(fc.graph, "image", &table, NULL), 0);
    for (size_t i = 0; i < table.count; i++) {
        assert_false(table.edges[i].prediction_known);
    }
    br2_edge_table_done(&table);
    fc_close(&fc);
}

/* Runs that pass an indirect jump are its outcomes too. */
static void test_passed_indirect_jump(void **state)
{
    (void)state;
    static const struct br2_branch_record passes[] = {{0x401029, 0x40102b, 0},
                                                      {0x401022, 0x401026, 0}};
    static const struct br2_branch_record jumps[] = {{0x401026, 0x401010, M}};
    static const struct row rows[] = {
        {"tail", 0x401022, 0x401026, BR2_EDGE_COND, 3, 0, 1},
        {"tail", 0x401022, 0x401024, BR2_EDGE_FALLTHROUGH, 0, NONE, 0},
        {"tail", 0x401026, 0x401010, BR2_EDGE_INDIRECT_JUMP, 1, 1, 0.25},
        {"tail", 0x401026, 0x401028, BR2_EDGE_FALLTHROUGH, 3, NONE, 0.75},
        {"tail", 0x401029, 0x40102b, BR2_EDGE_JUMP, 3, 0, 1},
    };
    struct flow_case fc;
    struct br2_edge_table table = {0};
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    take(&fc, passes, 2, 3);
    take(&fc, jumps, 1, 1);
    fc_build(&fc);
    fc.graph->predictions_known = true;
    assert_int_equal(br2_flow_graph_edges(fc.graph, "image", &table, NULL), 0);
    check_rows(&table, rows, sizeof rows / sizeof rows[0]);
    br2_edge_table_done(&table);
    fc_close(&fc);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct flow_case fc;
    make(&fc);
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 100) {
        struct br2_edge_table table = {0};
        br2_mem_fail_at(++nth);
        rc = br2_flow_graph_edges(fc.graph, "image", &table, NULL);
        br2_mem_fail_at(0);
        assert_true(rc != 0 || table.count == sizeof wanted / sizeof wanted[0]);
        br2_edge_table_done(&table);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 3);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_unknown_predictions),
        cmocka_unit_test(test_passed_indirect_jump),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
