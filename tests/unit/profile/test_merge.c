/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adding profiles up. */
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

/* f: 1 -> `count` with target `target`; at 2 inlined g: 0 -> count + 1 */
static struct br2_profile *make(uint64_t count, const char *target)
{
    struct br2_profile *profile = br2_profile_new();
    struct br2_place one = {1, 0}, two = {2, 0}, zero = {0, 0};
    name(profile, target); /* other numbers in every profile */
    struct br2_function_profile *f = br2_profile_function(profile, name(profile, "f"));
    f->total = 10 * count;
    f->head = count;
    struct br2_body_sample *sample = br2_profile_sample(f, one);
    sample->count = count;
    assert_true(br2_profile_target(sample, name(profile, target), count));
    struct br2_function_profile *g = br2_profile_inlinee(profile, f, two, name(profile, "g"));
    g->total = count + 1;
    br2_profile_sample(g, zero)->count = count + 1;
    return profile;
}

static void counts_are_weighted_sums(void **state)
{
    (void)state;
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *a = make(100, "a"), *b = make(7, "b");
    assert_int_equal(br2_profile_merge(sum, a, 1, NULL, NULL), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, b, 3, NULL, NULL), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, b, 0, NULL, NULL), BR2PGO_OK);
    const struct br2_function_profile *f = br2_profile_find(sum, name(sum, "f"));
    assert_non_null(f);
    assert_int_equal(f->total, 1000 + 3 * 70);
    assert_int_equal(f->head, 100 + 3 * 7);
    assert_int_equal(f->sample_count, 1);
    assert_int_equal(f->samples[0].count, 121);
    assert_int_equal(f->samples[0].target_count, 2);
    const struct br2_call_target *targets = f->samples[0].targets;
    size_t at_a = targets[0].name == name(sum, "a") ? 0 : 1;
    assert_int_equal(targets[at_a].count, 100);
    assert_int_equal(targets[1 - at_a].name, name(sum, "b"));
    assert_int_equal(targets[1 - at_a].count, 21);
    assert_int_equal(f->callsite_count, 1);
    assert_int_equal(f->callsites[0].callee->samples[0].count, 101 + 3 * 8);
    br2_profile_free(a);
    br2_profile_free(b);
    br2_profile_free(sum);
}

static void sums_saturate(void **state)
{
    (void)state;
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *a = make(UINT64_MAX / 2, "a");
    assert_int_equal(br2_profile_merge(sum, a, 3, NULL, NULL), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, a, 1, NULL, NULL), BR2PGO_OK);
    assert_true(sum->functions[0]->samples[0].count == UINT64_MAX);
    assert_true(sum->functions[0]->head == UINT64_MAX);
    assert_true(sum->functions[0]->samples[0].targets[0].count == UINT64_MAX);
    br2_profile_free(a);
    br2_profile_free(sum);
}

static void flags_and_symbol_lists_are_united(void **state)
{
    (void)state;
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *a = make(1, "a"), *b = make(2, "b");
    a->partial = true;
    b->has_symbol_list = true;
    br2_strings_add(&b->symbol_list, "cold", 4);
    br2_strings_add(&sum->symbol_list, "warm", 4);
    assert_int_equal(br2_profile_merge(sum, a, 1, NULL, NULL), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, b, 1, NULL, NULL), BR2PGO_OK);
    assert_true(sum->partial);
    assert_true(sum->has_symbol_list);
    assert_int_equal(sum->symbol_list.count, 2);
    assert_int_not_equal(br2_strings_find(&sum->symbol_list, "cold", 4), BR2_NO_STRING);
    br2_profile_free(a);
    br2_profile_free(b);
    br2_profile_free(sum);
}

static void what_cannot_be_added_is_refused(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    struct br2_profile *into = make(1, "a"), *other = make(2, "b");
    other->md5_names = true;
    assert_int_equal(br2_profile_merge(into, other, 1, NULL, &err), BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "MD5"));
    other->md5_names = false;
    other->fs_discriminators = true;
    assert_int_equal(br2_profile_merge(into, other, 1, NULL, &err), BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "discriminators"));
    other->fs_discriminators = false;
    into->functions[0]->checksum = 1;
    other->functions[0]->checksum = 2;
    assert_int_equal(br2_profile_merge(into, other, 1, NULL, &err), BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "'f' has checksum 1"));
    other->functions[0]->checksum = 1;
    assert_int_equal(br2_profile_merge(into, other, 1, NULL, &err), BR2PGO_OK);
    br2_profile_free(into);
    br2_profile_free(other);
}

