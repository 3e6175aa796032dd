/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gzip files, of several members too (pigz, cat). The only file of the inputs that knows zlib. */
#include <limits.h>
#include <zlib.h>

#include "base/mem.h"
#include "input/unpack.h"

#define GZIP_ONLY (15 + 16) /* window bits, and a gzip header */

static void *allocate(void *user, unsigned count, unsigned size)
{
    (void)user;
    return br2_calloc(count, size);
}

static void release(void *user, void *block)
{
    (void)user;
    br2_free(block);
}

/* Unpacks one member. 0: there may be another behind it. */
static int unpack_member(struct br2_unpacking *u, z_stream *z, size_t *left,
                         struct br2pgo_error *err)
{
    for (;;) {
        if (z->avail_in == 0) {
            z->avail_in = *left < UINT_MAX ? (unsigned)*left : UINT_MAX;
            *left -= z->avail_in;
        }
        bool last = *left == 0 && z->avail_in == 0;
        z->next_out = u->buffer;
        z->avail_out = sizeof u->buffer;
        int status = inflate(z, Z_NO_FLUSH);
        int rc = br2_unpack_put(u, sizeof u->buffer - z->avail_out, err);
        if (rc || status == Z_STREAM_END) {
            return rc;
        }
        if (status == Z_MEM_ERROR) {
            return br2_fail_memory(err);
        }
        if (status != Z_OK && status != Z_BUF_ERROR) {
            return br2_unpack_damaged(err);
        }
        if (last && z->avail_out != 0) {
            return br2_unpack_cut(err);
        }
    }
}

int br2_unpack_gzip(struct br2_unpacking *u, struct br2pgo_error *err)
{
    z_stream z = {.zalloc = allocate, .zfree = release};
    if (inflateInit2(&z, GZIP_ONLY) != Z_OK) {
        return br2_fail_memory(err);
    }
    size_t left = u->size;
    z.next_in = (unsigned char *)(uintptr_t)u->bytes;
    int rc = unpack_member(u, &z, &left, err);
    /* What does not begin like a member is padding, which gzip leaves alone too. */
    while (!rc && z.avail_in + left >= 2 && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b) {
        inflateReset(&z);
        rc = unpack_member(u, &z, &left, err);
    }
    inflateEnd(&z);
    return rc;
}
