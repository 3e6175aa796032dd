/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* judge.c and flow_graph.c: what each record and each run is found to be, and what they add up to.
 */
#include "flow_case.h"

#include "base/mem.h"

#define M      BR2_RECORD_MISPREDICTED
#define CYC(n) ((uint64_t)(n) << 4)
#define MOST   4

struct verdict_case {
    const char *what;
    size_t records;
    struct br2_branch_record record[MOST]; /* newest first */
    uint64_t branches[BR2_BRANCH_VERDICTS];
    uint64_t runs[BR2_RUN_VERDICTS];
};

#define B(name) [BR2_BRANCH_##name]
#define R(name) [BR2_RUN_##name]

static const struct verdict_case verdicts[] = {
    {"a call and the run behind it",
     2,
     {{0x401013, 0x401017, 0}, {0x401000, 0x401010, 0}},
     {B(KEPT) = 2},
     {R(KEPT) = 1}},
    {"from another image to an entry, and on",
     2,
     {{0x40101b, 0x401005, 0}, {FC_OTHER + 4, 0x401010, 0}},
     {B(KEPT) = 1, B(ENTERS) = 1},
     {R(KEPT) = 1}},
    {"to another image by a direct branch: impossible; by an indirect one: kept",
     2,
     {{0x401007, FC_OTHER, 0}, {0x401013, FC_OTHER, 0}},
     {B(KEPT) = 1, B(WRONG_TARGET) = 1},
     {R(OTHER_IMAGE) = 1}},
    {"inside another image",
     2,
     {{FC_OTHER + 8, FC_OTHER, 0}, {FC_OTHER + 4, FC_OTHER + 6, 0}},
     {B(OTHER_IMAGE) = 2},
     {R(OTHER_IMAGE) = 1}},
    {"inside the kernel, into it, and in a part of it that is not mapped",
     3,
     {{FC_NO_KERNEL + 8, FC_NO_KERNEL, 0},
      {FC_KERNEL + 8, FC_NO_KERNEL, 0},
      {0x401009, FC_KERNEL, 0}},
     {B(KERNEL) = 3},
     {R(OTHER_IMAGE) = 2}},
    {"in no mapping, and without a target",
     2,
     {{0x40101b, 0, 0}, {FC_NOWHERE, FC_NOWHERE + 4, 0}},
     {B(UNMAPPED) = 2},
     {R(OTHER_IMAGE) = 1}},
    {"without a source",
     2,
     {{0x40101b, 0x401005, 0}, {0, 0x401017, 0}},
     {B(KEPT) = 1, B(ENTERS) = 1},
     {R(KEPT) = 1}},
    {"the newest can have run twice",
     2,
     {{0x401019, 0x401010, 0}, {0x401019, 0x401010, 0}},
     {B(KEPT) = 2},
     {R(KEPT) = 1}},
    {"a call cannot run twice in a row",
     2,
     {{0x401000, 0x401010, 0}, {0x401000, 0x401010, 0}},
     {B(KEPT) = 1, B(REPEATED) = 1},
     {R(KEPT) = 0}},
    {"a return that lands before itself, through other code",
     2,
     {{0x40101b, 0x401005, 0}, {0x40101b, 0x401005, 0}},
     {B(KEPT) = 1, B(REPEATED) = 1},
     {R(KEPT) = 0}},
    {"twice from another image: offsets in two files are not compared",
     2,
     {{FC_OTHER + 0x1019, 0x401010, 0}, {FC_OTHER + 0x1019, 0x401010, 0}},
     {B(ENTERS) = 1, B(REPEATED) = 1},
     {R(KEPT) = 0}},
    {"twice inside another image: nothing is known against it",
     2,
     {{FC_OTHER + 8, FC_OTHER + 4, 0}, {FC_OTHER + 8, FC_OTHER + 4, 0}},
     {B(OTHER_IMAGE) = 2},
     {R(OTHER_IMAGE) = 1}},
    {"a branch in no known function, and a run through it",
     2,
     {{0x401031, 0x401010, 0}, {0x401007, 0x401030, 0}},
     {B(NO_CODE) = 1, B(INTO_INSN) = 1},
     {R(NO_CODE) = 1}},
    {"an offset that no code segment holds",
     2,
     {{0x440000, 0x401010, 0}, {0x401007, 0x440000, 0}},
     {B(NO_CODE) = 1, B(INTO_INSN) = 1},
     {R(NO_CODE) = 1}},
    {"a plain instruction is no branch, nor does a run end in it",
     2,
     {{0x401015, 0x401010, 0}, {0x401000, 0x401010, 0}},
     {B(KEPT) = 1, B(NOT_A_BRANCH) = 1},
     {R(NO_TRANSFER) = 1}},
    {"the middle of an instruction is no branch, nor the end of a run",
     2,
     {{0x401014, 0x401017, 0}, {0x401000, 0x401010, 0}},
     {B(KEPT) = 1, B(NOT_A_BRANCH) = 1},
     {R(INTO_INSN) = 1}},
    {"a system call is no branch in user space, but ends a run",
     2,
     {{0x401009, 0x40100b, 0}, {0x401005, 0x401009, 0}},
     {B(KEPT) = 1, B(NOT_A_BRANCH) = 1},
     {R(KEPT) = 1}},
    {"a direct branch that goes elsewhere",
     2,
     {{0x401019, 0x401010, 0}, {0x401013, 0x401015, 0}},
     {B(KEPT) = 1, B(WRONG_TARGET) = 1},
     {R(BAD_START) = 1}},
    {"an indirect branch into an instruction",
     2,
     {{0x401013, 0x401017, 0}, {0x401007, 0x401011, 0}},
     {B(KEPT) = 1, B(INTO_INSN) = 1},
     {R(INTO_INSN) = 1}},
    {"AMD reports the compare of a fused pair; a run may end there",
     2,
     {{0x401010, 0x401017, 0}, {0x401000, 0x401010, 0}},
     {B(KEPT) = 2},
     {R(KEPT) = 1}},
    {"a fused compare with the wrong target",
     1,
     {{0x401010, 0x401015, 0}},
     {B(WRONG_TARGET) = 1},
     {R(KEPT) = 0}},
    {"a run that would go backwards",
     2,
     {{0x401010, 0x401017, 0}, {0x401013, 0x401017, 0}},
     {B(KEPT) = 2},
     {R(BACKWARDS) = 1}},
    {"a run that leaves its mapping",
     2,
     {{FC_TWICE + 0x1019, FC_TWICE + 0x1010, 0}, {FC_TWICE + 0x1000, FC_TWICE + 0x1010, 0}},
     {B(KEPT) = 1, B(ENTERS) = 1},
     {R(LEAVES) = 1}},
    {"the same code in another mapping",
     2,
     {{FC_TWICE + 0x1013, 0x401017, 0}, {FC_TWICE + 0x1000, FC_TWICE + 0x1010, 0}},
     {B(KEPT) = 2},
     {R(KEPT) = 1}},
    {"a run into another function",
     2,
     {{0x401022, 0x401026, 0}, {0x401013, 0x401017, 0}},
     {B(KEPT) = 2},
     {R(CROSSES) = 1}},
    {"a run past a call",
     2,
     {{0x40100b, FC_OTHER, 0}, {FC_OTHER, 0x401000, 0}},
     {B(KEPT) = 1, B(ENTERS) = 1},
     {R(PASSES_JUMP) = 1}},
    {"past a jump to the next instruction, to a halt",
     3,
     {{0x40102b, FC_KERNEL, 0}, {0x401007, 0x401028, 0}, {0x401022, 0x401026, 0}},
     {B(KEPT) = 2, B(KERNEL) = 1},
     {R(KEPT) = 1, R(BACKWARDS) = 1}},
};

