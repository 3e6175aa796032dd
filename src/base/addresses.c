/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/addresses.h"

#include <stdlib.h>

#include "base/mem.h"

bool br2_addresses_add(struct br2_addresses *addresses, uint64_t address)
{
    if (!br2_grow(&addresses->items, &addresses->capacity, addresses->count,
                  sizeof *addresses->items)) {
        return false;
    }
    addresses->items[addresses->count++] = address;
    return true;
}

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

void br2_addresses_sort(struct br2_addresses *addresses)
{
    if (addresses->count != 0) {
        qsort(addresses->items, addresses->count, sizeof *addresses->items, compare);
    }
    size_t kept = 0;
    for (size_t i = 0; i < addresses->count; i++) {
        if (kept == 0 || addresses->items[kept - 1] != addresses->items[i]) {
            addresses->items[kept++] = addresses->items[i];
        }
    }
    addresses->count = kept;
}

void br2_addresses_done(struct br2_addresses *addresses)
{
    br2_free(addresses->items);
    *addresses = (struct br2_addresses){0};
}

size_t br2_addresses_from(const struct br2_addresses *addresses, uint64_t address)
{
    size_t low = 0;
    size_t high = addresses->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (addresses->items[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool br2_addresses_have(const struct br2_addresses *addresses, uint64_t address)
{
    size_t at = br2_addresses_from(addresses, address);
    return at < addresses->count && addresses->items[at] == address;
}
