/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/statistics.h"

#include <stdbool.h>
#include <string.h>

/* The histogram's peaks are looked for in bins that begin at 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: two
 * for each power of two, each with a whole number in it. */
#define BINS 64
/* Between two peaks it must go down to less than this part of the lower one, */
#define VALLEY_DIVISOR 4
/* and each must have this part of all, 1 %. */
#define MODE_DIVISOR 100

struct bin {
    uint64_t count;
    struct br2_point frequent;
};

static size_t bin_of(uint64_t value)
{
    size_t power = 0;
    while (value >> power > 1) {
        power++;
    }
    bool upper = power != 0 && (value >> (power - 1) & 1) != 0;
    size_t bin = power != 0 ? 2 * power + upper : 1; /* no bin is empty for want of numbers */
    return bin < BINS ? bin : BINS - 1;
}

static void take_frequent(struct br2_point *frequent, const struct br2_point *point)
{
    if (point->count > frequent->count) {
        *frequent = *point;
    }
}

/* Values of one peak. */
struct mode {
    uint64_t count;
    struct br2_point frequent;
};

static void add_mode(struct br2_distribution *ret, const struct mode *mode)
{
    if (mode->count * MODE_DIVISOR >= ret->count && ret->mode_count < BR2_MODES_MAX) {
        ret->modes[ret->mode_count++] = (struct br2_point){mode->frequent.value, mode->count};
    }
}

/* Goes up and down the bins: a peak ends at the lowest bin before a higher one. */
static void find_modes(const struct bin bins[BINS], struct br2_distribution *ret)
{
    uint64_t peak = 0;
    uint64_t valley = 0;
    struct mode mode = {0};   /* up to the valley */
    struct mode behind = {0}; /* since then */
    for (size_t i = 0; i < BINS; i++) {
        uint64_t count = bins[i].count;
        uint64_t lower = count < peak ? count : peak;
        bool rises = lower / VALLEY_DIVISOR > valley || (valley == 0 && lower != 0 && peak != 0);
        if (rises && lower * MODE_DIVISOR >= ret->count) {
            add_mode(ret, &mode);
            mode = behind;
            behind = (struct mode){0};
            peak = valley = 0;
        }
        behind.count += count;
        take_frequent(&behind.frequent, &bins[i].frequent);
        if (count >= peak) {
            peak = valley = count;
        }
        if (count <= valley) {
            valley = count;
            mode.count += behind.count;
            take_frequent(&mode.frequent, &behind.frequent);
            behind = (struct mode){0};
        }
    }
    mode.count += behind.count;
    take_frequent(&mode.frequent, &behind.frequent);
    add_mode(ret, &mode);
}

/* The least value that `part` of ten of all are not above. */
static uint64_t quantile(const struct br2_point *points, size_t count, uint64_t all, uint64_t part,
                         uint64_t of)
{
    uint64_t wanted = all / of * part + (all % of * part + of - 1) / of;
    uint64_t sum = 0;
    size_t i = 0;
    while (i + 1 < count && sum + points[i].count < wanted) {
        sum += points[i++].count;
    }
    return points[i].value;
}

void br2_describe(const struct br2_point *points, size_t count, struct br2_distribution *ret)
{
    struct bin bins[BINS] = {0};
    struct br2_point frequent = {0};
    double sum = 0;
    *ret = (struct br2_distribution){0};
    if (count == 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct bin *bin = &bins[bin_of(points[i].value)];
        bin->count += points[i].count;
        take_frequent(&bin->frequent, &points[i]);
        take_frequent(&frequent, &points[i]);
        ret->count += points[i].count;
        sum += (double)points[i].value * (double)points[i].count;
    }
    ret->mean = sum / (double)ret->count;
    ret->least = points[0].value;
    ret->most = points[count - 1].value;
    ret->median = quantile(points, count, ret->count, 1, 2);
    ret->ninth = quantile(points, count, ret->count, 9, 10);
    ret->frequent = frequent.value;
    ret->frequent_count = frequent.count;
    find_modes(bins, ret);
}