static uint64_t sum(const uint64_t *items, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += items[i];
    }
    return total;
}

static void check_verdicts(const char *what, const char *const *names, const uint64_t *got,
                           const uint64_t *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (got[i] != wanted[i]) {
            fail_msg("%s: '%s' is %llu, not %llu", what, names[i], (unsigned long long)got[i],
                     (unsigned long long)wanted[i]);
        }
    }
}

/* A pair of neighbours has a run unless a barrier lies between; none of these histories has one but
 * where kernel and user meet. */
static void test_verdicts(void **state)
{
    (void)state;
    uint64_t branches[BR2_BRANCH_VERDICTS] = {0};
    uint64_t runs[BR2_RUN_VERDICTS] = {0};
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        const struct verdict_case *v = &verdicts[i];
        struct flow_case fc;
        fc_open(&fc, FC_PROGRAM, FC_TEXT);
        fc_sample(&fc, v->record, v->records);
        fc_build(&fc);
        check_verdicts(v->what, br2_branch_verdict_names, fc.graph->branches, v->branches,
                       BR2_BRANCH_VERDICTS);
        check_verdicts(v->what, br2_run_verdict_names, fc.graph->run_verdicts, v->runs,
                       BR2_RUN_VERDICTS);
        assert_int_equal(sum(fc.graph->branches, BR2_BRANCH_VERDICTS), v->records);
        for (size_t k = 0; k < BR2_BRANCH_VERDICTS; k++) {
            branches[k] += fc.graph->branches[k];
        }
        for (size_t k = 0; k < BR2_RUN_VERDICTS; k++) {
            runs[k] += fc.graph->run_verdicts[k];
        }
        fc_close(&fc);
    }
    for (size_t i = 0; i < BR2_BRANCH_VERDICTS; i++) {
        assert_int_not_equal(branches[i], 0);
    }
    for (size_t i = 0; i < BR2_RUN_VERDICTS; i++) {
        assert_int_not_equal(runs[i], 0);
    }
}

