/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's detailed summary: from which count on are the hottest records that make up x % of all. */
#include <stdlib.h>

#include "profile/profile.h"

const uint32_t br2_summary_cutoffs[BR2_SUMMARY_ENTRIES] = {
    10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
};
#define CUTOFF_SCALE 1000000u

/* ContextAttributes bit: counted in the function's own profile already. */
#define DUPLICATED_INTO_BASE 4u

static uint64_t count_samples(const struct br2_function_profile *function)
{
    uint64_t count = function->sample_count;
    for (size_t i = 0; i < function->callsite_count; i++) {
        if (!(function->callsites[i].callee->attributes & DUPLICATED_INTO_BASE)) {
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
        if (!(function->callsites[i].callee->attributes & DUPLICATED_INTO_BASE)) {
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

/* `counts` in descending order. Sums wrap around at 64 bits as LLVM's do: the summary must be the
 * one LLVM computes for the same profile. */
static void fill_entries(const uint64_t *counts, struct br2_summary *ret)
{
    uint64_t sum = 0, last = 0, seen = 0;
    for (size_t e = 0; e < BR2_SUMMARY_ENTRIES; e++) {
        unsigned __int128 product = ret->total_count;
        product *= br2_summary_cutoffs[e];
        uint64_t want = (uint64_t)(product / CUTOFF_SCALE);
        while (sum < want && seen < ret->count_count) {
            last = counts[seen];
            for (; seen < ret->count_count && counts[seen] == last; seen++) {
                sum += last;
            }
        }
        ret->entries[e].min_count = last;
        ret->entries[e].count_count = seen;
    }
}

int br2_profile_summarise(const struct br2_profile *profile, struct br2_summary *ret,
                          struct br2pgo_error *err)
{
    *ret = (struct br2_summary){.function_count = profile->function_count};
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct br2_function_profile *function = profile->functions[i];
        ret->count_count += count_samples(function);
        if (ret->max_head < function->head) {
            ret->max_head = function->head;
        }
    }
    if (ret->count_count == 0) {
        return BR2PGO_OK;
    }
    uint64_t *counts = br2_calloc((size_t)ret->count_count, sizeof *counts);
    if (!counts) {
        return br2_fail_memory(err);
    }
    uint64_t *at = counts;
    for (size_t i = 0; i < profile->function_count; i++) {
        at = gather_counts(profile->functions[i], at);
    }
    qsort(counts, (size_t)ret->count_count, sizeof *counts, compare_descending);
    ret->max_count = counts[0];
    for (size_t i = 0; i < ret->count_count; i++) {
        ret->total_count += counts[i];
    }
    fill_entries(counts, ret);
    br2_free(counts);
    return BR2PGO_OK;
}
