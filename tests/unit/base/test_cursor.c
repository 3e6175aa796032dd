/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cursor.c: reading what nobody has checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cursor.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void test_integers(void **state)
{
    (void)state;
    struct br2_cursor little = br2_cursor_make(bytes, sizeof bytes, false);
    assert_int_equal(br2_cursor_u8(&little), 1);
    assert_int_equal(br2_cursor_u16(&little), 0x0302);
    assert_int_equal(br2_cursor_u32(&little), 0x07060504);
    assert_int_equal(br2_cursor_offset(&little), 7);
    assert_int_equal(br2_cursor_u64(&little), UINT64_C(0x0f0e0d0c0b0a0908));
    assert_int_equal(br2_cursor_left(&little), 0);
    assert_false(little.failed);
    struct br2_cursor big = br2_cursor_make(bytes, sizeof bytes, true);
    assert_int_equal(br2_cursor_u8(&big), 1);
    assert_int_equal(br2_cursor_u16(&big), 0x0203);
    assert_int_equal(br2_cursor_u32(&big), 0x04050607);
    assert_int_equal(br2_cursor_u64(&big), UINT64_C(0x08090a0b0c0d0e0f));
    assert_int_equal(br2_load_le64(bytes + 1), UINT64_C(0x0908070605040302));
}

/* The first read past the end fails; nothing is read after it, though it would fit. */
static void test_failure_sticks(void **state)
{
    (void)state;
    struct br2_cursor c = br2_cursor_make(bytes, 7, false);
    assert_int_equal(br2_cursor_u32(&c), 0x04030201);
    assert_int_equal(br2_cursor_u32(&c), 0);
    assert_true(c.failed);
    assert_int_equal(br2_cursor_left(&c), 0);
    assert_int_equal(br2_cursor_u8(&c), 0);
    assert_null(br2_cursor_bytes(&c, 1));
    struct br2_cursor empty = br2_cursor_make(NULL, 100, false);
    assert_int_equal(br2_cursor_left(&empty), 0);
    assert_int_equal(br2_cursor_u8(&empty), 0);
    assert_true(empty.failed);
}

static void test_bytes(void **state)
{
    (void)state;
    struct br2_cursor c = br2_cursor_make(bytes, sizeof bytes, false);
    br2_cursor_skip(&c, 3);
    assert_ptr_equal(br2_cursor_bytes(&c, 4), bytes + 3);
    assert_ptr_equal(br2_cursor_bytes(&c, 0), bytes + 7);
    br2_cursor_skip(&c, 8);
    assert_false(c.failed);
    assert_non_null(br2_cursor_bytes(&c, 0));
    br2_cursor_skip(&c, 1);
    assert_true(c.failed);
    c = br2_cursor_make(bytes, sizeof bytes, false);
    br2_cursor_skip(&c, SIZE_MAX);
    assert_true(c.failed);
    assert_ptr_equal(c.at, c.end);
}

static void test_uleb(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
        uint64_t value;
    } rows[] = {
        {"\x00", 1, true, 0},
        {"\x7f", 1, true, 127},
        {"\x80\x01", 2, true, 128},
        {"\xe5\x8e\x26", 3, true, 624485},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 10, false, 0},
        {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, true, 1},
        {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, false, 0},
        {"\x80", 1, false, 0},
        {"", 0, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_cursor c = br2_cursor_make(rows[i].bytes, rows[i].size, false);
        print_message("%zu\n", i);
        assert_int_equal(br2_cursor_uleb(&c), rows[i].value);
        assert_int_equal(c.failed, !rows[i].good);
        assert_int_equal(br2_cursor_left(&c), 0);
    }
}

static void test_string(void **state)
{
    (void)state;
    struct br2_cursor c = br2_cursor_make("ab\0\0cd", 6, false);
    size_t length;
    assert_string_equal(br2_cursor_string(&c, &length), "ab");
    assert_int_equal(length, 2);
    assert_string_equal(br2_cursor_string(&c, &length), "");
    assert_int_equal(length, 0);
    assert_null(br2_cursor_string(&c, &length));
    assert_true(c.failed);
    assert_int_equal(br2_cursor_left(&c), 0);
    assert_null(br2_cursor_string(&c, &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_failure_sticks),
        cmocka_unit_test(test_bytes),    cmocka_unit_test(test_uleb),
        cmocka_unit_test(test_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
