/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The walk over all records: what the short way in the header file leaves over. */
#include "input/perf_data/perf_data.h"

#define AUXTRACE_BODY 40 /* u64 size, offset, reference; u32 idx, tid, cpu, pad */

void br2_perf_walk_start(struct br2_perf_walk *walk, struct br2_perf *perf, bool outer_only)
{
    *walk = (struct br2_perf_walk){
        .perf = perf,
        .at = perf->data,
        .end = perf->data_end,
        .outer_only = outer_only,
    };
}

/* Steps over the whole record that begins at walk->at. */
static void take(struct br2_perf_walk *walk, struct br2_perf_record *ret)
{
    const struct br2_perf *perf = walk->perf;
    uint16_t size = br2_perf_u16(perf, walk->at + 6);
    ret->type = br2_perf_u32(perf, walk->at);
    ret->misc = br2_perf_u16(perf, walk->at + 4);
    ret->size = (uint16_t)(size - BR2_PERF_HEADER);
    ret->body = walk->at + BR2_PERF_HEADER;
    walk->at += size;
    walk->ordinal++;
}

/* Ends the walk; `at` is the end of the last whole record in the file. */
static int stop(struct br2_perf_walk *walk, const uint8_t *at, bool broken)
{
    walk->inside = false;
    walk->at = at;
    walk->end = at;
    walk->broken = broken;
    walk->perf->input->done = (uint64_t)(at - walk->perf->data);
    return 0;
}

/* AUXTRACE and TRACING_DATA have bytes behind them that their size does not count. */
static bool skip_payload(struct br2_perf_walk *walk, const struct br2_perf_record *record)
{
    const struct br2_perf *perf = walk->perf;
    uint64_t payload = 0;
    if (record->type == BR2_PERF_AUXTRACE && record->size == AUXTRACE_BODY) {
        payload = br2_perf_u64(perf, record->body);
    } else if (record->type == BR2_PERF_TRACING_DATA && record->size >= 4) {
        payload = br2_perf_u32(perf, record->body);
        payload += -payload % 8;
    }
    if (payload > (uint64_t)(walk->end - walk->at)) {
        return false;
    }
    walk->at += payload;
    return true;
}

/* Goes into the compressed record that begins at `start`: the next step reads what is inside. */
static int enter(struct br2_perf_walk *walk, const struct br2_perf_record *record,
                 const uint8_t *start, struct br2pgo_error *err)
{
    struct br2_perf *perf = walk->perf;
    const uint8_t *bytes = record->body;
    size_t size = record->size;
    if (record->type == BR2_PERF_COMPRESSED2) { /* u64 size, that many bytes, padding */
        uint64_t packed = size >= 8 ? br2_perf_u64(perf, bytes) : 0;
        if (size < 8 || packed > size - 8) {
            return stop(walk, start, true);
        }
        bytes += 8;
        size = (size_t)packed;
    }
    if (!walk->unpacking) {
        int rc = br2_perf_zstd_start(perf, err);
        if (rc) {
            return rc;
        }
        walk->unpacking = true;
    }
    br2_perf_zstd_feed(perf->zstd, bytes, size);
    walk->packed_at = start;
    walk->file_at = walk->at;
    walk->at = walk->tail;
    walk->end = walk->tail_end;
    walk->inside = true;
    return 1;
}

/* Decompresses more, or goes back to the file, where there is no more. */
static bool refill(struct br2_perf_walk *walk)
{
    int more = br2_perf_zstd_more(walk->perf->zstd, &walk->at, &walk->end);
    if (more == 0) {
        walk->tail = walk->at;
        walk->tail_end = walk->end;
        walk->at = walk->file_at;
        walk->end = walk->perf->data_end;
        walk->inside = false;
    }
    return more >= 0;
}

int br2_perf_walk_slow(struct br2_perf_walk *walk, struct br2_perf_record *ret,
                       struct br2pgo_error *err)
{
    for (;;) {
        size_t left = (size_t)(walk->end - walk->at);
        if (left >= BR2_PERF_HEADER) {
            uint16_t size = br2_perf_u16(walk->perf, walk->at + 6);
            if (size < BR2_PERF_HEADER) {
                return stop(walk, walk->inside ? walk->packed_at : walk->at, true);
            }
            if (size <= left) {
                break;
            }
        }
        if (!walk->inside) {
            return stop(walk, walk->at, false);
        }
        if (!refill(walk)) {
            return stop(walk, walk->packed_at, true);
        }
    }

    const uint8_t *start = walk->at;
    take(walk, ret);
    if (walk->inside) {
        return 1;
    }
    if (ret->type == BR2_PERF_COMPRESSED || ret->type == BR2_PERF_COMPRESSED2) {
        if (!walk->outer_only) {
            return enter(walk, ret, start, err);
        }
    } else if (!skip_payload(walk, ret)) {
        return stop(walk, start, false);
    }
    walk->perf->input->done = (uint64_t)(walk->at - walk->perf->data);
    return 1;
}

void br2_perf_walk_account(const struct br2_perf_walk *walk, struct br2_recording_info *info)
{
    const struct br2_perf *perf = walk->perf;
    uint64_t read = (uint64_t)(walk->at - perf->data);
    uint64_t left = (uint64_t)(perf->data_end - walk->at);
    /* No file is that large: the header has no more to say than that something is missing. */
    bool absurd = perf->data_claimed > INT64_MAX;
    if (perf->data_claimed > read + left && !absurd && !walk->broken) {
        left = perf->data_claimed - read;
    }
    left += (uint64_t)(walk->tail_end - walk->tail);
    info->bytes_read = read;
    info->bytes_lost = left;
    info->truncation = perf->truncation;
    if ((walk->broken && !absurd) || (left > 0 && perf->truncation == BR2_WHOLE)) {
        info->truncation = perf->pipe && !walk->broken ? BR2_TRUNCATED : BR2_BROKEN;
    }
}
