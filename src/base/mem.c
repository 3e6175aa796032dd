/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/mem.h"

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

void *br2_alloc(size_t size)
{
    return must_fail() ? NULL : malloc(size != 0 ? size : 1);
}

void *br2_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : calloc(count != 0 ? count : 1, size != 0 ? size : 1);
}

void *br2_realloc_array(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || must_fail()) {
        return NULL;
    }
    return realloc(old, bytes != 0 ? bytes : 1);
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
