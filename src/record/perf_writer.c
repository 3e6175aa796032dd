/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout is of the kernel's include/uapi/linux/perf_event.h and of perf's
 * Documentation/perf.data-file-format.txt. */
#include "record/perf_writer.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/strings.h"
#include "record/elf_note.h"
#include "record/merge.h"

/* Flags of struct perf_event_attr: inherit, exclude_kernel, exclude_hv, mmap, comm, enable_on_exec,
 * task, sample_id_all, mmap2, comm_exec. */
#define EVENT_FLAGS                                                                                \
    (1u << 1 | 1u << 5 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 18 | 1u << 23 | \
     1u << 24)

#define HEADER_SIZE 104u
#define ATTR_SIZE   ((uint64_t)PERF_ATTR_SIZE_VER5)

/* perf's own: PERF_RECORD_FINISHED_ROUND; a reader may let go of what it sorts. */
#define FINISHED_ROUND 68u
#define ROUND          4096u

/* perf's PERF_RECORD_MISC_BUILD_ID_SIZE: the build-id's size is in the record. */
#define MISC_BUILD_ID_SIZE (1u << 15)

/* Numbers of feature sections, in their order in the file. */
enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_ARCH = 6,
    FEATURE_CPU = 8,
    FEATURE_COMMAND = 11,
    FEATURE_EVENTS = 12,
    FEATURE_BRANCH_STACK = 15,
};
static const uint8_t features[] = {FEATURE_BUILD_ID, FEATURE_ARCH,   FEATURE_CPU,
                                   FEATURE_COMMAND,  FEATURE_EVENTS, FEATURE_BRANCH_STACK};
#define FEATURES (sizeof features)

#define FLUSH (256u << 10)

struct writer {
    const struct br2_perf_file *file;
    struct br2_output *out; /* NULL: only counting */
    struct br2pgo_error *err;
    struct br2_buf buf;
    uint64_t size; /* of the data so far */
    uint64_t records;
    struct br2_strings paths; /* of files that were mapped */
};

static void put_zeros(struct br2_buf *buf, size_t size)
{
    static const uint8_t zeros[64];
    while (size != 0) {
        size_t part = size < sizeof zeros ? size : sizeof zeros;
        br2_buf_put(buf, zeros, part);
        size -= part;
    }
}

/* A text with its NUL, filled up to a multiple of `align`. */
static void put_text(struct br2_buf *buf, const char *text, size_t align)
{
    size_t size = strlen(text) + 1;
    br2_buf_put(buf, text, size);
    put_zeros(buf, (align - size % align) % align);
}

static void put_head(struct br2_buf *buf, uint32_t type, uint32_t misc, size_t size)
{
    br2_buf_le32(buf, type);
    br2_buf_le32(buf, misc | (uint32_t)size << 16);
}

static void put_task(struct br2_buf *buf, const struct br2_merge_record *record)
{
    br2_buf_le32(buf, record->run->pid);
    br2_buf_le32(buf, record->stream->tid);
}

/* What sample_id_all adds to a record that is no sample: TID, TIME. */
static void put_trailer(struct br2_buf *buf, const struct br2_merge_record *record)
{
    put_task(buf, record);
    br2_buf_le64(buf, record->head.time);
}

static void put_name(struct br2_buf *buf, const struct br2_merge_record *record, const char *name,
                     bool exec)
{
    size_t text = (strlen(name) + 8) / 8 * 8;
    put_head(buf, PERF_RECORD_COMM, PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0),
             8 + 8 + text + 16);
    put_task(buf, record);
    put_text(buf, name, 8);
    put_trailer(buf, record);
}

/* FORK and EXIT: pid, ppid, tid, ptid, time. */
static void put_fork(struct br2_buf *buf, const struct br2_merge_record *record, uint32_t type)
{
    const struct br2_stream *stream = record->stream;
    put_head(buf, type, PERF_RECORD_MISC_USER, 8 + 24 + 16);
    br2_buf_le32(buf, record->run->pid);
    br2_buf_le32(buf, stream->parent_pid);
    br2_buf_le32(buf, stream->tid);
    br2_buf_le32(buf, stream->parent_tid);
    br2_buf_le64(buf, record->head.time);
    put_trailer(buf, record);
}

static void put_start(struct br2_buf *buf, const struct br2_merge_record *record)
{
    bool is_first = record->stream->start.parent == 0;
    if (is_first && record->run->origin != BR2_ORIGIN_FORK) {
        put_name(buf, record, record->run->name, true);
    } else {
        put_fork(buf, record, PERF_RECORD_FORK);
    }
}

