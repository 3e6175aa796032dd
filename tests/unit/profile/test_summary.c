/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The detailed summary against numbers llvm-profdata gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static struct br2_function_profile *function(struct br2_profile *profile, const char *text)
{
    return br2_profile_function(profile, br2_profile_name(profile, text, strlen(text)));
}

static void count_at(struct br2_function_profile *f, uint32_t offset, uint64_t count)
{
    br2_profile_sample(f, (struct br2_place){offset, 0})->count = count;
}

/* Records 100, 300 | inlined 120, 130 | inlined 1 (here 100) and 200 in a second function. */
static struct br2_profile *make(void)
{
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = function(profile, "main");
    f->head = 7;
    count_at(f, 1, 100);
    count_at(f, 2, 300);
    struct br2_function_profile *baz = br2_profile_inlinee(profile, f, (struct br2_place){3, 0},
                                                           br2_profile_name(profile, "baz", 3));
    baz->head = 5000; /* only top-level heads count */
    count_at(baz, 1, 120);
    count_at(baz, 2, 130);
    struct br2_function_profile *qux = br2_profile_inlinee(profile, baz, (struct br2_place){4, 0},
                                                           br2_profile_name(profile, "qux", 3));
    count_at(qux, 1, 1);
    struct br2_function_profile *foo = function(profile, "foo");
    foo->head = 200;
    count_at(foo, 0, 200);
    return profile;
}

static void cutoffs_give_counts_and_records(void **state)
{
    (void)state;
    struct br2_profile *profile = make();
    struct br2_summary s;
    assert_int_equal(br2_profile_summarise(profile, &s, NULL), BR2PGO_OK);
    assert_int_equal(s.total_count, 851);
    assert_int_equal(s.max_count, 300);
    assert_int_equal(s.max_head, 200);
    assert_int_equal(s.count_count, 6);
    assert_int_equal(s.function_count, 2);
    static const uint64_t counts[BR2_SUMMARY_ENTRIES] = {300, 300, 300, 300, 200, 200, 130, 130,
                                                         120, 100, 100, 100, 100, 100, 100, 100};
    static const uint64_t records[BR2_SUMMARY_ENTRIES] = {1, 1, 1, 1, 2, 2, 3, 3,
                                                          4, 5, 5, 5, 5, 5, 5, 5};
    for (size_t i = 0; i < BR2_SUMMARY_ENTRIES; i++) {
        assert_int_equal(s.entries[i].min_count, counts[i]);
        assert_int_equal(s.entries[i].count_count, records[i]);
    }
    br2_profile_free(profile);
}

static void equal_counts_come_together_and_zeros_are_records(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = function(profile, "f");
    for (uint32_t i = 0; i < 10; i++)
        count_at(f, i, i < 6 ? 5 : 0);
    struct br2_summary s;
    assert_int_equal(br2_profile_summarise(profile, &s, NULL), BR2PGO_OK);
    assert_int_equal(s.total_count, 30);
    assert_int_equal(s.count_count, 10);
    assert_int_equal(s.entries[0].min_count, 0); /* 1 % of 30 is less than 1 */
    assert_int_equal(s.entries[0].count_count, 0);
    assert_int_equal(s.entries[1].min_count, 5);
    assert_int_equal(s.entries[1].count_count, 6);
    br2_profile_free(profile);
}

static void an_empty_profile_has_an_empty_summary(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_summary s;
    memset(&s, 0xff, sizeof s);
    assert_int_equal(br2_profile_summarise(profile, &s, NULL), BR2PGO_OK);
    assert_int_equal(s.total_count, 0);
    assert_int_equal(s.entries[15].count_count, 0);
    br2_profile_free(profile);
}

static void inlinees_that_are_counted_elsewhere_are_left_out(void **state)
{
    (void)state;
    struct br2_profile *profile = make();
    profile->functions[0]->callsites[0].callee->attributes = 4;
    struct br2_summary s;
    assert_int_equal(br2_profile_summarise(profile, &s, NULL), BR2PGO_OK);
    assert_int_equal(s.total_count, 600);
    assert_int_equal(s.count_count, 3);
    br2_profile_free(profile);
}

static void sums_are_exact_up_to_64_bits(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = function(profile, "f");
    count_at(f, 0, UINT64_C(10000000000000000000));
    count_at(f, 1, UINT64_C(8000000000000000000));
    struct br2_summary s;
    assert_int_equal(br2_profile_summarise(profile, &s, NULL), BR2PGO_OK);
    assert_true(s.total_count == UINT64_C(18000000000000000000));
    assert_int_equal(s.entries[5].count_count, 1); /* 50 %: 9e18 */
    assert_int_equal(s.entries[6].count_count, 2); /* 60 %: 10.8e18 */
    br2_mem_fail_at(1);
    int status = br2_profile_summarise(profile, &s, NULL);
    br2_mem_fail_at(0);
    assert_int_equal(status, BR2PGO_NO_MEMORY);
    br2_profile_free(profile);
}

/* 600, 300, 200 and 100 in four parts of 300. */
static void working_sets_are_parts_of_all(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = function(profile, "f");
    count_at(f, 0, 100);
    count_at(f, 1, 600);
    count_at(f, 2, 200);
    count_at(f, 3, 300);
    struct br2_summary_entry sets[4];
    assert_int_equal(br2_profile_working_sets(profile, 4, sets, NULL), BR2PGO_OK);
    static const struct br2_summary_entry wanted[] = {{600, 1}, {600, 1}, {300, 2}, {100, 4}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sets[i].min_count, wanted[i].min_count);
        assert_int_equal(sets[i].count_count, wanted[i].count_count);
    }
    br2_mem_fail_at(1);
    int status = br2_profile_working_sets(profile, 4, sets, NULL);
    br2_mem_fail_at(0);
    assert_int_equal(status, BR2PGO_NO_MEMORY);
    br2_profile_free(profile);
}

static void totals_are_sums_of_counts(void **state)
{
    (void)state;
    struct br2_profile *profile = make();
    struct br2_function_profile *f = profile->functions[0];
    f->total = 1;
    assert_false(profile->derived_totals);
    br2_profile_derive_totals(profile);
    assert_true(profile->derived_totals);
    assert_int_equal(f->callsites[0].callee->callsites[0].callee->total, 1);
    assert_int_equal(f->callsites[0].callee->total, 251);
    assert_int_equal(f->total, 651);
    assert_int_equal(profile->functions[1]->total, 200);
    f->samples[0].count = UINT64_MAX;
    br2_profile_derive_totals(profile);
    assert_true(f->total == UINT64_MAX);
    br2_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutoffs_give_counts_and_records),
        cmocka_unit_test(equal_counts_come_together_and_zeros_are_records),
        cmocka_unit_test(an_empty_profile_has_an_empty_summary),
        cmocka_unit_test(inlinees_that_are_counted_elsewhere_are_left_out),
        cmocka_unit_test(sums_are_exact_up_to_64_bits),
        cmocka_unit_test(working_sets_are_parts_of_all),
        cmocka_unit_test(totals_are_sums_of_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
