/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* block_flow.c: edges between blocks, names, and what is left out. */
#include "block_case.h"

#include "base/mem.h"
#include "flow/block_flow.h"

#define M BR2_RECORD_MISPREDICTED

static const struct br2_branch_record history[] = {
    {FC_OTHER, 0x401000, 0}, {0x401005, 0x40100d, 0},
    {0x40100f, 0x401008, M}, {0x401008, 0x401030, 0},
    {0x40103e, 0x401040, 0}, {0x401040, 0x401060, 0},
    {0x401060, 0x401042, 0}, /* a return to the middle of a block */
    {0x401045, 0x401043, 0}, {0x401047, 0x401061, 0},
    {0x401061, 0x401049, 0}, /* into another function */
    {0x401049, 0x40100d, 0}, /* a return to the start of a block: it goes on from the call's */
    {0x40100f, 0x401008, 0},
};

static const struct br2_branch_record lost[] = {
    {0x401040, 0x401043, 0},  /* a call of what is no function */
    {0x40103e, 0x401042, 0},  /* not in the table */
    {0x401015, 0x40101a, 0},  /* a call into its own function */
    {FC_KERNEL, 0x401000, 0}, /* an interrupt at the entry */
    {0x40104a, 0x40100d, 0},  /* unwinding: kept as coming from outside */
};

#define A  UINT64_C(0x401000)
#define NO BR2_OUTSIDE
static const struct br2_block_edge wanted[] = {
    {0, A, NO, 0, 1, 0, false},
    {0, A + 0x0d, NO, 0, 1, 0, false},
    {A + 0x05, A + 0x0d, 0, 0, 1, 0, false},
    {A + 0x08, A + 0x0d, 0, 0, 1, 0, true},
    {A + 0x08, A + 0x30, 0, 1, 1, 0, false},
    {A + 0x0f, A + 0x08, 0, 0, 2, 1, false},
    {A + 0x3e, A + 0x40, 1, 1, 1, 0, false},
    {A + 0x40, A + 0x60, 1, 2, 1, 0, false},
    {A + 0x42, A + 0x43, 1, 1, 1, 0, true},
    {A + 0x45, A + 0x43, 1, 1, 1, 0, false},
    {A + 0x45, A + 0x47, 1, 1, 1, 0, true},
    {A + 0x47, A + 0x61, 1, 3, 1, 0, false},
    {A + 0x61, A + 0x49, 3, 1, 1, 0, false},
};
#define WANTED (sizeof wanted / sizeof wanted[0])

static void make(struct flow_case *fc)
{
    fc_open(fc, BC_PROGRAM, BC_TEXT);
    fc_history(fc, history, sizeof history / sizeof history[0]);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        fc_history(fc, &lost[i], 1);
    }
    fc_build(fc);
}

static void check_edge(const struct br2_block_edge *edge, const struct br2_block_edge *expected)
{
    print_message("%llx %llx\n", (unsigned long long)edge->from, (unsigned long long)edge->to);
    assert_int_equal(edge->from, expected->from);
    assert_int_equal(edge->to, expected->to);
    assert_int_equal(edge->from_function, expected->from_function);
    assert_int_equal(edge->to_function, expected->to_function);
    assert_int_equal(edge->count, expected->count);
    assert_int_equal(edge->mispredicted, expected->mispredicted);
    assert_int_equal(edge->fall_through, expected->fall_through);
}

static void check_function(const struct br2_block_flow *flow, size_t number, uint64_t start,
                           const char *name, uint32_t local)
{
    const struct br2_block_function *function = &flow->functions[number];
    assert_int_equal(function->start, start);
    assert_string_equal(br2_strings_get(&flow->names, function->name, NULL), name);
    assert_int_equal(function->local, local);
    assert_false(function->plt);
    assert_false(function->section);
}

