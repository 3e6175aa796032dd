/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "profile/suffix.h"

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

size_t br2_canonical_length(const char *name, size_t length, enum br2_suffix_policy policy,
                            int keep_unique)
{
    if (policy == BR2_SUFFIX_NONE || length == 0) {
        return length;
    }
    if (policy == BR2_SUFFIX_ALL) {
        const char *dot = memchr(name + 1, '.', length - 1);
        return dot != NULL ? (size_t)(dot - name) : length;
    }
    length = cut_last(name, length, ".llvm.");
    length = cut_last(name, length, ".part.");
    return keep_unique ? length : cut_last(name, length, ".__uniq.");
}