static uint32_t rename_all(struct br2_profile *into, const char *text, size_t length)
{
    (void)text;
    return br2_profile_name(into, "xxxxxxxx", length);
}

static void names_can_change_on_the_way(void **state)
{
    (void)state;
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *a = make(5, "long");
    assert_int_equal(br2_profile_merge(sum, a, 1, rename_all, NULL), BR2PGO_OK);
    assert_int_equal(sum->names.count, 2);
    assert_non_null(br2_profile_find(sum, name(sum, "x")));
    assert_int_equal(sum->functions[0]->samples[0].targets[0].name, name(sum, "xxxx"));
    br2_profile_free(a);
    br2_profile_free(sum);
}

static void memory_that_runs_out_is_reported(void **state)
{
    (void)state;
    struct br2_profile *a = make(5, "a");
    a->has_symbol_list = true;
    br2_strings_add(&a->symbol_list, "cold", 4);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct br2_profile *sum = br2_profile_new();
        br2_mem_fail_at(n);
        int status = br2_profile_merge(sum, a, 1, NULL, NULL);
        br2_mem_fail_at(0);
        br2_profile_free(sum);
        if (status == BR2PGO_OK)
            break;
        assert_int_equal(status, BR2PGO_NO_MEMORY);
        failures++;
    }
    assert_in_range(failures, 8, 40);
    br2_profile_free(a);
}

static void files_come_along_with_names(void **state)
{
    (void)state;
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *a = make(100, "a"), *b = make(7, "b");
    assert_true(br2_profile_set_file(b, name(b, "f"), "b.c", 3));
    assert_true(br2_profile_set_file(b, name(b, "b"), "b.h", 3));
    br2_profile_derive_totals(b);
    assert_int_equal(br2_profile_merge(sum, a, 1, NULL, NULL), 0);
    assert_false(sum->derived_totals);
    assert_int_equal(br2_profile_merge(sum, b, 1, NULL, NULL), 0);
    assert_true(sum->derived_totals);
    assert_string_equal(br2_profile_file(sum, name(sum, "f"), NULL), "b.c");
    assert_string_equal(br2_profile_file(sum, name(sum, "b"), NULL), "b.h");
    assert_null(br2_profile_file(sum, name(sum, "a"), NULL));
    br2_profile_free(sum);
    br2_profile_free(a);
    br2_profile_free(b);
}

/* Which of two files a name is of depends on nobody's order: it is of neither. */
static void disputed_files_are_unknown(void **state)
{
    (void)state;
    static const char *const files[] = {"a.c", "b.c", "a.c"};
    struct br2_profile *sum = br2_profile_new();
    for (size_t i = 0; i < 3; i++) {
        struct br2_profile *part = make(1, "t");
        assert_true(br2_profile_set_file(part, name(part, "f"), files[i], 3));
        assert_true(br2_profile_set_file(part, name(part, "g"), "g.c", 3));
        assert_int_equal(br2_profile_merge(sum, part, 1, NULL, NULL), BR2PGO_OK);
        size_t length;
        const char *file = br2_profile_file(sum, name(sum, "f"), &length);
        if (i == 0) {
            assert_string_equal(file, "a.c");
        } else {
            assert_null(file);
        }
        assert_string_equal(br2_profile_file(sum, name(sum, "g"), &length), "g.c");
        br2_profile_free(part);
    }
    br2_profile_free(sum);
}

static void probes_and_lines_do_not_mix(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    struct br2_profile *sum = br2_profile_new();
    struct br2_profile *probes = make(1, "t"), *lines = make(1, "t");
    probes->has_checksums = true;
    assert_int_equal(br2_profile_merge(sum, probes, 1, NULL, &err), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, probes, 1, NULL, &err), BR2PGO_OK);
    assert_int_equal(br2_profile_merge(sum, lines, 1, NULL, &err), BR2PGO_INVALID);
    assert_string_equal(err.message, "one profile is of pseudo probes, the other of lines");
    br2_profile_free(sum);
    br2_profile_free(probes);
    br2_profile_free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_weighted_sums),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(flags_and_symbol_lists_are_united),
        cmocka_unit_test(what_cannot_be_added_is_refused),
        cmocka_unit_test(names_can_change_on_the_way),
        cmocka_unit_test(files_come_along_with_names),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(disputed_files_are_unknown),
        cmocka_unit_test(probes_and_lines_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
