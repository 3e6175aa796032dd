/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stream.c, tasks.c, merge.c, perf_writer.c: what threads hand over, in whatever order, becomes one
 * file that depends on the programs only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/perf_writer.h"

#define OUTPUT "-"

static void put_record(struct br2_buf *buf, uint32_t type, uint64_t time, const void *body,
                       size_t size)
{
    struct br2_stream_head head = {
        .type = type, .size = (uint32_t)(sizeof head + size), .time = time};
    br2_buf_put(buf, &head, sizeof head);
    br2_buf_put(buf, body, size);
}

static void put_start(struct br2_buf *buf, uint64_t time, uint64_t parent, uint64_t ordinal)
{
    struct br2_stream_start start = {.parent = parent, .ordinal = ordinal};
    put_record(buf, BR2_STREAM_START, time, &start, sizeof start);
}

static void put_sample(struct br2_buf *buf, uint64_t time, uint64_t ip)
{
    const uint64_t body[4] = {ip, ip + 1, ip + 2, 1}; /* and one record */
    put_record(buf, BR2_STREAM_SAMPLE, time, body, sizeof body);
}

static void put_mapping(struct br2_buf *buf, uint64_t time, uint64_t start)
{
    struct {
        struct br2_stream_mapping mapping;
        char path[8];
    } body = {{start, 0x1000, 0}, "/no/lib"};
    put_record(buf, BR2_STREAM_MAPPING, time, &body, sizeof body);
}

static int hand_over(struct br2_streams *streams, uint64_t run, uint64_t serial, uint64_t sent,
                     struct br2_buf *buf)
{
    struct br2_stream_part part = {
        .run = run, .serial = serial, .sent = sent, .bytes = buf->bytes, .size = buf->size};
    int rc = br2_streams_append(streams, &part, NULL);
    br2_buf_done(buf);
    *buf = (struct br2_buf){0};
    return rc;
}

static uint64_t add_run(struct br2_streams *streams, struct br2_area_header header)
{
    uint64_t number = 0;
    memcpy(header.name, "app", 4);
    assert_int_equal(br2_streams_add_run(streams, &header, &number, NULL), 0);
    return number;
}

/* A process with a thread, which it starts second, and a process, which it starts first; that runs
 * another program. `swapped`: the thread's name within the process, and who comes first, differ. */
static void fill(struct br2_streams *streams, bool swapped)
{
    struct br2_buf buf = {0};
    uint64_t thread = swapped ? 7 : 2;
    assert_int_equal(br2_streams_open(streams, OUTPUT, NULL), 0);
    uint64_t first = add_run(streams, (struct br2_area_header){.start = 1});
    put_start(&buf, 1, 0, 0);
    put_sample(&buf, 50, 0x1000);
    assert_int_equal(hand_over(streams, first, 1, 0, &buf), 0);
    if (swapped) {
        put_start(&buf, 40, 1, 1);
        put_sample(&buf, 50, 0x2000);
        assert_int_equal(hand_over(streams, first, thread, 0, &buf), 0);
    }
    uint64_t child = add_run(
        streams, (struct br2_area_header){
                     .start = 30, .origin = BR2_ORIGIN_FORK, .parent = first, .parent_thread = 1});
    put_start(&buf, 30, 0, 0);
    assert_int_equal(hand_over(streams, child, 1, 0, &buf), 0);
    uint64_t next = add_run(
        streams, (struct br2_area_header){
                     .start = 35, .origin = BR2_ORIGIN_EXEC, .parent = child, .parent_thread = 1});
    put_start(&buf, 35, 0, 0);
    put_sample(&buf, 60, 0x3000);
    assert_int_equal(hand_over(streams, next, 1, 0, &buf), 0);
    assert_int_equal(br2_streams_end(streams, next, 1, 70, NULL), 0);
    if (!swapped) {
        put_start(&buf, 40, 1, 1);
        put_sample(&buf, 50, 0x2000);
        assert_int_equal(hand_over(streams, first, thread, 0, &buf), 0);
    }
    put_mapping(&buf, 45, 0x9000);
    put_mapping(&buf, 1, 0x8000);
    assert_int_equal(hand_over(streams, first, BR2_STREAM_OF_PROCESS, 0, &buf), 0);
}

static char *write_file(struct br2_streams *streams, size_t *ret_size)
{
    static char program[] = "./app";
    static char *const command[] = {program, NULL};
    struct br2_perf_file file = {.command = command, .machine = "x86_64", .period = 100};
    char name[] = "/tmp/br2pgo-test-XXXXXX";
    int fd = mkstemp(name);
    struct br2_output out;
    struct br2_file written;
    assert_int_equal(br2_streams_map(streams, NULL), 0);
    assert_int_equal(br2_tasks_number(streams, NULL), 0);
    assert_int_equal(br2_output_open(&out, name, NULL), 0);
    assert_int_equal(br2_perf_write(&file, streams, &out, NULL), 0);
    assert_int_equal(br2_output_commit(&out, NULL), 0);
    assert_int_equal(br2_file_open(&written, name, NULL, NULL), 0);
    char *bytes = malloc(written.size);
    assert_non_null(bytes);
    memcpy(bytes, written.bytes, written.size);
    *ret_size = written.size;
    br2_file_close(&written);
    close(fd);
    unlink(name);
    return bytes;
}

