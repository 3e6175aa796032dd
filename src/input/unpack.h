/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings in gzip, xz or zstd files: unpacked as a whole before anybody looks into them. */
#ifndef BR2_INPUT_UNPACK_H
#define BR2_INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spool.h"

/* The name of what packed a file that begins with these bytes ("gzip", "xz", "zstd"), or NULL. */
const char *br2_packed_by(const uint8_t *bytes, size_t size);

/*
 * Replaces the packed bytes of `file` by what they unpack to, kept in a spool in `folder` (may be
 * NULL); bytes that are not packed stay. Errors: BR2PGO_CORRUPT: damaged, or it ends too early;
 * BR2PGO_LIMIT: it grows more than a thousandfold, or needs too much memory; BR2PGO_IO,
 * BR2PGO_NO_MEMORY. `file` stays as it is then.
 */
int br2_unpack(struct br2_file *file, const char *folder, struct br2pgo_error *err);

/* What the methods share. */
struct br2_unpacking {
    const uint8_t *bytes; /* packed */
    size_t size;
    struct br2_spool spool;
    uint8_t buffer[65536]; /* for what comes out */
};

/* Keeps the first `size` bytes of the buffer. */
int br2_unpack_put(struct br2_unpacking *unpacking, size_t size, struct br2pgo_error *err);
int br2_unpack_damaged(struct br2pgo_error *err);
int br2_unpack_cut(struct br2pgo_error *err);

/* Files may hold several members, streams or frames, one behind the other. */
int br2_unpack_gzip(struct br2_unpacking *unpacking, struct br2pgo_error *err);
int br2_unpack_xz(struct br2_unpacking *unpacking, struct br2pgo_error *err);
int br2_unpack_zstd(struct br2_unpacking *unpacking, struct br2pgo_error *err);

#endif
