/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles made to fit a GCC they were not made for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/fit.h"

static struct br2_profile *profile;
static struct br2_profile *fitting;

static uint32_t name(const char *text)
{
    return br2_profile_name(profile, text, strlen(text));
}

static struct br2_function_profile *function(const char *text)
{
    return br2_profile_function(profile, name(text));
}

static void sample(struct br2_function_profile *f, uint32_t offset, uint32_t discriminator,
                   uint64_t count, const char *target)
{
    struct br2_body_sample *s = br2_profile_sample(f, (struct br2_place){offset, discriminator});
    s->count = count;
    if (target != NULL) {
        assert_true(br2_profile_target(s, name(target), count));
    }
}

static struct br2_function_profile *inlinee(struct br2_function_profile *f, uint32_t offset,
                                            uint32_t discriminator, const char *callee)
{
    return br2_profile_inlinee(profile, f, (struct br2_place){offset, discriminator}, name(callee));
}

static int setup(void **state)
{
    (void)state;
    profile = br2_profile_new();
    fitting = NULL;
    return profile == NULL;
}

static int teardown(void **state)
{
    (void)state;
    br2_profile_free(profile);
    br2_profile_free(fitting);
    return 0;
}

static void fit(enum br2_rules rules)
{
    br2_profile_free(fitting);
    assert_int_equal(br2_profile_fit(profile, rules, &fitting, NULL), 0);
}

/* The function in the result; NULL where there is none. */
static const struct br2_function_profile *result(const char *text)
{
    uint32_t number = br2_strings_find(&fitting->names, text, strlen(text));
    return number != BR2_NO_STRING ? br2_profile_find(fitting, number) : NULL;
}

static void test_clones_add_up(void **state)
{
    (void)state;
    sample(function("f"), 1, 0, 10, "g.cold");
    sample(function("f.part.0"), 1, 0, 7, "g");
    sample(function("f.omp_fn.1"), 2, 0, 5, NULL);
    sample(function(".text"), 0, 0, 3, NULL);
    function("f")->first_seen = 900;
    function("f.part.0")->first_seen = 100;
    fit(BR2_RULES_GCC_13);
    assert_int_equal(fitting->function_count, 2);
    const struct br2_function_profile *f = result("f");
    assert_int_equal(f->sample_count, 2);
    assert_int_equal(f->samples[0].count, 17);
    assert_int_equal(f->samples[0].target_count, 1);
    assert_int_equal(f->samples[0].targets[0].count, 17);
    assert_int_equal(f->samples[1].count, 5);
    assert_int_equal(f->total, 22);
    assert_int_equal(f->first_seen, 100); /* f.omp_fn.1 has no time */
    assert_non_null(result(".text"));
    /* GCC 16 knows OpenMP's functions by their whole names. */
    fit(BR2_RULES_GCC_16);
    assert_int_equal(result("f")->samples[0].count, 17);
    assert_int_equal(result("f")->sample_count, 1);
    assert_int_equal(result("f.omp_fn.1")->samples[0].count, 5);
}

/* Of the abstract constructor and the one that has code GCC 16 knows the latter. */
static void test_constructors_have_code_in_gcc_16(void **state)
{
    (void)state;
    sample(function("_ZN1BC4Ei"), 1, 0, 10, NULL);
    sample(function("_ZN1BC2Ei"), 1, 0, 4, NULL);
    fit(BR2_RULES_GCC_13);
    assert_int_equal(result("_ZN1BC4Ei")->samples[0].count, 10);
    assert_int_equal(result("_ZN1BC2Ei")->samples[0].count, 4);
    fit(BR2_RULES_GCC_16);
    assert_int_equal(result("_ZN1BC2Ei")->samples[0].count, 14);
    assert_int_equal(fitting->function_count, 1);
}

