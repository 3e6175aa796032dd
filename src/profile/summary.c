/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's detailed summary: from which count on are the hottest records that make up x % of all. And
 * totals. */
#include <stdlib.h>

#include "base/number.h"
#include "flow/density.h"
#include "profile/profile.h"

const uint32_t br2_summary_cutoffs[BR2_SUMMARY_ENTRIES] = {
    10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
};

static uint64_t count_samples(const struct br2_function_profile *function)
{
    uint64_t count = function->sample_count;
    for (size_t i = 0; i < function->callsite_count; i++) {
        if (!(function->callsites[i].callee->attributes & BR2_DUPLICATED_INTO_BASE)) {
            count += count_samples(function->callsites[i].callee);
        }
    }
    return count;
}

static uint64_t *gather_counts(const struct br2_function_profile *function, uint64_t *at)
{
    for (size_t i = 0; i < function->sample_count; i++) {
        *at++ = function->samples[i].count;
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        if (!(function->callsites[i].callee->attributes & BR2_DUPLICATED_INTO_BASE)) {
            at = gather_counts(function->callsites[i].callee, at);
        }
    }
    return at;
}

static int compare_descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

/* All body counts in descending order. */
struct counts {
    uint64_t *items;
    uint64_t count;
    uint64_t total; /* wraps around at 64 bits */
};

static int sort_counts(const struct br2_profile *profile, struct counts *ret,
                       struct br2pgo_error *err)
{
    *ret = (struct counts){0};
    for (size_t i = 0; i < profile->function_count; i++) {
        ret->count += count_samples(profile->functions[i]);
    }
    ret->items = br2_calloc((size_t)ret->count, sizeof *ret->items);
    if (!ret->items) {
        return br2_fail_memory(err);
    }
    uint64_t *at = ret->items;
    for (size_t i = 0; i < profile->function_count; i++) {
        at = gather_counts(profile->functions[i], at);
    }
    qsort(ret->items, (size_t)ret->count, sizeof *ret->items, compare_descending);
    for (size_t i = 0; i < ret->count; i++) {
        ret->total += ret->items[i];
    }
    return BR2PGO_OK;
}

/* The largest counts that make up more and more of all. */
struct largest {
    const struct counts *counts;
    uint64_t sum; /* wraps around as LLVM's does: the summary must be the one LLVM computes */
    struct br2_summary_entry entry;
};

static struct br2_summary_entry take_share(struct largest *largest, uint64_t part, uint64_t of)
{
    const struct counts *counts = largest->counts;
    unsigned __int128 product = counts->total;
    product *= part;
    uint64_t want = (uint64_t)(product / of);
    uint64_t seen = largest->entry.count_count;
    while (largest->sum < want && seen < counts->count) {
        uint64_t last = counts->items[seen];
        for (; seen < counts->count && counts->items[seen] == last; seen++) {
            largest->sum += last;
        }
        largest->entry = (struct br2_summary_entry){.min_count = last, .count_count = seen};
    }
    return largest->entry;
}

int br2_profile_summarise(const struct br2_profile *profile, struct br2_summary *ret,
                          struct br2pgo_error *err)
{
    struct counts counts;
    *ret = (struct br2_summary){.function_count = profile->function_count};
    for (size_t i = 0; i < profile->function_count; i++) {
        if (ret->max_head < profile->functions[i]->head) {
            ret->max_head = profile->functions[i]->head;
        }
    }
    int status = sort_counts(profile, &counts, err);
    if (status) {
        return status;
    }
    ret->count_count = counts.count;
    ret->total_count = counts.total;
    ret->max_count = counts.count ? counts.items[0] : 0;
    struct largest largest = {.counts = &counts};
    for (size_t e = 0; e < BR2_SUMMARY_ENTRIES; e++) {
        ret->entries[e] = take_share(&largest, br2_summary_cutoffs[e], BR2_CUTOFF_SCALE);
    }
    br2_free(counts.items);
    return BR2PGO_OK;
}

int br2_profile_working_sets(const struct br2_profile *profile, size_t parts,
                             struct br2_summary_entry *ret, struct br2pgo_error *err)
{
    struct counts counts;
    int status = sort_counts(profile, &counts, err);
    if (status) {
        return status;
    }
    struct largest largest = {.counts = &counts};
    for (size_t i = 0; i < parts; i++) {
        ret[i] = take_share(&largest, i + 1, parts);
    }
    br2_free(counts.items);
    return BR2PGO_OK;
}

static uint64_t derive_total(struct br2_function_profile *function)
{
    function->total = 0;
    for (size_t i = 0; i < function->sample_count; i++) {
        function->total = br2_add_saturated(function->total, function->samples[i].count);
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        function->total =
            br2_add_saturated(function->total, derive_total(function->callsites[i].callee));
    }
    return function->total;
}

void br2_profile_derive_totals(struct br2_profile *profile)
{
    for (size_t i = 0; i < profile->function_count; i++) {
        derive_total(profile->functions[i]);
    }
    profile->derived_totals = true;
}