struct head_case {
    const char *what;
    struct br2_branch_record record;
    uint64_t entry;
    uint64_t head;
};

static const struct head_case heads[] = {
    {"a call", {0x401000, 0x401010, 0}, 0x401010, 1},
    {"an indirect call", {0x401005, 0x401020, 0}, 0x401020, 1},
    {"an indirect call of itself", {0x401005, 0x401000, 0}, 0x401000, 1},
    {"a tail jump", {0x401024, 0x401010, 0}, 0x401010, 1},
    {"an indirect tail jump", {0x401007, 0x401020, 0}, 0x401020, 1},
    {"from another image", {FC_OTHER, 0x401020, 0}, 0x401020, 1},
    {"from code without a file", {FC_NOWHERE, 0x401020, 0}, 0x401020, 1},
    {"a call not to an entry", {0x401005, 0x401017, 0}, 0x401017, 0},
    {"a loop back to the entry", {0x401019, 0x401010, 0}, 0x401010, 0},
    {"an indirect jump back to the entry", {0x401007, 0x401000, 0}, 0x401000, 0},
    {"a return to an entry", {0x40101b, 0x401020, 0}, 0x401020, 0},
    {"from the kernel", {FC_KERNEL, 0x401020, 0}, 0x401020, 0},
    {"from the kernel, not mapped", {FC_NO_KERNEL, 0x401020, 0}, 0x401020, 0},
    {"from where nothing is recorded", {0, 0x401020, 0}, 0x401020, 0},
    {"a branch that is none", {0x401015, 0x401020, 0}, 0x401020, 0},
    {"a direct branch that goes elsewhere", {0x401000, 0x401020, 0}, 0x401020, 0},
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct flow_case fc;
        print_message("%s\n", heads[i].what);
        fc_open(&fc, FC_PROGRAM, FC_TEXT);
        fc_sample(&fc, &heads[i].record, 1);
        fc_build(&fc);
        assert_int_equal(fc_entered(&fc, heads[i].entry), heads[i].head);
        fc_close(&fc);
    }
}

/* What an outside source is taken for, and that the kernel's are kept apart from another image's.
 */
static void test_outside_sources(void **state)
{
    (void)state;
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    const struct br2_branch_record records[] = {
        {FC_OTHER, 0x401020, 0},
        {FC_OTHER + 9, 0x401020, M},
        {FC_OTHER, 0x401017, 0},
        {FC_KERNEL, 0x401020, 0},
    };
    for (size_t i = 0; i < 4; i++) {
        fc_sample(&fc, &records[i], 1);
    }
    fc_build(&fc);
    const struct br2_flow_edge *edges = fc.graph->edges;
    assert_int_equal(fc.graph->edge_count, 3);
    assert_int_equal(edges[0].to, 0x401017);
    assert_int_equal(edges[0].kind, BR2_EDGE_RETURN);
    assert_int_equal(edges[0].from_function, BR2_NO_FUNCTION);
    assert_int_equal(edges[1].to, 0x401020);
    assert_int_equal(edges[1].kind, BR2_EDGE_CALL);
    assert_int_equal(edges[1].count, 2);
    assert_int_equal(edges[1].mispredicted, 1);
    assert_int_equal(edges[2].to, 0x401020);
    assert_int_equal(edges[2].kind, BR2_EDGE_RETURN);
    assert_int_equal(edges[2].count, 1);
    fc_close(&fc);
}

