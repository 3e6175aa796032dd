/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counting.c: which traces a history comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "flow/counting.h"

#define M       BR2_RECORD_MISPREDICTED
#define P       BR2_RECORD_PREDICTED
#define WRONG   ((uint64_t)BR2_SPEC_WRONG_PATH << 24)
#define CORRECT (UINT64_C(3) << 24)
#define CYC(n)  ((uint64_t)(n) << 4)
#define K       UINT64_C(0xffffffff81000000)
#define MOST    6

struct history {
    const char *what;
    size_t records;
    struct br2_branch_record record[MOST]; /* newest first */
    size_t traces;
    struct br2_trace trace[MOST]; /* space is 5 everywhere */
    struct br2_count_stats stats;
};

static const struct history histories[] = {
    {"newest first: each run ends at the source of the record before it in the list",
     3,
     {{0x30, 0x40, P}, {0x20, 0x28, M}, {0x10, 0x18, 0}},
     3,
     {{0x30, 0x40, BR2_RUN_NONE, 5, 1, 0, 0},
      {0x20, 0x28, 0x30 - 0x28 + 1, 5, 1, 1, 0},
      {0x10, 0x18, 0x20 - 0x18 + 1, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3, .predictions = 2}},
    {"a run of a single instruction, and one that would go backwards",
     3,
     {{0x30, 0x40, 0}, {0x20, 0x30, 0}, {0x50, 0x21, 0}},
     3,
     {{0x30, 0x40, BR2_RUN_NONE, 5, 1, 0, 0},
      {0x20, 0x30, 1, 5, 1, 0, 0},
      {0x50, 0x21, BR2_RUN_IMPOSSIBLE, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3}},
    {"equal traces are counted together",
     4,
     {{0x90, 0x10, M}, {0x20, 0x10, M}, {0x20, 0x10, P}, {0x20, 0x10, M}},
     3,
     {{0x90, 0x10, BR2_RUN_NONE, 5, 1, 1, 0},
      {0x20, 0x10, 0x81, 5, 1, 1, 0},
      {0x20, 0x10, 0x11, 5, 2, 1, 0}},
     {.samples = 1, .records = 4, .depth = 4, .predictions = 4}},
    {"a wrong path is dropped before pairing, a correct one is not",
     3,
     {{0x50, 0x60, CORRECT}, {0x35, 0x48, WRONG | M}, {0x20, 0x30, 0}},
     2,
     {{0x50, 0x60, BR2_RUN_NONE, 5, 1, 0, 0}, {0x20, 0x30, 0x21, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3, .wrong_path = 1}},
    {"a branch that was not taken is dropped before pairing: the run goes on through it",
     3,
     {{0x50, 0x60, M}, {0x35, 0x37, UINT64_C(1) << 33}, {0x20, 0x30, M}},
     2,
     {{0x50, 0x60, BR2_RUN_NONE, 5, 1, 1, 0}, {0x20, 0x30, 0x21, 5, 1, 1, 0}},
     {.samples = 1, .records = 3, .depth = 3, .not_taken = 1, .predictions = 2}},
    {"the newest on a wrong path",
     2,
     {{0x50, 0x60, WRONG}, {0x20, 0x30, 0}},
     1,
     {{0x20, 0x30, BR2_RUN_NONE, 5, 1, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2, .wrong_path = 1}},
    {"an empty record ends the history",
     4,
     {{0x50, 0x60, 0}, {0, 0, 0}, {0x20, 0x30, WRONG}, {0x10, 0x18, 0}},
     1,
     {{0x50, 0x60, BR2_RUN_NONE, 5, 1, 0, 0}},
     {.samples = 1, .records = 4, .depth = 4, .empty = 1, .stale = 2}},
    {"no run across a record without source, nor from one without target",
     4,
     {{0x70, 0x80, 0}, {0, 0x60, 0}, {0x50, 0, 0}, {0x40, 0x48, 0}},
     4,
     {{0x70, 0x80, BR2_RUN_NONE, 5, 1, 0, 0},
      {0, 0x60, 0x11, 5, 1, 0, 0},
      {0x50, 0, BR2_RUN_NONE, 5, 1, 0, 0},
      {0x40, 0x48, 9, 5, 1, 0, 0}},
     {.samples = 1, .records = 4, .depth = 4}},
    {"the record before one without source has no run",
     2,
     {{0, 0x60, 0}, {0x50, 0x58, 0}},
     2,
     {{0, 0x60, BR2_RUN_NONE, 5, 1, 0, 0}, {0x50, 0x58, BR2_RUN_NONE, 5, 1, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2}},
    {"user and kernel are two worlds",
     3,
     {{K + 0x10, 0x60, 0}, {0x50, K, 0}, {K + 0x90, 0x48, 0}},
     3,
     {{K + 0x10, 0x60, BR2_RUN_NONE, 5, 1, 0, 0},
      {0x50, K, 0x11, 5, 1, 0, 0},
      {K + 0x90, 0x48, 9, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3}},
    {"a user target and a kernel source",
     2,
     {{K, 0x60, 0}, {0x50, 0x58, 0}},
     2,
     {{K, 0x60, BR2_RUN_NONE, 5, 1, 0, 0}, {0x50, 0x58, BR2_RUN_NONE, 5, 1, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2}},
    {"the newest repeats: one trace for both, with what both say of prediction",
     3,
     {{0x20, 0x10, M}, {0x20, 0x10, M}, {0x08, 0x0c, 0}},
     2,
     {{0x20, 0x10, BR2_RUN_REPEATED, 5, 1, 2, 0}, {0x08, 0x0c, 0x15, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3, .repeated = 1, .predictions = 2}},
    {"two equal records further back are two",
     3,
     {{0x30, 0x40, 0}, {0x20, 0x10, 0}, {0x20, 0x10, 0}},
     3,
     {{0x30, 0x40, BR2_RUN_NONE, 5, 1, 0, 0},
      {0x20, 0x10, 0x21, 5, 1, 0, 0},
      {0x20, 0x10, 0x11, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3}},
    {"records on a wrong path do not repeat",
     2,
     {{0x20, 0x10, WRONG}, {0x20, 0x10, 0}},
     1,
     {{0x20, 0x10, BR2_RUN_NONE, 5, 1, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2, .wrong_path = 1}},
    {"halves of records do not repeat",
     2,
     {{0, 0x10, 0}, {0, 0x10, 0}},
     1,
     {{0, 0x10, BR2_RUN_NONE, 5, 2, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2}},
    {"the longest run, and one byte more",
     3,
     {{UINT64_C(0x100000010), 1, 0},
      {8, UINT64_C(0x100000010) - (BR2_RUN_LONGEST - 1), 0},
      {9, 8 - (8 - 1), 0}},
     3,
     {{UINT64_C(0x100000010), 1, BR2_RUN_NONE, 5, 1, 0, 0},
      {8, UINT64_C(0x100000010) - (BR2_RUN_LONGEST - 1), BR2_RUN_LONGEST, 5, 1, 0, 0},
      {9, 1, 8, 5, 1, 0, 0}},
     {.samples = 1, .records = 3, .depth = 3}},
    {"longer than a run can be",
     2,
     {{UINT64_C(0x100000010), 1, 0}, {8, UINT64_C(0x100000010) - BR2_RUN_LONGEST, 0}},
     2,
     {{UINT64_C(0x100000010), 1, BR2_RUN_NONE, 5, 1, 0, 0},
      {8, UINT64_C(0x100000010) - BR2_RUN_LONGEST, BR2_RUN_IMPOSSIBLE, 5, 1, 0, 0}},
     {.samples = 1, .records = 2, .depth = 2}},
    {.what = "a sample without records", .stats = {.samples = 1}},
};

/* The trace; one with a count of 0 where there is none. */
static struct br2_trace find_trace(const struct br2_live_traces *table,
                                   const struct br2_trace *wanted)
{
    for (size_t i = 1; i < table->used; i++) {
        struct br2_trace t = br2_live_traces_get(table, i);
        if (t.from == wanted->from && t.to == wanted->to && t.run == wanted->run &&
            t.space == wanted->space) {
            return t;
        }
    }
    return (struct br2_trace){0};
}

static void check_traces(const struct br2_live_traces *table, const struct br2_trace *wanted,
                         size_t count)
{
    assert_int_equal(table->used, count == 0 ? table->used & 1 : count + 1);
    for (size_t i = 0; i < count; i++) {
        struct br2_trace found = find_trace(table, &wanted[i]);
        assert_int_equal(found.count, wanted[i].count);
        assert_int_equal(found.mispredicted, wanted[i].mispredicted);
    }
}

static bool count_history(struct br2_counting *counting, const struct br2_branch_record *records,
                          size_t count)
{
    uint8_t bytes[1 + 24 * MOST]; /* records need not be aligned */
    memcpy(bytes + 1, records, 24 * count);
    struct br2_sample sample = {.records = bytes + 1, .count = count};
    return br2_count_sample(counting, &sample, 5);
}

static void test_histories(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof histories / sizeof histories[0]; i++) {
        const struct history *h = &histories[i];
        struct br2_live_traces table = {0};
        struct br2_counting counting = {.traces = &table};
        print_message("%s\n", h->what);
        assert_true(count_history(&counting, h->record, h->records));
        check_traces(&table, h->trace, h->traces);
        assert_memory_equal(&counting.stats, &h->stats, sizeof h->stats);
        br2_live_traces_done(&table);
    }
}

/* Processors' buffers are written one after the other: time goes back between them. */
static void test_first_seen(void **state)
{
    (void)state;
    static const struct br2_branch_record record = {0x20, 0x10, 0};
    static const br2_time times[] = {30, 10, 20};
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    struct br2_sample sample = {.records = (const uint8_t *)&record, .count = 1};
    for (size_t i = 0; i < 3; i++) {
        sample.time = times[i];
        assert_true(br2_count_sample(&counting, &sample, 5));
    }
    const struct br2_trace wanted = {0x20, 0x10, BR2_RUN_NONE, 5, 3, 0, 0};
    check_traces(&table, &wanted, 1);
    assert_int_equal(find_trace(&table, &wanted).first_seen, 10);
    assert_int_equal(counting.stats.first_time, 10);
    br2_live_traces_done(&table);
}

static size_t first_slot(const struct br2_live_traces *table, uint64_t from)
{
    const uint64_t *words = table->key.words;
    return (size_t)((from * words[0] + words[1] + 5 * words[3]) >> (64 - table->bits));
}

/* Of two traces that belong in one slot the more frequent is in it; both are found. */
static void test_one_slot(void **state)
{
    (void)state;
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    const struct br2_branch_record rare = {1, 1, 0};
    assert_true(count_history(&counting, &rare, 1));
    struct br2_branch_record frequent = {2, 1, 0};
    while (first_slot(&table, frequent.from) != first_slot(&table, rare.from)) {
        frequent.from++;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(count_history(&counting, &frequent, 1));
        assert_int_equal(table.slots[first_slot(&table, rare.from)], i < 2 ? 1 : 2);
    }
    assert_true(count_history(&counting, &rare, 1));
    const struct br2_trace wanted[] = {{1, 1, BR2_RUN_NONE, 5, 2, 0, 0},
                                       {frequent.from, 1, BR2_RUN_NONE, 5, 3, 0, 0}};
    check_traces(&table, wanted, 2);
    br2_live_traces_done(&table);
}

static void test_stats_add_up(void **state)
{
    (void)state;
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    assert_true(count_history(&counting, histories[0].record, 3));
    assert_true(count_history(&counting, histories[1].record, 2));
    assert_true(count_history(&counting, histories[0].record, 3));
    assert_int_equal(counting.stats.samples, 3);
    assert_int_equal(counting.stats.records, 8);
    assert_int_equal(counting.stats.depth, 3);
    struct br2_trace twice = {0x20, 0x28, 9, 5, 2, 2, 0};
    assert_int_equal(find_trace(&table, &twice).count, 2);
    assert_int_equal(find_trace(&table, &twice).mispredicted, 2);
    br2_live_traces_done(&table);
}

/* The cycles of a record time the run that it ends. */
static void test_timings(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x50, 0x60, CYC(0xffff)}, {0x30, 0x40, CYC(7)}, {0x38, 0x48, WRONG | CYC(99)},
        {0x20, 0x28, CYC(3)},      {K, 0x18, CYC(12)},   {0, 0, CYC(1)},
    };
    static const struct br2_trace wanted[] = {
        {0xff80, 0x40, 0x11, 5, 1, 0, 0}, /* nine binary digits are kept */
        {7, 0x28, 9, 5, 1, 0, 0},
        {3, 0x18, 9, 5, 1, 0, 0},
    };
    struct br2_live_traces table = {0};
    struct br2_live_traces timings = {0};
    struct br2_counting counting = {.traces = &table, .timings = &timings};
    assert_true(count_history(&counting, records, 6));
    check_traces(&timings, wanted, 3);
    assert_int_equal(counting.stats.cycles_known, 3);
    assert_int_equal(br2_cycles_kept(511), 511);
    assert_int_equal(br2_cycles_kept(1023), 1022);
    assert_int_equal(br2_cycles_kept(UINT64_C(1) << 40), 0xff800000);
    /* Neither a run without cycles nor one that cannot be is timed. */
    static const struct br2_branch_record untimed[] = {
        {0x50, 0x60, 0}, {0x30, 0x40, CYC(5)}, {0x70, 0x35, CYC(5)}};
    assert_true(count_history(&counting, untimed, 3));
    check_traces(&timings, wanted, 3);
    br2_live_traces_done(&table);
    br2_live_traces_done(&timings);
}

/* Every trace is found again after the table has grown, and all of a history is counted whose
 * middle is not to be counted, however long it is. */
static void test_growth(void **state)
{
    (void)state;
    enum {
        DISTINCT = 40000
    };
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 1; i <= DISTINCT; i += 2) {
            struct br2_branch_record records[] = {
                {i, i % 7 + 1, M}, {1, 1, WRONG}, {i + 1, i % 7 + 1, P}};
            assert_true(count_history(&counting, records, 3));
        }
    }
    assert_int_equal(table.used, DISTINCT + 1);
    assert_true(table.used <= (size_t)1 << table.bits >> 2);
    uint64_t seen = 0;
    uint64_t mispredicted = 0;
    for (size_t i = 1; i < table.used; i++) {
        assert_int_equal(br2_live_traces_get(&table, i).count, 2);
        seen += br2_live_traces_get(&table, i).from;
        mispredicted += br2_live_traces_get(&table, i).mispredicted;
    }
    assert_int_equal(seen, (uint64_t)DISTINCT * (DISTINCT + 1) / 2);
    assert_int_equal(mispredicted, DISTINCT);
    assert_int_equal(counting.stats.wrong_path, DISTINCT);
    assert_false(br2_live_traces_full(&table));
    br2_live_traces_clear(&table);
    check_traces(&table, NULL, 0);
    static const struct br2_branch_record one = {2, 1, 0};
    static const struct br2_trace wanted = {2, 1, BR2_RUN_NONE, 5, 1, 0, 0};
    assert_true(count_history(&counting, &one, 1));
    check_traces(&table, &wanted, 1);
    br2_live_traces_done(&table);
    assert_null(table.slots);
}

/* Counts are halves of words: the table is full before one can overflow. */
static void test_full(void **state)
{
    (void)state;
    struct br2_live_traces table = {.updates = (UINT64_C(1) << 30) - 1};
    struct br2_counting counting = {.traces = &table};
    static const struct br2_branch_record one = {2, 1, 0};
    assert_false(br2_live_traces_full(&table));
    assert_true(count_history(&counting, &one, 1));
    assert_true(br2_live_traces_full(&table));
    br2_live_traces_clear(&table);
    assert_false(br2_live_traces_full(&table));
    br2_live_traces_done(&table);
}

/* Equal branches behind which different ones come, and in different views, are different traces. */
static void test_parts_of_the_key(void **state)
{
    (void)state;
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    static const struct br2_branch_record records[] = {
        {0x90, 0x20, 0}, {0x10, 0x20, 0}, {0x91, 0x20, 0}, {0x10, 0x20, 0}, {0x90, 0x21, 0}};
    struct br2_sample sample = {.records = (const uint8_t *)records, .count = 5};
    assert_true(br2_count_sample(&counting, &sample, 5));
    assert_true(br2_count_sample(&counting, &sample, 6));
    assert_int_equal(table.used, 1 + 2 * 5);
    br2_live_traces_done(&table);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_live_traces table = {0};
    struct br2_counting counting = {.traces = &table};
    for (size_t nth = 1; nth <= 2; nth++) {
        br2_mem_fail_at(nth);
        bool counted = count_history(&counting, histories[0].record, 3);
        br2_mem_fail_at(0);
        assert_false(counted);
        assert_int_equal(counting.stats.samples, 0);
        br2_live_traces_done(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),      cmocka_unit_test(test_one_slot),
        cmocka_unit_test(test_stats_add_up),   cmocka_unit_test(test_first_seen),
        cmocka_unit_test(test_timings),        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_full),           cmocka_unit_test(test_parts_of_the_key),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
