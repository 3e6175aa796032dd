/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* xz files, of several streams too. The only file that knows liblzma. */
#include <lzma.h>

#include "base/limits.h"
#include "base/mem.h"
#include "input/unpack.h"

static void *allocate(void *user, size_t count, size_t size)
{
    (void)user;
    return br2_calloc(count, size);
}

static void release(void *user, void *block)
{
    (void)user;
    br2_free(block);
}

static int refuse(lzma_ret status, struct br2pgo_error *err)
{
    switch (status) {
    case LZMA_MEM_ERROR:
        return br2_fail_memory(err);
    case LZMA_BUF_ERROR:
        return br2_unpack_cut(err);
    case LZMA_MEMLIMIT_ERROR:
        br2_fail(err, BR2PGO_LIMIT, "it needs more than %u MiB of memory to be unpacked",
                 (unsigned)(BR2_XZ_MEMORY_MAX >> 20));
        br2_hint(err, "unpack it first: xz -dc FILE > perf.data");
        return BR2PGO_LIMIT;
    default:
        return br2_unpack_damaged(err);
    }
}

int br2_unpack_xz(struct br2_unpacking *u, struct br2pgo_error *err)
{
    const lzma_allocator allocator = {.alloc = allocate, .free = release};
    lzma_stream stream = LZMA_STREAM_INIT;
    stream.allocator = &allocator;
    if (lzma_stream_decoder(&stream, BR2_XZ_MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK) {
        return br2_fail_memory(err);
    }
    stream.next_in = u->bytes;
    stream.avail_in = u->size;
    lzma_ret status;
    int rc;
    do {
        stream.next_out = u->buffer;
        stream.avail_out = sizeof u->buffer;
        status = lzma_code(&stream, LZMA_FINISH);
        rc = br2_unpack_put(u, sizeof u->buffer - stream.avail_out, err);
    } while (!rc && status == LZMA_OK);
    lzma_end(&stream);
    return rc || status == LZMA_STREAM_END ? rc : refuse(status, err);
}
