/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/mem.h"

#include <malloc.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_size_t allocations;
static size_t fail_at; /* 0: never; set by tests only, before they allocate */

size_t br2_mem_fail_at(size_t nth)
{
    fail_at = nth;
    return atomic_exchange(&allocations, 0);
}

static bool must_fail(void)
{
    size_t number = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
    return fail_at != 0 && number >= fail_at;
}

/* Bytes of the blocks that are in use; what malloc takes beside them is counted with others'. */
static atomic_size_t own_bytes;
static atomic_size_t limit_bytes; /* 0: none */
static atomic_bool limit_hit;

/* Others' memory is asked for after so many bytes more of our own, and at the beginning. */
#define ASK_EVERY ((size_t)1024 * 1024)
static atomic_size_t others_bytes;
static atomic_size_t asked_ago = ASK_EVERY;

void br2_mem_limit(size_t bytes)
{
    atomic_store(&limit_bytes, bytes);
    atomic_store(&limit_hit, false);
    atomic_store(&asked_ago, ASK_EVERY);
}

bool br2_mem_limit_hit(size_t *ret_limit)
{
    *ret_limit = atomic_load(&limit_bytes);
    return atomic_load(&limit_hit);
}

/* What libdw, LLVM and others have from malloc cannot be refused, but it counts. Under a sanitizer
 * nothing is known of it. */
static size_t ask_for_others(size_t own)
{
    struct mallinfo2 info = mallinfo2();
    size_t all = info.uordblks + info.hblkhd;
    size_t others = all > own ? all - own : 0;
    atomic_store_explicit(&others_bytes, others, memory_order_relaxed);
    atomic_store_explicit(&asked_ago, 0, memory_order_relaxed);
    return others;
}

size_t br2_mem_used(void)
{
    size_t own = atomic_load(&own_bytes);
    return own + ask_for_others(own);
}

/* Whether `size` bytes more are within the limit. */
static bool fits(size_t size)
{
    size_t limit = atomic_load_explicit(&limit_bytes, memory_order_relaxed);
    if (limit == 0) {
        return true;
    }
    size_t own = atomic_load_explicit(&own_bytes, memory_order_relaxed);
    size_t ago = atomic_fetch_add_explicit(&asked_ago, size, memory_order_relaxed);
    size_t others = ago >= ASK_EVERY || size >= ASK_EVERY
                        ? ask_for_others(own)
                        : atomic_load_explicit(&others_bytes, memory_order_relaxed);
    size_t used = own + others;
    if (used <= limit && size <= limit - used) {
        return true;
    }
    atomic_store(&limit_hit, true);
    return false;
}

static void *count_in(void *block)
{
    atomic_fetch_add_explicit(&own_bytes, malloc_usable_size(block), memory_order_relaxed);
    return block;
}

static void count_out(void *block)
{
    atomic_fetch_sub_explicit(&own_bytes, malloc_usable_size(block), memory_order_relaxed);
}

void *br2_alloc(size_t size)
{
    return must_fail() || !fits(size) ? NULL : count_in(malloc(size != 0 ? size : 1));
}

void *br2_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail() || !fits(bytes)) {
        return NULL;
    }
    return count_in(calloc(bytes != 0 ? bytes : 1, 1));
}

void *br2_realloc_array(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail()) {
        return NULL;
    }
    size_t before = malloc_usable_size(old);
    /* For a moment both may be there: where they are, old and new must fit. */
    if (bytes > before && !fits(bytes)) {
        return NULL;
    }
    void *block = realloc(old, bytes != 0 ? bytes : 1);
    if (block != NULL) {
        atomic_fetch_sub_explicit(&own_bytes, before, memory_order_relaxed);
        count_in(block);
    }
    return block;
}

char *br2_strndup(const char *text, size_t length)
{
    char *copy = br2_alloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *br2_strdup(const char *text)
{
    return br2_strndup(text, strlen(text));
}

char *br2_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        return NULL;
    }
    char *text = br2_alloc((size_t)length + 1);
    if (text != NULL) {
        va_start(args, format);
        vsnprintf(text, (size_t)length + 1, format, args);
        va_end(args);
    }
    return text;
}

void br2_free(void *block)
{
    count_out(block);
    free(block);
}

bool br2_grow(void *items_address, size_t *capacity, size_t count, size_t element_size)
{
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity != 0 ? *capacity * 2 : 8;
    if (wanted < *capacity) {
        return false;
    }
    /* The caller's pointer may be of any object pointer type: move it as bytes. */
    void *items;
    memcpy(&items, items_address, sizeof items);
    void *grown = br2_realloc_array(items, wanted, element_size);
    if (grown == NULL) {
        return false;
    }
    memcpy(items_address, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

#define ARENA_BLOCK_BYTES ((size_t)64 * 1024)

struct br2_arena_block {
    struct br2_arena_block *next;
    alignas(max_align_t) unsigned char bytes[];
};

static bool arena_add_block(struct br2_arena *arena, size_t size)
{
    size_t capacity = size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES;
    size_t whole;
    if (__builtin_add_overflow(capacity, sizeof(struct br2_arena_block), &whole)) {
        return false;
    }
    struct br2_arena_block *block = br2_alloc(whole);
    if (block == NULL) {
        return false;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
    arena->capacity = capacity;
    return true;
}

void *br2_arena_alloc(struct br2_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align) {
        return NULL;
    }
    size = (size + align - 1) / align * align;
    if (arena->capacity - arena->used < size && !arena_add_block(arena, size)) {
        return NULL;
    }
    void *block = arena->blocks != NULL ? arena->blocks->bytes + arena->used : NULL;
    if (block != NULL && size != 0) {
        memset(block, 0, size);
    }
    arena->used += size;
    return block;
}

char *br2_arena_strndup(struct br2_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        return NULL;
    }
    char *copy = br2_arena_alloc(arena, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

void br2_arena_done(struct br2_arena *arena)
{
    struct br2_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct br2_arena_block *next = block->next;
        br2_free(block);
        block = next;
    }
    *arena = (struct br2_arena){0};
}
