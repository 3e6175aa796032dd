/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops, latencies and ways, of histories with known answers. */
#include "report_case.h"

#define CYC(n) ((uint64_t)(n) << 4)
#define M      BR2_RECORD_MISPREDICTED

/* Case D: from, to, cycles. */
#define CASE_D                                                                                                       \
    ".globl _start\n.org 0x600, 0x90\n.type _start, @function\n_start: .org 0x60a, 0x90\njne 1f\n.org 0x618, 0x90\n" \
    "1: .org 0x628, 0x90\njne 2f\n.org 0x644, 0x90\n2: .org 0x64e, 0x90\njmp _start\n"                               \
    ".size _start, .-_start\n"
static const struct br2_branch_record case_d[] = {
    {0x40060a, 0x400618, CYC(10)}, {0x400628, 0x400644, CYC(80)},  {0x40064e, 0x400600, CYC(3)},
    {0x40060a, 0x400618, CYC(9)},  {0x400628, 0x400644, CYC(300)}, {0x40064e, 0x400600, CYC(3)},
};

/* Case B. */
#define CASE_B                                                                                     \
    ".globl _start\n.org 0xab0, 0x90\n.type _start, @function\n_start: .org 0xabd, 0x90\njz 1f\n"  \
    ".org 0xad0, 0x90\n1: .org 0xadd, 0x90\njns 2f\n.org 0xaf9, 0x90\njmp _start\n"                \
    ".org 0xb00, 0x90\n2: .org 0xb24, 0x90\njne _start\nret\n.size _start, .-_start\n"
static const struct br2_branch_record case_b[] = {
    {0x4edaf9, 0x4edab0, CYC(29)}, {0x4edabd, 0x4edad0, CYC(2)}, {0x4edadd, 0x4edb00, M | CYC(4)},
    {0x4edb24, 0x4edab0, CYC(24)}, {0x4edabd, 0x4edad0, CYC(2)}, {0x4edadd, 0x4edb00, M | CYC(1)},
    {0x4edb24, 0x4edab0, CYC(3)},  {0x4edabd, 0x4edad0, CYC(1)},
};

/* Follows the histories whole: here every record is of the image. */
static void follow(struct report_case *rc, struct br2_histories *histories,
                   const struct br2_branch_record *records, size_t count)
{
    const struct br2_flow_graph *graph = rc->fc.graph;
    struct br2_step steps[64] = {0};
    for (size_t i = 0; i < count; i++) {
        steps[i].edge = br2_flow_edge_number(graph, records[i].from, records[i].to);
        steps[i].cycles = br2_record_cycles(records[i].flags);
        steps[i].mispredicted = (records[i].flags & M) != 0;
        steps[i].joined = i != 0 && br2_flow_has_run(graph, records[i - 1].to, records[i].from);
    }
    assert_int_equal(br2_histories_begin(graph, histories, NULL), 0);
    struct br2_follower *follower = br2_follower_new(graph, histories);
    assert_true(br2_history_follow(follower, steps, count, 1));
    br2_follower_free(follower);
    rc->input.histories = histories;
}

static void open_case(struct report_case *rc, const char *assembly, uint64_t at,
                      const struct br2_branch_record *records, size_t count)
{
    *rc = (struct report_case){0};
    fc_open(&rc->fc, assembly, at);
    fc_history(&rc->fc, records, count);
    fc_build(&rc->fc);
    rc->fc.graph->predictions_known = true;
}

