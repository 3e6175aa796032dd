/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lines, numbers, and files side by side. */
#include "base/limits.h"
#include "input/text/text.h"
#include "recording.h"

static struct br2_span span_of(const char *text)
{
    return (struct br2_span){.at = text, .end = text + strlen(text)};
}

static void takes_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool hex;
        bool taken;
        uint64_t value;
        size_t left;
    } cases[] = {
        {"1f", true, true, 0x1f, 0},
        {"0x1F/", true, true, 0x1f, 1},
        {"0X2", true, true, 2, 0},
        {"0", true, true, 0, 0},
        {"0x", true, true, 0, 1}, /* the digit 0, then something else */
        {"0xg", true, true, 0, 2},
        {"ffffffffffffffff", true, true, UINT64_MAX, 0},
        {"10000000000000000", true, false, 0, 17},
        {"g", true, false, 0, 1},
        {"", true, false, 0, 0},
        {"@12", true, false, 0, 3},
        {"`12", true, false, 0, 3},
        {"18446744073709551615 ", false, true, UINT64_MAX, 1},
        {"18446744073709551616", false, false, 0, 20},
        {"12a", false, true, 12, 1},
        {"-1", false, false, 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct br2_span span = span_of(cases[i].text);
        uint64_t value = 0;
        bool taken =
            cases[i].hex ? br2_span_take_hex(&span, &value) : br2_span_take_decimal(&span, &value);
        if (taken != cases[i].taken || value != cases[i].value ||
            br2_span_left(&span) != cases[i].left) {
            fail_msg("'%s': %d, %" PRIx64 ", %zu left", cases[i].text, taken, value,
                     br2_span_left(&span));
        }
    }
}

static void takes_lines(void **state)
{
    (void)state;
    struct br2_span rest = span_of("a b \r\n\n\tlast\t");
    struct br2_span line;
    assert_true(br2_span_take_line(&rest, &line));
    assert_int_equal(br2_span_left(&line), 3);
    assert_memory_equal(line.at, "a b", 3);
    assert_true(br2_span_take_line(&rest, &line));
    assert_int_equal(br2_span_left(&line), 0);
    assert_true(br2_span_take_line(&rest, &line));
    assert_int_equal(br2_span_left(&line), 5);
    assert_false(br2_span_take_line(&rest, &line));
}

static void takes_build_ids(void **state)
{
    (void)state;
    struct br2_build_id id;
    struct br2_span span = span_of("51AC:10");
    assert_true(br2_span_take_build_id(&span, &id));
    assert_int_equal(id.size, 2);
    assert_int_equal(id.bytes[0], 0x51);
    assert_int_equal(id.bytes[1], 0xac);
    assert_true(br2_span_is(&span, ':'));
    span = span_of("0000000000000000000000000000000000000000");
    assert_true(br2_span_take_build_id(&span, &id));
    assert_int_equal(id.size, 0); /* says that there is none */
    span = span_of("123:");
    assert_false(br2_span_take_build_id(&span, &id));
    span = span_of("00112233445566778899aabbccddeeff0011223344"); /* 21 bytes */
    assert_false(br2_span_take_build_id(&span, &id));
    assert_int_equal(id.size, 0);
}

static void keeps_files_apart(void **state)
{
    (void)state;
    assert_int_equal(br2_file_place(0, 0x1000), 0x1000);
    assert_int_equal(br2_file_place(3, 0x1000), UINT64_C(3) << 48 | 0x1000);
    uint64_t outside = br2_file_place(0, 0);
    assert_int_equal(br2_file_place(3, UINT64_C(1) << 48), outside);
    assert_int_equal(br2_file_place(1, UINT64_MAX), outside);
    assert_true(outside > br2_file_place(BR2_TEXT_FILES_MAX, (UINT64_C(1) << 48) - 1));
    assert_int_equal(outside >> 63, 0); /* no kernel address */
}

static void limits_sums(void **state)
{
    (void)state;
    struct br2_input input = {.path = (char *)(uintptr_t) "x.txt"};
    struct br2_lines lines = {.input = &input, .number = 7};
    struct br2pgo_error err = {0};
    uint64_t sum = 0;
    assert_int_equal(br2_lines_add(&lines, &sum, UINT64_C(1) << 59, 1, &err), 0);
    assert_int_equal(br2_lines_add(&lines, &sum, UINT64_C(1) << 54, 32, &err), 0);
    assert_int_equal(sum, UINT64_C(1) << 60);
    assert_int_equal(br2_lines_add(&lines, &sum, 1, 1, &err), BR2PGO_CORRUPT);
    assert_non_null(strstr(err.message, "'x.txt', line 7"));
    sum = 0;
    assert_int_equal(br2_lines_add(&lines, &sum, UINT64_C(1) << 60, 16, &err), BR2PGO_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_numbers),   cmocka_unit_test(takes_lines),
        cmocka_unit_test(takes_build_ids), cmocka_unit_test(keeps_files_apart),
        cmocka_unit_test(limits_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
