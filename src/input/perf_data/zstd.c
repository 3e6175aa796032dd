/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compressed records: one zstd stream over all of them, in a buffer of fixed size, however much
 * comes out. */
#include <zstd.h>

#include "input/perf_data/perf_data.h"

/* Room for the beginning of a record (64 KiB at most) and as much again. */
#define BUFFER_SIZE ((size_t)256 * 1024)

struct br2_perf_zstd {
    ZSTD_DCtx *stream; /* zstd's own memory: its allocator cannot be set in the stable interface */
    ZSTD_inBuffer in;
    uint8_t buffer[BUFFER_SIZE];
};

int br2_perf_zstd_start(struct br2_perf *perf, struct br2pgo_error *err)
{
    if (!perf->zstd) {
        struct br2_perf_zstd *zstd = br2_calloc(1, sizeof *zstd);
        if (!zstd) {
            return br2_fail_memory(err);
        }
        zstd->stream = ZSTD_createDCtx();
        if (!zstd->stream) {
            br2_free(zstd);
            return br2_fail_memory(err);
        }
        perf->zstd = zstd;
    }
    ZSTD_DCtx_reset(perf->zstd->stream, ZSTD_reset_session_only);
    perf->zstd->in = (ZSTD_inBuffer){NULL, 0, 0};
    return 0;
}

void br2_perf_zstd_feed(struct br2_perf_zstd *zstd, const uint8_t *bytes, size_t size)
{
    zstd->in = (ZSTD_inBuffer){bytes, size, 0};
}

int br2_perf_zstd_more(struct br2_perf_zstd *zstd, const uint8_t **at, const uint8_t **end)
{
    size_t kept = (size_t)(*end - *at);
    if (kept > 0) {
        memmove(zstd->buffer, *at, kept);
    }
    ZSTD_outBuffer out = {zstd->buffer, BUFFER_SIZE, kept};
    /* A step may use input and give nothing yet; without either, all that was fed is out. */
    for (;;) {
        size_t used = zstd->in.pos;
        size_t rc = ZSTD_decompressStream(zstd->stream, &out, &zstd->in);
        if (ZSTD_isError(rc)) {
            return -1;
        }
        if (out.pos > kept || zstd->in.pos == used) {
            break;
        }
    }
    *at = zstd->buffer;
    *end = zstd->buffer + out.pos;
    return out.pos > kept ? 1 : 0;
}

void br2_perf_zstd_free(struct br2_perf_zstd *zstd)
{
    if (!zstd) {
        return;
    }
    ZSTD_freeDCtx(zstd->stream);
    br2_free(zstd);
}
