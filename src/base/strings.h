/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Interned strings: each distinct string is kept once and known by a small number. */
#ifndef BR2_BASE_STRINGS_H
#define BR2_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define BR2_NO_STRING UINT32_MAX

/* Zero-initialise, then use. */
struct br2_strings {
    struct br2_arena arena;
    struct br2_string_entry {
        const char *text; /* NUL-terminated, in the arena */
        uint32_t length;
        uint32_t hash;
    } * entries;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* index + 1 into entries, 0 = free; power of two */
    size_t slot_count;
};

/* The number of `text`, added when new; BR2_NO_STRING when memory runs out. */
uint32_t br2_strings_add(struct br2_strings *strings, const char *text, size_t length);
/* The number of `text`, or BR2_NO_STRING. */
uint32_t br2_strings_find(const struct br2_strings *strings, const char *text, size_t length);
/* The string of a number; valid until br2_strings_done. */
const char *br2_strings_get(const struct br2_strings *strings, uint32_t id, size_t *length);
void br2_strings_done(struct br2_strings *strings);

#endif