/* A record that was logged twice counts once with its prediction, one that ran twice both. */
static void test_repeated_predictions(void **state)
{
    (void)state;
    static const struct br2_branch_record loop[] = {{0x401019, 0x401010, M},
                                                    {0x401019, 0x401010, 0}};
    static const struct br2_branch_record call[] = {{0x401000, 0x401010, M},
                                                    {0x401000, 0x401010, M}};
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    fc_sample(&fc, loop, 2);
    fc_sample(&fc, call, 2);
    fc_build(&fc);
    assert_int_equal(fc_edge(&fc, 0x401019, 0x401010)->count, 2);
    assert_int_equal(fc_edge(&fc, 0x401019, 0x401010)->mispredicted, 1);
    assert_int_equal(fc_edge(&fc, 0x401000, 0x401010)->count, 1);
    assert_int_equal(fc_edge(&fc, 0x401000, 0x401010)->mispredicted, 1);
    assert_int_equal(fc_runs(&fc, 0x401010, 0x401019), 1);
    fc_close(&fc);
}

/* Runs spread over the instructions they executed, and end where the branch was taken. */
static void test_counts(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x40101b, 0x401005, 0}, /* 401010..40101b */
        {0x401019, 0x401010, 0}, /* 401017..401019 */
        {0x401010, 0x401017, 0}, /* the fused pair: 401010..401013 */
        {0x401000, 0x401010, 0},
    };
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    fc_sample(&fc, records, 4);
    fc_sample(&fc, records, 3);
    fc_build(&fc);
    assert_int_equal(fc_count(&fc, 0x401010), 3);
    assert_int_equal(fc_count(&fc, 0x401013), 3);
    assert_int_equal(fc_count(&fc, 0x401015), 2);
    assert_int_equal(fc_count(&fc, 0x401017), 4);
    assert_int_equal(fc_count(&fc, 0x401019), 4);
    assert_int_equal(fc_count(&fc, 0x40101b), 2);
    assert_int_equal(fc_count(&fc, 0x401000), 0);
    const struct br2_flow_function *work =
        &fc.graph->functions[br2_flow_graph_function(fc.graph, 0x401010)];
    static const uint64_t ends[] = {0, 1, 0, 0, 2, 2};
    assert_memory_equal(work->ends, ends, sizeof ends);
    assert_int_equal(work->entered, 1);
    assert_int_equal(fc.graph->run_count, 3);
    assert_int_equal(fc_runs(&fc, 0x401010, 0x401013), 1);
    assert_int_equal(fc_runs(&fc, 0x401017, 0x401019), 2);
    assert_int_equal(fc_runs(&fc, 0x401010, 0x40101b), 2);
    assert_int_equal(fc_taken(&fc, 0x401013, 0x401017), 2);
    fc_close(&fc);
}

static void test_functions_by_address(void **state)
{
    (void)state;
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    static const struct br2_branch_record records[] = {{0x401024, 0x401010, 0},
                                                       {0x401007, 0x401020, 0}};
    fc_sample(&fc, records, 2);
    fc_build(&fc);
    assert_int_equal(fc.graph->function_count, 3);
    static const char *const names[] = {"_start", "work", "tail"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(fc.graph->functions[i].range->name, names[i]);
        assert_int_equal(br2_flow_graph_function(fc.graph, fc.graph->functions[i].range->start), i);
        assert_int_equal(br2_flow_graph_function(fc.graph, fc.graph->functions[i].range->end - 1),
                         i);
    }
    assert_int_equal(br2_flow_graph_function(fc.graph, 0x40100c), BR2_NO_FUNCTION);
    assert_int_equal(br2_flow_graph_function(fc.graph, 0x400fff), BR2_NO_FUNCTION);
    assert_int_equal(br2_flow_graph_function(fc.graph, 0x401030), BR2_NO_FUNCTION);
    assert_int_equal(fc_edge(&fc, 0x401024, 0x401010)->from_function, 2);
    assert_int_equal(fc_edge(&fc, 0x401024, 0x401010)->to_function, 1);
    assert_int_equal(fc.graph->runs[0].function, 2);
    fc_close(&fc);
}

