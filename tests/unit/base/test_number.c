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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
