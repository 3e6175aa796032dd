/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Arm CoreSight ETMv4 and ETE, by OpenCSD, which puts packets together to ranges of instructions,
 * resolves speculation and keeps the return stack. Packets are described in the Arm ETMv4
 * architecture specification (IHI 0064) and, of ETE, in the Arm ARM.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "trace/etm_tree.h"
#include "trace/etm_units.h"

/* A part of a stream between two words of the kernel's, without a gap: the trace unit was stopped
 * before it. */
struct part {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t offset;
    const struct br2_trace_event *window; /* NULL: nobody says anything of it */
};

struct etm_stream {
    const struct br2_trace_job *job;
    struct br2_etm_info info;
    struct br2_etm_units units;
    struct br2_etm_tree tree;
    struct br2_trace_event *windows; /* owned; of the stream, by offset */
    size_t window_count;
    br2_time before; /* time of the window before */
    bool truncated;
};

/* Of a snapshot the kernel says where it ends. */
static uint64_t window_begin(const struct br2_trace_event *window)
{
    bool snapshot = (window->flags & BR2_WINDOW_OVERWRITE) != 0;
    return snapshot && window->offset >= window->size ? window->offset - window->size
                                                      : window->offset;
}

static bool is_of_stream(const struct br2_trace_event *event, const struct br2_trace_stream *stream)
{
    return event->kind == BR2_TRACE_WINDOW && event->size != 0 &&
           (stream->cpu >= 0 ? event->cpu == stream->cpu : event->tid == stream->tid);
}

static int compare_windows(const void *left, const void *right)
{
    const struct br2_trace_event *a = left;
    const struct br2_trace_event *b = right;
    int order = br2_compare_u64(a->offset, b->offset);
    order = order != 0 ? order : br2_compare_u64(a->size, b->size);
    return order != 0 ? order : br2_compare_u64(a->time, b->time);
}

static int collect_windows(struct etm_stream *s, struct br2pgo_error *err)
{
    const struct br2_trace_streams *streams = s->job->streams;
    size_t capacity = 0;
    for (size_t i = 0; i < streams->part_count; i++) {
        if (!is_of_stream(&streams->parts[i], s->job->stream)) {
            continue;
        }
        if (!br2_grow(&s->windows, &capacity, s->window_count, sizeof *s->windows)) {
            return br2_fail_memory(err);
        }
        s->windows[s->window_count] = streams->parts[i];
        s->windows[s->window_count++].offset = window_begin(&streams->parts[i]);
    }
    if (s->window_count != 0) {
        qsort(s->windows, s->window_count, sizeof *s->windows, compare_windows);
    }
    return 0;
}

/* The window that holds an offset; NULL: none does. `*ret_next` is where it, or what is in none,
 * ends. */
static const struct br2_trace_event *window_at(const struct etm_stream *s, uint64_t offset,
                                               uint64_t *ret_next)
{
    size_t low = 0;
    size_t high = s->window_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->windows[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret_next = low < s->window_count ? s->windows[low].offset : UINT64_MAX;
    const struct br2_trace_event *window = low != 0 ? &s->windows[low - 1] : NULL;
    if (window == NULL || offset - window->offset >= window->size) {
        return NULL;
    }
    uint64_t end =
        window->size > UINT64_MAX - window->offset ? UINT64_MAX : window->offset + window->size;
    *ret_next = end < *ret_next ? end : *ret_next;
    return window;
}

/* Whose the part is, as far as nobody says in the trace itself. */
static void set_default_thread(struct etm_stream *s, const struct part *part)
{
    const struct br2_trace_stream *stream = s->job->stream;
    struct br2_etm_units *units = &s->units;
    units->time = part->window != NULL ? part->window->time : stream->last;
    units->clock = s->before < units->time ? s->before : units->time;
    s->before = units->time;
    units->of_thread = stream->tid >= 0;
    units->pid = stream->pid;
    units->tid = stream->tid;
    if (!units->of_thread &&
        !br2_trace_thread_at(s->job->streams, stream->cpu, units->time, &units->pid, &units->tid)) {
        units->pid = units->tid = -1;
    }
}

static const struct br2_etm_unit *unit_of(const struct etm_stream *s, const struct part *part)
{
    int32_t cpu = s->job->stream->cpu;
    cpu = cpu < 0 && part->window != NULL ? part->window->cpu : cpu;
    const struct br2_etm_unit *unit = br2_etm_info_find(&s->info, cpu);
    return unit != NULL ? unit : &s->info.units[0];
}

static int decode_part(struct etm_stream *s, const struct part *part, struct br2pgo_error *err)
{
    uint64_t flags = part->window != NULL ? part->window->flags : 0;
    bool raw = (flags & BR2_WINDOW_RAW) != 0;
    set_default_thread(s, part);
    if (s->truncated) {
        int rc = br2_etm_units_lose(&s->units, BR2_TRACE_GAP, err);
        if (rc != 0) {
            return rc;
        }
    }
    s->truncated = (flags & (BR2_WINDOW_TRUNCATED | BR2_WINDOW_COLLISION)) != 0;
    int rc = br2_etm_tree_use(&s->tree, &s->info, raw ? unit_of(s, part) : NULL, err);
    return rc != 0 ? rc : br2_etm_tree_decode(&s->tree, part->bytes, part->size, err);
}

static int decode_piece(struct etm_stream *s, const struct br2_trace_piece *piece,
                        struct br2pgo_error *err)
{
    int rc = 0;
    for (uint64_t done = 0; rc == 0 && done < piece->size;) {
        uint64_t next;
        struct part part = {.bytes = piece->bytes + done, .offset = piece->offset + done};
        part.window = window_at(s, part.offset, &next);
        uint64_t left = piece->size - done;
        part.size = next - part.offset < left ? next - part.offset : left;
        done += part.size;
        rc = decode_part(s, &part, err);
    }
    return rc;
}

static int decode_pieces(struct etm_stream *s, struct br2_trace_stats *stats,
                         struct br2pgo_error *err)
{
    const struct br2_trace_stream *stream = s->job->stream;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < stream->piece_count; i++) {
        const struct br2_trace_piece *piece = &stream->pieces[i];
        stats->bytes += piece->size;
        if (s->info.count == 0) {
            stats->skipped += piece->size;
            continue;
        }
        if (i != 0) {
            rc = br2_etm_units_lose(&s->units, BR2_TRACE_GAP, err);
        }
        rc = rc != 0 ? rc : decode_piece(s, piece, err);
    }
    return rc != 0 ? rc : br2_etm_units_end(&s->units, err);
}

static int decode(const struct br2_trace_job *job, struct br2_trace_stats *stats,
                  struct br2pgo_error *err)
{
    struct etm_stream stream = {.job = job};
    br2_etm_units_begin(&stream.units, job, stats);
    br2_etm_tree_begin(&stream.tree, &stream.units);
    int rc = br2_etm_info_read(job, &stream.info, err);
    rc = rc != 0 ? rc : collect_windows(&stream, err);
    rc = rc != 0 ? rc : decode_pieces(&stream, stats, err);
    br2_etm_tree_done(&stream.tree);
    br2_etm_units_done(&stream.units);
    br2_etm_info_done(&stream.info);
    br2_free(stream.windows);
    return rc;
}

const struct br2_trace_decoder br2_trace_arm_etm = {
    .type = BR2_TRACE_ARM_ETM,
    .decode = decode,
};