static void test_file_offsets(void **state)
{
    (void)state;
    struct flow_case fc;
    uint64_t address = 0;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    assert_true(br2_file_offset_address(fc.image, 0x1010, &address));
    assert_int_equal(address, 0x401010);
    assert_true(br2_file_offset_address(fc.image, 0x1032, &address));
    assert_int_equal(address, 0x401032);
    assert_false(br2_file_offset_address(fc.image, 0x1033, &address));
    assert_false(br2_file_offset_address(fc.image, UINT64_MAX, &address));
    fc_close(&fc);
}

/* Two recordings of the image add up. */
static void test_two_sources(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {{0x401019, 0x401010, M | CYC(4)},
                                                       {0x401000, 0x401010, 0}};
    struct flow_case a, b;
    struct br2_flow_graph *graph;
    fc_open(&a, FC_PROGRAM, FC_TEXT);
    fc_open(&b, FC_PROGRAM, FC_TEXT);
    fc_sample(&a, records, 2);
    fc_sample(&b, records, 2);
    assert_int_equal(br2_fold(&a.folded, a.spaces, &a.counting, NULL), 0);
    assert_int_equal(br2_fold(&b.folded, b.spaces, &b.counting, NULL), 0);
    struct br2_flow_source sources[] = {
        {&a.folded, br2_spaces_dsos(a.spaces), a.is_image, a.counting.stats.first_time,
         BR2_BASE_FILE_OFFSET, false},
        {&b.folded, br2_spaces_dsos(b.spaces), b.is_image, b.counting.stats.first_time,
         BR2_BASE_FILE_OFFSET, false},
    };
    struct br2_flow_evidence evidence = {sources, 2, false};
    assert_int_equal(br2_flow_graph_build(a.image, &evidence, &graph, NULL), 0);
    assert_int_equal(graph->edge_count, 2);
    assert_int_equal(graph->edges[1].count, 2);
    assert_int_equal(graph->edges[1].mispredicted, 2);
    assert_int_equal(graph->run_count, 1);
    assert_int_equal(graph->trace_count, 0); /* not asked for */
    assert_int_equal(graph->runs[0].count, 2);
    assert_int_equal(graph->timing_count, 1);
    assert_int_equal(graph->timings[0].count, 2);
    br2_flow_graph_free(graph);
    fc_close(&a);
    fc_close(&b);
}

#define CASE_A                                                                                     \
    ".type leaf, @function\nleaf: .org 0x1cd, 0x90\nret\n.size leaf, .-leaf\n"                     \
    ".org 0x3da10, 0x90\n.globl _start\n.type _start, @function\n_start: mov %ecx, %eax\n"         \
    "test %eax, %eax\njns 1f\nmov %edx, %eax\nshl $2, %ecx\nlea 8(%rax), %edx\n"                   \
    "1: call callee\nadd $16, %rdi\nmov %rax, %rsi\ncmp $1, %eax\njne _start\nret\n"               \
    ".size _start, .-_start\n.org 0x3db26, 0x90\n.type callee, @function\n"                        \
    "callee: test %eax, %eax\nje leaf\nret\n.size callee, .-callee\n"

