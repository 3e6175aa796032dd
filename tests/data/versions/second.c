/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "versions.h"

/* As in first.c by name alone. */
static __attribute__((noinline)) unsigned step(unsigned value)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < 5; i++) {
        bits += value >> i & 1;
    }
    if (bits > 3) {
        return bits;
    }
    return value + bits;
}

unsigned second_half(const struct item *items, unsigned rounds)
{
    unsigned value = 2;
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < ITEMS; i += 10) {
            value += step(value ^ items[i].weight);
        }
    }
    return value;
}

int main(void)
{
    struct item items[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.kind = i % 9 == 8 ? 7 : i % 5, .weight = i * 7 % 13};
    }
    return (first_half(items, 60) ^ second_half(items, 60)) == 0;
}
