/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* preagg.c: what is written, and that what reads back as something else is found out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"

static struct br2_block_edge edges[] = {
    {0, 0x1000, BR2_OUTSIDE, 0, 7, 0, false},
    {0x1004, 0x1abc, 0, 0, 12, 2, false},
    {0x1004, 0x1006, 0, 0, 3, 0, true},
    {0x1010, 0, 0, BR2_OUTSIDE, UINT64_MAX, 0, false},
};
static struct br2_block_run runs[] = {
    {0x1000, 0x1004, 9, 0},
    {0x1006, 0x1010, 5, 5},
    {0x1abc, 0x1ac0, 12, 2},
};
static const struct br2_block_flow flow = {
    .edges = edges, .edge_count = 4, .runs = runs, .run_count = 3};

#define WRITTEN                                                                                    \
    "B 0 1000 7 0\n"                                                                               \
    "B 1004 1abc 12 2\n"                                                                           \
    "B 1010 0 18446744073709551615 0\n"                                                            \
    "F 1000 1004 9\n"                                                                              \
    "f 1006 1010 5\n"                                                                              \
    "F 1abc 1ac0 10\n"                                                                             \
    "f 1abc 1ac0 2\n"

static void test_write(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    assert_int_equal(br2_format_encode_flow(&br2_format_bolt_preagg, &flow, &out, NULL), 0);
    assert_int_equal(out.size, sizeof WRITTEN - 1);
    assert_memory_equal(out.bytes, WRITTEN, out.size);
    br2_buf_done(&out);
}

static bool is_found(const char *bytes, size_t size, const char *where)
{
    char text[64];
    assert_int_equal(br2_format_bolt_preagg.check_flow((const uint8_t *)bytes, size, &flow, text,
                                                       sizeof text, NULL),
                     0);
    return where == NULL ? text[0] != '\0' : strcmp(text, where) == 0;
}

static void test_check(void **state)
{
    (void)state;
    char bytes[] = WRITTEN "F 1 2 3\n";
    size_t size = sizeof WRITTEN - 1;
    assert_true(is_found(bytes, size, ""));
    for (size_t i = 0; i < size; i++) {
        char kept = bytes[i];
        bytes[i] = kept == '1' ? '2' : '1';
        assert_true(is_found(bytes, size, NULL));
        bytes[i] = kept;
        assert_true(is_found(bytes, i, NULL));
    }
    assert_true(is_found(bytes, sizeof bytes - 1, "line 7"));
    bytes[14] = 'x';
    assert_true(is_found(bytes, size, "line 2"));
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    br2_mem_fail_at(1);
    assert_int_equal(br2_format_encode_flow(&br2_format_bolt_preagg, &flow, &out, NULL),
                     BR2PGO_NO_MEMORY);
    br2_mem_fail_at(0);
    br2_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
