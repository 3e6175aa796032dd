/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* llvm-profgen's profile before it is symbolised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "converters/llvm/llvm.h"

static struct br2_range runs[] = {{0x401010, 0x401013, 7}, {0x40101a, 0x40101f, UINT64_MAX}};
static struct br2_range branches[] = {{0, 0x401010, 3}, {0x401013, 0, 4}, {0x401013, 0x401017, 7}};
static const struct br2_range_table table = {runs, 2, branches, 3, 0x401000};

static const char wanted[] = "2\n"
                             "10-13:7\n"
                             "1A-1F:18446744073709551615\n"
                             "3\n"
                             "FFFFFFFFFFBFF001->10:3\n"
                             "13->FFFFFFFFFFBFF001:4\n"
                             "13->17:7\n";

static void writes_distances(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    assert_int_equal(br2_format_encode_ranges(&br2_format_unsymbolized, &table, &out, NULL), 0);
    assert_int_equal(out.size, sizeof wanted - 1);
    assert_memory_equal(out.bytes, wanted, out.size);
    assert_true(br2_format_unsymbolized.probe(out.bytes, out.size));
    assert_ptr_equal(br2_format_by_content(out.bytes, out.size), &br2_format_unsymbolized);
    br2_buf_done(&out);
}

/* Every byte counts. */
static void finds_differences(void **state)
{
    (void)state;
    char text[64];
    uint8_t bytes[sizeof wanted];
    for (size_t i = 0; i < sizeof wanted - 1; i++) {
        memcpy(bytes, wanted, sizeof wanted);
        bytes[i] ^= 1;
        br2_format_unsymbolized.check_ranges(bytes, sizeof wanted - 1, &table, text, sizeof text);
        assert_string_not_equal(text, "");
        br2_format_unsymbolized.check_ranges((const uint8_t *)wanted, i, &table, text, sizeof text);
        assert_string_not_equal(text, "");
    }
    br2_format_unsymbolized.check_ranges((const uint8_t *)wanted, sizeof wanted, &table, text,
                                         sizeof text);
    assert_string_equal(text, "line 7"); /* more than there should be */
    br2_format_unsymbolized.check_ranges((const uint8_t *)wanted, sizeof wanted - 1, &table, text,
                                         sizeof text);
    assert_string_equal(text, "");
}

static void knows_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool own;
    } cases[] = {
        {"1\n1-2:3\n", true},
        {"0\n1\n", true},
        {"0\n1->2:3\n", false},
        {"1\n1->2:3\n", false},
        {"1\n", false},
        {"1-2:3\n", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        assert_int_equal(br2_format_unsymbolized.probe((const uint8_t *)text, strlen(text)),
                         cases[i].own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_distances),
        cmocka_unit_test(finds_differences),
        cmocka_unit_test(knows_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
