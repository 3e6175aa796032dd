/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dominators by "A Simple, Fast Dominance Algorithm" (Cooper, Harvey, Kennedy): each block's
 * nearest one is where the ways to it meet, found again and again until nothing changes. Code that
 * was made for it takes many rounds: after so many steps nothing is known.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/block_ways.h"

#define STEPS_PER_WAY 64
#define STEPS_MORE    1000000u
#define NONE          UINT32_MAX

/* Block `count` stands for what leads to all beginnings. */
struct search {
    const struct br2_block_ways *ways;
    const bool *ran;
    uint32_t *order;   /* blocks from `ordered` on, each but for loops behind what leads to it */
    uint32_t *rank;    /* per block: its place in `order`; NONE: not reached yet */
    uint32_t *nearest; /* per block: its nearest dominator; NONE: not known yet */
    uint32_t *stack;
    uint32_t *at; /* per block: the way to look at next */
    bool *begins; /* per block: ways begin here */
    uint32_t ordered;
    uint64_t steps; /* that are left */
};

static bool search_begin(struct search *s, const struct br2_block_ways *ways, const bool *ran)
{
    size_t count = (size_t)ways->count + 1;
    *s = (struct search){.ways = ways, .ran = ran};
    s->order = br2_calloc(count, sizeof *s->order);
    s->rank = br2_calloc(count, sizeof *s->rank);
    s->nearest = br2_calloc(count, sizeof *s->nearest);
    s->stack = br2_calloc(count, sizeof *s->stack);
    s->at = br2_calloc(count, sizeof *s->at);
    s->begins = br2_calloc(count, sizeof *s->begins);
    s->steps = STEPS_MORE + (uint64_t)STEPS_PER_WAY * ways->first_next[ways->count];
    return s->order != NULL && s->rank != NULL && s->nearest != NULL && s->stack != NULL &&
           s->at != NULL && s->begins != NULL;
}

static void search_done(struct search *s)
{
    br2_free(s->order);
    br2_free(s->rank);
    br2_free(s->nearest);
    br2_free(s->stack);
    br2_free(s->at);
    br2_free(s->begins);
}

/* Puts what is reached from `block` in order, last things first: `order` is filled from its end. */
static void reach(struct search *s, uint32_t block)
{
    const struct br2_block_ways *ways = s->ways;
    uint32_t depth = 1;
    s->begins[block] = true;
    s->stack[0] = block;
    s->rank[block] = 0;
    s->at[block] = ways->first_next[block];
    while (depth != 0) {
        uint32_t top = s->stack[depth - 1];
        if (s->at[top] == ways->first_next[top + 1]) {
            s->order[--s->ordered] = top;
            s->rank[top] = s->ordered;
            depth--;
            continue;
        }
        uint32_t next = ways->next[s->at[top]++];
        if (s->rank[next] == NONE) {
            s->rank[next] = 0;
            s->at[next] = ways->first_next[next];
            s->stack[depth++] = next;
        }
    }
}

static void put_in_order(struct search *s)
{
    uint32_t count = s->ways->count;
    memset(s->rank, 0xff, ((size_t)count + 1) * sizeof *s->rank);
    s->ordered = count + 1;
    if (count != 0) {
        reach(s, 0);
    }
    for (uint32_t i = 1; i < count; i++) {
        bool led_to = s->ways->first_before[i] != s->ways->first_before[i + 1];
        if (s->ran[i] && !led_to && s->rank[i] == NONE) {
            reach(s, i);
        }
    }
    for (uint32_t i = 1; i < count; i++) {
        if (s->ran[i] && s->rank[i] == NONE) { /* only what did not run, or a ring, leads to it */
            reach(s, i);
        }
    }
    s->order[--s->ordered] = count;
    s->rank[count] = s->ordered;
}

/* Where the ways up from two blocks meet. */
static uint32_t meet(struct search *s, uint32_t a, uint32_t b)
{
    while (a != b && s->steps != 0) {
        s->steps--;
        if (s->rank[a] > s->rank[b]) {
            a = s->nearest[a];
        } else {
            b = s->nearest[b];
        }
    }
    return a;
}

static uint32_t nearest_of(struct search *s, uint32_t block)
{
    uint32_t nearest = s->begins[block] ? s->ways->count : NONE;
    for (uint32_t i = s->ways->first_before[block]; i < s->ways->first_before[block + 1]; i++) {
        uint32_t before = s->ways->before[i];
        if (s->nearest[before] != NONE) {
            nearest = nearest == NONE ? before : meet(s, before, nearest);
        }
    }
    return nearest;
}

/* False: it takes too long. */
static bool find_nearest(struct search *s)
{
    uint32_t count = s->ways->count;
    memset(s->nearest, 0xff, ((size_t)count + 1) * sizeof *s->nearest);
    s->nearest[count] = count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = s->ordered + 1; i <= count; i++) {
            uint32_t block = s->order[i];
            uint32_t nearest = nearest_of(s, block);
            changed = changed || nearest != s->nearest[block];
            s->nearest[block] = nearest;
            s->steps -= s->steps != 0;
        }
        if (s->steps == 0) {
            return false;
        }
    }
    return true;
}

/* Places in the tree: children stand behind their parent, each with all below it. */
static void place(struct search *s, struct br2_dominators *ret)
{
    uint32_t count = s->ways->count;
    uint32_t *free_place = s->at;
    for (uint32_t i = s->ordered; i <= count; i++) {
        ret->size[s->order[i]] = 1;
    }
    for (uint32_t i = count; i > s->ordered; i--) {
        ret->size[s->nearest[s->order[i]]] += ret->size[s->order[i]];
    }
    ret->first[count] = 0;
    free_place[count] = 1;
    for (uint32_t i = s->ordered + 1; i <= count; i++) {
        uint32_t block = s->order[i];
        uint32_t parent = s->nearest[block];
        ret->first[block] = free_place[parent];
        free_place[parent] += ret->size[block];
        free_place[block] = ret->first[block] + 1;
    }
}

int br2_dominators_find(const struct br2_block_ways *ways, const bool *ran,
                        struct br2_dominators *ret, struct br2pgo_error *err)
{
    struct search s;
    *ret = (struct br2_dominators){
        .first = br2_calloc((size_t)ways->count + 1, sizeof *ret->first),
        .size = br2_calloc((size_t)ways->count + 1, sizeof *ret->size),
    };
    bool ok = search_begin(&s, ways, ran) && ret->first != NULL && ret->size != NULL;
    if (ok) {
        put_in_order(&s);
        if (find_nearest(&s)) {
            place(&s, ret);
        }
    }
    search_done(&s);
    return ok ? 0 : br2_fail_memory(err);
}

void br2_dominators_done(struct br2_dominators *dominators)
{
    br2_free(dominators->first);
    br2_free(dominators->size);
    *dominators = (struct br2_dominators){0};
}

bool br2_dominates(const struct br2_dominators *dominators, uint32_t by, uint32_t block)
{
    uint32_t distance = dominators->first[block] - dominators->first[by];
    return distance < dominators->size[by]; /* below 0 is far above it */
}
