/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/cold_parts.h"

#include <string.h>

size_t br2_cold_part_owner(const struct br2_code_range *range)
{
    /* Rust's names may hold it anywhere: what counts is how they end. */
    static const char mark[] = ".cold";
    const char *name = range->name;
    size_t length = strlen(name);
    size_t digits = 0;
    while (digits < length && name[length - 1 - digits] >= '0' &&
           name[length - 1 - digits] <= '9') {
        digits++;
    }
    if (digits != 0 && digits < length && name[length - 1 - digits] == '.') {
        length -= digits + 1;
    }
    size_t suffix = sizeof mark - 1;
    bool marked = length > suffix && memcmp(name + length - suffix, mark, suffix) == 0;
    return marked ? length - suffix : 0;
}

static bool is_part_of(const struct br2_code_range *part, const struct br2_code_range *whole)
{
    size_t length = br2_cold_part_owner(part);
    return length != 0 && strlen(whole->name) == length &&
           memcmp(part->name, whole->name, length) == 0;
}

bool br2_are_parts_of_one(const struct br2_code_range *a, const struct br2_code_range *b)
{
    return is_part_of(a, b) || is_part_of(b, a);
}
