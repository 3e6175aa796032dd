/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fold.c: from addresses of processes to offsets in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "flow/fold.h"

#define A1 UINT64_C(0x400000) /* where process 1 has the image, 0x1000 into the file */
#define A2 UINT64_C(0x7f0000000000)
#define B1 UINT64_C(0x900000) /* another image in process 1 */
#define K  UINT64_C(0xffffffff81000000)

enum {
    IMAGE,
    OTHER,
    KERNEL
};

static void map(struct br2_spaces *spaces, int32_t pid, uint64_t start, uint64_t offset,
                const char *name)
{
    struct br2_task_event event = {
        .kind = BR2_TASK_MMAP,
        .pid = pid,
        .kernel = pid == BR2_PID_KERNEL,
        .address = start,
        .length = 0x1000,
        .file_offset = offset,
        .name = name,
    };
    assert_int_equal(br2_spaces_add(spaces, &event, NULL), 0);
}

static struct br2_spaces *make_spaces(void)
{
    struct br2_spaces *spaces = br2_spaces_new();
    map(spaces, 1, A1, 0x1000, "/image");
    map(spaces, 1, B1, 0, "/other");
    map(spaces, BR2_PID_KERNEL, K, 0, "[kernel.kallsyms]");
    map(spaces, 2, A2, 0x1000, "/image");
    map(spaces, 2, A2 + 0x1000, 0x2000, "/image");
    assert_int_equal(br2_spaces_finish(spaces, NULL), 0);
    return spaces;
}

struct example {
    const char *what;
    int32_t pid;
    struct br2_trace in; /* space is filled in */
    uint64_t from;
    uint64_t to;
    uint32_t run;
    struct br2_image_pair pair;
};

static const struct example examples[] = {
    {"inside an image",
     1,
     {.from = A1 + 0x10, .to = A1 + 0x20, .run = 5},
     0x1010,
     0x1020,
     5,
     {IMAGE, IMAGE}},
    {"from another image",
     1,
     {.from = B1 + 0x10, .to = A1 + 0x20, .run = BR2_RUN_NONE},
     0x10,
     0x1020,
     BR2_RUN_NONE,
     {OTHER, IMAGE}},
    {"into the kernel", 1, {.from = A1 + 4, .to = K + 8, .run = 3}, 0x1004, 8, 3, {IMAGE, KERNEL}},
    {"into a part of the kernel that is not mapped",
     1,
     {.from = A1 + 4, .to = K + 0x5000, .run = 3},
     0x1004,
     0,
     BR2_RUN_SPLIT,
     {IMAGE, BR2_DSO_KERNEL}},
    {"nowhere, and from nothing",
     1,
     {.from = 0, .to = 0x5000, .run = BR2_RUN_IMPOSSIBLE},
     0,
     0,
     BR2_RUN_IMPOSSIBLE,
     {BR2_DSO_MISSING, BR2_DSO_UNMAPPED}},
    {"the last byte of a mapping",
     1,
     {.from = A1 + 4, .to = A1 + 0xff0, .run = 0x10},
     0x1004,
     0x1ff0,
     0x10,
     {IMAGE, IMAGE}},
    {"one byte over its end",
     1,
     {.from = A1 + 4, .to = A1 + 0xff0, .run = 0x11},
     0x1004,
     0x1ff0,
     BR2_RUN_SPLIT,
     {IMAGE, IMAGE}},
    {"into the next mapping of the same file",
     2,
     {.from = A2 + 4, .to = A2 + 0xff0, .run = 0x20},
     0x1004,
     0x1ff0,
     BR2_RUN_SPLIT,
     {IMAGE, IMAGE}},
    {"a repeated record",
     2,
     {.from = A2 + 0x1040, .to = A2 + 0x30, .run = BR2_RUN_REPEATED},
     0x2040,
     0x1030,
     BR2_RUN_REPEATED,
     {IMAGE, IMAGE}},
};

static const struct br2_trace *only_trace(const struct br2_trace_table *table)
{
    assert_int_equal(table->used, 1);
    size_t i = 0;
    while (table->slots[i].count == 0) {
        i++;
    }
    return &table->slots[i];
}

/* A trace with that source. */
static const struct br2_trace *trace_from(const struct br2_folded *folded, uint64_t from)
{
    for (size_t i = 0; i < folded->traces.slot_count; i++) {
        const struct br2_trace *trace = &folded->traces.slots[i];
        if (trace->count != 0 && trace->from == from) {
            return trace;
        }
    }
    fail_msg("no trace from %llx", (unsigned long long)from);
    return NULL;
}

