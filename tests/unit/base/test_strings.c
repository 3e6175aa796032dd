/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* strings.c: each string once, by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/strings.h"

static void test_add_and_find(void **state)
{
    (void)state;
    struct br2_strings strings = {0};
    size_t length;
    assert_int_equal(br2_strings_find(&strings, "a", 1), BR2_NO_STRING);
    assert_int_equal(br2_strings_add(&strings, "main", 4), 0);
    assert_int_equal(br2_strings_add(&strings, "mainly", 6), 1);
    assert_int_equal(br2_strings_add(&strings, "", 0), 2);
    assert_int_equal(br2_strings_add(&strings, "a\0b", 3), 3);
    assert_int_equal(br2_strings_add(&strings, "a\0c", 3), 4);
    assert_int_equal(br2_strings_add(&strings, "mainly", 4), 0);
    assert_int_equal(br2_strings_find(&strings, "mainly", 6), 1);
    assert_int_equal(br2_strings_find(&strings, "", 0), 2);
    assert_int_equal(br2_strings_find(&strings, "a\0c", 3), 4);
    assert_int_equal(br2_strings_find(&strings, "a", 1), BR2_NO_STRING);
    assert_string_equal(br2_strings_get(&strings, 1, &length), "mainly");
    assert_int_equal(length, 6);
    assert_memory_equal(br2_strings_get(&strings, 3, &length), "a\0b", 4);
    assert_int_equal(length, 3);
    assert_string_equal(br2_strings_get(&strings, 0, NULL), "main");
    assert_int_equal(strings.count, 5);
    br2_strings_done(&strings);
    assert_int_equal(strings.count, 0);
}

/* Numbers and texts stay what they were while the table grows. */
static void test_growth(void **state)
{
    (void)state;
    struct br2_strings strings = {0};
    char text[32];
    br2_strings_add(&strings, "first", 5);
    const char *first = br2_strings_get(&strings, 0, NULL);
    for (uint32_t i = 0; i < 20000; i++) {
        int length = snprintf(text, sizeof text, "name%u", i * 7919u);
        assert_int_equal(br2_strings_add(&strings, text, (size_t)length), i + 1);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        int length = snprintf(text, sizeof text, "name%u", i * 7919u);
        assert_int_equal(br2_strings_find(&strings, text, (size_t)length), i + 1);
        assert_string_equal(br2_strings_get(&strings, i + 1, NULL), text);
    }
    assert_ptr_equal(br2_strings_get(&strings, 0, NULL), first);
    assert_int_equal(strings.count, 20001);
    br2_strings_done(&strings);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_strings strings = {0};
    uint32_t number = BR2_NO_STRING;
    for (size_t nth = 1; nth <= 4; nth++) {
        br2_mem_fail_at(nth);
        number = br2_strings_add(&strings, "x", 1);
        br2_mem_fail_at(0);
        if (number != BR2_NO_STRING) {
            break;
        }
        assert_int_equal(strings.count, 0);
        assert_int_equal(br2_strings_find(&strings, "x", 1), BR2_NO_STRING);
    }
    assert_int_equal(number, 0);
    assert_int_equal(br2_strings_find(&strings, "x", 1), 0);
    br2_strings_done(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_and_find),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
