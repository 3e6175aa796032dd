/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BR2_TEST_VERSIONS_H
#define BR2_TEST_VERSIONS_H

#define ITEMS 64 /* a multiple of every vector's length */

struct item {
    unsigned kind;
    unsigned weight;
    unsigned unused[6];
};

extern unsigned lost;

unsigned first_half(const struct item *items, unsigned rounds);
unsigned second_half(const struct item *items, unsigned rounds);
void complain(unsigned what) __attribute__((cold));

#endif
