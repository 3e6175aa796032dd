/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* doubtful.c: runs that pass an indirect jump, settled by the whole recording. */
#include "flow_case.h"

#define CYC(n) ((uint64_t)(n) << 4)

/* Passes the jump at 401026 on the way from 401026 to 401029. */
static const struct br2_branch_record passes[] = {{0x401029, 0x40102b, CYC(9)},
                                                  {0x401022, 0x401026, 0}};

static const struct {
    const char *what;
    unsigned passed;  /* runs that pass the jump */
    unsigned logged;  /* records of it to elsewhere */
    unsigned to_next; /* records of it to the next instruction */
    bool kept;
} rows[] = {
    {"never logged: it only ever went on", 1, 0, 0, true},
    {"missing too often for a glitch", 1, 99, 0, true},
    {"a glitch", 1, 100, 0, false},
    {"a larger glitch", 10, 991, 0, false},
    {"a larger one that is none", 10, 990, 0, true},
    {"the recorder does log the jump to the next instruction", 100, 1, 1, false},
};

static void check(size_t i)
{
    static const struct br2_branch_record logged = {0x401026, 0x401010, 0};
    static const struct br2_branch_record to_next = {0x401026, 0x401028, 0};
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    for (unsigned k = 0; k < rows[i].passed; k++) {
        fc_sample(&fc, passes, 2);
    }
    for (unsigned k = 0; k < rows[i].logged; k++) {
        fc_sample(&fc, &logged, 1);
    }
    for (unsigned k = 0; k < rows[i].to_next; k++) {
        fc_sample(&fc, &to_next, 1);
    }
    fc_build(&fc);
    const uint64_t *runs = fc.graph->run_verdicts;
    print_message("%s\n", rows[i].what);
    assert_int_equal(runs[BR2_RUN_KEPT], rows[i].kept ? rows[i].passed : 0);
    assert_int_equal(runs[BR2_RUN_PASSES_JUMP], rows[i].kept ? 0 : rows[i].passed);
    assert_int_equal(fc_runs(&fc, 0x401026, 0x401029), rows[i].kept ? rows[i].passed : 0);
    assert_int_equal(fc_count(&fc, 0x401028), rows[i].kept ? rows[i].passed : 0);
    assert_int_equal(fc_taken(&fc, 0x401026, 0x401010), rows[i].logged);
    assert_int_equal(fc.graph->timing_count, 0);
    fc_close(&fc);
}

static void test_shares(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check(i);
    }
}

#define TWO_JUMPS                                                                                  \
    ".globl _start\n.type _start, @function\n_start: jmp *%rax\njmp *%rcx\nnop\nret\n"             \
    ".size _start, .-_start\n"

/* Each jump is settled by its own records; a run that passes two is no run. */
static void test_each_jump_by_itself(void **state)
{
    (void)state;
    static const struct br2_branch_record first[] = {{0x401002, 0x401004, 0},
                                                     {FC_OTHER, 0x401000, 0}};
    static const struct br2_branch_record second[] = {{0x401005, FC_OTHER, 0},
                                                      {FC_OTHER, 0x401002, 0}};
    static const struct br2_branch_record both[] = {{0x401005, FC_OTHER, 0},
                                                    {FC_OTHER, 0x401000, 0}};
    struct flow_case fc;
    fc_open(&fc, TWO_JUMPS, FC_TEXT);
    fc_sample(&fc, first, 2);  /* passes the first jump; the second is logged to the next one */
    fc_sample(&fc, second, 2); /* passes the second */
    fc_sample(&fc, both, 2);
    fc_build(&fc);
    assert_int_equal(fc.graph->run_verdicts[BR2_RUN_KEPT], 1);
    assert_int_equal(fc.graph->run_verdicts[BR2_RUN_PASSES_JUMP], 2);
    assert_int_equal(fc_runs(&fc, 0x401000, 0x401002), 1);
    assert_int_equal(fc.graph->run_count, 1);
    fc_close(&fc);
}

/* Two jumps that are never logged: each may be passed, but not both in one run. */
static void test_both_in_one_run(void **state)
{
    (void)state;
    static const struct br2_branch_record both[] = {{0x401005, FC_OTHER, 0},
                                                    {FC_OTHER, 0x401000, 0}};
    struct flow_case fc;
    fc_open(&fc, TWO_JUMPS, FC_TEXT);
    fc_sample(&fc, both, 2);
    fc_build(&fc);
    assert_int_equal(fc.graph->run_verdicts[BR2_RUN_PASSES_JUMP], 1);
    assert_int_equal(fc.graph->run_count, 0);
    fc_close(&fc);
}

/* A run that ends in the jump does not pass it. */
static void test_ends_in_the_jump(void **state)
{
    (void)state;
    static const struct br2_branch_record ends[] = {{0x401026, 0x401010, CYC(3)},
                                                    {0x401022, 0x401026, 0}};
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    fc_sample(&fc, ends, 2);
    fc_build(&fc);
    assert_int_equal(fc_runs(&fc, 0x401026, 0x401026), 1);
    assert_int_equal(fc_timed(&fc, 0x401026, 0x401026, 3), 1);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_each_jump_by_itself),
        cmocka_unit_test(test_both_in_one_run),
        cmocka_unit_test(test_ends_in_the_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
