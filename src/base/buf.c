/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void br2_buf_done(struct br2_buf *buf)
{
    br2_free(buf->bytes);
    *buf = (struct br2_buf){0};
}

/* Makes room for `size` more bytes and returns where they go. */
static uint8_t *reserve(struct br2_buf *buf, size_t size)
{
    size_t wanted;
    if (buf->failed || __builtin_add_overflow(buf->size, size, &wanted)) {
        buf->failed = true;
        return NULL;
    }
    if (wanted > buf->capacity) {
        size_t capacity = buf->capacity < SIZE_MAX / 2 ? buf->capacity * 2 : SIZE_MAX;
        capacity = capacity < wanted ? wanted : capacity;
        capacity = capacity < 256 ? 256 : capacity;
        uint8_t *grown = br2_realloc_array(buf->bytes, capacity, 1);
        if (grown == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->bytes = grown;
        buf->capacity = capacity;
    }
    return buf->bytes + buf->size;
}

void br2_buf_put(struct br2_buf *buf, const void *bytes, size_t size)
{
    if (size == 0) {
        return;
    }
    uint8_t *room = reserve(buf, size);
    if (room != NULL) {
        memcpy(room, bytes, size);
        buf->size += size;
    }
}

void br2_buf_str(struct br2_buf *buf, const char *text)
{
    br2_buf_put(buf, text, strlen(text));
}

void br2_buf_u8(struct br2_buf *buf, uint8_t value)
{
    br2_buf_put(buf, &value, 1);
}

static void put_le(struct br2_buf *buf, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    br2_buf_put(buf, bytes, size);
}

void br2_buf_le32(struct br2_buf *buf, uint32_t value)
{
    put_le(buf, value, 4);
}

void br2_buf_le64(struct br2_buf *buf, uint64_t value)
{
    put_le(buf, value, 8);
}

void br2_buf_uleb(struct br2_buf *buf, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    do {
        uint8_t low = value & 0x7f;
        value >>= 7;
        bytes[size++] = (uint8_t)(low | (value != 0 ? 0x80 : 0));
    } while (value != 0);
    br2_buf_put(buf, bytes, size);
}

void br2_buf_printf(struct br2_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        buf->failed = true;
        return;
    }
    /* One byte more for the NUL that vsnprintf writes. */
    char *room = (char *)reserve(buf, (size_t)length + 1);
    if (room != NULL) {
        va_start(args, format);
        vsnprintf(room, (size_t)length + 1, format, args);
        va_end(args);
        buf->size += (size_t)length;
    }
}

#define SIGNIFICANT  6
#define MAX_DECIMALS 18

void br2_buf_probability(struct br2_buf *buf, double probability)
{
    int decimals = SIGNIFICANT;
    double scaled = probability * 1e6;
    while (scaled < 1e5 && scaled > 0 && decimals < MAX_DECIMALS) {
        scaled *= 10;
        decimals++;
    }
    uint64_t digits = (uint64_t)(scaled + 0.5);
    while (decimals > 0 && digits % 10 == 0) {
        digits /= 10;
        decimals--;
    }
    if (decimals == 0) {
        br2_buf_printf(buf, "%" PRIu64, digits);
    } else { /* below 1, so every digit is a decimal */
        br2_buf_printf(buf, "0.%0*" PRIu64, decimals, digits);
    }
}
