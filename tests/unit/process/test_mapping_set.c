/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mapping_set.c: against a plain array of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "process/mapping_set.h"

#define PAGES 4096u

/* What is in each page: the number of the mapping, from 1, and its offset there. */
struct model {
    uint32_t number[PAGES];
    uint64_t offset[PAGES];
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void put(struct br2_mapping_set *set, struct model *model, uint32_t first, uint32_t pages,
                uint32_t number)
{
    struct br2_mapping mapping = {first, first + pages, (uint64_t)number << 32, number};
    size_t before = set->count;
    assert_true(br2_mapping_set_put(set, &mapping));
    assert_true(set->count <= before + 2);
    for (uint32_t i = 0; i < pages; i++) {
        model->number[first + i] = number;
        model->offset[first + i] = ((uint64_t)number << 32) + i;
    }
}

static void check(const struct br2_mapping_set *set, const struct model *model)
{
    for (uint32_t page = 0; page < PAGES; page++) {
        const struct br2_mapping *found = br2_mapping_set_after(set, page);
        bool mapped = found != NULL && found->start <= page;
        assert_int_equal(mapped ? found->dso : 0, model->number[page]);
        if (mapped) {
            assert_int_equal(found->file_offset + (page - found->start), model->offset[page]);
        } else if (found != NULL) {
            assert_true(model->number[found->start] == found->dso);
            for (uint32_t hole = page; hole < found->start; hole++) {
                assert_int_equal(model->number[hole], 0);
            }
        }
    }
}

/* Sorted, disjoint, and as many as it says. */
static void check_form(const struct br2_mapping_set *set)
{
    uint64_t end = 0;
    size_t count = 0;
    for (size_t i = 0; i < set->chunk_count; i++) {
        assert_int_not_equal(set->chunks[i].count, 0);
        for (size_t k = 0; k < set->chunks[i].count; k++) {
            assert_true(set->chunks[i].items[k].start >= end);
            end = set->chunks[i].items[k].end;
            count++;
        }
    }
    assert_int_equal(set->count, count);
}

/* `most` pages at a time: small ones fill many chunks, large ones empty them. */
static void fill(uint32_t seed, uint32_t most, uint32_t puts)
{
    static struct model model;
    struct br2_mapping_set set = {0};
    struct br2_mapping_set copy = {0};
    memset(&model, 0, sizeof model);
    for (uint32_t i = 1; i <= puts; i++) {
        uint32_t pages = 1 + next_random(&seed) % most;
        put(&set, &model, next_random(&seed) % (PAGES - pages), pages, i);
        if (i % (puts / 8) == 0) {
            check(&set, &model);
            check_form(&set);
        }
    }
    assert_true(br2_mapping_set_copy(&copy, &set));
    br2_mapping_set_done(&set);
    check(&copy, &model);
    check_form(&copy);
    br2_mapping_set_done(&copy);
}

static void test_random(void **state)
{
    (void)state;
    fill(1, 1, 6000);
    fill(2, 4, 4000);
    fill(3, 64, 2000);
    fill(4, 2000, 200);
}

/* In order of addresses and against it: a chunk fills at its end and at its start. */
static void test_in_order(void **state)
{
    (void)state;
    static struct model model;
    for (unsigned down = 0; down < 2; down++) {
        struct br2_mapping_set set = {0};
        memset(&model, 0, sizeof model);
        for (uint32_t i = 0; i < 1000; i++) {
            put(&set, &model, 2 * (down ? 999 - i : i), 1, i + 1);
        }
        assert_int_equal(set.count, 1000);
        assert_true(set.chunk_count > 3);
        check(&set, &model);
        put(&set, &model, 0, PAGES - 1, 7); /* over everything */
        assert_int_equal(set.count, 1);
        assert_int_equal(set.chunk_count, 1);
        check(&set, &model);
        br2_mapping_set_done(&set);
    }
}

/* One more, at every place of a full chunk and behind it. */
static void test_split(void **state)
{
    (void)state;
    static struct model model;
    for (uint32_t at = 0; at <= 256; at++) {
        struct br2_mapping_set set = {0};
        memset(&model, 0, sizeof model);
        for (uint32_t i = 0; i < 256; i++) {
            put(&set, &model, 2 * i + 1, 1, i + 1);
        }
        assert_int_equal(set.chunk_count, 1);
        put(&set, &model, 2 * at, 1, 1000);
        assert_int_equal(set.chunk_count, 2);
        check(&set, &model);
        check_form(&set);
        br2_mapping_set_done(&set);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct br2_mapping_set set = {0};
    struct br2_mapping_set copy = {0};
    assert_null(br2_mapping_set_after(&set, 0));
    assert_true(br2_mapping_set_copy(&copy, &set));
    assert_int_equal(copy.count, 0);
    br2_mapping_set_done(&copy);
    br2_mapping_set_done(&set);
}

/* Without memory nothing is half done. */
static void test_without_memory(void **state)
{
    (void)state;
    struct br2_mapping_set set = {0};
    struct br2_mapping wide = {0, 100000, 0, 1};
    assert_true(br2_mapping_set_put(&set, &wide));
    bool failed = false;
    for (uint32_t i = 0; i < 600; i++) {
        struct br2_mapping mapping = {10 + 20 * i, 20 + 20 * i, 0, 2};
        br2_mem_fail_at(i % 2 + 1);
        bool ok = br2_mapping_set_put(&set, &mapping);
        br2_mem_fail_at(0);
        failed = failed || !ok;
        check_form(&set);
        assert_true(ok || br2_mapping_set_put(&set, &mapping));
        check_form(&set);
    }
    assert_true(failed);
    struct br2_mapping_set copy = {0};
    br2_mem_fail_at(2);
    bool copied = br2_mapping_set_copy(&copy, &set);
    br2_mem_fail_at(0);
    assert_false(copied);
    assert_null(copy.chunks);
    br2_mapping_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),         cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_split),          cmocka_unit_test(test_empty),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
