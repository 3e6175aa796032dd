/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hot.c and threads.c: what blocks that follow each other say of the branches between them. No
 * recorder listens: what is handed over is looked at in the area. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "record/plugin/plugin.h"

enum {
    LOOP = 1, /* 0x1000, ends at 0x1010 in a branch back to it */
    BEHIND,   /* 0x1012: what comes then; a call of 0x2000 */
    CALLED,   /* 0x2000, a return */
    AFTER,    /* 0x1020, where the call returns to; an indirect jump */
    LEFT,     /* 0x3000, a jump to AFTER */
    RIGHT,    /* 0x4000, a jump to AFTER */
    COPY,     /* 0x5000, a repeated string instruction */
    NEXT,     /* 0x5002 */
    BLOCKS,
};

static const struct br2_block blocks[BLOCKS] = {
    [LOOP] = {.start = 0x1000,
              .last = 0x1010,
              .next = 0x1012,
              .target = 0x1000,
              .insns = 5,
              .number = LOOP,
              .kind = BR2_BLOCK_COND},
    [BEHIND] = {.start = 0x1012,
                .last = 0x101b,
                .next = 0x1020,
                .target = 0x2000,
                .insns = 2,
                .number = BEHIND,
                .kind = BR2_BLOCK_CALL},
    [CALLED] = {.start = 0x2000,
                .last = 0x2004,
                .next = 0x2005,
                .insns = 2,
                .number = CALLED,
                .kind = BR2_BLOCK_RETURN},
    [AFTER] = {.start = 0x1020,
               .last = 0x1026,
               .next = 0x1028,
               .insns = 3,
               .number = AFTER,
               .kind = BR2_BLOCK_INDIRECT_JUMP},
    [LEFT] = {.start = 0x3000,
              .last = 0x3000,
              .next = 0x3005,
              .target = 0x1020,
              .insns = 1,
              .number = LEFT,
              .kind = BR2_BLOCK_JUMP},
    [RIGHT] = {.start = 0x4000,
               .last = 0x4000,
               .next = 0x4005,
               .target = 0x1020,
               .insns = 1,
               .number = RIGHT,
               .kind = BR2_BLOCK_JUMP},
    [COPY] = {.start = 0x5000,
              .last = 0x5000,
              .next = 0x5002,
              .insns = 1,
              .number = COPY,
              .kind = BR2_BLOCK_REPEAT},
    [NEXT] = {.start = 0x5002,
              .last = 0x5002,
              .next = 0x5003,
              .insns = 1,
              .number = NEXT,
              .kind = BR2_BLOCK_PLAIN},
};

static int set_up(void **state)
{
    struct br2_area *area = br2_area_map(-1, PROT_READ | PROT_WRITE);
    assert_non_null(area);
    assert_int_equal((uintptr_t)area % _Alignof(struct br2_area), 0);
    area->header.block_count = BLOCKS;
    memcpy(area->blocks, blocks, sizeof blocks);
    memset(&br2_plugin, 0, sizeof br2_plugin);
    br2_plugin.area = area;
    br2_plugin.period = 1000000;
    br2_plugin.depth = 8;
    br2_plugin.exact = true;
    br2_plugin.threads[0] = br2_thread_first(1, 100);
    *state = area;
    return 0;
}

static int tear_down(void **state)
{
    return munmap(*state, sizeof(struct br2_area));
}

static void step(int block)
{
    br2_at_block(0, &br2_plugin.area->blocks[block]);
}

static const struct br2_block_counts *counts(int block)
{
    return &br2_plugin.threads[0]->counts[block];
}

/* A two-bit counter that begins at 0 mispredicts the first two times taken, then the way out. */
static void test_conditional(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        step(LOOP);
    }
    step(BEHIND);
    assert_int_equal(counts(LOOP)->taken, 9);
    assert_int_equal(counts(LOOP)->missed, 2);
    assert_int_equal(counts(LOOP)->passed, 1);
    assert_int_equal(counts(LOOP)->state, 2);
    assert_int_equal(br2_plugin.threads[0]->missed, 3);
    assert_int_equal(br2_plugin.threads[0]->insns, 52);
    assert_int_equal(br2_thread_taken(br2_plugin.threads[0]), 9);
}

/* A return to behind the call is predicted, also the first time; one to elsewhere is not. */
static void test_return(void **state)
{
    (void)state;
    step(BEHIND);
    step(CALLED);
    step(AFTER);
    assert_int_equal(counts(BEHIND)->taken, 1);
    assert_int_equal(counts(CALLED)->taken, 1);
    assert_int_equal(counts(CALLED)->missed, 0);
    assert_int_equal(counts(CALLED)->state, 0x1020);
    step(LEFT);
    step(AFTER);
    br2_plugin.threads[0]->before = &br2_plugin.area->blocks[CALLED];
    step(LEFT);
    assert_int_equal(counts(CALLED)->taken, 1);
    assert_int_equal(counts(CALLED)->missed, 1);
    assert_int_equal(counts(CALLED)->state, 0x3000);
}

