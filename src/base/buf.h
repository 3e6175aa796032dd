/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A growing byte buffer for writers. Running out of memory is remembered: append freely, then
 * test `failed` once. Zero-initialise, then use. */
#ifndef BR2_BASE_BUF_H
#define BR2_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct br2_buf {
    uint8_t *bytes; /* owned */
    size_t size;
    size_t capacity;
    bool failed;
};

void br2_buf_done(struct br2_buf *buf);
void br2_buf_put(struct br2_buf *buf, const void *bytes, size_t size);
void br2_buf_str(struct br2_buf *buf, const char *text);
void br2_buf_u8(struct br2_buf *buf, uint8_t value);
void br2_buf_le32(struct br2_buf *buf, uint32_t value);
void br2_buf_le64(struct br2_buf *buf, uint64_t value);
void br2_buf_uleb(struct br2_buf *buf, uint64_t value);
void br2_buf_printf(struct br2_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A probability, 0 to 1, in the shortest decimal form of at most six significant digits; the same
 * in every locale. */
void br2_buf_probability(struct br2_buf *buf, double probability);

#endif