/* Edges and probabilities from one history: the golden case history-edges, with its body counts. */
static void test_case_a(void **state)
{
    (void)state;
    static const struct br2_branch_record oldest_first[] = {
        {0x4eda2d, 0x4eda10, 0}, {0x4eda14, 0x4eda1e, 0}, {0x4eda1e, 0x4edb26, 0},
        {0x4b01cd, 0x4eda23, 0}, {0x4eda2d, 0x4eda10, 0}, {0x4eda1e, 0x4edb26, 0},
    };
    struct flow_case fc;
    fc_open(&fc, CASE_A, 0x4b0000);
    fc_history(&fc, oldest_first, 6);
    fc_build(&fc);
    assert_int_equal(fc_taken(&fc, 0x4eda2d, 0x4eda10), 2);
    assert_int_equal(fc_taken(&fc, 0x4eda14, 0x4eda1e), 1);
    assert_int_equal(fc_taken(&fc, 0x4eda1e, 0x4edb26), 2);
    assert_int_equal(fc_taken(&fc, 0x4b01cd, 0x4eda23), 1);
    assert_int_equal(fc.graph->run_count, 4);
    assert_int_equal(fc_runs(&fc, 0x4eda10, 0x4eda14), 1);
    assert_int_equal(fc_runs(&fc, 0x4eda1e, 0x4eda1e), 1);
    assert_int_equal(fc_runs(&fc, 0x4eda23, 0x4eda2d), 1);
    assert_int_equal(fc_runs(&fc, 0x4eda10, 0x4eda1e), 1);
    assert_int_equal(fc.graph->run_verdicts[BR2_RUN_BACKWARDS], 1);
    static const struct {
        uint64_t address;
        uint64_t count;
    } blocks[] = {{0x4eda10, 2}, {0x4eda14, 2}, {0x4eda16, 1}, {0x4eda1b, 1},
                  {0x4eda1e, 2}, {0x4eda23, 1}, {0x4eda2d, 1}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_int_equal(fc_count(&fc, blocks[i].address), blocks[i].count);
    }
    assert_int_equal(fc_count(&fc, 0x4edb26), 0);
    assert_int_equal(fc_entered(&fc, 0x4edb26), 2);
    fc_close(&fc);
}

#define CASE_B                                                                                     \
    ".globl _start\n.org 0xab0, 0x90\n.type _start, @function\n_start: .org 0xabd, 0x90\njz 1f\n"  \
    ".org 0xad0, 0x90\n1: .org 0xadd, 0x90\njns 2f\n.org 0xaf9, 0x90\njmp _start\n"                \
    ".org 0xb00, 0x90\n2: .org 0xb24, 0x90\njne _start\nret\n.size _start, .-_start\n"

/* Mispredictions and cycles of one history: the golden case history-mispredictions, with times. */
static void test_case_b(void **state)
{
    (void)state;
    static const struct br2_branch_record oldest_first[] = {
        {0x4edaf9, 0x4edab0, CYC(29)},    {0x4edabd, 0x4edad0, CYC(2)},
        {0x4edadd, 0x4edb00, M | CYC(4)}, {0x4edb24, 0x4edab0, CYC(24)},
        {0x4edabd, 0x4edad0, CYC(2)},     {0x4edadd, 0x4edb00, M | CYC(1)},
        {0x4edb24, 0x4edab0, CYC(3)},     {0x4edabd, 0x4edad0, CYC(1)},
    };
    struct flow_case fc;
    fc_open(&fc, CASE_B, 0x4ed000);
    fc_history(&fc, oldest_first, 8);
    fc_build(&fc);
    assert_int_equal(fc_edge(&fc, 0x4edadd, 0x4edb00)->count, 2);
    assert_int_equal(fc_edge(&fc, 0x4edadd, 0x4edb00)->mispredicted, 2);
    assert_int_equal(fc_edge(&fc, 0x4edb24, 0x4edab0)->count, 2);
    assert_int_equal(fc_edge(&fc, 0x4edb24, 0x4edab0)->mispredicted, 0);
    assert_int_equal(fc_timed(&fc, 0x4edb00, 0x4edb24, 24), 1);
    assert_int_equal(fc_timed(&fc, 0x4edb00, 0x4edb24, 3), 1);
    assert_int_equal(fc_timed(&fc, 0x4edab0, 0x4edabd, 2), 2);
    assert_int_equal(fc_timed(&fc, 0x4edab0, 0x4edabd, 1), 1);
    assert_int_equal(fc.graph->timing_count, 6);
    fc_close(&fc);
}

