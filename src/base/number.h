/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers in texts that nobody has checked, the same in every locale; sums that do not wrap. */
#ifndef BR2_BASE_NUMBER_H
#define BR2_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the whole text is a number: at least one digit of `base` (2 to 16, letters of either
 * case), nothing else, and not above UINT64_MAX. */
bool br2_parse_number(const char *text, size_t length, unsigned base, uint64_t *ret);

/* Reads the digits that `*at` begins with and moves it behind them. False: there are none, or they
 * say more than `limit`. */
bool br2_number_read(const char **at, uint64_t limit, uint64_t *ret);
/* The same for "12.5", in units of which `unit`, a power of ten, make one. False too where there
 * are more decimals than that, or none behind the point. */
bool br2_decimal_read(const char **at, uint64_t unit, uint64_t *ret);

/* Of 0 and another number it is the other. */
uint64_t br2_greatest_divisor(uint64_t a, uint64_t b);

/* a + b and a * b, at most UINT64_MAX: counters saturate, as LLVM's do. */
uint64_t br2_add_saturated(uint64_t a, uint64_t b);
uint64_t br2_multiply_saturated(uint64_t a, uint64_t b);

#endif
