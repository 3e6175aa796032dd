/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dominators of made graphs, held against their definition: what cannot be reached without a block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "flow/block_ways.h"

#define MAX 12

struct graph {
    uint32_t count;
    bool ran[MAX];
    bool way[MAX][MAX];
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Ways as a finder would leave them. */
static void fill(const struct graph *g, struct br2_block_ways *ways, uint32_t *room)
{
    uint32_t *at = room;
    *ways = (struct br2_block_ways){.count = g->count};
    ways->first_next = at;
    at += g->count + 1;
    ways->first_before = at;
    at += g->count + 2;
    ways->next = at;
    ways->before = at + MAX * MAX;
    uint32_t nexts = 0;
    uint32_t befores = 0;
    ways->first_next[0] = 0;
    ways->first_before[0] = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint32_t k = 0; k < g->count; k++) {
            if (g->way[i][k]) {
                ways->next[nexts++] = k;
            }
            if (g->way[k][i]) {
                ways->before[befores++] = k;
            }
        }
        ways->first_next[i + 1] = nexts;
        ways->first_before[i + 1] = befores;
    }
}

static void walk(const struct graph *g, uint32_t block, uint32_t without, bool *reached)
{
    if (block == without || reached[block]) {
        return;
    }
    reached[block] = true;
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->way[block][i]) {
            walk(g, i, without, reached);
        }
    }
}

/* What is reached without a block, from where ways begin. */
static void reach(const struct graph *g, uint32_t without, bool *reached)
{
    bool all[MAX] = {false};
    bool begins[MAX] = {false};
    begins[0] = true;
    walk(g, 0, MAX, all);
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t i = 1; i < g->count; i++) {
            bool led_to = false;
            for (uint32_t k = 0; k < g->count; k++) {
                led_to = led_to || g->way[k][i];
            }
            if (g->ran[i] && !all[i] && (turn == 1 || !led_to)) {
                begins[i] = true;
                walk(g, i, MAX, all);
            }
        }
    }
    memset(reached, 0, MAX * sizeof *reached);
    for (uint32_t i = 0; i < g->count; i++) {
        if (begins[i]) {
            walk(g, i, without, reached);
        }
    }
}

static void check(const struct graph *g)
{
    uint32_t room[3 * MAX + 2 * MAX * MAX];
    struct br2_block_ways ways;
    struct br2_dominators dominators;
    bool all[MAX];
    fill(g, &ways, room);
    reach(g, MAX, all);
    assert_int_equal(br2_dominators_find(&ways, g->ran, &dominators, NULL), 0);
    for (uint32_t by = 0; by < g->count; by++) {
        bool reached[MAX];
        reach(g, by, reached);
        for (uint32_t block = 0; block < g->count; block++) {
            bool wanted = all[block] && all[by] && !reached[block];
            assert_int_equal(br2_dominates(&dominators, by, block), wanted);
        }
    }
    br2_dominators_done(&dominators);
}

static void test_any(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int turn = 0; turn < 4000; turn++) {
        struct graph g = {.count = 1 + next_random(&random) % MAX};
        uint32_t ways = next_random(&random) % (3 * g.count);
        for (uint32_t i = 0; i < ways; i++) {
            g.way[next_random(&random) % g.count][next_random(&random) % g.count] = true;
        }
        for (uint32_t i = 0; i < g.count; i++) {
            g.ran[i] = next_random(&random) % 4 != 0;
        }
        check(&g);
    }
}

/* What is jumped to at its test: 0 -> 2, 1 -> 2, 2 -> 1 and 3; 4 is padding that goes on to 1. */
static void test_tested_first(void **state)
{
    (void)state;
    struct graph g = {.count = 5, .ran = {true, true, true, true, false}};
    uint32_t room[3 * MAX + 2 * MAX * MAX];
    struct br2_block_ways ways;
    struct br2_dominators dominators;
    g.way[0][2] = g.way[1][2] = g.way[2][1] = g.way[2][3] = g.way[4][1] = true;
    check(&g);
    fill(&g, &ways, room);
    assert_int_equal(br2_dominators_find(&ways, g.ran, &dominators, NULL), 0);
    assert_true(br2_dominates(&dominators, 2, 1));
    assert_false(br2_dominates(&dominators, 1, 2));
    assert_false(br2_dominates(&dominators, 4, 4));
    br2_dominators_done(&dominators);
    g.ran[4] = true; /* then it is a way in */
    fill(&g, &ways, room);
    assert_int_equal(br2_dominators_find(&ways, g.ran, &dominators, NULL), 0);
    assert_false(br2_dominates(&dominators, 2, 1));
    br2_dominators_done(&dominators);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_tested_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
