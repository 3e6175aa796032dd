/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* streams.c: buffers put together, and who ran where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "trace/streams.h"

static const uint8_t bytes[] = "abcdefghijklmnopqrstuvwxyz";

static void add(struct br2_trace_streams *streams, struct br2_trace_event event)
{
    assert_int_equal(br2_trace_streams_add(streams, &event, NULL), 0);
}

/* `size` letters from the one at `offset` on. */
static void add_bytes(struct br2_trace_streams *streams, int32_t cpu, uint64_t offset,
                      uint64_t size)
{
    add(streams, (struct br2_trace_event){.kind = BR2_TRACE_BYTES,
                                          .cpu = cpu,
                                          .tid = -1,
                                          .index = (uint32_t)cpu,
                                          .offset = offset,
                                          .size = size,
                                          .bytes = bytes + offset});
}

static void expect_piece(const struct br2_trace_piece *piece, uint64_t offset, const char *text)
{
    assert_int_equal(piece->offset, offset);
    assert_int_equal(piece->size, strlen(text));
    assert_memory_equal(piece->bytes, text, strlen(text));
}

/* Parts come in any order; what follows is joined, what overlaps counts once, a gap divides. */
static void test_parts(void **state)
{
    (void)state;
    struct br2_trace_streams streams = {0};
    add_bytes(&streams, 1, 20, 3);
    add_bytes(&streams, 0, 4, 4);
    add_bytes(&streams, 0, 0, 4);
    add_bytes(&streams, 0, 6, 6);
    add_bytes(&streams, 0, 5, 2);
    add_bytes(&streams, 0, 13, 2);
    assert_int_equal(br2_trace_streams_finish(&streams, NULL, NULL), 0);
    assert_int_equal(streams.count, 2);
    assert_int_equal(streams.bytes, 17);
    assert_int_equal(streams.gaps, 1);
    const struct br2_trace_stream *first = &streams.streams[0];
    assert_int_equal(first->cpu, 0);
    assert_int_equal(first->piece_count, 2);
    expect_piece(&first->pieces[0], 0, "abcdefghijkl");
    expect_piece(&first->pieces[1], 13, "no");
    assert_int_equal(streams.streams[1].cpu, 1);
    assert_int_equal(streams.streams[1].piece_count, 1);
    expect_piece(&streams.streams[1].pieces[0], 20, "uvw");
    assert_ptr_equal(streams.streams[1].pieces[0].bytes, bytes + 20); /* in place */
    br2_trace_streams_done(&streams);
}

/* An end that no number holds is no part. */
static void test_wrapping(void **state)
{
    (void)state;
    struct br2_trace_streams streams = {0};
    add_bytes(&streams, 0, 0, 4);
    add(&streams, (struct br2_trace_event){.kind = BR2_TRACE_BYTES,
                                           .tid = -1,
                                           .offset = UINT64_MAX - 1,
                                           .size = 5,
                                           .bytes = bytes});
    assert_int_equal(br2_trace_streams_finish(&streams, NULL, NULL), 0);
    assert_int_equal(streams.count, 1);
    assert_int_equal(streams.streams[0].piece_count, 1);
    expect_piece(&streams.streams[0].pieces[0], 0, "abcd");
    br2_trace_streams_done(&streams);
}

/* The kernel's word on a thread's buffer says of which process it is, and until when it goes. */
static void test_threads(void **state)
{
    (void)state;
    struct br2_trace_streams streams = {0};
    for (int32_t tid = 8; tid >= 7; tid--) {
        add(&streams,
            (struct br2_trace_event){
                .kind = BR2_TRACE_BYTES, .cpu = -1, .tid = tid, .size = 2, .bytes = bytes});
        add(&streams, (struct br2_trace_event){
                          .kind = BR2_TRACE_WINDOW, .cpu = 3, .pid = 7, .tid = tid, .time = 50});
    }
    add(&streams, (struct br2_trace_event){
                      .kind = BR2_TRACE_WINDOW, .cpu = 3, .pid = 7, .tid = 8, .time = 90});
    assert_int_equal(br2_trace_streams_finish(&streams, NULL, NULL), 0);
    assert_int_equal(streams.count, 2);
    assert_int_equal(streams.streams[0].tid, 7);
    assert_int_equal(streams.streams[0].pid, 7);
    assert_int_equal(streams.streams[0].last, 50);
    assert_int_equal(streams.streams[1].tid, 8);
    assert_int_equal(streams.streams[1].last, 90);
    br2_trace_streams_done(&streams);
}

static void add_switch(struct br2_trace_streams *streams, int32_t cpu, int32_t tid, br2_time time,
                       bool out)
{
    add(streams,
        (struct br2_trace_event){
            .kind = BR2_TRACE_SWITCH, .cpu = cpu, .pid = 7, .tid = tid, .time = time, .out = out});
}

static int32_t thread_at(const struct br2_trace_streams *streams, int32_t cpu, br2_time time)
{
    int32_t pid = 0;
    int32_t tid = 0;
    return br2_trace_thread_at(streams, cpu, time, &pid, &tid) ? tid : -1;
}

static void test_switches(void **state)
{
    (void)state;
    struct br2_trace_streams streams = {0};
    add(&streams, (struct br2_trace_event){.kind = BR2_TRACE_START, .pid = 7, .tid = 7});
    assert_int_equal(br2_trace_streams_finish(&streams, NULL, NULL), 0);
    assert_int_equal(thread_at(&streams, 0, 5), 7); /* nobody else is traced */
    add_switch(&streams, 1, 9, 30, false);
    add_switch(&streams, 0, 8, 20, false);
    add_switch(&streams, 0, 7, 20, true); /* at the same time the later word counts */
    add_switch(&streams, 0, 7, 10, false);
    assert_int_equal(br2_trace_streams_finish(&streams, NULL, NULL), 0);
    assert_int_equal(thread_at(&streams, 0, 9), -1);
    assert_int_equal(thread_at(&streams, 0, 10), 7);
    assert_int_equal(thread_at(&streams, 0, 19), 7);
    assert_int_equal(thread_at(&streams, 0, 20), -1);
    assert_int_equal(thread_at(&streams, 1, 30), 9);
    assert_int_equal(thread_at(&streams, 2, 99), -1);
    br2_trace_streams_done(&streams);
}

static void test_no_memory(void **state)
{
    (void)state;
    int rc = BR2PGO_NO_MEMORY;
    size_t nth;
    for (nth = 1; rc == BR2PGO_NO_MEMORY && nth < 100; nth++) {
        struct br2_trace_streams streams = {0};
        const struct br2_trace_event event = {.kind = BR2_TRACE_BYTES, .size = 3, .bytes = bytes};
        br2_mem_fail_at(nth);
        rc = br2_trace_streams_add(&streams, &event, NULL);
        rc = rc != 0 ? rc : br2_trace_streams_finish(&streams, NULL, NULL);
        br2_mem_fail_at(0);
        br2_trace_streams_done(&streams);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_switches),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