static void test_edges(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    make(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    for (size_t i = 0; i < WANTED && i < flow.edge_count; i++) {
        check_edge(&flow.edges[i], &wanted[i]);
    }
    assert_int_equal(flow.edge_count, WANTED);
    assert_int_equal(flow.function_count, 4);
    check_function(&flow, 0, A, "_start", 0);
    check_function(&flow, 1, A + 0x30, "other", 1);
    check_function(&flow, 2, A + 0x60, "again", 1);
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

static void test_losses(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    make(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    assert_int_equal(flow.verdicts[BR2_BLOCK_KEPT], 14);
    assert_int_equal(flow.verdicts[BR2_BLOCK_RETURN], 2);
    assert_int_equal(flow.verdicts[BR2_BLOCK_RESUMES], 1);
    assert_int_equal(flow.verdicts[BR2_BLOCK_NO_ENTRY], 1);
    assert_int_equal(flow.verdicts[BR2_BLOCK_NO_TARGET], 1);
    assert_int_equal(flow.verdicts[BR2_BLOCK_INNER_CALL], 1);
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

/* Traces are of edges that are kept and of returns; one whose edge is lost has its run alone. */
static void test_traces(void **state)
{
    (void)state;
    static const struct br2_block_trace traces[] = {
        {0, A, A + 0x05, 1, 0, false, true},
        {A + 0x05, A + 0x0d, A + 0x0f, 1, 0, false, false},
        {A + 0x08, A + 0x30, A + 0x3e, 1, 0, false, true},
        {A + 0x0f, A + 0x08, A + 0x08, 1, 1, false, false}, /* the newest record has no run */
        {A + 0x3e, A + 0x40, A + 0x40, 1, 0, false, false},
        {A + 0x40, A + 0x60, A + 0x60, 1, 0, false, true},
        {A + 0x45, A + 0x43, A + 0x47, 1, 0, false, false},
        {A + 0x47, A + 0x61, A + 0x61, 1, 0, false, true},
        {A + 0x49, A + 0x0d, A + 0x0f, 1, 0, true, true},
        {A + 0x60, A + 0x42, A + 0x45, 1, 0, true, true},
        {A + 0x61, A + 0x49, A + 0x49, 1, 0, false, true},
    };
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    make(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    for (size_t i = 0; i < flow.trace_count && i < sizeof traces / sizeof *traces; i++) {
        print_message("%llx\n", (unsigned long long)flow.traces[i].from);
        assert_int_equal(flow.traces[i].from, traces[i].from);
        assert_int_equal(flow.traces[i].to, traces[i].to);
        assert_int_equal(flow.traces[i].end, traces[i].end);
        assert_int_equal(flow.traces[i].count, traces[i].count);
        assert_int_equal(flow.traces[i].mispredicted, traces[i].mispredicted);
        assert_int_equal(flow.traces[i].returns, traces[i].returns);
        assert_int_equal(flow.traces[i].resumed, traces[i].resumed);
    }
    assert_int_equal(flow.trace_count, sizeof traces / sizeof *traces);
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

/* Runs know how many of them were resumed: got to by a return, or from another function. */
static void test_runs(void **state)
{
    (void)state;
    static const struct br2_block_run runs[] = {
        {A, A + 0x05, 1, 1},        {A + 0x08, A + 0x08, 1, 0}, {A + 0x0d, A + 0x0f, 2, 1},
        {A + 0x30, A + 0x3e, 1, 1}, {A + 0x40, A + 0x40, 1, 0}, {A + 0x42, A + 0x45, 1, 1},
        {A + 0x43, A + 0x47, 1, 0}, {A + 0x49, A + 0x49, 1, 1}, {A + 0x60, A + 0x60, 1, 1},
        {A + 0x61, A + 0x61, 1, 1},
    };
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    make(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    assert_int_equal(flow.run_count, sizeof runs / sizeof runs[0]);
    for (size_t i = 0; i < flow.run_count; i++) {
        assert_int_equal(flow.runs[i].start, runs[i].start);
        assert_int_equal(flow.runs[i].end, runs[i].end);
        assert_int_equal(flow.runs[i].count, runs[i].count);
        assert_int_equal(flow.runs[i].resumed, runs[i].resumed);
    }
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

/* A run that passes an indirect jump is the jump's way to the next instruction, where its table
 * holds that. */
static void test_passed_jump(void **state)
{
    (void)state;
    static const struct br2_branch_record passes[] = {{0x401008, 0x401030, 0},
                                                      {0x401040, 0x401060, 0}};
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    fc_open(&fc, BC_PROGRAM, BC_TEXT);
    fc_history(&fc, passes, 2);
    fc_build(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    assert_int_equal(flow.edge_count, 3);
    check_edge(&flow.edges[1], &(struct br2_block_edge){A + 0x3e, A + 0x40, 1, 1, 1, 0, true});
    assert_int_equal(flow.runs[0].end, A + 0x40);
    assert_int_equal(flow.runs[0].resumed, 1);
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

/* Only a run from the start of a block, and behind a call, goes on from the call's block. */
static void test_no_continuation(void **state)
{
    (void)state;
    static const struct br2_branch_record middle[] = {{FC_OTHER, 0x40100f, 0},
                                                      {0x40100f, 0x401008, 0}};
    static const struct br2_branch_record no_call[] = {{FC_OTHER, 0x401011, 0},
                                                       {0x401013, 0x401030, 0}};
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    fc_open(&fc, BC_PROGRAM, BC_TEXT);
    fc_history(&fc, middle, 2);
    fc_history(&fc, no_call, 2);
    fc_build(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    assert_int_equal(flow.edge_count, 5);
    check_edge(&flow.edges[2], &(struct br2_block_edge){A + 0x0f, A + 0x08, 0, 0, 1, 0, false});
    check_edge(&flow.edges[3], &(struct br2_block_edge){A + 0x11, A + 0x13, 0, 0, 1, 0, true});
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

#define RECURSION                                                                                  \
    ".globl _start\n.type _start, @function\n_start: call _start\n1: lock incl (%rdi)\n"           \
    "2: dec %edx\njne 2b\njne 1b\nret\n.size _start, .-_start\n"                                   \
    ".type enter, @function\nenter: call *%rcx\n3: dec %edx\njne 3b\nret\n.size enter, .-enter\n"  \
    ".type other, @function\nother: jmp 3b\n.size other, .-other\n"

/* _start: 0 call, 5 lock incl, 8 dec, a jne, c jne, e ret; enter: f call, 11 dec, 13 jne, 15 ret;
 * other: 16 jmp. */
static const struct br2_branch_record recursion[] = {
    {A + 0x0e, A + 0x05, 0}, /* a recursive return */
    {A + 0x0a, A + 0x08, 0},
};
static const struct br2_branch_record entered[] = {
    {A + 0x16, A + 0x11, 0}, /* from another function to behind a call: an entry, no return */
    {A + 0x13, A + 0x11, 0},
};

static void test_returns_and_entries(void **state)
{
    (void)state;
    static const struct br2_block_edge rows[] = {
        {A, A + 0x05, 0, 0, 1, 0, true},
        {A + 0x06, A + 0x08, 0, 0, 1, 0, true}, /* behind the prefix, as LLVM has it */
        {A + 0x0a, A + 0x08, 0, 0, 1, 0, false},
        {A + 0x13, A + 0x11, 1, 1, 1, 0, false},
        {A + 0x16, A + 0x11, 2, 1, 1, 0, false},
    };
    struct flow_case fc;
    struct br2_block_flow flow = {0};
    fc_open(&fc, RECURSION, BC_TEXT);
    fc_history(&fc, recursion, 2);
    fc_history(&fc, entered, 2);
    fc_build(&fc);
    assert_int_equal(br2_block_flow_build(fc.graph, NULL, &flow, NULL), 0);
    for (size_t i = 0; i < 5 && i < flow.edge_count; i++) {
        check_edge(&flow.edges[i], &rows[i]);
    }
    assert_int_equal(flow.edge_count, 5);
    br2_block_flow_done(&flow);
    fc_close(&fc);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct flow_case fc;
    make(&fc);
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 200) {
        struct br2_block_flow flow = {0};
        br2_mem_fail_at(++nth);
        rc = br2_block_flow_build(fc.graph, NULL, &flow, NULL);
        br2_mem_fail_at(0);
        assert_true(rc != 0 || flow.edge_count == WANTED);
        br2_block_flow_done(&flow);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 20);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_passed_jump),
        cmocka_unit_test(test_no_continuation),
        cmocka_unit_test(test_returns_and_entries),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
