/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A sorted set of addresses: add, sort once, then look up. Zero-initialise, then use. */
#ifndef BR2_BASE_ADDRESSES_H
#define BR2_BASE_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct br2_addresses {
    uint64_t *items; /* owned */
    size_t count;
    size_t capacity;
};

/* Appends; false when memory runs out. */
bool br2_addresses_add(struct br2_addresses *addresses, uint64_t address);
/* Sorts and leaves out what is there twice. */
void br2_addresses_sort(struct br2_addresses *addresses);
void br2_addresses_done(struct br2_addresses *addresses);

/* Of sorted addresses: index of the first one at or behind `address`. */
size_t br2_addresses_from(const struct br2_addresses *addresses, uint64_t address);
bool br2_addresses_have(const struct br2_addresses *addresses, uint64_t address);

#endif
