/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf_refusal.c: what perf says, in perf's own words, and the one line with the cure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "record/perf_refusal.h"

/* Of perf 6.1. */
#define ACCESS_LIMITED                                                                             \
    "Error:\nAccess to performance monitoring and observability operations is limited.\n"          \
    "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n"

static const struct {
    const char *said;
    int status;
    const char *message; /* parts of both */
    const char *hint;
} rows[] = {
    {"Error:\ncycles:u: PMU Hardware or event type doesn't support branch stack sampling.\n",
     BR2PGO_UNSUPPORTED,
     "perf cannot record branches here: cycles:u: PMU Hardware or event type doesn't support "
     "branch stack sampling.",
     "--dry-run"},
    {"event syntax error: 'cpu/event=0xc4,umask=0x20/u'\n   \\___ Cannot find PMU `cpu'. Missing "
     "kernel support?\n",
     BR2PGO_UNSUPPORTED, "event syntax error: 'cpu/event=0xc4,umask=0x20/u'", "--dry-run"},
    {"Error:\nThe cycles:u event is not supported.\n", BR2PGO_UNSUPPORTED,
     "The cycles:u event is not supported.", "--dry-run"},
    {"Error:\nThe sys_perf_event_open() syscall returned with 22 (Invalid argument) for event "
     "(cycles:u).\n",
     BR2PGO_UNSUPPORTED, "Invalid argument", "--dry-run"},
    {"Error:\nThe sys_perf_event_open() syscall returned with 16 (Device or resource busy) for "
     "event (cycles:u).\n",
     BR2PGO_IO, "are taken", "other profiler"},
    {"Error:\nThe PMU counters are busy/taken by another profiler.\n", BR2PGO_IO,
     "taken by another profiler", "nmi_watchdog=0"},
    {"Error:\nToo many events are opened.\n", BR2PGO_IO, "as many files", "ulimit -n"},
    {"Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb,\n",
     BR2PGO_IO, "lock as much memory", "perf_event_mlock_kb"},
    {"Couldn't create thread/CPU maps: No such process\n", BR2PGO_IO, "no such process to record",
     "ps"},
    {"  Error: unknown option `buildid-all'\n\n usage: perf record\n", BR2PGO_IO,
     "does not know an option", "4.5"},
    {"  Error: unknown switch `b'\n\n usage: perf record\n", BR2PGO_IO, "too old", "3.4"},
    {"WARNING: perf not found for kernel 6.8.0-1\n\n  You may need to install\n", BR2PGO_IO,
     "not installed for this kernel", "linux-tools"},
    {"perf: Segmentation fault\n", BR2PGO_IO, "here: perf: Segmentation fault", "--dry-run"},
    {"", BR2PGO_IO, "without a word", "--dry-run"},
};

static void test_words(void **state)
{
    (void)state;
    struct br2_machine machine = {.paranoid = 2};
    struct br2_record_request request = {.output = "x"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct br2pgo_error err = {0};
        assert_int_equal(br2_perf_refusal(rows[i].said, &machine, &request, &err), rows[i].status);
        assert_int_equal(err.status, rows[i].status);
        print_message("%s\n  %s\n", err.message, err.hint);
        assert_non_null(strstr(err.message, rows[i].message));
        assert_non_null(strstr(err.hint, rows[i].hint));
        assert_null(strchr(err.message, '\n'));
    }
}

/* What is needed depends on what is asked for, and on what the kernel is set to. */
static void test_permission(void **state)
{
    (void)state;
    static const struct {
        int paranoid;
        struct br2_record_request request;
        const char *message;
        const char *hint;
    } cases[] = {
        {4, {.output = "x"}, "is 4, recording one's own programs needs 2", "paranoid=2"},
        {2, {.output = "x", .kernel = true}, "is 2, --kernel needs 1", "paranoid=1"},
        {1, {.output = "x", .all_cpus = true}, "is 1, --all-cpus needs 0", "paranoid=0"},
        {2, {.output = "x", .processes = "1"}, "no permission to record process 1", "its user"},
        {2, {.output = "x"}, "perf_event_open is forbidden", "--cap-add=PERFMON"},
        {INT_MIN, {.output = "x"}, "perf_event_open is forbidden", "--cap-add=PERFMON"},
    };
    static const char *const texts[] = {
        ACCESS_LIMITED,
        "Error:\nNo permission to enable cycles:u event.\n",
        "Error:\nYou may not have permission to collect stats.\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct br2_machine machine = {.paranoid = cases[i].paranoid};
            struct br2pgo_error err = {0};
            assert_int_equal(br2_perf_refusal(texts[k], &machine, &cases[i].request, &err),
                             BR2PGO_IO);
            assert_non_null(strstr(err.message, cases[i].message));
            assert_non_null(strstr(err.hint, cases[i].hint));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_permission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
