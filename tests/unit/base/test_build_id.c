/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build_id.c: which build-ids are of the same build, and how they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/build_id.h"

static struct br2_build_id id_of(const char *bytes, uint8_t size)
{
    struct br2_build_id id = {.size = size};
    memcpy(id.bytes, bytes, size);
    return id;
}

static void test_equal_build_ids(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        uint8_t a_size;
        const char *b;
        uint8_t b_size;
        bool equal;
    } rows[] = {
        {"\1\2\3\4", 4, "\1\2\3\4", 4, true},
        {"\1\2\3\4", 4, "\1\2\3\5", 4, false},
        {"\1\2\3\4", 4, "\1\2\3\4\0\0\0\0", 8, true}, /* padded */
        {"\1\2\3\4\0\0\0\0", 8, "\1\2\3\4", 4, true},
        {"\1\2\3\4", 4, "\1\2\3\4\0\0\0\1", 8, false},
        {"\1\2\3\4", 4, "\1\2\3\4\5\6\7\10", 8, false},
        {"", 0, "", 0, false},
        {"", 0, "\0\0", 2, false},
        {"\1", 1, "", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_build_id a = id_of(rows[i].a, rows[i].a_size);
        struct br2_build_id b = id_of(rows[i].b, rows[i].b_size);
        print_message("%zu\n", i);
        assert_int_equal(br2_build_id_equal(&a, &b), rows[i].equal);
    }
}

static void test_build_id_text(void **state)
{
    (void)state;
    char text[2 * BR2_BUILD_ID_MAX + 1];
    struct br2_build_id id = id_of("\x00\x9a\xff", 3);
    assert_string_equal(br2_build_id_text(&id, text), "009aff");
    id.size = 0;
    assert_string_equal(br2_build_id_text(&id, text), "");
    id.size = BR2_BUILD_ID_MAX;
    assert_int_equal(strlen(br2_build_id_text(&id, text)), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_build_ids),
        cmocka_unit_test(test_build_id_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