static void put_mapping(struct writer *w, const struct br2_merge_record *record)
{
    struct br2_stream_mapping m;
    const char *path = (const char *)record->body + sizeof m;
    memcpy(&m, record->body, sizeof m);
    size_t text = (strlen(path) + 8) / 8 * 8;
    put_head(&w->buf, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 8 + 8 + 24 + 24 + 8 + text + 16);
    put_task(&w->buf, record);
    br2_buf_le64(&w->buf, m.start);
    br2_buf_le64(&w->buf, m.length);
    br2_buf_le64(&w->buf, m.offset);
    put_zeros(&w->buf, 24); /* device, inode, generation: not of the program */
    br2_buf_le32(&w->buf, PROT_READ | PROT_EXEC);
    br2_buf_le32(&w->buf, MAP_PRIVATE);
    put_text(&w->buf, path, 8);
    put_trailer(&w->buf, record);
    if (br2_strings_add(&w->paths, path, strlen(path)) == BR2_NO_STRING) {
        w->buf.failed = true;
    }
}

static void put_sample(struct writer *w, const struct br2_merge_record *record)
{
    size_t size = record->head.size - sizeof record->head - sizeof(uint64_t);
    put_head(&w->buf, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + 40 + size);
    br2_buf_put(&w->buf, record->body, sizeof(uint64_t)); /* ip */
    put_task(&w->buf, record);
    br2_buf_le64(&w->buf, record->head.time);
    br2_buf_le64(&w->buf, w->file->period);
    br2_buf_le64(&w->buf, size / sizeof(struct br2_branch_record));
    br2_buf_put(&w->buf, record->body + sizeof(uint64_t), size);
}

static int flush(struct writer *w)
{
    if (w->buf.failed) {
        return br2_fail_memory(w->err);
    }
    int rc = 0;
    if (w->out != NULL) {
        rc = br2_output_write(w->out, w->buf.bytes, w->buf.size, w->err);
    }
    w->buf.size = 0;
    return rc;
}

static int put_record(void *user, const struct br2_merge_record *record)
{
    struct writer *w = user;
    size_t before = w->buf.size;
    switch (record->head.type) {
    case BR2_STREAM_START:
        put_start(&w->buf, record);
        break;
    case BR2_STREAM_END:
        put_fork(&w->buf, record, PERF_RECORD_EXIT);
        break;
    case BR2_STREAM_NAME:
        put_name(&w->buf, record, (const char *)record->body, false);
        break;
    case BR2_STREAM_MAPPING:
        put_mapping(w, record);
        break;
    default:
        put_sample(w, record);
        break;
    }
    if (++w->records % ROUND == 0) {
        put_head(&w->buf, FINISHED_ROUND, 0, 8);
    }
    w->size += w->buf.size - before;
    return w->buf.size >= FLUSH || w->buf.failed ? flush(w) : 0;
}

/* Once to know the size, which stands in front of the data, once to write it. */
static int walk(struct writer *w, const struct br2_streams *streams, struct br2_output *out)
{
    w->out = out;
    w->size = 0;
    w->records = 0;
    int rc = br2_merge_walk(streams, put_record, w, w->err);
    return rc != 0 ? rc : flush(w);
}

static void put_attr(struct br2_buf *buf, const struct br2_perf_file *file)
{
    struct perf_event_attr attr;
    const uint64_t flags = EVENT_FLAGS;
    memset(&attr, 0, sizeof attr);
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = PERF_ATTR_SIZE_VER5;
    attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
    attr.sample_period = file->period;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY |
                              (file->cycles ? 0 : (uint64_t)PERF_SAMPLE_BRANCH_NO_CYCLES);
    memcpy((uint8_t *)&attr + 40, &flags, sizeof flags);
    br2_buf_put(buf, &attr, ATTR_SIZE);
}

static void put_file_header(struct br2_buf *buf, uint64_t data_size,
                            const struct br2_perf_file *file)
{
    uint8_t bits[32] = {0};
    for (size_t i = 0; i < FEATURES; i++) {
        bits[features[i] / 8] |= (uint8_t)(1u << features[i] % 8);
    }
    const uint64_t attr_entry = ATTR_SIZE + 16;
    const uint64_t numbers[8] = {
        HEADER_SIZE, attr_entry, HEADER_SIZE, attr_entry, HEADER_SIZE + attr_entry, data_size,
        0,           0};
    br2_buf_str(buf, "PERFILE2");
    for (size_t i = 0; i < 8; i++) {
        br2_buf_le64(buf, numbers[i]);
    }
    br2_buf_put(buf, bits, sizeof bits);
    put_attr(buf, file);
    put_zeros(buf, 16); /* ids: none */
}

