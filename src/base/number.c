/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/number.h"

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned)(c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

bool br2_parse_number(const char *text, size_t length, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = digit_value(text[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *ret = value;
    return length > 0;
}
