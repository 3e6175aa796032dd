/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bytes that come once and are read twice: what a pipe gives, what a compressed file unpacks to.
 * The first few MiB stay in memory, all of it goes to a file without a name when there are more, so
 * that memory does not grow with a stream; the disk must have room for it.
 */
#ifndef BR2_BASE_SPOOL_H
#define BR2_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

struct br2_spool {
    const char *folder; /* borrowed */
    uint8_t *bytes;     /* NULL when they are in the file */
    size_t capacity;
    uint64_t size;
    int fd; /* -1: no file was needed yet */
};

/* Nothing is made before it is needed. The file will be in `folder`, or where that is NULL or does
 * not take one, in $TMPDIR, /var/tmp or /tmp. It has no name: it is gone with this process. */
void br2_spool_begin(struct br2_spool *spool, const char *folder);
/* Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_spool_write(struct br2_spool *spool, const void *bytes, size_t size,
                    struct br2pgo_error *err);
/* Hands all bytes over as a file to be closed with br2_file_close, and ends the spool. On failure
 * it still is to be ended with br2_spool_done. */
int br2_spool_finish(struct br2_spool *spool, struct br2_file *ret, struct br2pgo_error *err);
/* Gives up. Harmless after br2_spool_finish. */
void br2_spool_done(struct br2_spool *spool);

#endif
