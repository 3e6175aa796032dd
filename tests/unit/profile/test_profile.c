/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Building profiles: order, repetition, names, memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "profile/profile.h"

static uint32_t name(struct br2_profile *profile, const char *text)
{
    return br2_profile_name(profile, text, strlen(text));
}

static struct br2_place place(uint32_t offset, uint32_t discriminator)
{
    return (struct br2_place){offset, discriminator};
}

static void functions_are_found_by_name_and_keep_their_order(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    uint32_t unused = name(profile, "unused");
    struct br2_function_profile *z = br2_profile_function(profile, name(profile, "z"));
    for (int i = 0; i < 500; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "f%d", i);
        assert_non_null(br2_profile_function(profile, name(profile, text)));
    }
    assert_ptr_equal(br2_profile_function(profile, name(profile, "z")), z);
    assert_ptr_equal(br2_profile_find(profile, name(profile, "z")), z);
    assert_null(br2_profile_find(profile, unused));
    assert_null(br2_profile_find(profile, name(profile, "later")));
    assert_null(br2_profile_find(profile, BR2_NO_STRING));
    assert_int_equal(profile->function_count, 501);
    assert_ptr_equal(profile->functions[0], z);
    assert_int_equal(profile->functions[500]->name, name(profile, "f499"));
    br2_profile_free(profile);
}

static void samples_are_sorted_by_place(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    static const struct br2_place order[] = {{5, 0}, {2, 7}, {9, 0}, {2, 1},
                                             {5, 0}, {2, 7}, {9, 0}};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        br2_profile_sample(f, order[i])->count += i + 1;
    assert_int_equal(f->sample_count, 4);
    static const uint32_t offsets[] = {2, 2, 5, 9}, discriminators[] = {1, 7, 0, 0};
    static const uint64_t counts[] = {4, 2 + 6, 1 + 5, 3 + 7};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f->samples[i].place.offset, offsets[i]);
        assert_int_equal(f->samples[i].place.discriminator, discriminators[i]);
        assert_int_equal(f->samples[i].count, counts[i]);
    }
    br2_profile_free(profile);
}

static void targets_add_up_and_saturate(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    struct br2_body_sample *sample = br2_profile_sample(f, place(1, 0));
    uint32_t a = name(profile, "a"), b = name(profile, "b"), c = name(profile, "c");
    assert_true(br2_profile_target(sample, c, 1));
    assert_true(br2_profile_target(sample, a, 2));
    assert_true(br2_profile_target(sample, b, UINT64_MAX - 1));
    assert_true(br2_profile_target(sample, b, 3));
    assert_true(br2_profile_target(sample, a, 5));
    assert_int_equal(sample->target_count, 3);
    assert_int_equal(sample->targets[0].name, a);
    assert_int_equal(sample->targets[0].count, 7);
    assert_int_equal(sample->targets[1].name, b);
    assert_true(sample->targets[1].count == UINT64_MAX);
    assert_int_equal(sample->targets[2].count, 1);
    br2_profile_free(profile);
}

static void inlinees_are_sorted_by_place_then_name(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    uint32_t z = name(profile, "z"), a = name(profile, "a"), ab = name(profile, "ab");
    struct br2_function_profile *at_4_z = br2_profile_inlinee(profile, f, place(4, 0), z);
    struct br2_function_profile *at_4_ab = br2_profile_inlinee(profile, f, place(4, 0), ab);
    struct br2_function_profile *at_4_a = br2_profile_inlinee(profile, f, place(4, 0), a);
    struct br2_function_profile *at_3_z = br2_profile_inlinee(profile, f, place(3, 9), z);
    assert_ptr_equal(br2_profile_inlinee(profile, f, place(4, 0), ab), at_4_ab);
    assert_ptr_equal(br2_profile_find_inlinee(profile, f, place(4, 0), a), at_4_a);
    assert_null(br2_profile_find_inlinee(profile, f, place(3, 9), a));
    const struct br2_function_profile *expected[] = {at_3_z, at_4_a, at_4_ab, at_4_z};
    assert_int_equal(f->callsite_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(f->callsites[i].callee, expected[i]);
    br2_profile_free(profile);
}

static void hashes_are_ordered_as_numbers(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    uint32_t nine = name(profile, "9"), ten = name(profile, "10"), ninety = name(profile, "90");
    assert_true(br2_profile_compare_names(profile, nine, ten) > 0);
    profile->md5_names = true;
    assert_true(br2_profile_compare_names(profile, nine, ten) < 0);
    assert_true(br2_profile_compare_names(profile, ninety, ten) > 0);
    assert_int_equal(br2_profile_compare_names(profile, ten, ten), 0);
    br2_profile_free(profile);
}

static void arithmetic_saturates(void **state)
{
    (void)state;
    assert_true(br2_add_saturated(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(br2_add_saturated(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_int_equal(br2_add_saturated(2, 3), 5);
    assert_true(br2_multiply_saturated(UINT64_C(1) << 32, UINT64_C(1) << 32) == UINT64_MAX);
    assert_int_equal(br2_multiply_saturated(6, 7), 42);
}

/* Builds a little of everything; false when memory ran out. */
static bool build(struct br2_profile *profile)
{
    uint32_t f = name(profile, "f"), g = name(profile, "g");
    if (f == BR2_NO_STRING || g == BR2_NO_STRING)
        return false;
    struct br2_function_profile *function = br2_profile_function(profile, f);
    if (!function)
        return false;
    struct br2_function_profile *callee = br2_profile_inlinee(profile, function, place(3, 0), g);
    struct br2_body_sample *sample = br2_profile_sample(function, place(2, 0));
    return callee && sample && br2_profile_target(sample, g, 1) &&
           br2_profile_sample(callee, place(1, 0));
}

static void memory_that_runs_out_is_reported(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        br2_mem_fail_at(n);
        struct br2_profile *profile = br2_profile_new();
        bool done = profile && build(profile);
        br2_mem_fail_at(0);
        br2_profile_free(profile);
        if (done)
            break;
        failures++;
    }
    assert_in_range(failures, 8, 30);
}

static void names_have_the_first_file_they_are_given(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    size_t length = 0;
    assert_null(br2_profile_file(profile, 0, &length));
    assert_true(br2_profile_set_file(profile, 5, "a.cc", 3)); /* the length counts */
    assert_true(br2_profile_set_file(profile, 5, "b.c", 3));
    assert_true(br2_profile_set_file(profile, 700, "b.c", 3));
    assert_string_equal(br2_profile_file(profile, 5, &length), "a.c");
    assert_int_equal(length, 3);
    assert_string_equal(br2_profile_file(profile, 700, &length), "b.c");
    assert_null(br2_profile_file(profile, 4, &length));
    assert_null(br2_profile_file(profile, 699, &length));
    assert_null(br2_profile_file(profile, UINT32_MAX, &length));
    br2_mem_fail_at(1);
    bool set = br2_profile_set_file(profile, 5000, "c.c", 3);
    br2_mem_fail_at(0);
    assert_false(set);
    br2_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_name_and_keep_their_order),
        cmocka_unit_test(samples_are_sorted_by_place),
        cmocka_unit_test(targets_add_up_and_saturate),
        cmocka_unit_test(inlinees_are_sorted_by_place_then_name),
        cmocka_unit_test(hashes_are_ordered_as_numbers),
        cmocka_unit_test(arithmetic_saturates),
        cmocka_unit_test(names_have_the_first_file_they_are_given),
        cmocka_unit_test(memory_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
