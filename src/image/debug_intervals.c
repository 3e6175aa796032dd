/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sorted address intervals with stabbing queries. */
#include <stdlib.h>

#include "image/debug_private.h"

bool br2_interval_add(struct br2_interval_list *list, uint64_t start, uint64_t end, uint32_t item)
{
    if (!br2_grow(&list->items, &list->capacity, list->count, sizeof *list->items)) {
        return false;
    }
    list->items[list->count++] = (struct br2_interval){start, end, end, item};
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct br2_interval *x = a;
    const struct br2_interval *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end > y->end ? -1 : 1;
    }
    return (x->item > y->item) - (x->item < y->item);
}

void br2_interval_sort(struct br2_interval_list *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, compare);
    uint64_t max_end = 0;
    for (size_t i = 0; i < list->count; i++) {
        max_end = list->items[i].end > max_end ? list->items[i].end : max_end;
        list->items[i].max_end = max_end;
    }
}

size_t br2_interval_find(const struct br2_interval_list *list, uint64_t address, size_t below)
{
    size_t low = 0;
    size_t high = below < list->count ? below : list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (size_t i = low; i > 0 && list->items[i - 1].max_end > address; i--) {
        if (list->items[i - 1].end > address) {
            return i - 1;
        }
    }
    return SIZE_MAX;
}
