/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Orders for qsort and bsearch. */
#ifndef BR2_BASE_COMPARE_H
#define BR2_BASE_COMPARE_H

#include <stdint.h>

/* Below, equal to or above 0 as `a` is below, equal to or above `b`. */
static inline int br2_compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
