/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mem.c: sizes that wrap, growing, arenas, failing on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"

static void test_sizes(void **state)
{
    (void)state;
    void *a = br2_alloc(0);
    uint8_t *b = br2_calloc(0, 8);
    uint8_t *c = br2_calloc(3, 7);
    assert_non_null(a);
    assert_non_null(b);
    static const uint8_t zeros[21];
    assert_memory_equal(c, zeros, 21);
    memset(c, 5, 21);
    c = br2_realloc_array(c, 1000, 7);
    assert_int_equal(c[20], 5);
    assert_null(br2_realloc_array(c, SIZE_MAX / 2, 3));
    assert_null(br2_realloc_array(NULL, SIZE_MAX / 8 + 2, 8));
    assert_null(br2_calloc(SIZE_MAX / 2, 3));
    assert_int_equal(c[20], 5);
    br2_free(a);
    br2_free(b);
    br2_free(c);
    br2_free(NULL);
}

static void test_text(void **state)
{
    (void)state;
    char *a = br2_strdup("hello");
    char *b = br2_strndup("hello", 2);
    char *c = br2_format("%s-%04d", "x", 42);
    char *d = br2_strndup("", 0);
    assert_string_equal(a, "hello");
    assert_string_equal(b, "he");
    assert_string_equal(c, "x-0042");
    assert_string_equal(d, "");
    br2_free(a);
    br2_free(b);
    br2_free(c);
    br2_free(d);
}

static void test_grow(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 1000; count++) {
        size_t before = capacity;
        assert_true(br2_grow(&items, &capacity, count, sizeof *items));
        assert_true(capacity > count);
        assert_true(capacity == before || capacity == 2 * before || before == 0);
        items[count] = (uint32_t)count;
    }
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(items[i], i);
    }
    uint32_t *same = items;
    size_t full = capacity;
    assert_true(br2_grow(&items, &capacity, capacity - 1, sizeof *items));
    assert_ptr_equal(items, same);
    assert_false(br2_grow(&items, &capacity, capacity, SIZE_MAX / 8));
    assert_ptr_equal(items, same);
    assert_int_equal(capacity, full);
    size_t huge = SIZE_MAX / 2 + 1;
    assert_false(br2_grow(&items, &huge, huge, 1));
    br2_free(items);
}

static void test_fail_at(void **state)
{
    (void)state;
    br2_mem_fail_at(3);
    void *first = br2_alloc(1);
    void *second = br2_calloc(1, 1);
    char *third = br2_strdup("x");
    char *fourth = br2_format("x");
    size_t seen = br2_mem_fail_at(0);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(third);
    assert_null(fourth);
    assert_int_equal(seen, 4);
    char *again = br2_strdup("x");
    assert_non_null(again);
    assert_int_equal(br2_mem_fail_at(0), 1);
    br2_free(first);
    br2_free(second);
    br2_free(again);
}

static void test_limit(void **state)
{
    (void)state;
    const size_t mib = 1024 * 1024;
    size_t limit;
    size_t before = br2_mem_used();
    char *kept = br2_alloc(2 * mib);
    assert_non_null(kept);
    memset(kept, 1, 2 * mib);
    size_t used = br2_mem_used();
    assert_in_range(used - before, 2 * mib, 2 * mib + 65536);
    br2_mem_limit(used + mib);
    assert_null(br2_alloc(2 * mib));
    assert_true(br2_mem_limit_hit(&limit));
    assert_int_equal(limit, used + mib);
    assert_null(br2_calloc(mib, 2));
    assert_null(br2_realloc_array(kept, 4, mib));
    char *small = br2_alloc(mib / 4);
    assert_non_null(small);
    kept = br2_realloc_array(kept, 1, mib / 2); /* less is always possible ... */
    assert_non_null(kept);
    small = br2_realloc_array(small, 2, mib); /* ... and makes room for others */
    assert_non_null(small);
    br2_mem_limit(0);
    assert_false(br2_mem_limit_hit(&limit));
    br2_free(kept);
    kept = br2_alloc(20 * mib);
    assert_non_null(kept);
    br2_free(kept);
    br2_free(small);
    assert_in_range(br2_mem_used() + 65536 - before, 0, 2 * 65536);
}

static void test_arena(void **state)
{
    (void)state;
    struct br2_arena arena = {0};
    unsigned char *blocks[100];
    size_t sizes[100];
    for (size_t i = 0; i < 100; i++) {
        sizes[i] = i * i * 37 % 20000;
        blocks[i] = br2_arena_alloc(&arena, sizes[i]);
        assert_true(sizes[i] == 0 || blocks[i] != NULL);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(blocks[i][k], 0);
            blocks[i][k] = (unsigned char)i;
        }
    }
    for (size_t i = 0; i < 100; i++) {
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(blocks[i][k], (unsigned char)i);
        }
    }
    br2_arena_done(&arena);
    assert_null(arena.blocks);
}

static void test_large_arena_blocks(void **state)
{
    (void)state;
    struct br2_arena arena = {0};
    unsigned char *large = br2_arena_alloc(&arena, 1000000);
    unsigned char *small = br2_arena_alloc(&arena, 1);
    assert_non_null(large);
    assert_non_null(small);
    large[999999] = 1;
    small[0] = 2;
    assert_int_equal(large[999999], 1);
    assert_null(br2_arena_alloc(&arena, SIZE_MAX));
    assert_null(br2_arena_alloc(&arena, SIZE_MAX - 64));
    assert_null(br2_arena_strndup(&arena, "", SIZE_MAX));
    assert_string_equal(br2_arena_strndup(&arena, "abc", 2), "ab");
    br2_arena_done(&arena);
}

static void test_arena_without_memory(void **state)
{
    (void)state;
    struct br2_arena arena = {0};
    br2_mem_fail_at(1);
    void *block = br2_arena_alloc(&arena, 8);
    char *text = br2_arena_strndup(&arena, "x", 1);
    br2_mem_fail_at(0);
    assert_null(block);
    assert_null(text);
    assert_non_null(br2_arena_alloc(&arena, 8));
    br2_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_fail_at),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_large_arena_blocks),
        cmocka_unit_test(test_arena_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
