/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What of a symbol's name a compiler looks for in a profile. */
#ifndef BR2_PROFILE_SUFFIX_H
#define BR2_PROFILE_SUFFIX_H

#include <stddef.h>

/* LLVM's function attribute sample-profile-suffix-elision-policy, and what GCC does. */
enum br2_suffix_policy {
    BR2_SUFFIX_ALL,      /* cut at the first '.', clang's default */
    BR2_SUFFIX_SELECTED, /* cut .llvm.*, .part.* and .__uniq.*, each if last */
    BR2_SUFFIX_NONE,
    BR2_SUFFIX_GCC,    /* cut at the first '.', also where nothing is left: GCC up to 15 */
    BR2_SUFFIX_GCC_16, /* cut .isra .constprop .lto_priv .part .cold from the end, with their .N */
};

/* Length of the part of `name` that the compiler keeps. With `keep_unique`, ".__uniq." stays: for
 * a program built with -funique-internal-linkage-names. */
size_t br2_canonical_length(const char *name, size_t length, enum br2_suffix_policy policy,
                            int keep_unique);

#endif
