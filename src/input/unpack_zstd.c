/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* zstd files, of several frames too. */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/limits.h"
#include "input/unpack.h"

static int refuse(size_t status, struct br2pgo_error *err)
{
    switch (ZSTD_getErrorCode(status)) {
    case ZSTD_error_memory_allocation:
        return br2_fail_memory(err);
    case ZSTD_error_frameParameter_windowTooLarge:
        br2_fail(err, BR2PGO_LIMIT,
                 "it was compressed with a window (zstd --long) of more than "
                 "128 MiB");
        br2_hint(err, "unpack it first: zstd -dc --long=31 FILE > perf.data");
        return BR2PGO_LIMIT;
    default:
        return br2_unpack_damaged(err);
    }
}

int br2_unpack_zstd(struct br2_unpacking *u, struct br2pgo_error *err)
{
    ZSTD_DCtx *stream = ZSTD_createDCtx();
    if (!stream) {
        return br2_fail_memory(err);
    }
    ZSTD_inBuffer in = {u->bytes, 0, 0};
    ZSTD_outBuffer out;
    size_t status; /* 0: at the end of a frame */
    int rc;
    do {
        /* A part at a time: without an end, empty blocks would go on for as long as the file. */
        size_t left = u->size - in.pos;
        in.size = in.pos + (left < BR2_IDLE_MAX ? left : BR2_IDLE_MAX);
        out = (ZSTD_outBuffer){u->buffer, sizeof u->buffer, 0};
        status = ZSTD_decompressStream(stream, &out, &in);
        rc = br2_unpack_put(u, out.pos, err);
        if (!rc && ZSTD_isError(status)) {
            rc = refuse(status, err);
        } else if (!rc && out.pos == 0 && left > BR2_IDLE_MAX) {
            rc = br2_unpack_damaged(err);
        }
    } while (!rc && (in.pos < u->size || (status != 0 && out.pos == out.size)));
    ZSTD_freeDCtx(stream);
    return rc || status == 0 ? rc : br2_unpack_cut(err);
}
