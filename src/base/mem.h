/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checked allocation. All memory of the library comes from here, so a test can make any
 * allocation fail. Every function returns NULL (or false) when memory or size_t runs out. */
#ifndef BR2_BASE_MEM_H
#define BR2_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *br2_alloc(size_t size);
void *br2_calloc(size_t count, size_t size);
void *br2_realloc_array(void *old, size_t count, size_t size);
char *br2_strdup(const char *text);
char *br2_strndup(const char *text, size_t length);
/* printf into fresh memory. */
char *br2_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void br2_free(void *block);

/*
 * The most memory this process may take for the library, of all threads together: its own, and what
 * the libraries it uses have from malloc (glibc tells that). An allocation that would go beyond
 * fails; what others allocate cannot be refused, but counts from the next megabyte on. 0: no limit,
 * as at the beginning.
 */
void br2_mem_limit(size_t bytes);
/* Whether an allocation has failed for that since the limit was set; the limit. */
bool br2_mem_limit_hit(size_t *ret_limit);
/* Bytes in use, as the limit counts them. */
size_t br2_mem_used(void);

/* Test hook: the `nth` allocation from now on (1 = the next) fails, and all after it; 0 turns it
 * off. Returns the number of allocations seen since the last call. Not thread-safe. */
size_t br2_mem_fail_at(size_t nth);

/*
 * Room for one more element in a growing array: call as
 *     if (!br2_grow(&v.items, &v.capacity, v.count, sizeof *v.items)) return no memory;
 * `items_address` is the address of the array pointer. Doubles the capacity when `count` has
 * reached it; the array is unchanged on failure.
 */
bool br2_grow(void *items_address, size_t *capacity, size_t count, size_t element_size);

/* Bump allocation for many objects that die together. Zero-initialise, then use. */
struct br2_arena {
    struct br2_arena_block *blocks;
    size_t used;
    size_t capacity;
};
/* Zeroed, aligned for any type. NULL when memory runs out. */
void *br2_arena_alloc(struct br2_arena *arena, size_t size);
char *br2_arena_strndup(struct br2_arena *arena, const char *text, size_t length);
void br2_arena_done(struct br2_arena *arena);

#endif
