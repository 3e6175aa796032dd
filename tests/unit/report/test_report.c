/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Branches, targets, functions, code and coverage of small programs. */
#include "report_case.h"

static const struct br2_branch_record case_a[] = {
    {0x4eda2d, 0x4eda10, 0}, {0x4eda14, 0x4eda1e, 0}, {0x4eda1e, 0x4edb26, 0},
    {0x4b01cd, 0x4eda23, 0}, {0x4eda2d, 0x4eda10, 0}, {0x4eda1e, 0x4edb26, 0},
};

static void open_case_a(struct report_case *rc)
{
    *rc = (struct report_case){0};
    fc_open(&rc->fc, RC_CASE_A, RC_CASE_A_AT);
    fc_history(&rc->fc, case_a, 6);
    fc_build(&rc->fc);
}

static void test_probabilities(void **state)
{
    (void)state;
    struct report_case rc;
    open_case_a(&rc);
    rc_make(&rc, "branches");
    const struct br2_report_table *table = br2_report_table(rc.report, "branches");
    assert_int_equal(rc.report->table_count, 1);
    assert_int_equal(table->row_count, 4);
    size_t jne = rc_row(table, "address", 0x4eda2d);
    assert_int_equal(rc_count(table, jne, "taken"), 2);
    assert_int_equal(rc_count(table, jne, "passed"), 0);
    rc_near(rc_number(table, jne, "taken_probability"), 1, 0);
    /* Of the two, one is the oldest record: no run led to it. */
    assert_int_equal(rc_count(table, jne, "taken_of"), 1);
    size_t jns = rc_row(table, "address", 0x4eda14);
    assert_int_equal(rc_count(table, jns, "taken"), 1);
    assert_int_equal(rc_count(table, jns, "passed"), 1);
    assert_int_equal(rc_count(table, jns, "executions"), 2);
    rc_near(rc_number(table, jns, "taken_probability"), 0.5, 0);
    rc_near(rc_number(table, jns, "taken_low"), 0.094531, 1e-6); /* Wilson, 1 of 2 */
    rc_near(rc_number(table, jns, "taken_high"), 0.905469, 1e-6);
    rc_near(rc_number(table, jns, "share"), 1.0 / 6, 1e-9);
    assert_false(rc_value(table, jns, "mispredicted")->known);
    assert_false(rc_value(table, jns, "cost_rank")->known);
    assert_string_equal(rc_text(table, jns, "kind"), "cond");
    assert_string_equal(rc_text(table, jns, "function"), "_start");
    assert_int_equal(rc_count(table, rc_row(table, "address", 0x4eda1e), "taken"), 2);
    assert_int_equal(rc_count(table, rc_row(table, "address", 0x4b01cd), "taken"), 1);
    rc_close(&rc);
}

static void test_blocks(void **state)
{
    (void)state;
    struct report_case rc;
    open_case_a(&rc);
    rc.input.function = "_start";
    rc_make(&rc, "code");
    const struct br2_report_table *table = br2_report_table(rc.report, "blocks");
    assert_int_equal(rc_count(table, rc_row(table, "start", 0x4eda10), "count"), 2);
    assert_int_equal(rc_count(table, rc_row(table, "start", 0x4eda16), "count"), 1);
    size_t call = rc_row(table, "start", 0x4eda1e);
    assert_int_equal(rc_count(table, call, "count"), 2);
    assert_int_equal(rc_count(table, call, "end"), 0x4eda2f);
    table = br2_report_table(rc.report, "instructions");
    assert_int_equal(rc_count(table, rc_row(table, "address", 0x4eda23), "count"), 1);
    size_t jns = rc_row(table, "address", 0x4eda14);
    assert_string_equal(rc_text(table, jns, "text"), "jns 0x4eda1e");
    assert_string_equal(rc_text(table, rc_row(table, "address", 0x4eda18), "text"),
                        "shll $2, %ecx");
    table = br2_report_table(rc.report, "block_edges");
    assert_int_equal(table->row_count, 4);
    assert_int_equal(rc_count(table, 0, "to"), 0x4eda1e);
    assert_int_equal(rc_count(table, 0, "to_block"), 2);
    rc_near(rc_number(table, 0, "probability"), 0.5, 0);
    assert_string_equal(rc_text(table, 1, "kind"), "fallthrough");
    assert_int_equal(rc_count(table, 1, "to"), 0x4eda16);
    rc_close(&rc);
}

/* 303391 records predicted and 41665 not. */
static void test_case_c(void **state)
{
    (void)state;
    struct report_case rc;
    open_case_a(&rc);
    rc.fc.graph->predictions_known = true;
    for (size_t i = 0; i < rc.fc.graph->edge_count; i++) {
        if (rc.fc.graph->edges[i].from == 0x4eda2d) {
            rc.fc.graph->edges[i].count = 345056;
            rc.fc.graph->edges[i].mispredicted = 41665;
        }
    }
    rc_make(&rc, "branches");
    const struct br2_report_table *table = br2_report_table(rc.report, "branches");
    assert_int_equal(rc_count(table, 0, "address"), 0x4eda2d); /* ran most, and cost most */
    assert_int_equal(rc_count(table, 0, "rank"), 1);
    assert_int_equal(rc_count(table, 0, "cost_rank"), 1);
    assert_int_equal(rc_count(table, 0, "taken"), 345056);
    assert_int_equal(rc_count(table, 0, "mispredicted"), 41665);
    rc_near(1 - rc_number(table, 0, "mispredict_rate"), 0.879, 0.0005);
    rc_near(rc_number(table, 0, "mispredict_low"), 0.119665, 1e-5);
    rc_near(rc_number(table, 0, "mispredict_high"), 0.121840, 1e-5);
    assert_string_equal(rc_text(table, 0, "advice"), "unpredictable");
    /* One record that was predicted proves little. */
    size_t jns = rc_row(table, "address", 0x4eda14);
    rc_near(rc_number(table, jns, "mispredict_rate"), 0, 0);
    rc_near(rc_number(table, jns, "mispredict_high"), 0.793450, 1e-5);
    rc_close(&rc);
}

