/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* addresses.c: a sorted set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/addresses.h"
#include "base/mem.h"

static void test_set(void **state)
{
    (void)state;
    static const uint64_t added[] = {7, UINT64_MAX, 3, 7, 0, 3};
    static const uint64_t wanted[] = {0, 3, 7, UINT64_MAX};
    struct br2_addresses set = {0};
    br2_addresses_sort(&set);
    assert_int_equal(set.count, 0);
    assert_false(br2_addresses_have(&set, 0));
    for (size_t i = 0; i < 6; i++) {
        assert_true(br2_addresses_add(&set, added[i]));
    }
    br2_addresses_sort(&set);
    assert_int_equal(set.count, 4);
    assert_memory_equal(set.items, wanted, sizeof wanted);
    assert_true(br2_addresses_have(&set, 0));
    assert_true(br2_addresses_have(&set, UINT64_MAX));
    assert_false(br2_addresses_have(&set, 4));
    assert_int_equal(br2_addresses_from(&set, 0), 0);
    assert_int_equal(br2_addresses_from(&set, 4), 2);
    assert_int_equal(br2_addresses_from(&set, 8), 3);
    br2_addresses_done(&set);
    assert_int_equal(set.count, 0);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_addresses set = {0};
    br2_mem_fail_at(1);
    assert_false(br2_addresses_add(&set, 1));
    br2_mem_fail_at(0);
    assert_int_equal(set.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
