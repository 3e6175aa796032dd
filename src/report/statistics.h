/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is said of a distribution: of cycles, of trips. */
#ifndef BR2_REPORT_STATISTICS_H
#define BR2_REPORT_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* So many times a value. */
struct br2_point {
    uint64_t value;
    uint64_t count;
};

#define BR2_MODES_MAX 4

struct br2_distribution {
    uint64_t count;
    double mean;
    uint64_t least;
    uint64_t median;
    uint64_t ninth; /* decile: 90 % are at most that */
    uint64_t most;
    uint64_t frequent; /* the most frequent value ... */
    uint64_t frequent_count;
    /* Peaks of the histogram: the most frequent value of each, and how many are in it. */
    size_t mode_count;
    struct br2_point modes[BR2_MODES_MAX];
};

/* `points` are sorted by value, each value once; none: all is 0. */
void br2_describe(const struct br2_point *points, size_t count, struct br2_distribution *ret);

#endif