static const struct br2_indirect_edge *find_edge(uint32_t block, uint64_t to)
{
    const struct br2_edge_slots *edges = br2_plugin.threads[0]->edges;
    for (uint32_t i = 0; i < edges->capacity; i++) {
        if (edges->slots[i].block == block && edges->slots[i].to == to) {
            return &edges->slots[i];
        }
    }
    return NULL;
}

/* The last target is predicted; the counts of each are kept. */
static void test_indirect(void **state)
{
    static const int order[] = {LEFT, LEFT, RIGHT, LEFT, LEFT, LEFT};
    (void)state;
    step(AFTER);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        step(order[i]);
        step(AFTER);
    }
    assert_int_equal(counts(AFTER)->state, 0x3000);
    assert_int_equal(counts(AFTER)->taken, 3);
    assert_int_equal(counts(AFTER)->missed, 1);
    assert_non_null(find_edge(AFTER, 0x3000));
    assert_int_equal(find_edge(AFTER, 0x3000)->taken, 2);
    assert_int_equal(find_edge(AFTER, 0x3000)->missed, 1);
    assert_int_equal(find_edge(AFTER, 0x4000)->taken, 1);
    assert_int_equal(br2_plugin.threads[0]->missed, 3);
}

/* Begun again, a repeated instruction is one, and no branch. */
static void test_repeat(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        step(COPY);
    }
    step(NEXT);
    assert_int_equal(br2_thread_taken(br2_plugin.threads[0]), 0);
    assert_int_equal(br2_plugin.threads[0]->insns, 2);
}

/* What a signal cuts off goes on where its handler returns to. */
static void test_signal(void **state)
{
    struct br2_thread *thread = br2_plugin.threads[0];
    (void)state;
    step(LOOP);
    br2_at_handler(0, &br2_plugin.area->blocks[CALLED]);
    assert_int_equal(br2_thread_taken(thread), 0);
    assert_int_equal(thread->interrupted_count, 1);
    assert_ptr_equal(thread->interrupted[0], &br2_plugin.area->blocks[LOOP]);
    /* A block that began again in its middle has not reached its branch. */
    thread->before = &br2_plugin.area->blocks[AFTER];
    struct br2_block middle = {.start = 0x1024, .kind = BR2_BLOCK_PLAIN};
    br2_at_block(0, &middle);
    assert_int_equal(br2_thread_taken(thread), 0);
}

/* Each sample holds the newest records first, at most as many as were made. */
static void test_samples(void **state)
{
    struct br2_thread *thread = br2_plugin.threads[0];
    struct br2_stream_head head;
    struct br2_branch_record records[8];
    uint64_t ip;
    (void)state;
    size_t at = thread->stream->size;
    thread->until = 3; /* the third from now on */
    thread->scheduled = 3;
    step(BEHIND);
    step(CALLED);
    step(AFTER);
    step(LEFT);
    memcpy(&head, thread->stream->bytes + at, sizeof head);
    memcpy(&ip, thread->stream->bytes + at + sizeof head, sizeof ip);
    assert_int_equal(head.type, BR2_STREAM_SAMPLE);
    assert_int_equal(head.size, sizeof head + sizeof ip + 3 * sizeof *records);
    assert_int_equal(head.time, 100 + 8);
    assert_int_equal(ip, 0x3000);
    memcpy(records, thread->stream->bytes + at + sizeof head + sizeof ip, 3 * sizeof *records);
    assert_int_equal(records[0].from, 0x1026);
    assert_int_equal(records[0].to, 0x3000);
    assert_int_equal(records[0].flags, 1);
    assert_int_equal(records[1].from, 0x2004);
    assert_int_equal(records[1].flags, 2);
    assert_int_equal(records[2].from, 0x101b);
    assert_int_equal(records[2].to, 0x2000);
    assert_int_equal(thread->stream->size, at + head.size);
    assert_in_range(thread->until, 875000, 1125000);
}

/* What a thread counted outlives it; its place is clean for the next. */
static void test_end(void **state)
{
    struct br2_area *area = *state;
    struct br2_thread *thread = br2_thread_new(br2_plugin.threads[0]);
    assert_int_equal(thread->serial, 2);
    br2_plugin.threads[1] = thread;
    for (int i = 0; i < 4; i++) {
        br2_at_block(1, &area->blocks[LOOP]);
    }
    br2_at_block(1, &area->blocks[AFTER]); /* no outcome of the loop's branch */
    br2_at_block(1, &area->blocks[RIGHT]);
    br2_thread_end(thread);
    assert_int_equal(area->counts[BR2_AREA_THREADS][LOOP].taken, 3);
    assert_int_equal(area->edges[BR2_AREA_THREADS].count, 1);
    assert_int_equal(area->header.ended_insns, 24);
    assert_int_equal(area->header.ended_taken, 4);
    assert_int_equal(thread->serial, 0);
    assert_ptr_equal(br2_thread_new(br2_plugin.threads[0]), thread);
    assert_int_equal(thread->counts[LOOP].taken, 0);
    assert_int_equal(thread->counts[AFTER].state, 0);
    assert_int_equal(thread->edges->count, 0);
    assert_int_equal(thread->stream->sent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_conditional, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_return, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_indirect, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_repeat, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_signal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_samples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
