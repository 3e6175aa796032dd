/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* selection.c: what --pid, --comm, --cpu and --time say, and which samples they leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/selection.h"

static int parse(const char *pids, const char *comms, const char *time, struct br2_selection *ret)
{
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_error err = {0};
    options.pids = pids;
    options.comms = comms;
    options.time = time;
    int rc = br2_selection_parse(&options, ret, &err);
    assert_int_equal(rc != 0, err.hint[0] != '\0');
    return rc;
}

/* "from-to from-to " of the spans. */
static const char *tell(const struct br2_spans *spans)
{
    static char text[512];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < spans->count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 "-%" PRIu64 " ",
                                 spans->items[i].from, spans->items[i].to);
    }
    return text;
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"7", "7-7 "},
        {"7,9-12", "7-7 9-12 "},
        {"0-0,2147483647", "0-0 2147483647-2147483647 "},
    };
    static const char *const bad[] = {"",
                                      ",",
                                      "7,",
                                      ",7",
                                      "a",
                                      "7x",
                                      "7-",
                                      "9-7",
                                      "-1",
                                      "7 8",
                                      "2147483648",
                                      "7--8",
                                      ("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"
                                       "23,24,25,26,27,28,29,30,31,32,33")};
    struct br2_selection selection;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(parse(good[i][0], NULL, NULL, &selection), 0);
        assert_string_equal(tell(&selection.pids), good[i][1]);
        assert_true(br2_selection_chooses(&selection));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i], NULL, NULL, &selection) != BR2PGO_INVALID) {
            fail_msg("'%s' is taken", bad[i]);
        }
    }
    assert_int_equal(parse(NULL, NULL, NULL, &selection), 0);
    assert_false(br2_selection_chooses(&selection));
}

static void test_times(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"12.5,14", "12500000000-14000000000 "},
        {"12.000000001,12.000000001", "12000000001-12000000001 "},
        {",3", "0-3000000000 "},
        {"3,", "3000000000-18446744073709551615 "},
        {"3", "3000000000-18446744073709551615 "},
        {"10%-20%", "100000000-200000000 "},
        {"0%-0.5%,99.5%-100%", "0-5000000 995000000-1000000000 "},
        {"10%/2", "100000000-200000000 "},
        {"25%/4", "750000000-1000000000 "},
    };
    static const char *const bad[] = {
        "",       ",",        "a",       "1,a",  "2,1",    "1,2,3",         "1.",       "-1,2",
        "10%",    "20%-10%",  "10%-10%", "0%/1", "10%/0",  "10%/11",        "10%-101%", "10%-20",
        "10-20%", "10%-20%,", "1,20%",   "1..2", "10%/2x", "1.0000000001,2"};
    struct br2_selection selection;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (parse(NULL, NULL, good[i][0], &selection) != 0) {
            fail_msg("'%s' is refused", good[i][0]);
        }
        assert_string_equal(tell(&selection.times), good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(NULL, NULL, bad[i], &selection) != BR2PGO_INVALID) {
            fail_msg("'%s' is taken", bad[i]);
        }
    }
    assert_int_equal(parse(NULL, ",", NULL, &selection), BR2PGO_INVALID);
    assert_int_equal(parse(NULL, "", NULL, &selection), BR2PGO_INVALID);
}

/* Parts do not overlap and leave nothing between them, whatever the clock says. */
static void test_parts(void **state)
{
    (void)state;
    struct br2_selection selection;
    struct br2_spans times;
    assert_int_equal(parse(NULL, NULL, "0%-50%,50%-100%", &selection), 0);
    br2_selection_resolve(&selection, 1000, 2001, &times);
    assert_string_equal(tell(&times), "1000-1499 1500-2001 ");
    br2_selection_resolve(&selection, 0, UINT64_MAX, &times);
    assert_string_equal(tell(&times), "0-9223372036854775806 "
                                      "9223372036854775807-18446744073709551615 ");
    br2_selection_resolve(&selection, 5, 5, &times);
    assert_string_equal(tell(&times), "5-5 5-5 ");
}

static void test_judge(void **state)
{
    (void)state;
    struct br2_selection selection;
    struct br2_comms comms = {0};
    struct br2_sample sample = {.pid = 7, .cpu = 3, .comm = "app", .time = 1000000000};
    assert_int_equal(parse("7", "other,app", "1,2", &selection), 0);
    selection.cpus = (struct br2_spans){.items = {{3, 4}}, .count = 1};
    assert_int_equal(br2_selection_judge(&selection, &selection.times, &comms, &sample),
                     BR2_LEFT_NOT);
    sample.time = 2000000001;
    assert_int_equal(br2_selection_judge(&selection, &selection.times, &comms, &sample),
                     BR2_LEFT_TIME);
    sample.cpu = -1;
    assert_int_equal(br2_selection_judge(&selection, &selection.times, &comms, &sample),
                     BR2_LEFT_CPU);
    sample.comm = "ap";
    assert_int_equal(br2_selection_judge(&selection, &selection.times, &comms, &sample),
                     BR2_LEFT_COMM);
    sample.pid = -1;
    assert_int_equal(br2_selection_judge(&selection, &selection.times, &comms, &sample),
                     BR2_LEFT_PID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