/* A branch's misprediction rate: 303391 of 345056 records, 87.9 %, were predicted. */
static void test_case_c(void **state)
{
    (void)state;
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    for (uint32_t i = 0; i < 345056; i++) {
        bool missed = i % 8 == 0 && i / 8 < 41665;
        struct br2_branch_record record = {0x401019, 0x401010, missed ? M : BR2_RECORD_PREDICTED};
        fc_sample(&fc, &record, 1);
    }
    fc_build(&fc);
    const struct br2_flow_edge *edge = fc_edge(&fc, 0x401019, 0x401010);
    assert_int_equal(edge->count, 345056);
    assert_int_equal(edge->mispredicted, 41665);
    assert_int_equal(edge->count - edge->mispredicted, 303391);
    assert_int_equal((1000 * (edge->count - edge->mispredicted) + edge->count / 2) / edge->count,
                     879);
    assert_int_equal(fc.counting.stats.predictions, 345056);
    fc_close(&fc);
}

#define CASE_D                                                                                     \
    ".globl _start\n.org 0x600, 0x90\n.type _start, @function\n_start: .org 0x60a, 0x90\njz 1f\n"  \
    ".org 0x618, 0x90\n1: .org 0x628, 0x90\njz 2f\n.org 0x644, 0x90\n2: .org 0x64e, 0x90\n"        \
    "jmp _start\n.size _start, .-_start\n"

/* The block 400618..400628 ran twice, in 80 and in 300 cycles. */
static void test_case_d(void **state)
{
    (void)state;
    static const struct br2_branch_record oldest_first[] = {
        {0x40060a, 0x400618, CYC(10)}, {0x400628, 0x400644, CYC(80)},  {0x40064e, 0x400600, CYC(3)},
        {0x40060a, 0x400618, CYC(9)},  {0x400628, 0x400644, CYC(300)}, {0x40064e, 0x400600, CYC(3)},
    };
    static const struct br2_flow_timing wanted[] = {
        {0x400600, 0x40060a, 9, 1},
        {0x400618, 0x400628, 80, 1},
        {0x400618, 0x400628, 300, 1},
        {0x400644, 0x40064e, 3, 2},
    };
    struct flow_case fc;
    fc_open(&fc, CASE_D, 0x400000);
    fc_history(&fc, oldest_first, 6);
    fc_build(&fc);
    assert_int_equal(fc.graph->timing_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct br2_flow_timing *timing = &fc.graph->timings[i];
        assert_int_equal(timing->start, wanted[i].start);
        assert_int_equal(timing->end, wanted[i].end);
        assert_int_equal(timing->cycles, wanted[i].cycles);
        assert_int_equal(timing->count, wanted[i].count);
    }
    fc_close(&fc);
}

/* The distribution of a block's latencies. */
static void test_case_e(void **state)
{
    (void)state;
    static const struct {
        uint32_t cycles;
        uint32_t count;
        uint32_t permille;
    } rows[] = {
        {1, 10484, 170}, {2, 16728, 271}, {3, 4563, 74},  {4, 15815, 256},
        {6, 4770, 77},   {24, 3804, 62},  {32, 5567, 90},
    };
    struct flow_case fc;
    fc_open(&fc, CASE_D, 0x400000);
    for (size_t i = 0; i < 7; i++) {
        const struct br2_branch_record records[] = {{0x400628, 0x400644, CYC(rows[i].cycles)},
                                                    {0x40060a, 0x400618, CYC(5)}};
        for (uint32_t k = 0; k < rows[i].count; k++) {
            fc_sample(&fc, records, 2);
        }
    }
    fc_build(&fc);
    uint64_t all = 0;
    for (size_t i = 0; i < fc.graph->timing_count; i++) {
        all += fc.graph->timings[i].count;
    }
    assert_int_equal(all, 61731);
    assert_int_equal(fc.graph->timing_count, 7);
    uint64_t slow = 0;
    for (size_t i = 0; i < 7; i++) {
        uint64_t count = fc_timed(&fc, 0x400618, 0x400628, rows[i].cycles);
        assert_int_equal(count, rows[i].count);
        assert_int_equal((1000 * count + all / 2) / all, rows[i].permille);
        slow += rows[i].cycles >= 24 ? count : 0;
    }
    assert_int_equal((100 * slow + all / 2) / all, 15);
    fc_close(&fc);
}