static uint32_t u32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Each record as a letter, the thread's number less 1000, and what matters. */
static void describe(const char *bytes, char *ret, size_t room)
{
    uint64_t at;
    uint64_t size;
    size_t used = 0;
    memcpy(&at, bytes + 40, sizeof at);
    memcpy(&size, bytes + 48, sizeof size);
    for (uint64_t end = at + size; at < end;) {
        const char *record = bytes + at;
        uint16_t length;
        memcpy(&length, record + 6, sizeof length);
        int number = snprintf(ret + used, room - used, "%s", used != 0 ? " " : "");
        switch (u32(record)) {
        case PERF_RECORD_COMM:
            number +=
                snprintf(ret + used + number, room - used, "exec:%u", u32(record + 12) - 1000);
            break;
        case PERF_RECORD_FORK:
            number +=
                snprintf(ret + used + number, room - used, "fork:%u/%u<%u", u32(record + 8) - 1000,
                         u32(record + 16) - 1000, u32(record + 20) - 1000);
            break;
        case PERF_RECORD_EXIT:
            number +=
                snprintf(ret + used + number, room - used, "exit:%u", u32(record + 16) - 1000);
            break;
        case PERF_RECORD_MMAP2:
            number += snprintf(ret + used + number, room - used, "map:%x", u32(record + 16));
            break;
        default:
            number += snprintf(ret + used + number, room - used, "sample:%u@%x",
                               u32(record + 20) - 1000, u32(record + 8));
            break;
        }
        used += (size_t)number;
        at += length;
    }
}

static void test_order(void **state)
{
    struct br2_streams streams;
    char text[512];
    size_t size;
    (void)state;
    fill(&streams, false);
    assert_int_equal(streams.samples, 3);
    assert_int_equal(streams.branches, 3);
    char *bytes = write_file(&streams, &size);
    describe(bytes, text, sizeof text);
    assert_string_equal(text, "exec:0 map:8000 fork:1/1<0 exec:1 fork:0/2<0 map:9000 "
                              "sample:0@1000 sample:2@2000 sample:1@3000 exit:1");
    free(bytes);
    br2_streams_done(&streams);
}

static void test_same_bytes(void **state)
{
    struct br2_streams streams;
    size_t sizes[2];
    char *bytes[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        fill(&streams, i != 0);
        bytes[i] = write_file(&streams, &sizes[i]);
        br2_streams_done(&streams);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* What a program left in memory may have been sent before. */
static void test_sent_before(void **state)
{
    struct br2_streams streams;
    struct br2_buf buf = {0};
    (void)state;
    assert_int_equal(br2_streams_open(&streams, OUTPUT, NULL), 0);
    uint64_t run = add_run(&streams, (struct br2_area_header){0});
    for (uint64_t sent = 0; sent < 2; sent++) {
        put_sample(&buf, 1, 1);
        assert_int_equal(hand_over(&streams, run, 1, sent, &buf), 0);
    }
    put_sample(&buf, 1, 1);
    assert_int_equal(hand_over(&streams, run, 1, 1, &buf), 0);
    assert_int_equal(streams.samples, 2);
    br2_streams_done(&streams);
}

static void test_damage(void **state)
{
    struct br2_streams streams;
    struct br2_buf buf = {0};
    static const uint64_t zeros[4];
    (void)state;
    assert_int_equal(br2_streams_open(&streams, OUTPUT, NULL), 0);
    uint64_t run = add_run(&streams, (struct br2_area_header){0});
    put_sample(&buf, 1, 1);
    buf.size -= 8; /* cut off */
    assert_int_equal(hand_over(&streams, run, 1, 0, &buf), BR2PGO_CORRUPT);
    put_record(&buf, 99, 1, zeros, 8);
    assert_int_equal(hand_over(&streams, run, 1, 0, &buf), BR2PGO_CORRUPT);
    put_record(&buf, BR2_STREAM_SAMPLE, 1, zeros, 16); /* not a whole branch record */
    assert_int_equal(hand_over(&streams, run, 1, 0, &buf), BR2PGO_CORRUPT);
    put_sample(&buf, 1, 1);
    assert_int_equal(hand_over(&streams, run + 1, 1, 0, &buf), BR2PGO_CORRUPT);
    br2_streams_done(&streams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_sent_before),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
