/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/spool.h"

static int add_part(struct br2_trace_streams *streams, const struct br2_trace_event *event,
                    struct br2pgo_error *err)
{
    if (!br2_grow(&streams->parts, &streams->part_capacity, streams->part_count,
                  sizeof *streams->parts)) {
        return br2_fail_memory(err);
    }
    streams->parts[streams->part_count++] = *event;
    return 0;
}

/* Whose a thread is, is said again and again. */
static int add_owner(struct br2_trace_streams *streams, const struct br2_trace_event *event,
                     struct br2pgo_error *err)
{
    const struct br2_trace_owner *last =
        streams->owner_count != 0 ? &streams->owners[streams->owner_count - 1] : NULL;
    bool known = last != NULL && last->tid == event->tid && last->pid == event->pid;
    if (known || event->tid <= 0 || event->pid <= 0 || event->tid == event->pid) {
        return 0;
    }
    if (!br2_grow(&streams->owners, &streams->owner_capacity, streams->owner_count,
                  sizeof *streams->owners)) {
        return br2_fail_memory(err);
    }
    streams->owners[streams->owner_count++] =
        (struct br2_trace_owner){.tid = event->tid, .pid = event->pid};
    return 0;
}

static int add_switch(struct br2_trace_streams *streams, const struct br2_trace_event *event,
                      struct br2pgo_error *err)
{
    if (!br2_grow(&streams->switches, &streams->switch_capacity, streams->switch_count,
                  sizeof *streams->switches)) {
        return br2_fail_memory(err);
    }
    size_t number = streams->switch_count++;
    streams->switches[number] = (struct br2_trace_switch){
        .cpu = event->cpu,
        .pid = event->pid,
        .tid = event->tid,
        .time = event->time,
        .out = event->out,
        .ordinal = number,
    };
    return 0;
}

/* A thread is traced from now on: where all are of one process, what no switch tells is its. */
static void add_start(struct br2_trace_streams *streams, const struct br2_trace_event *event)
{
    if (!streams->has_start) {
        streams->has_start = true;
        streams->only_pid = event->pid;
        streams->only_tid = event->tid;
    }
    streams->only_pid = event->pid == streams->only_pid ? event->pid : -1;
    streams->only_tid = event->tid == streams->only_tid ? event->tid : -1;
}

int br2_trace_streams_add(void *user, const struct br2_trace_event *event, struct br2pgo_error *err)
{
    struct br2_trace_streams *streams = user;
    struct br2_trace_event bytes = *event;
    int rc = add_owner(streams, event, err);
    if (rc != 0) {
        return rc;
    }
    switch (event->kind) {
    case BR2_TRACE_START:
        add_start(streams, event);
        return add_part(streams, event, err);
    case BR2_TRACE_BYTES:
        /* simpleperf writes thread 0 for a processor's. */
        bytes.tid = bytes.cpu >= 0 && bytes.tid == 0 ? -1 : bytes.tid;
        return add_part(streams, &bytes, err);
    case BR2_TRACE_WINDOW:
    case BR2_TRACE_ID:
        return add_part(streams, event, err);
    case BR2_TRACE_SWITCH:
        return add_switch(streams, event, err);
    case BR2_TRACE_THREAD:
        break;
    }
    return 0;
}

static int compare_parts(const void *left, const void *right)
{
    const struct br2_trace_event *a = left;
    const struct br2_trace_event *b = right;
    int order = br2_compare_u64(a->kind, b->kind);
    order = order != 0 ? order : br2_compare_u64((uint32_t)a->cpu, (uint32_t)b->cpu);
    order = order != 0 ? order : br2_compare_u64((uint32_t)a->tid, (uint32_t)b->tid);
    order = order != 0 ? order : br2_compare_u64(a->index, b->index);
    order = order != 0 ? order : br2_compare_u64(a->offset, b->offset);
    return order != 0 ? order : br2_compare_u64(a->size, b->size);
}

