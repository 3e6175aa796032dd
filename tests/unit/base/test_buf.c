/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* buf.c: appending, and remembering that memory ran out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void check(struct br2_buf *buf, const void *wanted, size_t size)
{
    assert_false(buf->failed);
    assert_int_equal(buf->size, size);
    assert_memory_equal(buf->bytes, wanted, size);
    br2_buf_done(buf);
    assert_null(buf->bytes);
    assert_int_equal(buf->size, 0);
}

static void test_numbers(void **state)
{
    (void)state;
    struct br2_buf buf = {0};
    br2_buf_u8(&buf, 0xab);
    br2_buf_le32(&buf, 0x01020304);
    br2_buf_le64(&buf, UINT64_C(0x1122334455667788));
    check(&buf, "\xab\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11", 13);
}

static void test_uleb(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *bytes;
        size_t size;
    } rows[] = {
        {0, "\x00", 1},
        {127, "\x7f", 1},
        {128, "\x80\x01", 2},
        {624485, "\xe5\x8e\x26", 3},
        {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_buf buf = {0};
        br2_buf_uleb(&buf, rows[i].value);
        check(&buf, rows[i].bytes, rows[i].size);
    }
}

static void test_text(void **state)
{
    (void)state;
    struct br2_buf buf = {0};
    br2_buf_str(&buf, "");
    br2_buf_put(&buf, NULL, 0);
    assert_null(buf.bytes);
    br2_buf_str(&buf, "a");
    br2_buf_printf(&buf, "%d%s", 12, "");
    br2_buf_printf(&buf, "%s", "");
    br2_buf_put(&buf, "b\0c", 3);
    check(&buf, "a12b\0c", 6);
}

/* Text that fills what is left exactly, and one byte more. */
static void test_growth(void **state)
{
    (void)state;
    char text[700];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int length = 250; length < 262; length++) {
        struct br2_buf buf = {0};
        br2_buf_printf(&buf, "%.*s", length, text);
        br2_buf_str(&buf, text);
        assert_int_equal(buf.size, (size_t)length + 699);
        assert_int_equal(buf.bytes[length - 1], 'x');
        assert_int_equal(buf.bytes[length], 'x');
        br2_buf_done(&buf);
    }
    struct br2_buf buf = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        br2_buf_le32(&buf, i);
    }
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(buf.bytes[4 * i], i & 0xff);
        assert_int_equal(buf.bytes[4 * i + 1], i >> 8);
    }
    br2_buf_done(&buf);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_buf buf = {0};
    br2_buf_str(&buf, "kept");
    br2_mem_fail_at(1);
    char large[1000] = {0};
    br2_buf_put(&buf, large, sizeof large);
    br2_mem_fail_at(0);
    assert_true(buf.failed);
    br2_buf_str(&buf, "late");
    br2_buf_printf(&buf, "%d", 1);
    br2_buf_u8(&buf, 1);
    assert_int_equal(buf.size, 4);
    assert_memory_equal(buf.bytes, "kept", 4);
    br2_buf_put(&buf, large, SIZE_MAX);
    assert_true(buf.failed);
    br2_buf_done(&buf);
    br2_buf_str(&buf, "x");
    br2_buf_put(&buf, large, SIZE_MAX); /* its size alone wraps */
    assert_true(buf.failed);
    assert_int_equal(buf.size, 1);
    br2_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),        cmocka_unit_test(test_uleb),
        cmocka_unit_test(test_text),           cmocka_unit_test(test_growth),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
