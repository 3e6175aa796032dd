/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a tally says as a whole: how hot is hot, and how dense it is. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "profile/tally.h"

static int compare_descending(const void *a, const void *b)
{
    return br2_compare_u64(*(const uint64_t *)b, *(const uint64_t *)a);
}

int br2_tally_threshold(const struct br2_tally *tally, uint32_t parts, uint64_t *ret,
                        struct br2pgo_error *err)
{
    uint64_t *counts = br2_calloc(tally->item_count + 1, sizeof *counts);
    if (counts == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = 0;
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < tally->item_count; i++) {
        if (!tally->items[i].copied) {
            counts[count++] = tally->items[i].count;
            sum += tally->items[i].count;
        }
    }
    qsort(counts, count, sizeof *counts, compare_descending);
    unsigned __int128 want = sum * parts / BR2_CUTOFF_SCALE;
    unsigned __int128 seen = 0;
    *ret = 0;
    for (size_t i = 0; i < count && seen < want; i++) {
        seen += counts[i];
        *ret = counts[i];
    }
    br2_free(counts);
    return 0;
}

int br2_tally_density(const struct br2_tally *tally, uint32_t cutoff, double *ret,
                      struct br2pgo_error *err)
{
    struct br2_density *densities = br2_calloc(tally->function_count + 1, sizeof *densities);
    if (densities == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < tally->function_count; i++) {
        const struct br2_tally_function *function = &tally->functions[i];
        if (function->item_count != 0) {
            densities[count++] = (struct br2_density){
                .density = (double)function->sum / (double)function->item_count,
                .samples = function->sum,
            };
        }
    }
    *ret = br2_density_at(densities, count, cutoff);
    br2_free(densities);
    return 0;
}