static void put_header_text(struct br2_buf *buf, const char *text)
{
    br2_buf_le32(buf, (uint32_t)(strlen(text) / 64 + 1) * 64);
    put_text(buf, text, 64);
}

/* One entry: struct perf_record_header_build_id of tools/lib/perf. */
static void put_build_id(struct br2_buf *buf, const char *path)
{
    struct br2_build_id id;
    uint8_t field[24] = {0};
    size_t text = (strlen(path) + 1 + 63) / 64 * 64;
    if (!br2_note_build_id(path, &id)) {
        return;
    }
    memcpy(field, id.bytes, id.size);
    field[20] = id.size;
    put_head(buf, 0, MISC_BUILD_ID_SIZE | PERF_RECORD_MISC_USER, 8 + 4 + sizeof field + text);
    br2_buf_le32(buf, UINT32_MAX); /* of any process */
    br2_buf_put(buf, field, sizeof field);
    put_text(buf, path, 64);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_build_ids(struct br2_buf *buf, const struct br2_strings *paths)
{
    const char **sorted = br2_calloc(paths->count + 1, sizeof *sorted);
    if (sorted == NULL) {
        buf->failed = true;
        return;
    }
    for (size_t i = 0; i < paths->count; i++) {
        sorted[i] = br2_strings_get(paths, (uint32_t)i, NULL);
    }
    qsort(sorted, paths->count, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < paths->count; i++) {
        put_build_id(buf, sorted[i]);
    }
    br2_free(sorted);
}

static void put_feature(struct writer *w, struct br2_buf *buf, unsigned feature)
{
    uint32_t count = 0;
    switch (feature) {
    case FEATURE_BUILD_ID:
        put_build_ids(buf, &w->paths);
        break;
    case FEATURE_ARCH:
        put_header_text(buf, w->file->machine);
        break;
    case FEATURE_CPU:
        put_header_text(buf, "emulated");
        break;
    case FEATURE_COMMAND:
        while (w->file->command[count] != NULL) {
            count++;
        }
        br2_buf_le32(buf, count);
        for (uint32_t i = 0; i < count; i++) {
            put_header_text(buf, w->file->command[i]);
        }
        break;
    case FEATURE_EVENTS:
        br2_buf_le32(buf, 1);
        br2_buf_le32(buf, (uint32_t)ATTR_SIZE);
        put_attr(buf, w->file);
        br2_buf_le32(buf, 0); /* ids */
        put_header_text(buf, "branches:u");
        break;
    default: /* FEATURE_BRANCH_STACK has nothing in it */
        break;
    }
}

/* What stands behind the data: a table of sections, then they. */
static int write_features(struct writer *w, uint64_t at)
{
    struct br2_buf table = {0};
    struct br2_buf all = {0};
    at += FEATURES * 16;
    for (size_t i = 0; i < FEATURES; i++) {
        size_t before = all.size;
        put_feature(w, &all, features[i]);
        br2_buf_le64(&table, at + before);
        br2_buf_le64(&table, all.size - before);
    }
    int rc = table.failed || all.failed ? br2_fail_memory(w->err)
                                        : br2_output_write(w->out, table.bytes, table.size, w->err);
    rc = rc != 0 ? rc : br2_output_write(w->out, all.bytes, all.size, w->err);
    br2_buf_done(&table);
    br2_buf_done(&all);
    return rc;
}

int br2_perf_write(const struct br2_perf_file *file, const struct br2_streams *streams,
                   struct br2_output *out, struct br2pgo_error *err)
{
    struct writer w = {.file = file, .err = err};
    int rc = walk(&w, streams, NULL);
    uint64_t size = w.size;
    if (rc == 0) {
        put_file_header(&w.buf, size, file);
        w.out = out;
        rc = flush(&w);
    }
    rc = rc != 0 ? rc : walk(&w, streams, out);
    rc = rc != 0 ? rc : write_features(&w, HEADER_SIZE + ATTR_SIZE + 16 + size);
    br2_buf_done(&w.buf);
    br2_strings_done(&w.paths);
    return rc;
}
