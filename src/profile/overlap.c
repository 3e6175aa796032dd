/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two profiles side by side. */
#include "profile/overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"

/* What it takes for an error of rounding. */
#define EPSILON 0.000005

struct comparison {
    struct br2_overlap *overlap;
    uint64_t base_hot; /* counts from which on a place is hot */
    uint64_t test_hot;
    uint64_t covered;
};

static void count_hot(struct br2_overlap_counts *counts, bool base_hot, bool test_hot)
{
    counts->both += base_hot && test_hot;
    counts->base_only += base_hot && !test_hot;
    counts->test_only += test_hot && !base_hot;
}

/* The items of a function, none of NULL. */
struct span {
    const struct br2_tally_item *at;
    const struct br2_tally_item *end;
};

static struct span items_of(const struct br2_tally *tally,
                            const struct br2_tally_function *function)
{
    struct span span = {tally->items, tally->items};
    if (function != NULL && function->item_count != 0) {
        span.at += function->first;
        span.end = span.at + function->item_count;
    }
    return span;
}

/* Which of the two has the next place: below 0 the base, above 0 the test, 0 both. */
static int next_place(const struct span *base, const struct span *test)
{
    if (base->at == base->end) {
        return 1;
    }
    return test->at == test->end ? -1 : br2_tally_compare_places(base->at, test->at);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (double)part / (double)whole : 0;
}

/* What the two shares of a place in its function differ by. */
static double add_place(struct comparison *c, struct br2_overlap_function *function,
                        const struct br2_tally_item *base, const struct br2_tally_item *test)
{
    struct br2_overlap_sums *sums = &function->sums;
    uint64_t base_count = base != NULL ? base->count : 0;
    uint64_t test_count = test != NULL ? test->count : 0;
    uint64_t less = base_count < test_count ? base_count : test_count;
    uint64_t more = base_count < test_count ? test_count : base_count;
    sums->common = br2_add_saturated(sums->common, less);
    sums->joined = br2_add_saturated(sums->joined, more);
    if (test == NULL) {
        sums->base_only = br2_add_saturated(sums->base_only, base_count);
    }
    if (base == NULL) {
        sums->test_only = br2_add_saturated(sums->test_only, test_count);
    }
    if (test_count != 0) {
        c->covered = br2_add_saturated(c->covered, base_count);
    }
    c->overlap->shares +=
        fmin(share(base_count, c->overlap->base->sum), share(test_count, c->overlap->test->sum));
    count_hot(&c->overlap->hot_places, base_count >= c->base_hot, test_count >= c->test_hot);
    return fabs(share(base_count, sums->base) - share(test_count, sums->test));
}

static void compare_function(struct comparison *c, struct br2_overlap_function *function)
{
    struct br2_overlap *overlap = c->overlap;
    struct span base = items_of(overlap->base, function->base);
    struct span test = items_of(overlap->test, function->test);
    function->sums.base = function->base != NULL ? function->base->sum : 0;
    function->sums.test = function->test != NULL ? function->test->sum : 0;
    double difference = 0;
    while (base.at < base.end || test.at < test.end) {
        int order = next_place(&base, &test);
        difference +=
            add_place(c, function, order <= 0 ? base.at : NULL, order >= 0 ? test.at : NULL);
        base.at += order <= 0;
        test.at += order >= 0;
    }
    function->base_share = share(function->sums.base, overlap->base->sum);
    function->test_share = share(function->sums.test, overlap->test->sum);
    if (function->base != NULL && function->test != NULL) {
        double inside = (2.0 - difference) / 2;
        inside = fabs(inside) < EPSILON ? 0 : inside;
        function->similarity = inside * (1 - fabs(function->base_share - function->test_share));
    }
}

static void add_sums(struct br2_overlap_sums *into, const struct br2_overlap_sums *from)
{
    into->base = br2_add_saturated(into->base, from->base);
    into->test = br2_add_saturated(into->test, from->test);
    into->common = br2_add_saturated(into->common, from->common);
    into->joined = br2_add_saturated(into->joined, from->joined);
    into->base_only = br2_add_saturated(into->base_only, from->base_only);
    into->test_only = br2_add_saturated(into->test_only, from->test_only);
}

static void add_function(struct comparison *c, struct br2_overlap_function *function)
{
    struct br2_overlap *overlap = c->overlap;
    bool in_base = function->base != NULL;
    bool in_test = function->test != NULL;
    compare_function(c, function);
    add_sums(&overlap->sums, &function->sums);
    overlap->functions.both += in_base && in_test;
    overlap->functions.base_only += !in_test;
    overlap->functions.test_only += !in_base;
    count_hot(&overlap->hot_functions, in_base && function->base->max >= c->base_hot,
              in_test && function->test->max >= c->test_hot);
    overlap->similarity += function->similarity * (function->base_share + function->test_share) / 2;
}