static void test_case_d(void **state)
{
    (void)state;
    struct report_case rc;
    struct br2_histories histories;
    open_case(&rc, CASE_D, 0x400000, case_d, 6);
    follow(&rc, &histories, case_d, 6);
    rc_make(&rc, "latency,loops,paths");
    const struct br2_report_table *table = br2_report_table(rc.report, "latency");
    assert_int_equal(rc_count(table, 0, "start"), 0x400618); /* most cycles are spent there */
    assert_int_equal(rc_count(table, 0, "end"), 0x400628);
    assert_int_equal(rc_count(table, 0, "count"), 2);
    assert_int_equal(rc_count(table, 0, "least"), 80);
    assert_int_equal(rc_count(table, 0, "most"), 300);
    rc_near(rc_number(table, 0, "mean"), 190, 0);
    rc_near(rc_number(table, 0, "share"), 380.0 / 395, 1e-9); /* the first record's time no run */
    assert_string_equal(rc_text(table, 0, "peaks"), "80 (50.0%), 300 (50.0%)");
    table = br2_report_table(rc.report, "cycle_histograms");
    assert_int_equal(rc_count(table, rc_row(table, "cycles", 80), "count"), 1);
    assert_int_equal(rc_count(table, rc_row(table, "cycles", 300), "start"), 0x400618);
    assert_int_equal(rc_count(table, rc_row(table, "cycles", 3), "count"), 2);
    table = br2_report_table(rc.report, "loop_latency");
    assert_int_equal(table->row_count, 1);
    assert_int_equal(rc_count(table, 0, "most"), 312); /* 9 + 300 + 3 */
    assert_int_equal(rc_count(table, 0, "count"), 1);
    table = br2_report_table(rc.report, "loops");
    assert_int_equal(rc_count(table, 0, "header"), 0x400600);
    assert_int_equal(rc_count(table, 0, "complete"), 0);
    assert_int_equal(rc_count(table, 0, "cut"), 1);
    assert_int_equal(rc_count(table, 0, "longest_cut"), 3);
    table = br2_report_table(rc.report, "paths");
    assert_int_equal(table->row_count, 1); /* of the first time round the beginning is not seen */
    assert_int_equal(rc_count(table, 0, "count"), 1);
    assert_int_equal(rc_count(table, 0, "saved_by_layout"), 2);
    assert_int_equal(rc_count(table, 0, "spread"), 0x50);
    assert_string_equal(rc_text(table, 0, "straight_runs"),
                        "400600-40060a 400618-400628 400644-40064e");
    br2_histories_done(&histories);
    rc_close(&rc);
}

static void test_case_b(void **state)
{
    (void)state;
    struct report_case rc;
    open_case(&rc, CASE_B, 0x4ed000, case_b, 8);
    rc_make(&rc, "branches,latency");
    const struct br2_report_table *table = br2_report_table(rc.report, "branches");
    size_t jns = rc_row(table, "address", 0x4edadd);
    assert_int_equal(rc_count(table, jns, "taken"), 2);
    assert_int_equal(rc_count(table, jns, "mispredicted"), 2);
    size_t jne = rc_row(table, "address", 0x4edb24);
    assert_int_equal(rc_count(table, jne, "taken"), 2);
    assert_int_equal(rc_count(table, jne, "mispredicted"), 0);
    assert_int_equal(rc_count(table, rc_row(table, "address", 0x4edabd), "taken"), 3);
    table = br2_report_table(rc.report, "latency");
    size_t run = rc_row(table, "end", 0x4edb24);
    assert_int_equal(rc_count(table, run, "start"), 0x4edb00);
    assert_int_equal(rc_count(table, run, "count"), 2);
    assert_int_equal(rc_count(table, run, "least"), 3);
    assert_int_equal(rc_count(table, run, "most"), 24);
    rc_close(&rc);
}