static int compare_switches(const void *left, const void *right)
{
    const struct br2_trace_switch *a = left;
    const struct br2_trace_switch *b = right;
    int order = br2_compare_u64((uint32_t)a->cpu, (uint32_t)b->cpu);
    order = order != 0 ? order : br2_compare_u64(a->time, b->time);
    return order != 0 ? order : br2_compare_u64(a->ordinal, b->ordinal);
}

static int compare_owners(const void *left, const void *right)
{
    const struct br2_trace_owner *a = left;
    const struct br2_trace_owner *b = right;
    int order = br2_compare_u64((uint32_t)a->tid, (uint32_t)b->tid);
    return order != 0 ? order : br2_compare_u64((uint32_t)a->pid, (uint32_t)b->pid);
}

static bool same_stream(const struct br2_trace_stream *stream, const struct br2_trace_event *part)
{
    return stream->index == part->index && stream->cpu == part->cpu && stream->tid == part->tid;
}

static struct br2_trace_piece *add_piece(struct br2_trace_stream *stream, uint64_t offset)
{
    if (!br2_grow(&stream->pieces, &stream->piece_capacity, stream->piece_count,
                  sizeof *stream->pieces)) {
        return NULL;
    }
    struct br2_trace_piece *piece = &stream->pieces[stream->piece_count++];
    *piece = (struct br2_trace_piece){.offset = offset};
    return piece;
}

/* Makes pieces of the parts of one stream, in order of offset; what overlaps, as snapshots do,
 * counts once. Bytes are set where a piece is one part, else they come from the spool. */
