/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cold_parts.c: whose part a function is by its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image/cold_parts.h"

static void finds_owners(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t owner;
    } cases[] = {
        {"work.cold", 4},
        {"work.cold.1", 4},
        {"work.cold.12", 4},
        {"work.part.0.cold", 11},
        {"_R.cold.path", 0}, /* Rust's */
        {"work.cold.", 0},
        {"work.cold1", 0},
        {"work.colder", 0},
        {".cold", 0},
        {".cold.1", 0},
        {"cold", 0},
        {"12", 0},
        {".12", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("'%s'\n", cases[i].name);
        struct br2_code_range range = {.name = cases[i].name};
        assert_int_equal(br2_cold_part_owner(&range), cases[i].owner);
    }
}

static void finds_parts(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool one;
    } cases[] = {
        {"work", "work.cold", true},       {"work.cold", "work", true},
        {"work", "work.cold.1", true},     {"work", "worker.cold", false},
        {"worker", "work.cold", false},    {"work", "work", false},
        {"work.cold", "work.cold", false}, {"", ".cold", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("'%s' '%s'\n", cases[i].a, cases[i].b);
        struct br2_code_range a = {.name = cases[i].a};
        struct br2_code_range b = {.name = cases[i].b};
        assert_int_equal(br2_are_parts_of_one(&a, &b), cases[i].one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_owners),
        cmocka_unit_test(finds_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
