/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compressed sections. The only file that knows zlib. */
#include <zlib.h>

#include "base/limits.h"
#include "converters/llvm/internal.h"

/* No zlib stream unpacks to more than this many times its size. */
#define MAX_RATIO 1032

int br2_llvm_deflate(const struct br2_buf *in, struct br2_buf *out, struct br2pgo_error *err)
{
    if (in->size == 0) {
        return BR2PGO_OK;
    }
    uLongf size = compressBound(in->size);
    uint8_t *packed = br2_alloc(size);
    if (!packed) {
        return br2_fail_memory(err);
    }
    int result = compress2(packed, &size, in->bytes, in->size, Z_BEST_COMPRESSION);
    if (result == Z_OK) {
        br2_buf_uleb(out, in->size);
        br2_buf_uleb(out, size);
        br2_buf_put(out, packed, size);
    }
    br2_free(packed);
    if (result == Z_MEM_ERROR) {
        return br2_fail_memory(err);
    }
    return result == Z_OK ? BR2PGO_OK
                          : br2_fail(err, BR2PGO_INTERNAL, "zlib failed with %d", result);
}

int br2_llvm_inflate(struct br2_llvm_reader *reader, uint8_t **ret_bytes, size_t *ret_size,
                     struct br2pgo_error *err)
{
    uint64_t size = br2_cursor_uleb(&reader->cursor);
    uint64_t packed_size = br2_cursor_uleb(&reader->cursor);
    if (reader->cursor.failed || packed_size != br2_cursor_left(&reader->cursor)) {
        return br2_llvm_corrupt(reader, err, "the compressed data has the wrong size");
    }
    if (size == 0 || size / MAX_RATIO > packed_size) {
        return br2_llvm_corrupt(reader, err, "the compressed data cannot have the stated size");
    }
    if (size > BR2_PROFILE_SECTION_MAX) {
        return br2_fail(err, BR2PGO_LIMIT, "%s unpacks to more than %llu bytes", reader->where,
                        (unsigned long long)BR2_PROFILE_SECTION_MAX);
    }
    const uint8_t *packed = br2_cursor_bytes(&reader->cursor, (size_t)packed_size);
    uint8_t *bytes = br2_alloc((size_t)size);
    if (!bytes) {
        return br2_fail_memory(err);
    }
    uLongf unpacked_size = (uLongf)size;
    uLong consumed = (uLong)packed_size;
    int result = uncompress2(bytes, &unpacked_size, packed, &consumed);
    if (result != Z_OK || unpacked_size != size || consumed != packed_size) {
        br2_free(bytes);
        if (result == Z_MEM_ERROR) {
            return br2_fail_memory(err);
        }
        return br2_llvm_corrupt(reader, err, "the compressed data does not unpack");
    }
    *ret_bytes = bytes;
    *ret_size = (size_t)size;
    return BR2PGO_OK;
}
