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
        .data = perf->data,
        .data_end = perf->data_end,
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
    ret->payload = NULL;
    ret->payload_size = 0;
    walk->at += size;
    walk->ordinal++;
}

/* What the header says the data's size is, as far as it can be true. */
static uint64_t missing_bytes(const struct br2_perf_walk *walk, uint64_t here)
{
    uint64_t claimed = walk->parts_begun == 0 ? walk->perf->data_claimed : 0;
    /* No file is that large: the header has no more to say than that something is missing. */
    return claimed > here && claimed <= INT64_MAX ? claimed - here : 0;
}

/* Adds the current file's extent, read up to `at`, to that of all. */
static void add_extent(struct br2_perf_walk *walk, const uint8_t *at, bool broken)
{
    const struct br2_perf *perf = walk->perf;
    bool main = walk->parts_begun == 0;
    uint64_t read = (uint64_t)(at - walk->data);
    uint64_t left = (uint64_t)(walk->data_end - at);
    enum br2_truncation truncation = main ? perf->truncation : BR2_WHOLE;
    if (broken && !(main && perf->data_claimed > INT64_MAX)) {
        truncation = BR2_BROKEN;
    } else if (!broken) {
        left += missing_bytes(walk, read + left);
    }
    left += (uint64_t)(walk->tail_end - walk->tail);
    if (left > 0 && truncation == BR2_WHOLE) {
        truncation = perf->pipe || !main ? BR2_TRUNCATED : BR2_BROKEN;
    }
    struct br2_perf_extent *extent = &walk->extent;
    extent->read += read;
    extent->lost += left;
    if (truncation != BR2_WHOLE && extent->truncation == BR2_WHOLE) {
        extent->truncation = truncation;
        extent->part = main ? NULL : perf->parts[walk->parts_begun - 1].name;
        extent->at = read;
    }
    br2_perf_walk_done(walk, at);
    walk->before += read;
}

/* Ends the current file; `at` is the end of its last whole record. False: it was the last one. */
static bool next_file(struct br2_perf_walk *walk, const uint8_t *at, bool broken)
{
    const struct br2_perf *perf = walk->perf;
    add_extent(walk, at, broken);
    walk->inside = walk->unpacking = false;
    walk->tail = walk->tail_end = NULL;
    if (walk->outer_only || walk->parts_begun == perf->part_count) {
        walk->at = walk->end = walk->data = walk->data_end = at;
        return false;
    }
    const struct br2_file *file = &perf->parts[walk->parts_begun++].file;
    walk->at = walk->data = file->bytes;
    walk->end = walk->data_end = file->bytes + file->size;
    return true;
}

/* AUXTRACE and TRACING_DATA have bytes behind them that their size does not count. */
static bool skip_payload(struct br2_perf_walk *walk, struct br2_perf_record *record)
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
    record->payload = walk->at;
    record->payload_size = payload;
    walk->at += payload;
    return true;
}

/* The bytes that a compressed record holds. */
static bool find_packed(const struct br2_perf *perf, const struct br2_perf_record *record,
                        const uint8_t **ret_bytes, size_t *ret_size)
{
    *ret_bytes = record->body;
    *ret_size = record->size;
    if (record->type == BR2_PERF_COMPRESSED) {
        return true;
    }
    /* COMPRESSED2: u64 size, that many bytes, padding */
    uint64_t packed = record->size >= 8 ? br2_perf_u64(perf, record->body) : 0;
    if (record->size < 8 || packed > record->size - 8u) {
        return false;
    }
    *ret_bytes += 8;
    *ret_size = (size_t)packed;
    return true;
}

/* Goes into the compressed record that begins at `start`: the next step reads what is inside. 1; 0:
 * it cannot be; negative: an error. */
static int enter(struct br2_perf_walk *walk, const struct br2_perf_record *record,
                 const uint8_t *start, struct br2pgo_error *err)
{
    struct br2_perf *perf = walk->perf;
    const uint8_t *bytes;
    size_t size;
    if (!find_packed(perf, record, &bytes, &size)) {
        return 0;
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
        walk->end = walk->data_end;
        walk->inside = false;
    }
    return more >= 0;
}

/* Whether a whole record begins at walk->at, once what is compressed has been unpacked so far.
 * False: the file ends, at `*ret_stop`. */
static bool find_record(struct br2_perf_walk *walk, const uint8_t **ret_stop, bool *ret_broken)
{
    for (;;) {
        size_t left = (size_t)(walk->end - walk->at);
        *ret_stop = walk->inside ? walk->packed_at : walk->at;
        *ret_broken = true;
        if (left >= BR2_PERF_HEADER) {
            uint16_t size = br2_perf_u16(walk->perf, walk->at + 6);
            if (size < BR2_PERF_HEADER) {
                return false;
            }
            if (size <= left) {
                return true;
            }
        }
        if (!walk->inside) {
            *ret_broken = false;
            return false;
        }
        if (!refill(walk)) {
            return false;
        }
    }
}

/* What is to be done about the record just taken from the file, which began at `start`. 1; 0: the
 * file ends there, `*ret_broken` says how; negative: an error. */
static int open_record(struct br2_perf_walk *walk, struct br2_perf_record *record,
                       const uint8_t *start, bool *ret_broken, struct br2pgo_error *err)
{
    bool packed = record->type == BR2_PERF_COMPRESSED || record->type == BR2_PERF_COMPRESSED2;
    *ret_broken = packed;
    if (packed && !walk->outer_only) {
        return enter(walk, record, start, err);
    }
    if (!packed && !skip_payload(walk, record)) {
        return 0;
    }
    br2_perf_walk_done(walk, walk->at);
    return 1;
}

int br2_perf_walk_slow(struct br2_perf_walk *walk, struct br2_perf_record *ret,
                       struct br2pgo_error *err)
{
    for (;;) {
        const uint8_t *at;
        bool broken;
        if (find_record(walk, &at, &broken)) {
            take(walk, ret);
            if (walk->inside) {
                return 1;
            }
            int rc = open_record(walk, ret, at, &broken, err);
            if (rc != 0) {
                return rc;
            }
        }
        if (!next_file(walk, at, broken)) {
            return 0;
        }
    }
}

void br2_perf_walk_account(const struct br2_perf_walk *walk, struct br2_recording_info *info)
{
    const struct br2_perf_extent *extent = &walk->extent;
    info->bytes_read = extent->read;
    info->bytes_lost = extent->lost;
    info->truncation = extent->truncation;
    info->damaged_part = extent->part;
    info->damaged_at = extent->at;
}
