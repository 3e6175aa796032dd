/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* early.c: what is counted before address spaces are known is what is counted after, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "lib/counters.h"
#include "lib/early.h"

#define RECORDS 4
#define SAMPLES 1000 /* of each stay */
#define STAYS   3

/* Process 7 execs at 1000000, 2000000 and so on, each time with the image somewhere else. */
static struct br2_task_event event_of(int32_t stay, bool mapping)
{
    br2_time time = (br2_time)(stay + 1) * 1000000;
    if (!mapping) {
        return (struct br2_task_event){
            .kind = BR2_TASK_COMM, .pid = 7, .time = time, .exec = true, .name = "image"};
    }
    return (struct br2_task_event){
        .kind = BR2_TASK_MMAP,
        .pid = 7,
        .time = time,
        .address = 0x400000 + (uint64_t)stay * 0x800,
        .length = 0x100000,
        .name = "/image",
    };
}

/* A sample of the same addresses in every stay. */
static struct br2_sample sample_of(int32_t stay, uint64_t i, struct br2_branch_record *records)
{
    for (uint64_t k = 0; k < RECORDS; k++) {
        records[k] = (struct br2_branch_record){0x401000 + (i + k) % 50, 0x400900, 1 + k % 2};
    }
    return (struct br2_sample){
        .pid = 7,
        .time = (br2_time)(stay + 1) * 1000000 + 1 + (SAMPLES - i),
        .records = (const uint8_t *)records,
        .count = RECORDS,
    };
}

struct outcome {
    struct br2_folded folded;
    struct br2_count_stats stats;
    bool done;
};

static int feed(struct br2_early *early, struct br2_spaces *spaces, struct br2pgo_error *err)
{
    struct br2_branch_record records[RECORDS];
    int rc = 0;
    for (int32_t stay = 0; rc == 0 && stay < STAYS; stay++) {
        for (int mapping = 0; rc == 0 && mapping < 2; mapping++) {
            struct br2_task_event event = event_of(stay, mapping != 0);
            br2_early_add_task(early, &event);
            rc = br2_spaces_add(spaces, &event, err);
        }
        for (uint64_t i = 0; rc == 0 && i < SAMPLES; i++) {
            struct br2_sample sample = sample_of(stay, i, records);
            rc = br2_early_take(early, &sample, err);
        }
    }
    return rc;
}

/* `late`: a sample that comes last, of that time, unless it is 0. */
static int count_early(unsigned threads, br2_time late, struct outcome *ret,
                       struct br2pgo_error *err)
{
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_early *early = br2_early_new(threads);
    struct br2_branch_record records[RECORDS];
    struct br2_sample sample = sample_of(STAYS - 1, 0, records);
    *ret = (struct outcome){0};
    int rc = spaces == NULL || early == NULL ? br2_fail_memory(err) : feed(early, spaces, err);
    if (rc == 0 && late != 0) {
        sample.time = late;
        rc = br2_early_take(early, &sample, err);
    }
    rc = rc != 0 ? rc : br2_spaces_finish(spaces, err);
    rc = rc != 0 ? rc : br2_early_finish(early, spaces, &ret->folded, &ret->stats, err);
    ret->done = rc == 0;
    br2_early_free(early);
    br2_spaces_free(spaces);
    return rc;
}

static void count_after(struct outcome *ret)
{
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_counters *counters;
    struct br2_branch_record records[RECORDS];
    *ret = (struct outcome){.done = true};
    for (int32_t stay = 0; stay < STAYS; stay++) {
        for (int mapping = 0; mapping < 2; mapping++) {
            struct br2_task_event event = event_of(stay, mapping != 0);
            assert_int_equal(br2_spaces_add(spaces, &event, NULL), 0);
        }
    }
    assert_int_equal(br2_spaces_finish(spaces, NULL), 0);
    assert_int_equal(br2_counters_new(spaces, 1, &counters, NULL), 0);
    for (int32_t stay = 0; stay < STAYS; stay++) {
        for (uint64_t i = 0; i < SAMPLES; i++) {
            struct br2_sample sample = sample_of(stay, i, records);
            assert_int_equal(br2_counters_take(counters, &sample, NULL), 0);
        }
    }
    assert_int_equal(br2_counters_finish(counters, &ret->folded, &ret->stats, NULL), 0);
    br2_counters_free(counters);
    br2_spaces_free(spaces);
}

