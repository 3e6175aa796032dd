/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* trace_table.c: traces and their counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "flow/trace_table.h"

/* The trace; one with a count of 0 where there is none. */
static const struct br2_trace *find_trace(const struct br2_trace_table *table,
                                          const struct br2_trace *wanted)
{
    for (size_t i = 0; i < table->slot_count; i++) {
        const struct br2_trace *t = &table->slots[i];
        if (t->count != 0 && t->from == wanted->from && t->to == wanted->to &&
            t->run == wanted->run && t->space == wanted->space) {
            return t;
        }
    }
    static const struct br2_trace none;
    return &none;
}

static void check_traces(const struct br2_trace_table *table, const struct br2_trace *wanted,
                         size_t count)
{
    assert_int_equal(table->used, count);
    for (size_t i = 0; i < count; i++) {
        const struct br2_trace *found = find_trace(table, &wanted[i]);
        assert_int_equal(found->count, wanted[i].count);
        assert_int_equal(found->mispredicted, wanted[i].mispredicted);
    }
}

/* Every trace is found again after the table has grown. */
static void test_growth(void **state)
{
    (void)state;
    struct br2_trace_table table = {0};
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 20000; i++) {
            struct br2_trace trace = {i % 7, i, i % 3, i % 2, 1, i % 2, 0};
            assert_true(br2_trace_table_add(&table, &trace));
        }
    }
    assert_int_equal(table.used, 20000);
    assert_true(table.used <= table.slot_count / 2);
    uint64_t seen = 0;
    uint64_t mispredicted = 0;
    for (size_t i = 0; i < table.slot_count; i++) {
        assert_true(table.slots[i].count == 0 || table.slots[i].count == 2);
        seen += table.slots[i].count;
        mispredicted += table.slots[i].mispredicted;
    }
    assert_int_equal(seen, 40000);
    assert_int_equal(mispredicted, 20000);
    br2_trace_table_done(&table);
    assert_null(table.slots);
}

static void test_parts_of_the_key(void **state)
{
    (void)state;
    static const struct br2_trace all[] = {
        {1, 2, 3, 4, 1, 0, 0}, {9, 2, 3, 4, 2, 0, 0},  {1, 9, 3, 4, 4, 0, 0},
        {1, 2, 9, 4, 8, 0, 0}, {1, 2, 3, 9, 16, 0, 0},
    };
    struct br2_trace_table table = {0};
    for (size_t i = 0; i < 5; i++) {
        assert_true(br2_trace_table_add(&table, &all[i]));
    }
    check_traces(&table, all, 5);
    br2_trace_table_done(&table);
}

/* Samples are not in order of time. */
static void test_first_seen(void **state)
{
    (void)state;
    static const struct br2_trace times[] = {
        {1, 2, 3, 4, 1, 0, 30}, {1, 2, 3, 4, 1, 0, 10}, {1, 2, 3, 4, 1, 0, 20}};
    struct br2_trace_table table = {0};
    for (size_t i = 0; i < 3; i++) {
        assert_true(br2_trace_table_add(&table, &times[i]));
    }
    assert_int_equal(find_trace(&table, &times[0])->count, 3);
    assert_int_equal(find_trace(&table, &times[0])->first_seen, 10);
    br2_trace_table_done(&table);
}

/* Room that was made is enough, and what is there stays. */
static void test_reserve(void **state)
{
    (void)state;
    struct br2_trace_table table = {0};
    for (uint64_t i = 1; i <= 10000; i++) {
        if (i == 100) {
            assert_true(br2_trace_table_reserve(&table, 9901));
        }
        struct br2_trace trace = {i, 2, 3, 4, i, 0, 0};
        size_t before = table.slot_count;
        assert_true(br2_trace_table_add(&table, &trace));
        assert_true(i < 100 || table.slot_count == before);
    }
    assert_int_equal(table.slot_count, 32768);
    assert_int_equal(table.used, 10000);
    static const struct br2_trace early = {99, 2, 3, 4, 1, 0, 0};
    assert_int_equal(br2_trace_table_count(&table, &early), 99);
    br2_trace_table_done(&table);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_trace_table table = {0};
    static const struct br2_trace trace = {1, 2, 3, 4, 1, 0, 0};
    br2_mem_fail_at(1);
    bool added = br2_trace_table_add(&table, &trace);
    br2_mem_fail_at(0);
    assert_false(added);
    br2_trace_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth),         cmocka_unit_test(test_parts_of_the_key),
        cmocka_unit_test(test_first_seen),     cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
