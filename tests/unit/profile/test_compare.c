/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every difference is found; what does not count is not one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static uint32_t name(struct br2_profile *profile, const char *text)
{
    return br2_profile_name(profile, text, strlen(text));
}

/* `other_order` gives names other numbers and functions another order. */
static struct br2_profile *make(bool other_order)
{
    struct br2_profile *profile = br2_profile_new();
    struct br2_place one = {1, 2}, two = {2, 0};
    if (other_order) {
        name(profile, "b");
        br2_profile_function(profile, name(profile, "z"));
    }
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    br2_profile_function(profile, name(profile, "z"));
    f->total = 9;
    f->head = 1;
    struct br2_body_sample *sample = br2_profile_sample(f, one);
    sample->count = 3;
    assert_true(br2_profile_target(sample, name(profile, "a"), 5));
    assert_true(br2_profile_target(sample, name(profile, "b"), 4));
    struct br2_function_profile *g = br2_profile_inlinee(profile, f, two, name(profile, "g"));
    g->total = 7;
    f->checksum = 100;
    g->attributes = 1;
    profile->has_checksums = true;
    return profile;
}

static struct br2_function_profile *f_of(struct br2_profile *profile)
{
    return br2_profile_find(profile, name(profile, "f"));
}

static void order_and_numbers_do_not_count(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *a = make(false), *b = make(true);
    f_of(b)->first_seen = 5;
    b->partial = true;
    assert_null(br2_profile_difference(a, b, text, sizeof text));
    assert_null(br2_profile_difference(b, a, text, sizeof text));
    br2_profile_free(a);
    br2_profile_free(b);
}

static void change(struct br2_profile *p, int what)
{
    struct br2_place three = {3, 0};
    struct br2_function_profile *f = f_of(p);
    switch (what) {
    case 0:
        f->total++;
        break;
    case 1:
        f->head++;
        break;
    case 2:
        f->samples[0].count++;
        break;
    case 3:
        f->samples[0].place.discriminator++;
        break;
    case 4:
        f->samples[0].targets[1].count++;
        break;
    case 5:
        f->samples[0].targets[1].name = name(p, "unheard");
        break;
    case 6:
        f->samples[0].target_count--;
        break;
    case 7:
        f->callsites[0].place.offset++;
        break;
    case 8:
        f->callsites[0].callee->name = name(p, "f");
        break;
    case 9:
        f->callsites[0].callee->total++;
        break;
    case 10:
        f->callsites[0].callee->attributes = 2;
        break;
    case 11:
        f->checksum++;
        break;
    case 12:
        br2_profile_sample(f, three);
        break;
    case 13:
        br2_profile_inlinee(p, f, three, name(p, "g"));
        break;
    case 14:
        br2_profile_function(p, name(p, "more"));
        break;
    default:
        p->md5_names = true;
        break;
    }
}

static void every_change_is_found(void **state)
{
    (void)state;
    static const char *const said[] = {
        "the total of 'f' is 9 in one and 10",
        "the head count of 'f'",
        "a body count of 'f'",
        "at 1.2 in one and at 1.3",
        "a call target count",
        "calls 'a' in one but not",
        "a number of call targets",
        "'g' at 2.0 in one",
        "inlines 'g'",
        "the total of 'g'",
        "the attributes of 'g'",
        "the checksum of 'f'",
        "the number of samples of 'f'",
        "the number of callsites",
        "2 functions, the other 3",
        "MD5",
    };
    for (int what = 0; what < 16; what++) {
        char text[256];
        struct br2_profile *a = make(false), *b = make(true);
        change(b, what);
        const char *difference = br2_profile_difference(a, b, text, sizeof text);
        if (!difference || !strstr(difference, said[what]))
            fail_msg("change %d: %s", what, difference ? difference : "no difference found");
        br2_profile_free(a);
        br2_profile_free(b);
    }
}

static void what_one_side_cannot_have_does_not_count(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *a = make(false), *b = make(false);
    b->has_checksums = false;
    f_of(b)->checksum = 0;
    f_of(b)->callsites[0].callee->attributes = 0;
    assert_null(br2_profile_difference(a, b, text, sizeof text));
    br2_profile_free(a);
    br2_profile_free(b);
}

static void files_count_where_both_have_any(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *a = make(false), *b = make(true);
    assert_true(br2_profile_set_file(a, name(a, "g"), "a.c", 3));
    assert_null(br2_profile_difference(a, b, text, sizeof text));
    assert_true(br2_profile_set_file(b, name(b, "f"), "a.c", 3));
    const char *difference = br2_profile_difference(a, b, text, sizeof text);
    assert_string_equal(difference, "'f' is declared in '' in one and in 'a.c' in the other");
    assert_true(br2_profile_set_file(b, name(b, "g"), "a.c", 3));
    assert_true(br2_profile_set_file(a, name(a, "f"), "a.cc", 4));
    assert_non_null(br2_profile_difference(a, b, text, sizeof text));
    br2_profile_free(a);
    br2_profile_free(b);
}

static void derived_totals_do_not_count(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *a = make(false), *b = make(true);
    br2_profile_derive_totals(b);
    assert_true(f_of(a)->total != f_of(b)->total);
    assert_null(br2_profile_difference(a, b, text, sizeof text));
    assert_null(br2_profile_difference(b, a, text, sizeof text));
    b->derived_totals = false;
    assert_non_null(br2_profile_difference(a, b, text, sizeof text));
    br2_profile_free(a);
    br2_profile_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_numbers_do_not_count),
        cmocka_unit_test(every_change_is_found),
        cmocka_unit_test(what_one_side_cannot_have_does_not_count),
        cmocka_unit_test(files_count_where_both_have_any),
        cmocka_unit_test(derived_totals_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
