/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "profile/suffix.h"

#include <stdbool.h>
#include <string.h>

/* Cuts `suffix` and what follows when that is one dotted word at the end of the name
 * (FunctionSamples::getCanonicalFnName in llvm/ProfileData/SampleProf.h). */
static size_t cut_last(const char *name, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    for (size_t at = length; at-- > 0;) {
        if (length - at >= size && memcmp(name + at, suffix, size) == 0) {
            const char *rest = name + at + size;
            size_t left = length - at - size;
            return left != 0 && memchr(rest, '.', left) != NULL ? length : at;
        }
    }
    return length;
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    return length > size && memcmp(name + length - size, suffix, size) == 0;
}

/* Length of `name` without one of GCC's clone suffixes at its end: ".part.0", also bare ".cold". */
static size_t cut_clone(const char *name, size_t length)
{
    static const char *const suffixes[] = {".isra", ".constprop", ".lto_priv", ".part", ".cold"};
    size_t digits = length;
    while (digits != 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
        digits--;
    }
    bool numbered = digits != length && digits != 0 && name[digits - 1] == '.';
    size_t end = numbered ? digits - 1 : length;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        bool counts = numbered || strcmp(suffixes[i], ".cold") == 0;
        if (counts && ends_with(name, end, suffixes[i])) {
            return end - strlen(suffixes[i]);
        }
    }
    return length;
}

static size_t cut_clones(const char *name, size_t length)
{
    for (size_t shorter; (shorter = cut_clone(name, length)) != length;) {
        length = shorter;
    }
    return length;
}

size_t br2_canonical_length(const char *name, size_t length, enum br2_suffix_policy policy,
                            int keep_unique)
{
    if (policy == BR2_SUFFIX_NONE || length == 0) {
        return length;
    }
    if (policy == BR2_SUFFIX_GCC) {
        const char *dot = memchr(name, '.', length);
        return dot != NULL ? (size_t)(dot - name) : length;
    }
    if (policy == BR2_SUFFIX_GCC_16) {
        return cut_clones(name, length);
    }
    if (policy == BR2_SUFFIX_ALL) {
        const char *dot = memchr(name + 1, '.', length - 1);
        return dot != NULL ? (size_t)(dot - name) : length;
    }
    length = cut_last(name, length, ".llvm.");
    length = cut_last(name, length, ".part.");
    return keep_unique ? length : cut_last(name, length, ".__uniq.");
}
