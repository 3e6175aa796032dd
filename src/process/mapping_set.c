/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "process/mapping_set.h"

#include <string.h>

#include "base/mem.h"

/* A full chunk is split in two. */
#define CHUNK_MAX 256

struct position {
    size_t chunk; /* chunk_count: behind the last */
    size_t item;
};

/* Where the first mapping that ends after `address` is. */
static struct position find(const struct br2_mapping_set *set, uint64_t address)
{
    size_t low = 0;
    size_t high = set->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_mapping_chunk *chunk = &set->chunks[middle];
        if (chunk->items[chunk->count - 1].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct position at = {.chunk = low};
    if (low == set->chunk_count) {
        return at;
    }
    const struct br2_mapping_chunk *chunk = &set->chunks[low];
    high = chunk->count;
    while (at.item < high) {
        size_t middle = at.item + (high - at.item) / 2;
        if (chunk->items[middle].end <= address) {
            at.item = middle + 1;
        } else {
            high = middle;
        }
    }
    return at;
}

const struct br2_mapping *br2_mapping_set_after(const struct br2_mapping_set *set, uint64_t address)
{
    struct position at = find(set, address);
    return at.chunk < set->chunk_count ? &set->chunks[at.chunk].items[at.item] : NULL;
}

/* A new chunk before chunk number `at`, with copies of `items`. */
static bool add_chunk(struct br2_mapping_set *set, size_t at, const struct br2_mapping *items,
                      size_t count)
{
    if (!br2_grow(&set->chunks, &set->chunk_capacity, set->chunk_count, sizeof *set->chunks)) {
        return false;
    }
    struct br2_mapping *copy = br2_realloc_array(NULL, count, sizeof *copy);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, items, count * sizeof *copy);
    memmove(set->chunks + at + 1, set->chunks + at, (set->chunk_count - at) * sizeof *set->chunks);
    set->chunks[at] = (struct br2_mapping_chunk){.items = copy, .count = count, .capacity = count};
    set->chunk_count++;
    return true;
}

static bool insert(struct br2_mapping_set *set, struct position at,
                   const struct br2_mapping *mapping)
{
    if (at.chunk == set->chunk_count) {
        if (at.chunk == 0 || set->chunks[at.chunk - 1].count == CHUNK_MAX) {
            bool added = add_chunk(set, at.chunk, mapping, 1);
            set->count += added;
            return added;
        }
        at.chunk--;
        at.item = set->chunks[at.chunk].count;
    }
    struct br2_mapping_chunk *chunk = &set->chunks[at.chunk];
    if (chunk->count == CHUNK_MAX) {
        size_t half = CHUNK_MAX / 2;
        if (!add_chunk(set, at.chunk + 1, chunk->items + half, CHUNK_MAX - half)) {
            return false;
        }
        chunk = &set->chunks[at.chunk];
        chunk->count = half;
        if (at.item > half) {
            chunk++;
            at.item -= half;
        }
    }
    if (!br2_grow(&chunk->items, &chunk->capacity, chunk->count, sizeof *chunk->items)) {
        return false;
    }
    memmove(chunk->items + at.item + 1, chunk->items + at.item,
            (chunk->count - at.item) * sizeof *chunk->items);
    chunk->items[at.item] = *mapping;
    chunk->count++;
    set->count++;
    return true;
}

static void erase(struct br2_mapping_set *set, struct position at)
{
    struct br2_mapping_chunk *chunk = &set->chunks[at.chunk];
    chunk->count--;
    set->count--;
    memmove(chunk->items + at.item, chunk->items + at.item + 1,
            (chunk->count - at.item) * sizeof *chunk->items);
    if (chunk->count == 0) {
        br2_free(chunk->items);
        set->chunk_count--;
        memmove(set->chunks + at.chunk, set->chunks + at.chunk + 1,
                (set->chunk_count - at.chunk) * sizeof *set->chunks);
    }
}

/* Takes [start, end) out, cutting mappings that reach over an edge. */
static bool clear(struct br2_mapping_set *set, uint64_t start, uint64_t end)
{
    for (;;) {
        struct position at = find(set, start);
        if (at.chunk == set->chunk_count) {
            return true;
        }
        struct br2_mapping *found = &set->chunks[at.chunk].items[at.item];
        if (found->start >= end) {
            return true;
        }
        struct br2_mapping tail = *found;
        tail.file_offset += end - found->start;
        tail.start = end;
        if (found->start >= start && found->end <= end) {
            erase(set, at);
        } else if (found->start >= start) {
            *found = tail;
        } else {
            bool splits = found->end > end;
            found->end = start;
            if (splits) {
                return insert(set, find(set, start), &tail);
            }
        }
    }
}

bool br2_mapping_set_put(struct br2_mapping_set *set, const struct br2_mapping *mapping)
{
    return clear(set, mapping->start, mapping->end) &&
           insert(set, find(set, mapping->start), mapping);
}

bool br2_mapping_set_copy(struct br2_mapping_set *copy, const struct br2_mapping_set *set)
{
    for (size_t i = 0; i < set->chunk_count; i++) {
        if (!add_chunk(copy, i, set->chunks[i].items, set->chunks[i].count)) {
            br2_mapping_set_done(copy);
            return false;
        }
    }
    copy->count = set->count;
    return true;
}

void br2_mapping_set_done(struct br2_mapping_set *set)
{
    for (size_t i = 0; i < set->chunk_count; i++) {
        br2_free(set->chunks[i].items);
    }
    br2_free(set->chunks);
    *set = (struct br2_mapping_set){0};
}