/* A branch that goes over code nearly always is better inverted; one that goes back is a loop. */
static void test_advice(void **state)
{
    (void)state;
    struct report_case rc = {0};
    fc_open(&rc.fc, FC_PROGRAM, FC_TEXT);
    for (int i = 0; i < 40; i++) {
        const struct br2_branch_record records[] = {
            {0x401000, 0x401010, 0}, {0x401013, 0x401017, 0}, {0x401019, 0x401010, 0},
            {0x401013, 0x401017, 0}, {0x40101b, 0x401005, 0},
        };
        fc_history(&rc.fc, records, 5);
    }
    fc_build(&rc.fc);
    rc_make(&rc, "branches");
    const struct br2_report_table *table = br2_report_table(rc.report, "branches");
    assert_string_equal(rc_text(table, rc_row(table, "address", 0x401013), "advice"), "invert");
    assert_string_equal(rc_text(table, rc_row(table, "address", 0x401019), "advice"), "-");
    assert_int_equal(rc_count(table, rc_row(table, "address", 0x401019), "passed"), 40);
    rc_close(&rc);
}

static void test_targets(void **state)
{
    (void)state;
    struct report_case rc = {0};
    fc_open(&rc.fc, FC_PROGRAM, FC_TEXT);
    for (int i = 0; i < 4; i++) {
        struct br2_branch_record records[] = {
            {0x401005, i != 0 ? 0x401010 : 0x401020, 0},
            {0x401007, i % 2 != 0 ? 0x401010 : 0x401020, 0},
        };
        fc_sample(&rc.fc, records, 1);
        fc_sample(&rc.fc, records + 1, 1);
    }
    fc_build(&rc.fc);
    rc_make(&rc, "targets");
    const struct br2_report_table *table = br2_report_table(rc.report, "indirect_branches");
    assert_int_equal(table->row_count, 2);
    size_t call = rc_row(table, "address", 0x401005);
    assert_int_equal(rc_count(table, call, "count"), 4);
    assert_int_equal(rc_count(table, call, "targets"), 2);
    rc_near(rc_number(table, call, "first_share"), 0.75, 0);
    rc_near(rc_number(table, call, "entropy"), 0.811278, 1e-6); /* of shares 1/4 and 3/4 */
    rc_near(rc_number(table, rc_row(table, "address", 0x401007), "entropy"), 1, 1e-12);
    table = br2_report_table(rc.report, "targets");
    assert_int_equal(table->row_count, 4);
    assert_int_equal(rc_count(table, 0, "count"), 3);
    assert_string_equal(rc_text(table, 0, "target_function"), "work");
    assert_string_equal(rc_text(table, 1, "target_function"), "tail");
    rc_close(&rc);
}

static void test_functions(void **state)
{
    (void)state;
    struct report_case rc;
    open_case_a(&rc);
    rc_make(&rc, "functions");
    const struct br2_report_table *table = br2_report_table(rc.report, "functions");
    assert_string_equal(rc_text(table, 0, "function"), "_start");
    /* Runs 4eda10..14 and 4eda10..1e, 4eda1e, 4eda23..2d. */
    assert_int_equal(rc_count(table, 0, "executed"), 3 + 7 + 1 + 4);
    rc_near(rc_number(table, 0, "share"), 1, 0);
    assert_int_equal(rc_count(table, 0, "ran"), 0x4eda2f - 0x4eda10);
    assert_int_equal(rc_count(table, 0, "cold"), 1);
    size_t callee = rc_row(table, "address", 0x4edb26);
    assert_int_equal(rc_count(table, callee, "entries"), 2);
    table = br2_report_table(rc.report, "calls");
    assert_int_equal(table->row_count, 1);
    assert_int_equal(rc_count(table, 0, "count"), 2);
    assert_string_equal(rc_text(table, 0, "caller"), "_start");
    assert_string_equal(rc_text(table, 0, "callee"), "callee");
    rc_near(rc_number(table, 0, "share_of_caller"), 1, 0);
    rc_close(&rc);
}

static void test_limit(void **state)
{
    (void)state;
    struct report_case rc;
    open_case_a(&rc);
    rc.input.top = 1;
    rc_make(&rc, NULL);
    const struct br2_report_table *table = br2_report_table(rc.report, "branches");
    assert_int_equal(table->row_count, 1);
    assert_int_equal(table->left_out, 3);
    assert_int_equal(br2_report_table(rc.report, "coverage")->left_out, 0);
    struct br2pgo_error err = {0};
    assert_int_equal(br2_report_check_sections("code,calls", &err), BR2PGO_INVALID);
    assert_string_equal(err.message, "a report has no section 'calls'");
    assert_int_equal(br2_report_check_sections("", &err), BR2PGO_INVALID);
    struct br2_report *none;
    rc.input.function = "absent";
    assert_int_equal(br2_report_make(&rc.input, &none, &err), BR2PGO_INVALID);
    assert_null(none);
    rc_close(&rc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_case_c),        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_targets),       cmocka_unit_test(test_functions),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
