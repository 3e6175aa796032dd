/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A block's latencies: most runs take up to 6 cycles, some about as long as a misprediction. */
static void test_two_peaks(void **state)
{
    (void)state;
    static const struct br2_point points[] = {
        {1, 10484}, {2, 16728}, {3, 4563}, {4, 15815}, {6, 4770}, {24, 3804}, {32, 5567},
    };
    struct br2_distribution of;
    br2_describe(points, COUNT(points), &of);
    assert_int_equal(of.count, 61731);
    assert_int_equal(of.median, 3);
    assert_int_equal(of.ninth, 24);
    assert_int_equal(of.least, 1);
    assert_int_equal(of.most, 32);
    assert_int_equal(of.frequent, 2);
    assert_int_equal(of.mode_count, 2);
    assert_int_equal(of.modes[0].value, 2);
    assert_int_equal(of.modes[0].count, 52360);
    assert_int_equal(of.modes[1].value, 32);
    assert_int_equal(of.modes[1].count, 9371);
    assert_true(of.mean > 6.786 && of.mean < 6.787);
}

/* A cache hit and a miss. */
static void test_far_apart(void **state)
{
    (void)state;
    static const struct br2_point points[] = {{78, 20}, {80, 50},  {84, 10}, {120, 1},
                                              {280, 9}, {290, 15}, {310, 6}};
    struct br2_distribution of;
    br2_describe(points, COUNT(points), &of);
    assert_int_equal(of.mode_count, 2);
    assert_int_equal(of.modes[0].value, 80);
    assert_int_equal(of.modes[0].count, 81);
    assert_int_equal(of.modes[1].value, 290);
    assert_int_equal(of.modes[1].count, 30);
    assert_int_equal(of.median, 80);
}

/* One that goes down and up a little is one; a few far away are none. */
static void test_one_peak(void **state)
{
    (void)state;
    static const struct br2_point points[] = {{10, 50}, {12, 20}, {16, 40}, {24, 55}, {5000, 1}};
    struct br2_distribution of;
    br2_describe(points, COUNT(points), &of);
    assert_int_equal(of.mode_count, 1);
    assert_int_equal(of.modes[0].value, 24);
    br2_describe(points, 1, &of);
    assert_int_equal(of.mode_count, 1);
    assert_int_equal(of.ninth, 10);
    br2_describe(points, 0, &of);
    assert_int_equal(of.count, 0);
    assert_int_equal(of.mode_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_peaks),
        cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_one_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