static void test_names_with_files_stay_for_gcc_16(void **state)
{
    (void)state;
    sample(function("s.lto_priv.0"), 1, 0, 10, NULL);
    sample(function("s.lto_priv.1"), 1, 0, 4, NULL);
    assert_true(br2_profile_set_file(profile, name("s.lto_priv.0"), "a.c", 3));
    fit(BR2_RULES_GCC_16);
    assert_int_equal(result("s.lto_priv.0")->samples[0].count, 10);
    assert_int_equal(result("s.lto_priv.1")->samples[0].count, 4);
    size_t length;
    assert_string_equal(br2_profile_file(fitting, result("s.lto_priv.0")->name, &length), "a.c");
    fit(BR2_RULES_GCC_5);
    assert_int_equal(result("s")->samples[0].count, 14);
    assert_null(br2_profile_file(fitting, result("s")->name, &length));
}

static void test_lines_have_their_least_busy_block(void **state)
{
    (void)state;
    struct br2_function_profile *f = function("f");
    sample(f, 1, 0, 10, NULL);
    sample(f, 1, 2, 30, "g");
    sample(f, 1, 7, 20, "g");
    sample(f, 2, 1, 5, NULL);
    fit(BR2_RULES_GCC_13);
    assert_int_equal(result("f")->sample_count, 4);
    fit(BR2_RULES_GCC_5);
    const struct br2_function_profile *folded = result("f");
    assert_int_equal(folded->sample_count, 2);
    assert_int_equal(folded->samples[0].place.discriminator, 0);
    assert_int_equal(folded->samples[0].count, 10);
    assert_int_equal(folded->samples[0].target_count, 1);
    assert_int_equal(folded->samples[0].targets[0].count, 50);
    assert_int_equal(folded->samples[1].place.discriminator, 0);
    assert_int_equal(folded->total, 15);
}

/* Second copies of a call site, as they are made for GCC 13 to 15, count once; other calls of the
 * function on the same line add up. */
static void test_call_sites(void **state)
{
    (void)state;
    struct br2_function_profile *f = function("f");
    sample(inlinee(f, 4, 0, "g"), 1, 0, 100, NULL);
    sample(inlinee(f, 4, 2, "g"), 1, 0, 100, NULL);
    sample(inlinee(f, 4, 3, "g"), 1, 1, 7, NULL);
    struct br2_function_profile *h = inlinee(f, 4, 3, "h");
    sample(h, 1, 5, 9, NULL);
    sample(h, 1, 6, 8, NULL);
    fit(BR2_RULES_GCC_5);
    const struct br2_function_profile *folded = result("f");
    assert_int_equal(folded->callsite_count, 2);
    const struct br2_function_profile *g = folded->callsites[0].callee;
    assert_int_equal(folded->callsites[0].place.discriminator, 0);
    assert_int_equal(g->sample_count, 1);
    assert_int_equal(g->samples[0].count, 107);
    assert_int_equal(folded->callsites[1].callee->samples[0].count, 8);
    assert_int_equal(folded->total, 115);
    assert_int_equal(profile->functions[0]->callsite_count, 4); /* left alone */
}

static void test_heads_and_targets(void **state)
{
    (void)state;
    struct br2_function_profile *f = function("f");
    sample(f, 1, 0, 40, NULL);
    sample(f, 3, 0, 9, "g");
    sample(inlinee(f, 3, 0, "g"), 0, 0, 9, NULL);
    function("empty");
    function("busy")->head = 50;
    fit(BR2_RULES_GCC_13);
    assert_int_equal(result("f")->head, 40);
    assert_int_equal(result("empty")->head, 1);
    assert_int_equal(result("busy")->head, 50);
    assert_int_equal(result("f")->samples[1].target_count, 1);
    fit(BR2_RULES_GCC_16);
    assert_int_equal(result("f")->samples[1].target_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clones_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_constructors_have_code_in_gcc_16, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_with_files_stay_for_gcc_16, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines_have_their_least_busy_block, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_sites, setup, teardown),
        cmocka_unit_test_setup_teardown(test_heads_and_targets, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
