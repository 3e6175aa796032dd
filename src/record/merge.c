/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A thread's next record, or one record of a process. */
struct cursor {
    struct br2_merge_record record;
    size_t chunk;
    uint64_t at; /* in the chunk, behind the record */
    uint32_t order;
    uint64_t sequence; /* of equals: as they came */
};

struct merge {
    const struct br2_streams *streams;
    struct cursor *heap;
    size_t count;
    struct cursor *mappings; /* sorted */
    size_t mapping_count;
    size_t mapping_capacity;
};

/* Of the same time: what begins a process comes before what is in it. */
static uint32_t rank_of(uint32_t type)
{
    switch (type) {
    case BR2_STREAM_START:
        return 0;
    case BR2_STREAM_NAME:
        return 1;
    case BR2_STREAM_MAPPING:
        return 2;
    case BR2_STREAM_END:
        return 4;
    default:
        return 3;
    }
}

static int compare(const struct cursor *x, const struct cursor *y)
{
    const uint64_t one[4] = {x->record.head.time, rank_of(x->record.head.type), x->order,
                             x->sequence};
    const uint64_t other[4] = {y->record.head.time, rank_of(y->record.head.type), y->order,
                               y->sequence};
    for (size_t i = 0; i < 4; i++) {
        if (one[i] != other[i]) {
            return one[i] < other[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_mappings(const void *a, const void *b)
{
    return compare(a, b);
}

/* False at the end. Heads were checked when the records were taken in. */
static bool advance(const struct br2_streams *streams, struct cursor *c)
{
    const struct br2_stream *stream = c->record.stream;
    while (c->chunk < stream->count && c->at >= stream->chunks[c->chunk].size) {
        c->chunk++;
        c->at = 0;
    }
    if (c->chunk >= stream->count) {
        return false;
    }
    const uint8_t *bytes = streams->bytes + stream->chunks[c->chunk].offset + c->at;
    memcpy(&c->record.head, bytes, sizeof c->record.head);
    c->record.body = bytes + sizeof c->record.head;
    c->at += c->record.head.size;
    return true;
}

static void sift_down(struct merge *m, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < m->count; child++) {
            least = compare(&m->heap[child], &m->heap[least]) < 0 ? child : least;
        }
        if (least == at) {
            return;
        }
        struct cursor other = m->heap[at];
        m->heap[at] = m->heap[least];
        m->heap[least] = other;
        at = least;
    }
}

/* The first thread of a process, which stands for all of it. */
static const struct br2_stream *first_thread(const struct br2_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->streams[i].serial != BR2_STREAM_OF_PROCESS && run->streams[i].start.parent == 0) {
            return &run->streams[i];
        }
    }
    return NULL;
}

static bool add_mappings(struct merge *m, struct cursor cursor)
{
    while (advance(m->streams, &cursor)) {
        if (cursor.record.head.type != BR2_STREAM_MAPPING) {
            continue;
        }
        if (!br2_grow(&m->mappings, &m->mapping_capacity, m->mapping_count, sizeof *m->mappings)) {
            return false;
        }
        cursor.sequence++;
        m->mappings[m->mapping_count++] = cursor;
    }
    return true;
}

static bool prepare_run(struct merge *m, const struct br2_run *run)
{
    const struct br2_stream *first = first_thread(run);
    for (size_t i = 0; i < run->count; i++) {
        const struct br2_stream *stream = &run->streams[i];
        bool of_process = stream->serial == BR2_STREAM_OF_PROCESS;
        struct cursor cursor = {
            .record = {.run = run, .stream = stream},
            .order = of_process ? run->pid : stream->tid,
        };
        if (of_process) {
            if (!add_mappings(m, cursor)) {
                return false;
            }
        } else if (advance(m->streams, &cursor)) {
            m->heap[m->count++] = cursor;
        }
    }
    for (size_t i = m->mapping_count; i > 0 && m->mappings[i - 1].record.run == run; i--) {
        m->mappings[i - 1].record.stream = first;
    }
    return true;
}

static int walk(struct merge *m, br2_merge_call call, void *user)
{
    size_t next = 0;
    int rc = 0;
    while (rc == 0 && (m->count != 0 || next < m->mapping_count)) {
        if (m->count == 0 ||
            (next < m->mapping_count && compare(&m->mappings[next], &m->heap[0]) < 0)) {
            const struct br2_merge_record *record = &m->mappings[next++].record;
            rc = record->stream != NULL ? call(user, record) : 0;
            continue;
        }
        rc = call(user, &m->heap[0].record);
        if (!advance(m->streams, &m->heap[0])) {
            m->heap[0] = m->heap[--m->count];
        }
        sift_down(m, 0);
    }
    return rc;
}

int br2_merge_walk(const struct br2_streams *streams, br2_merge_call call, void *user,
                   struct br2pgo_error *err)
{
    struct merge m = {.streams = streams};
    size_t count = 0;
    for (size_t i = 0; i < streams->count; i++) {
        count += streams->runs[i].count;
    }
    m.heap = br2_calloc(count + 1, sizeof *m.heap);
    bool ok = m.heap != NULL;
    for (size_t i = 0; ok && i < streams->count; i++) {
        ok = prepare_run(&m, &streams->runs[i]);
    }
    int rc = ok ? 0 : br2_fail_memory(err);
    if (ok) {
        if (m.mapping_count != 0) {
            qsort(m.mappings, m.mapping_count, sizeof *m.mappings, compare_mappings);
        }
        for (size_t i = m.count / 2 + 1; i > 0; i--) {
            sift_down(&m, i - 1);
        }
        rc = walk(&m, call, user);
    }
    br2_free(m.heap);
    br2_free(m.mappings);
    return rc;
}
