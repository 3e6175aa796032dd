/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "profile/constructor.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind the word of letters whose length stands at `at`. */
static size_t skip_identifier(const char *name, size_t length, size_t at)
{
    size_t size = 0;
    while (at < length && is_digit(name[at]) && size < length) {
        size = size * 10 + (size_t)(name[at++] - '0');
    }
    return size < length - at ? at + size : length;
}

/* Behind the next `c`. */
static size_t skip_to(const char *name, size_t length, size_t at, char c)
{
    const char *found = memchr(name + at, c, length - at);
    return found != NULL ? (size_t)(found - name) + 1 : length;
}

/* Behind what starts at `at` and has digits or capitals that mean something else: identifiers,
 * substitutions, template parameters, literals, lengths of arrays and vectors. `at` for others. */
static size_t skip_whole(const char *name, size_t length, size_t at)
{
    char next = at + 1 < length ? name[at + 1] : '\0';
    bool capital = next >= 'A' && next <= 'Z';
    switch (name[at]) {
    case 'S':
        return is_digit(next) || capital || next == '_' ? skip_to(name, length, at, '_') : at + 2;
    case 'T':
        return is_digit(next) || next == '_' ? skip_to(name, length, at, '_') : at;
    case 'L':
        return next >= 'a' && next <= 'z' ? skip_to(name, length, at, 'E') : at;
    case 'A':
        return is_digit(next) ? skip_to(name, length, at, '_') : at;
    case 'D':
        return next == 'v' ? skip_to(name, length, at, '_') : at;
    default:
        return is_digit(name[at]) ? skip_identifier(name, length, at) : at;
    }
}

size_t br2_constructor_kind(const char *name, size_t length)
{
    if (length < 3 || memcmp(name, "_ZN", 3) != 0) {
        return length;
    }
    size_t depth = 1; /* 1: among the parts of the function's own name */
    for (size_t at = 3; at < length && depth != 0;) {
        size_t next = skip_whole(name, length, at);
        if (next != at) {
            at = next;
            continue;
        }
        char c = name[at];
        if ((c == 'C' || c == 'D') && length - at > 2 && is_digit(name[at + 1])) {
            if (depth == 1 && (name[at + 2] == 'E' || name[at + 2] == 'I')) {
                return at + 1;
            }
            at += 2;
            continue;
        }
        bool lambda = c == 'U' && length - at > 1 && name[at + 1] == 'l';
        depth += lambda || (c != '\0' && strchr("NIJXZF", c) != NULL) ? 1 : 0;
        depth -= c == 'E' ? 1 : 0;
        at++;
    }
    return length;
}

void br2_make_concrete(char *name, size_t length)
{
    size_t kind = br2_constructor_kind(name, length);
    if (kind != length && name[kind] == '4') {
        name[kind] = '2';
    }
}
