/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counters.c: what several threads count is what one counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/counters.h"

#define SAMPLES  5000
#define RECORDS  8
#define DISTINCT 1000

/* Two processes with the image at different places; no test has more samples at a time. */
static struct br2_spaces *make_spaces(void)
{
    struct br2_spaces *spaces = br2_spaces_new();
    for (int32_t pid = 1; pid <= 2; pid++) {
        struct br2_task_event event = {
            .kind = BR2_TASK_MMAP,
            .pid = pid,
            .address = (uint64_t)pid << 32,
            .length = 0x100000,
            .name = "/image",
        };
        assert_int_equal(br2_spaces_add(spaces, &event, NULL), 0);
    }
    assert_int_equal(br2_spaces_finish(spaces, NULL), 0);
    return spaces;
}

/* Sample number `i`; its records go to `records`. */
static struct br2_sample make_sample(uint64_t i, struct br2_branch_record *records, bool lasting)
{
    int32_t pid = (int32_t)(i % 2) + 1;
    uint64_t base = (uint64_t)pid << 32;
    for (uint64_t k = 0; k < RECORDS; k++) {
        uint64_t number = (i * RECORDS + k) / 2 % DISTINCT;
        records[k] =
            (struct br2_branch_record){base + 0x1000 + number, base + 0x400, 1 + number % 2};
    }
    return (struct br2_sample){
        .pid = pid,
        .time = 1000000 - i,
        .records = (const uint8_t *)records,
        .count = RECORDS,
        .lasting = lasting,
    };
}

static int count_all(const struct br2_spaces *spaces, unsigned threads, bool lasting,
                     struct br2_folded *folded, struct br2_count_stats *stats)
{
    static struct br2_branch_record records[SAMPLES][RECORDS];
    struct br2_counters *counters = NULL;
    struct br2pgo_error err = {0};
    int rc = br2_counters_new(spaces, threads, &counters, &err);
    for (uint64_t i = 0; rc == 0 && i < SAMPLES; i++) {
        struct br2_branch_record *place = lasting ? records[i] : records[0];
        struct br2_sample sample = make_sample(i, place, lasting);
        rc = br2_counters_take(counters, &sample, &err);
        if (!lasting) {
            memset(place, 0xff, sizeof records[0]);
        }
    }
    if (rc == 0) {
        rc = br2_counters_finish(counters, folded, stats, &err);
    }
    assert_int_equal(err.status, rc);
    br2_counters_free(counters);
    return rc;
}

static const struct br2_trace *find(const struct br2_folded *folded, const struct br2_trace *wanted)
{
    for (size_t i = 0; i < folded->traces.slot_count; i++) {
        const struct br2_trace *t = &folded->traces.slots[i];
        if (t->count != 0 && t->from == wanted->from && t->to == wanted->to &&
            t->run == wanted->run) {
            return t;
        }
    }
    fail_msg("no trace from %llx", (unsigned long long)wanted->from);
    return NULL;
}

static void check_same(const struct br2_folded *a, const struct br2_folded *b)
{
    assert_int_equal(a->traces.used, b->traces.used);
    for (size_t i = 0; i < a->traces.slot_count; i++) {
        const struct br2_trace *wanted = &a->traces.slots[i];
        if (wanted->count != 0) {
            const struct br2_trace *found = find(b, wanted);
            assert_int_equal(found->count, wanted->count);
            assert_int_equal(found->mispredicted, wanted->mispredicted);
            assert_int_equal(found->first_seen, wanted->first_seen);
            assert_int_equal(br2_folded_pair(b, found->space).to,
                             br2_folded_pair(a, wanted->space).to);
        }
    }
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 7};
    struct br2_spaces *spaces = make_spaces();
    struct br2_folded one = {0};
    struct br2_count_stats stats;
    assert_int_equal(count_all(spaces, 1, true, &one, &stats), 0);
    assert_int_equal(stats.samples, SAMPLES);
    assert_int_equal(stats.records, SAMPLES * RECORDS);
    assert_int_equal(stats.depth, RECORDS);
    assert_int_equal(stats.predictions, SAMPLES * RECORDS);
    assert_int_equal(stats.first_time, 1000000 - (SAMPLES - 1));
    assert_int_equal(stats.repeated, SAMPLES); /* k and k + 1 are the same record */
    for (size_t i = 0; i < 2 * sizeof threads / sizeof *threads; i++) {
        struct br2_folded more = {0};
        struct br2_count_stats sum;
        assert_int_equal(count_all(spaces, threads[i / 2], i % 2 == 0, &more, &sum), 0);
        check_same(&one, &more);
        assert_memory_equal(&sum, &stats, sizeof sum);
        br2_folded_done(&more);
    }
    br2_folded_done(&one);
    br2_spaces_free(spaces);
}

/* What was read is left when the reading ends early. */
static void test_abandoned(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    struct br2_counters *counters;
    struct br2_branch_record records[RECORDS];
    assert_int_equal(br2_counters_new(spaces, 3, &counters, NULL), 0);
    for (uint64_t i = 0; i < 2000; i++) {
        struct br2_sample sample = make_sample(i, records, false);
        assert_int_equal(br2_counters_take(counters, &sample, NULL), 0);
    }
    br2_counters_free(counters);
    br2_counters_free(NULL);
    br2_spaces_free(spaces);
}

static volatile sig_atomic_t handled;
static pthread_t handler_thread;

static void handle(int number)
{
    (void)number;
    handled = 1;
    handler_thread = pthread_self();
}

/* A signal that this thread does not take waits for it: the library's threads take none. */
static void test_signals_are_the_programs(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    struct br2_counters *counters;
    struct sigaction action = {.sa_handler = handle};
    sigset_t blocked, before, after;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(br2_counters_new(spaces, 3, &counters, NULL), 0);
    pthread_sigmask(SIG_BLOCK, &blocked, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), 0); /* it still takes it */
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    br2_counters_free(counters); /* the threads have ended */
    assert_int_equal(handled, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(handled, 1);
    assert_true(pthread_equal(handler_thread, pthread_self()));
    br2_spaces_free(spaces);
}

/* However many allocations succeed: an error, or everything. */
static void test_without_memory(void **state)
{
    (void)state;
    struct br2_spaces *spaces = make_spaces();
    for (unsigned threads = 1; threads <= 3; threads++) {
        int rc = BR2PGO_NO_MEMORY;
        size_t nth = 0;
        while (rc == BR2PGO_NO_MEMORY && nth < 1000) {
            struct br2_folded folded = {0};
            struct br2_count_stats stats;
            br2_mem_fail_at(++nth);
            rc = count_all(spaces, threads, false, &folded, &stats);
            br2_mem_fail_at(0);
            br2_folded_done(&folded);
        }
        assert_int_equal(rc, 0);
        assert_true(nth > 5);
    }
    br2_spaces_free(spaces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_signals_are_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
