/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/cursor.h"

struct br2_cursor br2_cursor_make(const void *bytes, size_t size, bool big_endian)
{
    static const uint8_t nothing;
    const uint8_t *base = bytes != NULL ? bytes : &nothing;
    return (struct br2_cursor){
        .base = base,
        .at = base,
        .end = base + (bytes != NULL ? size : 0),
        .big_endian = big_endian,
    };
}

const uint8_t *br2_cursor_bytes(struct br2_cursor *c, size_t size)
{
    if (br2_cursor_left(c) < size) {
        c->at = c->end;
        c->failed = true;
        return NULL;
    }
    const uint8_t *bytes = c->at;
    c->at += size;
    return bytes;
}

void br2_cursor_skip(struct br2_cursor *c, size_t size)
{
    br2_cursor_bytes(c, size);
}

static uint64_t read_integer(struct br2_cursor *c, size_t size)
{
    const uint8_t *bytes = br2_cursor_bytes(c, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes != NULL && i < size; i++) {
        size_t from_top = c->big_endian ? i : size - 1 - i;
        value = value << 8 | bytes[from_top];
    }
    return value;
}

uint16_t br2_cursor_u16(struct br2_cursor *c)
{
    return (uint16_t)read_integer(c, 2);
}

uint32_t br2_cursor_u32(struct br2_cursor *c)
{
    return (uint32_t)read_integer(c, 4);
}

uint64_t br2_cursor_u64(struct br2_cursor *c)
{
    return read_integer(c, 8);
}

uint64_t br2_cursor_long_uleb(struct br2_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = br2_cursor_u8(c);
        uint64_t bits = byte & 0x7f;
        /* Padding with zero bits beyond 64 is legal, a set bit there is not. */
        bool lost = shift >= 64 ? bits != 0 : (bits << shift) >> shift != bits;
        if (c->failed || lost) {
            c->failed = true;
            c->at = c->end;
            return 0;
        }
        if (shift < 64) {
            value |= bits << shift;
        }
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
}

const char *br2_cursor_string(struct br2_cursor *c, size_t *length)
{
    size_t left = br2_cursor_left(c);
    const uint8_t *nul = left != 0 ? memchr(c->at, 0, left) : NULL;
    if (nul == NULL) {
        c->failed = true;
        c->at = c->end;
        *length = 0;
        return NULL;
    }
    const char *text = (const char *)c->at;
    *length = (size_t)(nul - c->at);
    c->at = nul + 1;
    return text;
}
