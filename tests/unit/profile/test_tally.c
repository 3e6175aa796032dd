/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tallies: what adds up, what is printed, hot counts and densities. Counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/overlap.h"

static uint32_t name(struct br2_tally_names *names, const char *text)
{
    return br2_strings_add(&names->names, text, strlen(text));
}

static void count(struct br2_tally *tally, const char *function, uint64_t place, uint64_t times)
{
    struct br2_tally_item item = {
        name(tally->names, function), BR2_NO_PATH, place, 0, times, false};
    assert_true(br2_tally_add_item(tally, &item));
}

/* a: 10 at 1, 30 at 2, 50 at 3, twice in parts; b: 8 at 1; c: 2 in one of two places. */
static void fill(struct br2_tally *tally)
{
    assert_true(br2_tally_add_function(tally, name(tally->names, "a"), 7));
    count(tally, "c", 1, 2);
    count(tally, "a", 3, 20);
    count(tally, "a", 1, 10);
    count(tally, "b", 1, 8);
    count(tally, "a", 2, 30);
    count(tally, "a", 3, 30);
    count(tally, "c", 2, 0);
    assert_int_equal(br2_tally_finish(tally, NULL), 0);
}

static void counts_of_a_place_add_up(void **state)
{
    (void)state;
    struct br2_tally_names names = {0};
    struct br2_tally tally = {.names = &names};
    fill(&tally);
    assert_int_equal(tally.sum, 100);
    assert_int_equal(tally.function_count, 3);
    assert_int_equal(tally.item_count, 6);
    const struct br2_tally_function *a = br2_tally_find(&tally, name(&names, "a"));
    assert_int_equal(a->sum, 90);
    assert_int_equal(a->max, 50);
    assert_int_equal(a->head, 7);
    assert_int_equal(a->item_count, 3);
    const struct br2_tally_function **ranking = br2_tally_ranking(&tally);
    assert_string_equal(br2_tally_name(&tally, ranking[0]->name), "a");
    assert_string_equal(br2_tally_name(&tally, ranking[2]->name), "c");
    br2_free(ranking);
    const bool keep[3] = {false, true, true};
    br2_tally_keep(&tally, keep);
    assert_int_equal(tally.function_count, 2);
    assert_int_equal(tally.items[tally.functions[0].first].function, tally.functions[0].name);
    br2_tally_done(&tally);
    br2_tally_names_done(&names);
}

/* 99 % of 100 are reached with the 8; 50 % with the 50. Densities: a 30, b 8, c 1; a and b have 98
 * of 100, so that c is needed for 99 %, but not for 98 %. */
static void hot_counts_and_density(void **state)
{
    (void)state;
    struct br2_tally_names names = {0};
    struct br2_tally tally = {.names = &names};
    uint64_t threshold;
    double density;
    fill(&tally);
    assert_int_equal(br2_tally_threshold(&tally, 980000, &threshold, NULL), 0);
    assert_int_equal(threshold, 8);
    assert_int_equal(br2_tally_threshold(&tally, 500000, &threshold, NULL), 0);
    assert_int_equal(threshold, 50);
    assert_int_equal(br2_tally_density(&tally, 980000, &density, NULL), 0);
    assert_true(density == 8);
    assert_int_equal(br2_tally_density(&tally, 990000, &density, NULL), 0);
    assert_true(density == 1);
    br2_tally_done(&tally);
    br2_tally_names_done(&names);
}

static void places_are_printed_from_the_outside_in(void **state)
{
    (void)state;
    struct br2_tally_names names = {0};
    struct br2_tally tally = {.names = &names, .terms = BR2_TALLY_LINES};
    uint32_t main_name = name(&names, "main");
    uint32_t path =
        br2_tally_path(&names, BR2_NO_PATH, (const uint64_t[]){3, 2}, name(&names, "foo"));
    path = br2_tally_path(&names, path, (const uint64_t[]){7, 0}, name(&names, "bar"));
    struct br2_tally_item item = {main_name, path, 1, 4, 5, false};
    assert_int_equal(br2_tally_innermost(&tally, &item), name(&names, "bar"));
    struct br2_buf text = {0};
    br2_tally_print_place(&tally, &item, &text);
    br2_buf_u8(&text, '\0');
    assert_string_equal((const char *)text.bytes, "3.2 foo 7 bar 1.4");
    br2_buf_done(&text);
    br2_tally_names_done(&names);
}

/* main: 20, 10, 10 of 40 against 40 of 40; foo 10 in one, bar 10 in the other. */
static void overlap_of_two(void **state)
{
    (void)state;
    struct br2_tally_names names = {0};
    struct br2_tally base = {.names = &names};
    struct br2_tally test = {.names = &names};
    count(&base, "main", 1, 20);
    count(&base, "main", 2, 10);
    count(&base, "main", 3, 10);
    count(&base, "foo", 1, 10);
    count(&test, "main", 1, 40);
    count(&test, "bar", 1, 10);
    assert_int_equal(br2_tally_finish(&base, NULL), 0);
    assert_int_equal(br2_tally_finish(&test, NULL), 0);
    struct br2_overlap overlap = {0};
    assert_int_equal(br2_overlap_compute(&overlap, &base, &test, NULL), 0);
    assert_true(overlap.similarity > 0.3999 && overlap.similarity < 0.4001);
    assert_true(overlap.covered > 0.3999 && overlap.covered < 0.4001);
    assert_int_equal(overlap.sums.common, 20);
    assert_int_equal(overlap.sums.joined, 80);
    assert_int_equal(overlap.sums.base_only, 30);
    assert_int_equal(overlap.sums.test_only, 10);
    assert_int_equal(overlap.functions.both, 1);
    assert_int_equal(overlap.hot_places.base_only, 3);
    assert_null(br2_overlap_find(&overlap, "nobody"));
    assert_non_null(br2_overlap_find(&overlap, "main"));
    br2_overlap_done(&overlap);
    br2_tally_done(&base);
    br2_tally_done(&test);
    br2_tally_names_done(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_a_place_add_up),
        cmocka_unit_test(hot_counts_and_density),
        cmocka_unit_test(places_are_printed_from_the_outside_in),
        cmocka_unit_test(overlap_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
