/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profile density: how much is known of each function, for its size. */
#ifndef BR2_FLOW_DENSITY_H
#define BR2_FLOW_DENSITY_H

#include <stddef.h>
#include <stdint.h>

/* Cutoffs are in parts per million, as LLVM tells them; the part of all counts that it takes for
 * hot. */
#define BR2_CUTOFF_SCALE 1000000u
#define BR2_HOT_CUTOFF   990000u

/* Of one function. */
struct br2_density {
    double density;
    uint64_t samples;
};

/* The least density of the densest functions that make up `cutoff` per million of all samples, as
 * llvm-profgen 19 and llvm-bolt 20 define it; 0 where there are no samples. Sorts the array. */
double br2_density_at(struct br2_density *densities, size_t count, uint32_t cutoff);

#endif
