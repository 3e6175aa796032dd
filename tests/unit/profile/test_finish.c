/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles that were appended to in any order become what ordered building gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "profile/profile.h"

static uint32_t name(struct br2_profile *profile, const char *text)
{
    return br2_profile_name(profile, text, strlen(text));
}

struct step {
    const char *inlinee; /* NULL: in the function itself */
    struct br2_place at;
    struct br2_place place;
    uint64_t count;
    const char *target;
};
static const struct step steps[] = {
    {NULL, {0, 0}, {9, 0}, 1, "t"},  {NULL, {0, 0}, {2, 3}, 2, NULL},
    {NULL, {0, 0}, {9, 0}, 4, "s"},  {NULL, {0, 0}, {2, 0}, 8, "s"},
    {NULL, {0, 0}, {9, 0}, 16, "t"}, {"z", {4, 0}, {2, 0}, 1, "t"},
    {"a", {4, 0}, {1, 0}, 2, NULL},  {"z", {4, 0}, {1, 0}, 4, "s"},
    {"z", {1, 0}, {1, 0}, 8, "t"},   {"z", {4, 0}, {2, 0}, UINT64_MAX, "t"},
    {NULL, {0, 0}, {2, 3}, 32, "t"},
};

/* Each step once, by searching or by appending. */
static struct br2_profile *make(bool append)
{
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const struct step *s = &steps[i];
        struct br2_function_profile *into = f;
        if (s->inlinee) {
            uint32_t callee = name(profile, s->inlinee);
            into = append ? br2_profile_append_inlinee(profile, f, s->at, callee)
                          : br2_profile_inlinee(profile, f, s->at, callee);
        }
        struct br2_body_sample *sample =
            append ? br2_profile_append_sample(into, s->place) : br2_profile_sample(into, s->place);
        sample->count = br2_add_saturated(sample->count, s->count);
        into->total = br2_add_saturated(into->total, s->count);
        if (s->target) {
            uint32_t target = name(profile, s->target);
            assert_true(append ? br2_profile_append_target(sample, target, s->count)
                               : br2_profile_target(sample, target, s->count));
        }
    }
    return profile;
}

static void appending_and_finishing_equals_searching(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *searched = make(false);
    struct br2_profile *appended = make(true);
    assert_int_equal(appended->functions[0]->sample_count, 6);
    assert_int_equal(br2_profile_finish(appended, NULL), BR2PGO_OK);
    assert_null(br2_profile_difference(searched, appended, text, sizeof text));
    assert_int_equal(appended->functions[0]->sample_count, 3);
    assert_int_equal(appended->functions[0]->callsite_count, 3);
    assert_int_equal(br2_profile_finish(appended, NULL), BR2PGO_OK);
    assert_null(br2_profile_difference(searched, appended, text, sizeof text));
    br2_profile_free(searched);
    br2_profile_free(appended);
}

static void many_repetitions_in_falling_order_take_little_time(void **state)
{
    (void)state;
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    uint32_t callee = name(profile, "g");
    for (uint32_t i = 200000; i > 0; i--) {
        struct br2_body_sample *sample = br2_profile_append_sample(f, (struct br2_place){i / 2, 0});
        sample->count = 1;
        assert_true(br2_profile_append_target(sample, callee, 1));
        struct br2_function_profile *g =
            br2_profile_append_inlinee(profile, f, (struct br2_place){7, 0}, callee);
        br2_profile_append_sample(g, (struct br2_place){i, 0})->count = 1;
    }
    assert_int_equal(br2_profile_finish(profile, NULL), BR2PGO_OK);
    assert_int_equal(f->sample_count, 100001);
    assert_int_equal(f->samples[7].count, 2);
    assert_int_equal(f->samples[7].targets[0].count, 2);
    assert_int_equal(f->callsite_count, 1);
    assert_int_equal(f->callsites[0].callee->sample_count, 200000);
    assert_int_equal(f->callsites[0].callee->samples[0].place.offset, 1);
    br2_profile_free(profile);
}

/* Two inlinees whose samples, and two samples whose targets, only fit into one array after it has
 * grown; before the latter a repetition, so that samples have moved when growing fails. */
static struct br2_profile *make_growing(void)
{
    struct br2_profile *profile = br2_profile_new();
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    uint32_t g = name(profile, "g"), h = name(profile, "h");
    for (uint32_t i = 0; i < 2; i++) {
        struct br2_function_profile *callee =
            br2_profile_append_inlinee(profile, f, (struct br2_place){1, 0}, g);
        br2_profile_append_sample(f, (struct br2_place){1, 0});
        struct br2_body_sample *sample = br2_profile_append_sample(f, (struct br2_place){2, 0});
        for (uint32_t k = 0; k < 5; k++) {
            br2_profile_append_target(sample, g, 1);
            br2_profile_append_sample(callee, (struct br2_place){k, i});
            br2_profile_append_inlinee(profile, callee, (struct br2_place){k, i}, h);
        }
    }
    return profile;
}

static void memory_that_runs_out_leaves_something_to_free(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct br2_profile *profile = make_growing();
        br2_mem_fail_at(n);
        struct br2pgo_error err = {0};
        int status = br2_profile_finish(profile, &err);
        br2_mem_fail_at(0);
        br2_profile_free(profile);
        if (status == BR2PGO_OK)
            break;
        assert_int_equal(status, BR2PGO_NO_MEMORY);
        assert_int_equal(err.status, BR2PGO_NO_MEMORY);
        failures++;
    }
    assert_int_equal(failures, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending_and_finishing_equals_searching),
        cmocka_unit_test(many_repetitions_in_falling_order_take_little_time),
        cmocka_unit_test(memory_that_runs_out_leaves_something_to_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