static int join_parts(struct br2_trace_stream *stream, const struct br2_trace_event *parts,
                      size_t count, struct br2_spool *spool, struct br2pgo_error *err)
{
    struct br2_trace_piece *piece = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct br2_trace_event *part = &parts[i];
        uint64_t end = piece != NULL ? piece->offset + piece->size : 0;
        if (part->size > UINT64_MAX - part->offset) {
            continue;
        }
        uint64_t overlap = piece != NULL && end > part->offset ? end - part->offset : 0;
        if (overlap >= part->size) {
            continue;
        }
        if (piece == NULL || end < part->offset) {
            piece = add_piece(stream, part->offset);
            if (piece == NULL) {
                return br2_fail_memory(err);
            }
        }
        piece->size += part->size - overlap;
        if (count == 1) {
            piece->bytes = part->bytes;
            return 0;
        }
        int rc = br2_spool_write(spool, part->bytes + overlap, part->size - overlap, err);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int make_stream(struct br2_trace_streams *streams, const struct br2_trace_event *parts,
                       size_t count, const char *folder, struct br2pgo_error *err)
{
    if (!br2_grow(&streams->streams, &streams->capacity, streams->count,
                  sizeof *streams->streams)) {
        return br2_fail_memory(err);
    }
    struct br2_trace_stream *stream = &streams->streams[streams->count++];
    *stream = (struct br2_trace_stream){
        .index = parts->index, .cpu = parts->cpu, .tid = parts->tid, .pid = -1};
    struct br2_spool spool;
    br2_spool_begin(&spool, folder);
    int rc = join_parts(stream, parts, count, &spool, err);
    if (rc == 0 && count > 1) {
        rc = br2_spool_finish(&spool, &stream->spool, err);
    }
    br2_spool_done(&spool);
    uint64_t at = 0;
    for (size_t i = 0; rc == 0 && i < stream->piece_count; i++) {
        struct br2_trace_piece *piece = &stream->pieces[i];
        piece->bytes = count > 1 ? stream->spool.bytes + at : piece->bytes;
        at += piece->size;
        streams->bytes += piece->size;
    }
    streams->gaps += stream->piece_count > 1 ? stream->piece_count - 1 : 0;
    return rc;
}

/* The first stream of a processor, or, of a thread without one; streams are in order of these. */
static struct br2_trace_stream *find_stream(struct br2_trace_streams *streams, int32_t cpu,
                                            int32_t tid)
{
    size_t low = 0;
    size_t high = streams->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_trace_stream *stream = &streams->streams[middle];
        int order = br2_compare_u64((uint32_t)stream->cpu, (uint32_t)cpu);
        order = order != 0 ? order : br2_compare_u64((uint32_t)stream->tid, (uint32_t)tid);
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < streams->count && streams->streams[low].cpu == cpu &&
                 streams->streams[low].tid == tid;
    return found ? &streams->streams[low] : NULL;
}

/* What the kernel says of the streams: until when they go, and of a thread's, whose it is. */
static void look_beside(struct br2_trace_streams *streams, size_t first)
{
    for (size_t i = first; i < streams->part_count; i++) {
        const struct br2_trace_event *part = &streams->parts[i];
        struct br2_trace_stream *of_cpu = find_stream(streams, part->cpu, -1);
        struct br2_trace_stream *of_thread = find_stream(streams, -1, part->tid);
        if (of_cpu != NULL && part->time > of_cpu->last) {
            of_cpu->last = part->time;
        }
        if (of_thread != NULL) {
            of_thread->last = part->time > of_thread->last ? part->time : of_thread->last;
            of_thread->pid = part->pid;
        }
    }
}

int br2_trace_streams_finish(struct br2_trace_streams *streams, const char *folder,
                             struct br2pgo_error *err)
{
    if (streams->part_count != 0) {
        qsort(streams->parts, streams->part_count, sizeof *streams->parts, compare_parts);
    }
    if (streams->switch_count != 0) {
        qsort(streams->switches, streams->switch_count, sizeof *streams->switches,
              compare_switches);
    }
    if (streams->owner_count != 0) {
        qsort(streams->owners, streams->owner_count, sizeof *streams->owners, compare_owners);
    }
    size_t at = 0;
    while (at < streams->part_count && streams->parts[at].kind == BR2_TRACE_BYTES) {
        const struct br2_trace_event *first = &streams->parts[at];
        struct br2_trace_stream like = {
            .index = first->index, .cpu = first->cpu, .tid = first->tid};
        size_t end = at;
        while (end < streams->part_count && streams->parts[end].kind == BR2_TRACE_BYTES &&
               same_stream(&like, &streams->parts[end])) {
            end++;
        }
        int rc = make_stream(streams, first, end - at, folder, err);
        if (rc != 0) {
            return rc;
        }
        at = end;
    }
    look_beside(streams, at);
    streams->part_count -= at;
    if (at != 0) {
        memmove(streams->parts, streams->parts + at, streams->part_count * sizeof *streams->parts);
    }
    return 0;
}

int32_t br2_trace_process_of(const struct br2_trace_streams *streams, int32_t tid)
{
    size_t low = 0;
    size_t high = streams->owner_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (streams->owners[middle].tid < tid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < streams->owner_count && streams->owners[low].tid == tid;
    return found ? streams->owners[low].pid : tid;
}

void br2_trace_streams_done(struct br2_trace_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        br2_free(streams->streams[i].pieces);
        br2_file_close(&streams->streams[i].spool);
    }
    br2_free(streams->streams);
    br2_free(streams->switches);
    br2_free(streams->owners);
    br2_free(streams->parts);
    *streams = (struct br2_trace_streams){0};
}

bool br2_trace_thread_at(const struct br2_trace_streams *streams, int32_t cpu, br2_time time,
                         int32_t *ret_pid, int32_t *ret_tid)
{
    size_t low = 0;
    size_t high = streams->switch_count;
    struct br2_trace_switch wanted = {.cpu = cpu, .time = time, .ordinal = UINT64_MAX};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_switches(&streams->switches[middle], &wanted) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct br2_trace_switch *last = low != 0 ? &streams->switches[low - 1] : NULL;
    if (last != NULL && last->cpu == cpu && !last->out) {
        *ret_pid = last->pid;
        *ret_tid = last->tid;
        return true;
    }
    *ret_pid = streams->only_pid;
    *ret_tid = streams->only_tid;
    return streams->has_start && streams->switch_count == 0 && streams->only_pid >= 0;
}
