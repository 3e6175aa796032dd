/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* err.c: messages are single lines, cut where they do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static void test_fail(void **state)
{
    (void)state;
    struct br2pgo_error err = {.hint = "old"};
    assert_int_equal(br2_fail(&err, BR2PGO_CORRUPT, "row %d: %s", 7, "bad"), BR2PGO_CORRUPT);
    assert_int_equal(err.status, BR2PGO_CORRUPT);
    assert_string_equal(err.message, "row 7: bad");
    assert_string_equal(err.hint, "");
}

static void test_hint(void **state)
{
    (void)state;
    struct br2pgo_error err;
    br2_fail(&err, BR2PGO_INVALID, "no");
    br2_hint(&err, "try %u", 3u);
    assert_string_equal(err.hint, "try 3");
    assert_string_equal(err.message, "no");
}

static void test_prefix(void **state)
{
    (void)state;
    struct br2pgo_error err;
    br2_fail(&err, BR2PGO_IO, "inner");
    br2_hint(&err, "hint");
    br2_prefix(&err, "'%s'", "file");
    br2_prefix(&err, "outer");
    assert_string_equal(err.message, "outer: 'file': inner");
    assert_string_equal(err.hint, "hint");
    assert_int_equal(err.status, BR2PGO_IO);
}

/* A name may hold anything; a terminal gets one line of it. */
static void test_control_characters(void **state)
{
    (void)state;
    struct br2pgo_error err;
    br2_fail(&err, BR2PGO_IO, "a\nb\x1b[1mc\x7f\x01%s", "\xc3\xa9");
    assert_string_equal(err.message, "a?b?[1mc??\xc3\xa9");
    br2_hint(&err, "x\ty");
    assert_string_equal(err.hint, "x?y");
    br2_prefix(&err, "p\r");
    assert_string_equal(err.message, "p?: a?b?[1mc??\xc3\xa9");
}

static void test_too_long(void **state)
{
    (void)state;
    char text[4000];
    struct br2pgo_error err;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    br2_fail(&err, BR2PGO_IO, "%s", text);
    br2_hint(&err, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
    br2_prefix(&err, "start");
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "start: xxx", 10);
    br2_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    br2_fail(&err, BR2PGO_IO, "inner");
    br2_prefix(&err, "%.*s", (int)sizeof err.message - 3, text); /* room for half of ": " */
    assert_int_equal(err.message[sizeof err.message - 2], ' ');
    assert_int_equal(err.message[sizeof err.message - 1], '\0');
}

static void test_io(void **state)
{
    (void)state;
    struct br2pgo_error err;
    assert_int_equal(br2_fail_io(&err, "open", "a b", ENOENT), BR2PGO_IO);
    assert_string_equal(err.message, "cannot open 'a b': No such file or directory");
    assert_string_equal(err.hint, "");
    br2_fail_io(&err, "write", "a", ENOSPC);
    assert_non_null(strstr(err.hint, "make room"));
    br2_fail_io(&err, "open", "a", 99999);
    assert_string_equal(err.message, "cannot open 'a': Unknown error 99999");
    assert_int_equal(br2_fail_memory(&err), BR2PGO_NO_MEMORY);
    assert_string_equal(err.message, "out of memory");
    br2_mem_limit((size_t)16 * 1024 * 1024);
    assert_null(br2_alloc((size_t)32 * 1024 * 1024));
    assert_int_equal(br2_fail_memory(&err), BR2PGO_NO_MEMORY);
    assert_string_equal(err.message, "more memory is needed than the 16 MiB that are allowed");
    assert_non_null(strstr(err.hint, "--max-memory"));
    br2_mem_limit(0);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    assert_int_equal(br2_fail(NULL, BR2PGO_LIMIT, "x"), BR2PGO_LIMIT);
    assert_int_equal(br2_fail_io(NULL, "a", "b", 1), BR2PGO_IO);
    assert_int_equal(br2_fail_memory(NULL), BR2PGO_NO_MEMORY);
    br2_hint(NULL, "x");
    br2_prefix(NULL, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail),           cmocka_unit_test(test_hint),
        cmocka_unit_test(test_prefix),         cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_too_long),       cmocka_unit_test(test_io),
        cmocka_unit_test(test_nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
