/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code that GCC clones, splits, inlines and vectorises, and calls it can make direct. */
#include "versions.h"

unsigned lost;

void complain(unsigned what)
{
    lost += what;
}

/* A function of this name is in second.c as well; this one runs ten times as often. */
static __attribute__((noinline)) unsigned step(unsigned value)
{
    if (value % 3 == 0) {
        value = value / 3 + 1;
    } else {
        value = value * 2 + 1;
    }
    return value;
}

/* Always called with the same `by`, for one member of an item: a clone of its own. */
static __attribute__((noinline)) unsigned scale(const struct item *item, unsigned by, unsigned n)
{
    unsigned value = item->weight;
    for (unsigned i = 0; i < n % 4; i++) {
        value = value / by + i;
    }
    return value;
}

/* What is seldom goes into a part of its own. */
static __attribute__((noinline)) unsigned sift(const struct item *item, unsigned n)
{
    if (item->kind > 6) {
        complain(item->kind);
        complain(n);
        return n ^ lost;
    }
    return item->weight + n;
}

/* The test is inlined at both calls, the rest becomes a part of its own. */
static unsigned weigh(const struct item *item, unsigned n)
{
    if (item->kind != 7) {
        return n;
    }
    complain(n);
    for (unsigned i = 0; i < item->weight; i++) {
        n = n / 3 + (n << 2 ^ i);
        if (n % 7 == 0) {
            complain(i);
        }
    }
    complain(item->weight);
    return n % 11;
}

/* Inlined at both of its calls. */
static inline unsigned mix(unsigned value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        value ^= value << 3 ^ i;
    }
    return value;
}

static unsigned keep(unsigned value)
{
    return value + 1;
}

static unsigned turn(unsigned value)
{
    return value ^ 0x55;
}

static unsigned (*const actions[8])(unsigned) = {keep, keep, keep, keep, keep, keep, keep, turn};

/* A loop that is vectorised: one turn of the machine's is several of the source's. */
static __attribute__((noinline)) void sum_up(unsigned *restrict to, const unsigned *restrict from)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        to[i] += from[i];
    }
}

unsigned first_half(const struct item *items, unsigned rounds)
{
    unsigned value = 1;
    unsigned sums[ITEMS] = {0};
    unsigned addends[ITEMS] = {1, 2, 3};
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < ITEMS; i++) {
            value += step(value) + sift(&items[i], value);
            value = weigh(&items[i], value);
            value = actions[items[i].kind & 7](value);
            if (value % 5 == 0) {
                value = mix(value, 3 + i % 3);
            } else {
                value += scale(&items[i], 3, value);
            }
        }
        sum_up(sums, addends);
        value = mix(value, 2 + r % 2) + sums[r % ITEMS];
        value = weigh(&items[r % ITEMS], value);
    }
    return value;
}
