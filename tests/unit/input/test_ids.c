/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ids.c: which event an id belongs to, also where the ids were chosen to make that slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "input/perf_data/perf_data.h"

static void finds_what_was_added(void **state)
{
    (void)state;
    struct br2_perf_ids ids = {0};
    size_t attr = 99;
    assert_false(br2_perf_ids_find(&ids, 1, &attr));
    for (uint64_t id = 1; id <= 1000; id++) {
        assert_true(br2_perf_ids_add(&ids, id << 40 | id, (uint32_t)id));
    }
    assert_true(br2_perf_ids_add(&ids, UINT64_C(5) << 40 | 5, 77)); /* the first one counts */
    assert_true(br2_perf_ids_add(&ids, 0, 77));
    for (uint64_t id = 1; id <= 1000; id++) {
        assert_true(br2_perf_ids_find(&ids, id << 40 | id, &attr));
        assert_int_equal(attr, id);
    }
    assert_false(br2_perf_ids_find(&ids, 1001, &attr));
    assert_false(br2_perf_ids_find(&ids, 0, &attr));
    br2_perf_ids_done(&ids);
}

/* Ids that a table with a known multiplier, the golden ratio, would put into one slot: quadratic
 * time, billions of steps. */
static void is_not_slowed_down(void **state)
{
    (void)state;
    const uint64_t inverse = UINT64_C(0xf1de83e19937733d);
    assert_true(inverse * UINT64_C(0x9e3779b97f4a7c15) == 1);
    struct br2_perf_ids ids = {0};
    clock_t start = clock();
    for (uint64_t i = 1; i <= 100000 && clock() - start < 2 * CLOCKS_PER_SEC; i++) {
        assert_true(br2_perf_ids_add(&ids, inverse * i, 1));
    }
    assert_int_equal(ids.count, 100000);
    br2_perf_ids_done(&ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(is_not_slowed_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