/* The functions of both, each once, in order of their names' numbers. */
static void list_functions(struct br2_overlap *overlap)
{
    const struct br2_tally_function *base = overlap->base->functions;
    const struct br2_tally_function *base_end = base + overlap->base->function_count;
    const struct br2_tally_function *test = overlap->test->functions;
    const struct br2_tally_function *test_end = test + overlap->test->function_count;
    while (base < base_end || test < test_end) {
        bool take_base = base < base_end && (test == test_end || base->name <= test->name);
        bool take_test = test < test_end && (base == base_end || test->name <= base->name);
        overlap->list[overlap->list_count++] = (struct br2_overlap_function){
            .name = take_base ? base->name : test->name,
            .base = take_base ? base : NULL,
            .test = take_test ? test : NULL,
        };
        base += take_base;
        test += take_test;
    }
}

static int compare_changes(const void *left, const void *right, void *user)
{
    const struct br2_tally *tally = user;
    const struct br2_overlap_function *a = left;
    const struct br2_overlap_function *b = right;
    double a_change = fabs(a->test_share - a->base_share);
    double b_change = fabs(b->test_share - b->base_share);
    if (a_change != b_change) {
        return a_change > b_change ? -1 : 1;
    }
    return strcmp(br2_tally_name(tally, a->name), br2_tally_name(tally, b->name));
}

static void compare_all(struct comparison *c)
{
    struct br2_overlap *overlap = c->overlap;
    list_functions(overlap);
    for (size_t i = 0; i < overlap->list_count; i++) {
        add_function(c, &overlap->list[i]);
    }
    overlap->covered = share(c->covered, overlap->sums.base);
    if (fabs(overlap->similarity - 1) < EPSILON) {
        overlap->similarity = 1;
    }
    struct br2_tally user = *overlap->base;
    qsort_r(overlap->list, overlap->list_count, sizeof *overlap->list, compare_changes, &user);
}

int br2_overlap_compute(struct br2_overlap *ret, const struct br2_tally *base,
                        const struct br2_tally *test, struct br2pgo_error *err)
{
    struct comparison c = {.overlap = ret};
    ret->base = base;
    ret->test = test;
    if (base->sum == 0 || test->sum == 0) {
        br2_fail(err, BR2PGO_USELESS, "all counts of the %s profile are 0",
                 base->sum == 0 ? "first" : "second");
        br2_hint(err, "make it again from a recording");
        return BR2PGO_USELESS;
    }
    ret->list = br2_calloc(base->function_count + test->function_count, sizeof *ret->list);
    int rc = ret->list != NULL ? 0 : br2_fail_memory(err);
    rc = rc != 0 ? rc : br2_tally_threshold(base, BR2_HOT_CUTOFF, &c.base_hot, err);
    rc = rc != 0 ? rc : br2_tally_threshold(test, BR2_HOT_CUTOFF, &c.test_hot, err);
    if (rc == 0) {
        compare_all(&c);
    }
    return rc;
}

void br2_overlap_done(struct br2_overlap *overlap)
{
    br2_free(overlap->list);
    *overlap = (struct br2_overlap){0};
}

double br2_overlap_share(const struct br2_overlap_sums *sums)
{
    return share(sums->common, sums->joined);
}

const struct br2_overlap_function *br2_overlap_find(const struct br2_overlap *overlap,
                                                    const char *name)
{
    const struct br2_overlap_function *alike = NULL;
    for (size_t i = 0; i < overlap->list_count; i++) {
        const struct br2_overlap_function *function = &overlap->list[i];
        const char *own = br2_tally_name(overlap->base, function->name);
        if (strcmp(own, name) == 0) {
            return function;
        }
        alike = alike == NULL && br2_tally_is_named(own, name) ? function : alike;
    }
    return alike;
}

static int compare_place_changes(const void *left, const void *right)
{
    const struct br2_overlap_place *a = left;
    const struct br2_overlap_place *b = right;
    double a_change = fabs(a->change);
    double b_change = fabs(b->change);
    if (a_change != b_change) {
        return a_change > b_change ? -1 : 1;
    }
    return br2_tally_compare_places(a->item, b->item);
}

int br2_overlap_places(const struct br2_overlap *overlap,
                       const struct br2_overlap_function *function, struct br2_overlap_place **ret,
                       size_t *ret_count, struct br2pgo_error *err)
{
    struct span base = items_of(overlap->base, function->base);
    struct span test = items_of(overlap->test, function->test);
    size_t most = (size_t)(base.end - base.at) + (size_t)(test.end - test.at);
    struct br2_overlap_place *places = br2_calloc(most + 1, sizeof *places);
    *ret_count = 0;
    if (places == NULL) {
        return br2_fail_memory(err);
    }
    while (base.at < base.end || test.at < test.end) {
        int order = next_place(&base, &test);
        struct br2_overlap_place *place = &places[(*ret_count)++];
        place->item = order <= 0 ? base.at : test.at;
        place->base = order <= 0 ? base.at->count : 0;
        place->test = order >= 0 ? test.at->count : 0;
        place->change =
            share(place->test, overlap->test->sum) - share(place->base, overlap->base->sum);
        base.at += order <= 0;
        test.at += order >= 0;
    }
    qsort(places, *ret_count, sizeof *places, compare_place_changes);
    *ret = places;
    return 0;
}