/* Cycles of one block and how often each was seen. */
static void test_case_e(void **state)
{
    (void)state;
    static const struct {
        uint32_t cycles;
        uint64_t count;
        double share;
    } seen[] = {{1, 10484, 0.170}, {2, 16728, 0.271}, {3, 4563, 0.074}, {4, 15815, 0.256},
                {6, 4770, 0.077},  {24, 3804, 0.062}, {32, 5567, 0.090}};
    struct report_case rc = {0};
    fc_open(&rc.fc, CASE_D, 0x400000);
    for (size_t i = 0; i < 7; i++) {
        const struct br2_branch_record records[] = {{0x40060a, 0x400618, 0},
                                                    {0x400628, 0x400644, CYC(seen[i].cycles)}};
        fc_history(&rc.fc, records, 2);
    }
    fc_build(&rc.fc);
    assert_int_equal(rc.fc.graph->timing_count, 7);
    for (size_t i = 0; i < 7; i++) {
        rc.fc.graph->timings[i].count = seen[i].count;
    }
    rc_make(&rc, "latency");
    const struct br2_report_table *table = br2_report_table(rc.report, "latency");
    assert_int_equal(table->row_count, 1);
    assert_int_equal(rc_count(table, 0, "count"), 61731);
    assert_string_equal(rc_text(table, 0, "peaks"), "2 (84.8%), 32 (15.2%)");
    table = br2_report_table(rc.report, "cycle_histograms");
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(rc_count(table, i, "cycles"), seen[i].cycles);
        assert_int_equal(rc_count(table, i, "count"), seen[i].count);
        rc_near(rc_number(table, i, "share"), seen[i].share, 0.0005);
    }
    rc_close(&rc);
}

/* A loop that always goes round twice, and is left by a branch that nobody expects. */
static void test_loops(void **state)
{
    (void)state;
    struct report_case rc;
    struct br2_histories histories;
    struct br2_branch_record records[40];
    size_t count = 0;
    for (int i = 0; i < 8; i++) {
        records[count++] = (struct br2_branch_record){0x401000, 0x401010, 0};
        records[count++] = (struct br2_branch_record){0x401018, 0x401010, 0};
        records[count++] = (struct br2_branch_record){0x401012, 0x40101a, M};
        records[count++] = (struct br2_branch_record){0x40101a, 0x401005, 0};
        records[count++] = (struct br2_branch_record){0x401005, 0x401000, 0};
    }
    rc = (struct report_case){0};
    fc_open(&rc.fc,
            ".globl _start\n.type _start, @function\n_start: call f\njmp _start\n"
            ".size _start, .-_start\n.org 0x10, 0x90\n.type f, @function\n"
            "f: test %eax, %eax\nje 2f\nmov %eax, %ecx\ndec %edx\njne f\n2: ret\n.size f, .-f\n",
            FC_TEXT);
    fc_history(&rc.fc, records, count);
    fc_build(&rc.fc);
    rc.fc.graph->predictions_known = true;
    follow(&rc, &histories, records, count);
    rc_make(&rc, "loops,branches");
    const struct br2_report_table *table = br2_report_table(rc.report, "loops");
    size_t row = rc_row(table, "header", 0x401010);
    assert_int_equal(rc_count(table, row, "complete"), 8);
    assert_int_equal(rc_count(table, row, "cut"), 0);
    assert_int_equal(rc_count(table, row, "trips_frequent"), 2);
    rc_near(rc_number(table, row, "trips_mean"), 2, 0);
    rc_near(rc_number(table, row, "trips_per_entry"), 2, 1e-9);
    assert_int_equal(rc_count(table, row, "taken_exits"), 8);
    rc_near(rc_number(table, row, "exit_mispredict_rate"), 1, 0);
    assert_string_equal(rc_text(table, row, "advice"), "exit mispredicted");
    table = br2_report_table(rc.report, "branches"); /* a branch back is meant to be taken */
    row = rc_row(table, "address", 0x401018);
    rc_near(rc_number(table, row, "taken_probability"), 1, 0);
    assert_string_equal(rc_text(table, row, "advice"), "-");
    table = br2_report_table(rc.report, "trip_counts");
    row = rc_row(table, "header", 0x401010);
    assert_int_equal(rc_count(table, row, "trips"), 2);
    assert_int_equal(rc_count(table, row, "complete"), 8);
    br2_histories_done(&histories);
    rc_close(&rc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_d),
        cmocka_unit_test(test_case_b),
        cmocka_unit_test(test_case_e),
        cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