static void test_examples(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const struct example *e = &examples[i];
        struct br2_folded folded = {0};
        struct br2_trace trace = e->in;
        print_message("%s\n", e->what);
        trace.space = br2_spaces_view(spaces, e->pid, 1);
        trace.count = 3;
        trace.mispredicted = 2;
        assert_true(br2_fold_trace(&folded, spaces, &trace));
        const struct br2_trace *out = only_trace(&folded.traces);
        struct br2_image_pair pair = br2_folded_pair(&folded, out->space);
        assert_int_equal(out->from, e->from);
        assert_int_equal(out->to, e->to);
        assert_int_equal(out->run, e->run);
        assert_int_equal(pair.from, e->pair.from);
        assert_int_equal(pair.to, e->pair.to);
        assert_int_equal(out->count, 3);
        assert_int_equal(out->mispredicted, 2);
        br2_folded_done(&folded);
    }
    br2_spaces_free(spaces);
}

/* Two processes that have the image at different places, folded one after the other. */
static void test_adds_up(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    struct br2_folded folded = {0};
    struct br2_live_traces traces = {0};
    struct br2_live_traces timings = {0};
    struct br2_counting counting = {.traces = &traces, .timings = &timings};
    for (int32_t pid = 1; pid <= 2; pid++) {
        uint64_t base = pid == 1 ? A1 : A2;
        uint32_t view = br2_spaces_view(spaces, pid, 1);
        const struct br2_branch_record inside[] = {
            {base + 0x14, base + 0x30, BR2_RECORD_MISPREDICTED | 70 << 4},
            {base + 8, base + 0x10, 0},
        };
        const struct br2_branch_record nowhere[] = {
            {UINT64_C(0x5004), UINT64_C(0x5008), 70 << 4},
            {UINT64_C(0x5000), UINT64_C(0x5000), 0},
        };
        for (uint64_t k = 0; k < 5; k++) {
            struct br2_sample sample = {.count = 2, .time = 100 * (uint64_t)pid + k};
            sample.records = (const uint8_t *)(k < 2 ? inside : nowhere);
            assert_true(br2_count_sample(&counting, &sample, view));
        }
        assert_int_equal(br2_fold(&folded, spaces, &counting, NULL), 0);
        assert_int_equal(timings.used, 1); /* nobody's */
        assert_int_equal(traces.used, 1);
    }
    assert_int_equal(folded.traces.used, 4);
    assert_int_equal(trace_from(&folded, 0x1014)->count, 4);
    assert_int_equal(trace_from(&folded, 0x1014)->mispredicted, 4);
    assert_int_equal(trace_from(&folded, 0x1014)->run, BR2_RUN_NONE);
    assert_int_equal(trace_from(&folded, 0x1014)->first_seen, 100);
    assert_int_equal(trace_from(&folded, 0x1008)->count, 4);
    assert_int_equal(trace_from(&folded, 0x1008)->run, 5);
    assert_int_equal(trace_from(&folded, 0)->first_seen, 102);
    assert_int_equal(folded.timings.used, 2);
    for (size_t i = 0; i < folded.timings.slot_count; i++) {
        const struct br2_trace *timing = &folded.timings.slots[i];
        if (timing->count != 0) {
            bool inside = br2_folded_pair(&folded, timing->space).to == IMAGE;
            assert_int_equal(timing->from, 70);
            assert_int_equal(timing->to, inside ? 0x1010 : 0);
            assert_int_equal(timing->run, inside ? 5 : BR2_RUN_SPLIT);
            assert_int_equal(timing->count, inside ? 4 : 6);
        }
    }
    br2_folded_done(&folded);
    br2_live_traces_done(&traces);
    br2_live_traces_done(&timings);
    br2_spaces_free(spaces);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    struct br2_folded folded = {0};
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    static const struct br2_branch_record record = {A1, A1, 0};
    struct br2_sample sample = {.records = (const uint8_t *)&record, .count = 1};
    assert_true(br2_count_sample(&counting, &sample, br2_spaces_view(spaces, 1, 1)));
    for (size_t nth = 1; nth <= 3; nth++) {
        br2_mem_fail_at(nth);
        int rc = br2_fold(&folded, spaces, &counting, NULL);
        br2_mem_fail_at(0);
        assert_int_equal(rc, BR2PGO_NO_MEMORY);
        br2_folded_done(&folded);
        folded = (struct br2_folded){0};
    }
    br2_live_traces_done(&table);
    br2_spaces_free(spaces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_adds_up),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
