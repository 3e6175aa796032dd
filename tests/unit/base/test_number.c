/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.c: digits, all of them, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/number.h"

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned base;
        uint64_t value;
    } rows[] = {
        {"0", 10, 0},
        {"007", 10, 7},
        {"18446744073709551615", 10, UINT64_MAX},
        {"ffffffffffffffff", 16, UINT64_MAX},
        {"00000000000000000000001a", 16, 26},
        {"Fe", 16, 254},
        {"101", 2, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 1234;
        assert_true(br2_parse_number(rows[i].text, strlen(rows[i].text), rows[i].base, &value));
        assert_int_equal(value, rows[i].value);
    }
    uint64_t value;
    assert_true(br2_parse_number("12x", 2, 10, &value)); /* no byte behind the text counts */
    assert_int_equal(value, 12);
}

static void test_others(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned base;
    } rows[] = {
        {"", 10},
        {"-1", 10},
        {"+1", 10},
        {" 1", 10},
        {"1 ", 10},
        {"a", 10},
        {"g", 16},
        {"0x1", 16},
        {"2", 2},
        {"18446744073709551616", 10},
        {"99999999999999999999", 10},
        {"10000000000000000", 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value;
        if (br2_parse_number(rows[i].text, strlen(rows[i].text), rows[i].base, &value)) {
            fail_msg("'%s' is a number", rows[i].text);
        }
    }
}

static void test_reading(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        const char *rest; /* NULL: it is refused */
    } rows[] = {
        {"3", 3000, ""},
        {"0.25x", 250, "x"},
        {"12.5,7", 12500, ",7"},
        {"0.001", 1, ""},
        {"0.0001", 0, NULL},
        {"1.", 0, NULL},
        {".5", 0, NULL},
        {"", 0, NULL},
        {"-1", 0, NULL},
        {"1..2", 0, NULL},
        {"00012", 12000, ""},
        {"18446744073709551.615", 0, NULL}, /* might wrap */
        {"18446744073709549.999", UINT64_C(18446744073709549999), ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].text;
        uint64_t value = 0;
        bool good = br2_decimal_read(&at, 1000, &value);
        if (good != (rows[i].rest != NULL)) {
            fail_msg("'%s'", rows[i].text);
        }
        if (good) {
            assert_int_equal(value, rows[i].value);
            assert_string_equal(at, rows[i].rest);
        }
    }
    const char *at = "12";
    uint64_t value;
    assert_false(br2_number_read(&at, 11, &value));
    at = "9";
    assert_false(br2_number_read(&at, 3, &value));
    at = "12";
    assert_true(br2_number_read(&at, 12, &value));
    assert_int_equal(value, 12);
}

static void test_divisor(void **state)
{
    (void)state;
    assert_int_equal(br2_greatest_divisor(12, 18), 6);
    assert_int_equal(br2_greatest_divisor(18, 12), 6);
    assert_int_equal(br2_greatest_divisor(7, 9), 1);
    assert_int_equal(br2_greatest_divisor(0, 5), 5);
    assert_int_equal(br2_greatest_divisor(5, 0), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_divisor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
