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

bool br2_number_read(const char **at, uint64_t limit, uint64_t *ret)
{
    const char *begin = *at;
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (digit > limit || value > (limit - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *ret = value;
    return *at != begin;
}

bool br2_decimal_read(const char **at, uint64_t unit, uint64_t *ret)
{
    uint64_t whole;
    if (!br2_number_read(at, UINT64_MAX / unit - 1, &whole)) {
        return false;
    }
    *ret = whole * unit;
    if (**at != '.') {
        return true;
    }
    const char *point = (*at)++;
    for (; unit > 1 && **at >= '0' && **at <= '9'; ++*at) {
        unit /= 10;
        *ret += (uint64_t)(**at - '0') * unit;
    }
    return *at != point + 1 && (**at < '0' || **at > '9');
}

uint64_t br2_greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t br2_add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t br2_multiply_saturated(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