static const struct br2_trace *find(const struct br2_trace_table *table,
                                    const struct br2_trace *wanted)
{
    for (size_t i = 0; i < table->slot_count; i++) {
        const struct br2_trace *t = &table->slots[i];
        if (t->count != 0 && t->from == wanted->from && t->to == wanted->to &&
            t->run == wanted->run) {
            return t;
        }
    }
    fail_msg("no trace from %llx", (unsigned long long)wanted->from);
    return NULL;
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    const struct br2_trace_table *table = &a->folded.traces;
    assert_true(a->done && b->done);
    assert_memory_equal(&a->stats, &b->stats, sizeof a->stats);
    assert_int_equal(table->used, b->folded.traces.used);
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            const struct br2_trace *found = find(&b->folded.traces, &table->slots[i]);
            assert_int_equal(found->count, table->slots[i].count);
            assert_int_equal(found->mispredicted, table->slots[i].mispredicted);
            assert_int_equal(found->first_seen, table->slots[i].first_seen);
        }
    }
}

static void test_same_as_after(void **state)
{
    (void)state;
    struct outcome after;
    count_after(&after);
    assert_true(after.folded.traces.used > 50); /* the same addresses are other places */
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct outcome early;
        assert_int_equal(count_early(threads, 0, &early, NULL), 0);
        check_same(&after, &early);
        br2_folded_done(&early.folded);
    }
    br2_folded_done(&after.folded);
}

/* A sample that comes after an exec and was taken before it. */
static void test_stay_of_two_views(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct outcome early;
        assert_int_equal(count_early(threads, 2999999, &early, NULL), 1);
        assert_false(early.done);
        assert_int_equal(early.folded.traces.used, 0);
        assert_int_equal(count_early(threads, 3000000, &early, NULL), 0);
        assert_true(early.done);
        br2_folded_done(&early.folded);
    }
}

/* Traces that cannot be folded yet are not kept without limit. */
static void test_too_many_traces(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct br2_early *early = br2_early_new(threads);
        struct br2_spaces *spaces = br2_spaces_new();
        struct outcome outcome = {0};
        for (uint64_t i = 0; i < threads * (BR2_LIVE_TRACES_MAX + UINT64_C(300000)); i++) {
            struct br2_branch_record record = {0x400000 + i, 0x400000, 0};
            struct br2_sample sample = {
                .pid = 7, .time = 1, .records = (const uint8_t *)&record, .count = 1};
            assert_int_equal(br2_early_take(early, &sample, NULL), 0);
        }
        assert_int_equal(br2_spaces_finish(spaces, NULL), 0);
        assert_int_equal(br2_early_finish(early, spaces, &outcome.folded, &outcome.stats, NULL), 1);
        assert_int_equal(outcome.folded.traces.used, 0);
        br2_early_free(early);
        br2_spaces_free(spaces);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        int rc = BR2PGO_NO_MEMORY;
        size_t nth = 0;
        while (rc == BR2PGO_NO_MEMORY && nth < 1000) {
            struct outcome early;
            br2_mem_fail_at(++nth);
            rc = count_early(threads, 0, &early, NULL);
            br2_mem_fail_at(0);
            br2_folded_done(&early.folded);
        }
        assert_int_equal(rc, 0);
        assert_true(nth > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_after),
        cmocka_unit_test(test_stay_of_two_views),
        cmocka_unit_test(test_too_many_traces),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
