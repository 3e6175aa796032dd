/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/density.h"

#include <stdlib.h>

#include "base/compare.h"

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* llvm-profgen's order; of equal ones nothing depends on. */
static int compare_densities(const void *left, const void *right)
{
    const struct br2_density *a = left;
    const struct br2_density *b = right;
    if (a->density != b->density) {
        return a->density > b->density ? -1 : 1;
    }
    return br2_compare_u64(a->samples, b->samples);
}

double br2_density_at(struct br2_density *densities, size_t count, uint32_t cutoff)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total = add(total, densities[i].samples);
    }
    if (count != 0) {
        qsort(densities, count, sizeof *densities, compare_densities);
    }
    /* In single precision, as LLVM multiplies: the last function that counts depends on it. */
    float want = (float)total * (float)cutoff / (float)BR2_CUTOFF_SCALE;
    uint64_t seen = 0;
    double density = 0;
    for (size_t i = 0; i < count && (float)seen < want; i++) {
        seen = add(seen, densities[i].samples);
        density = densities[i].density;
    }
    return density;
}
