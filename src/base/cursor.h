/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A checked reader over bytes that nobody has checked yet. The first read past the end marks the
 * cursor failed and puts it at its end; later reads give 0, so a parser of ten fields tests once.
 * Byte order is fixed when the cursor is made.
 */
#ifndef BR2_BASE_CURSOR_H
#define BR2_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct br2_cursor {
    const uint8_t *base; /* start of the bytes, for offsets in messages */
    const uint8_t *at;   /* base <= at <= end */
    const uint8_t *end;
    bool big_endian;
    bool failed;
};

struct br2_cursor br2_cursor_make(const void *bytes, size_t size, bool big_endian);
/* What is left to read. */
static inline size_t br2_cursor_left(const struct br2_cursor *c)
{
    return (size_t)(c->end - c->at);
}
/* Offset of the next byte from the start. */
static inline size_t br2_cursor_offset(const struct br2_cursor *c)
{
    return (size_t)(c->at - c->base);
}
static inline uint8_t br2_cursor_u8(struct br2_cursor *c)
{
    if (c->at == c->end) {
        c->failed = true;
        return 0;
    }
    return *c->at++;
}
uint16_t br2_cursor_u16(struct br2_cursor *c);
uint32_t br2_cursor_u32(struct br2_cursor *c);
uint64_t br2_cursor_u64(struct br2_cursor *c);
/* Unsigned LEB128; more than 64 bits of value is a failure. Most are of one byte. */
uint64_t br2_cursor_long_uleb(struct br2_cursor *c);
static inline uint64_t br2_cursor_uleb(struct br2_cursor *c)
{
    return c->at != c->end && *c->at < 0x80 ? *c->at++ : br2_cursor_long_uleb(c);
}
/* `size` raw bytes, or NULL. */
const uint8_t *br2_cursor_bytes(struct br2_cursor *c, size_t size);
void br2_cursor_skip(struct br2_cursor *c, size_t size);
/* A NUL-terminated string inside the bytes; its length in `*length`. NULL when no NUL follows. */
const char *br2_cursor_string(struct br2_cursor *c, size_t *length);

/* Loads from unaligned memory that was checked already. */
static inline uint64_t br2_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

#endif
