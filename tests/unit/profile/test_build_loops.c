/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build_loops.c: what the conditional branches of one place say about a loop's condition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/build_private.h"

#define DISCRIMINATOR(base) (2u * (base)) /* 1 to 31, without factor and copy */

struct branch {
    uint64_t address;
    uint64_t target;
    uint64_t count;
    uint32_t discriminator;
};

static struct br2_function_profile node;
static struct br2_function_profile *nodes[] = {&node};
static struct br2_scope scope = {.decl_line = 10};
static const struct br2_debug_function debug = {.scopes = &scope, .scope_count = 1};

static struct source_function note(enum br2_discriminator_scheme scheme,
                                   const struct branch *branches, size_t count)
{
    struct br2_build_options options = {.flow_inference = true};
    struct builder builder = {.options = &options};
    struct source_function function = {.debug = &debug, .scheme = scheme, .nodes = nodes};
    for (size_t i = 0; i < count; i++) {
        struct br2_location location = {.line = 13, .discriminator = branches[i].discriminator};
        struct br2_insn insn = {.address = branches[i].address, .target = branches[i].target};
        assert_int_equal(
            br2_build_note_branch(&builder, &function, &location, &insn, branches[i].count), 0);
    }
    br2_build_join_branches(&function);
    return function;
}

/* The only condition's count; 0: there is none. */
static uint64_t joined(const struct branch *branches, size_t count)
{
    struct source_function function = note(BR2_DISCRIMINATOR_LLVM, branches, count);
    uint64_t found = 0;
    assert_in_range(function.branch_count, 0, 1);
    if (function.branch_count == 1) {
        assert_ptr_equal(function.branches[0].node, &node);
        assert_int_equal(function.branches[0].place.offset, 3);
        assert_int_equal(function.branches[0].place.discriminator, 1);
        found = function.branches[0].count;
    }
    br2_free(function.branches);
    return found;
}

/* A test before the loop at 0x20, one at its end. */
static void test_rotated(void **state)
{
    (void)state;
    const struct branch branches[] = {{0x10, 0x60, 30, DISCRIMINATOR(1)},
                                      {0x50, 0x20, 100, DISCRIMINATOR(1)}};
    assert_int_equal(joined(branches, 2), 130);
    assert_int_equal(joined(branches, 1), 0);
    assert_int_equal(joined(branches + 1, 1), 100);
}

/* Two loops of one condition: the vectorised one and what is left over. */
static void test_two_loops(void **state)
{
    (void)state;
    const struct branch branches[] = {{0x90, 0x80, 7, DISCRIMINATOR(1)},
                                      {0x10, 0xa0, 30, DISCRIMINATOR(1)},
                                      {0x50, 0x20, 800, DISCRIMINATOR(1)},
                                      {0x70, 0xa0, 29, DISCRIMINATOR(1)}};
    assert_int_equal(joined(branches, 4), 800 + 7 + 30);
}

/* Branches of one loop, one behind the other, are of one test: of floating-point numbers, say. */
static void test_one_test_of_two_branches(void **state)
{
    (void)state;
    const struct branch branches[] = {{0x50, 0x20, 100, DISCRIMINATOR(1)},
                                      {0x52, 0x20, 90, DISCRIMINATOR(1)},
                                      {0x40, 0x60, 95, DISCRIMINATOR(1)}};
    assert_int_equal(joined(branches, 3), 100);
}

static void test_places(void **state)
{
    (void)state;
    const struct branch branches[] = {{0x10, 0x60, 30, DISCRIMINATOR(1)},
                                      {0x50, 0x20, 100, DISCRIMINATOR(2)},
                                      {0x12, 0x60, 40, DISCRIMINATOR(2)}};
    struct source_function function = note(BR2_DISCRIMINATOR_LLVM, branches, 3);
    assert_int_equal(function.branch_count, 1);
    assert_int_equal(function.branches[0].place.discriminator, 2);
    assert_int_equal(function.branches[0].count, 140);
    br2_free(function.branches);
}

/* Where a place may be several conditions. */
static void test_others(void **state)
{
    (void)state;
    const struct branch branches[] = {{0x10, 0x60, 30, 0}, {0x50, 0x20, 100, 0}};
    const struct branch known[] = {{0x10, 0x60, 30, DISCRIMINATOR(1)},
                                   {0x50, 0x20, 100, DISCRIMINATOR(1)}};
    assert_int_equal(note(BR2_DISCRIMINATOR_LLVM, branches, 2).branch_count, 0);
    assert_int_equal(note(BR2_DISCRIMINATOR_LLVM_FS, known, 2).branch_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotated),
        cmocka_unit_test(test_two_loops),
        cmocka_unit_test(test_one_test_of_two_branches),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
