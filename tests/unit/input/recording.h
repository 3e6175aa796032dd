/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings for tests: made by tests/tools/mkperf from a description, read, and told as text. */
#ifndef BR2_TESTS_UNIT_INPUT_RECORDING_H
#define BR2_TESTS_UNIT_INPUT_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "input/input.h"

struct recording {
    char path[64];
    struct br2_input *input;
    const struct br2_recording_info *info;
    struct br2_buf text; /* of the last reading */
};

/* A fresh file with these bytes. */
static inline void write_file(char path[64], const void *bytes, size_t size)
{
    memcpy(path, "/tmp/br2pgo-test-XXXXXX", sizeof "/tmp/br2pgo-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* The file that mkperf makes of `description`. */
static inline void make_file(char path[64], const char *description)
{
    const char *source = getenv("SOURCE_DIR");
    char command[1024];
    write_file(path, "", 0);
    snprintf(command, sizeof command, "python3 '%s/tests/tools/mkperf' -o '%s'",
             source ? source : ".", path);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(description, pipe);
    assert_int_equal(pclose(pipe), 0);
}

static inline void open_recording(struct recording *r, const char *description)
{
    struct br2pgo_error err = {0};
    memset(r, 0, sizeof *r);
    make_file(r->path, description);
    int rc = br2_input_open(r->path, &r->input, &err);
    unlink(r->path);
    if (rc)
        fail_msg("%s", err.message);
    r->info = br2_input_info(r->input);
}

static inline void close_recording(struct recording *r)
{
    br2_input_close(r->input);
    br2_buf_done(&r->text);
}

static inline int tell_task(void *user, const struct br2_task_event *e, struct br2pgo_error *err)
{
    (void)err;
    struct br2_buf *text = user;
    switch (e->kind) {
    case BR2_TASK_MMAP:
        br2_buf_printf(text, "mmap %d t%" PRIu64 "%s%s %" PRIx64 "+%" PRIx64 "@%" PRIx64, e->pid,
                       e->time, e->kernel ? " kernel" : "", e->data ? " data" : "", e->address,
                       e->length, e->file_offset);
        br2_buf_printf(text, " %u:%u/%" PRIu64 "/%" PRIu64 " ", e->device_major, e->device_minor,
                       e->inode, e->inode_generation);
        for (unsigned i = 0; i < e->build_id.size; i++)
            br2_buf_printf(text, "%02x", e->build_id.bytes[i]);
        br2_buf_printf(text, " %s\n", e->name);
        break;
    case BR2_TASK_COMM:
        br2_buf_printf(text, "comm %d t%" PRIu64 "%s %s\n", e->pid, e->time, e->exec ? " exec" : "",
                       e->name);
        break;
    case BR2_TASK_FORK:
        br2_buf_printf(text, "fork %d t%" PRIu64 " of %d\n", e->pid, e->time, e->parent);
        break;
    case BR2_TASK_EXIT:
        br2_buf_printf(text, "exit %d t%" PRIu64 "\n", e->pid, e->time);
        break;
    }
    return 0;
}

static inline int tell_sample(void *user, const struct br2_sample *s, struct br2pgo_error *err)
{
    (void)err;
    struct br2_buf *text = user;
    br2_buf_printf(text, "%d/%d t%" PRIu64 " %" PRIx64 " x%" PRIu64 ":", s->pid, s->tid, s->time,
                   s->ip, s->period);
    for (size_t i = 0; i < s->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(s, i, &record);
        br2_buf_printf(text, " %" PRIx64 ">%" PRIx64 ":%" PRIx64, record.from, record.to,
                       record.flags);
    }
    br2_buf_str(text, "\n");
    return 0;
}

/* The first pass, told as text. */
static inline const char *tasks_of(struct recording *r)
{
    struct br2pgo_error err = {0};
    br2_buf_done(&r->text);
    r->text = (struct br2_buf){0};
    int rc = br2_input_read_tasks(r->input, tell_task, &r->text, &err);
    if (rc)
        fail_msg("%s", err.message);
    br2_buf_u8(&r->text, 0);
    return (const char *)r->text.bytes;
}

/* The second pass over some events, a bit for each; the first has been made. */
static inline const char *samples_of_set(struct recording *r, uint64_t events)
{
    struct br2pgo_error err = {0};
    bool wanted[64];
    assert_true(r->info->event_count <= 64);
    for (unsigned i = 0; i < 64; i++)
        wanted[i] = events >> i & 1;
    br2_buf_done(&r->text);
    r->text = (struct br2_buf){0};
    int rc = br2_input_read_samples(r->input, wanted, tell_sample, &r->text, &err);
    if (rc)
        fail_msg("%s", err.message);
    br2_buf_u8(&r->text, 0);
    return (const char *)r->text.bytes;
}

/* The second pass over one event. */
static inline const char *samples_of(struct recording *r, size_t event)
{
    return samples_of_set(r, UINT64_C(1) << event);
}

#endif