/* A run that is no run has no time either. */
static void test_timings_of_kept_runs_only(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401015, 0x401010, CYC(9)}, /* ends in a plain instruction */
        {0x401000, 0x401010, CYC(9)}, /* in another image */
        {FC_OTHER + 8, FC_OTHER, CYC(9)},
    };
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    fc_sample(&fc, records, 3);
    fc_build(&fc);
    assert_int_equal(fc.folded.timings.used, 1);
    assert_int_equal(fc.graph->timing_count, 0);
    fc_close(&fc);
}

/* Samples are not in order of time, and the clocks of two recordings have nothing in common. */
static void test_first_seen(void **state)
{
    (void)state;
    static const struct br2_branch_record loop = {0x401019, 0x401010, 0};
    static const struct br2_branch_record tail = {0x401024, 0x401010, 0};
    struct flow_case a, b;
    fc_open(&a, FC_PROGRAM, FC_TEXT);
    fc_open(&b, FC_PROGRAM, FC_TEXT);
    fc_sample_at(&a, 1500, &tail, 1);
    fc_sample_at(&a, 1000, &loop, 1);
    fc_sample_at(&b, 50, &loop, 1);
    fc_sample_at(&b, 52, &loop, 1);
    fc_sample_at(&b, 54, &tail, 1);
    fc_build(&a);
    assert_int_equal(a.graph->function_count, 2);
    assert_int_equal(a.graph->functions[0].first_seen, 1);   /* work */
    assert_int_equal(a.graph->functions[1].first_seen, 501); /* tail */
    assert_int_equal(br2_fold(&b.folded, b.spaces, &b.counting, NULL), 0);
    struct br2_flow_source sources[] = {
        {&a.folded, br2_spaces_dsos(a.spaces), a.is_image, a.counting.stats.first_time,
         BR2_BASE_FILE_OFFSET, false},
        {&b.folded, br2_spaces_dsos(b.spaces), b.is_image, b.counting.stats.first_time,
         BR2_BASE_FILE_OFFSET, false},
    };
    struct br2_flow_graph *graph;
    struct br2_flow_evidence evidence = {sources, 2, false};
    assert_int_equal(br2_flow_graph_build(a.image, &evidence, &graph, NULL), 0);
    assert_int_equal(graph->functions[0].first_seen, 1);
    assert_int_equal(graph->functions[1].first_seen, 5);
    br2_flow_graph_free(graph);
    fc_close(&a);
    fc_close(&b);
}

/* However many allocations succeed, the graph is whole or there is none. */
static void test_without_memory(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401019, 0x401010, CYC(4)}, {0x401010, 0x401017, CYC(2)}, {0x401000, 0x401010, 0}};
    struct flow_case fc;
    fc_open(&fc, FC_PROGRAM, FC_TEXT);
    fc_sample(&fc, records, 3);
    assert_int_equal(br2_fold(&fc.folded, fc.spaces, &fc.counting, NULL), 0);
    struct br2_flow_source source = {&fc.folded, br2_spaces_dsos(fc.spaces), fc.is_image,
                                     0,          BR2_BASE_FILE_OFFSET,       false};
    struct br2_flow_evidence evidence = {&source, 1, true};
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 1000) {
        struct br2pgo_error err = {0};
        br2_mem_fail_at(++nth);
        rc = br2_flow_graph_build(fc.image, &evidence, &fc.graph, &err);
        br2_mem_fail_at(0);
        assert_int_equal(err.status, rc);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 8);
    assert_int_equal(fc.graph->branches[BR2_BRANCH_KEPT], 3);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_outside_sources), cmocka_unit_test(test_repeated_predictions),
        cmocka_unit_test(test_counts),          cmocka_unit_test(test_functions_by_address),
        cmocka_unit_test(test_file_offsets),    cmocka_unit_test(test_two_sources),
        cmocka_unit_test(test_case_a),          cmocka_unit_test(test_case_b),
        cmocka_unit_test(test_case_c),          cmocka_unit_test(test_case_d),
        cmocka_unit_test(test_case_e),          cmocka_unit_test(test_timings_of_kept_runs_only),
        cmocka_unit_test(test_first_seen),      cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
