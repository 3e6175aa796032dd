/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a compiler packs into a DWARF discriminator. */
#ifndef BR2_PROFILE_DISCRIMINATOR_H
#define BR2_PROFILE_DISCRIMINATOR_H

#include <stdbool.h>
#include <stdint.h>

enum br2_discriminator_scheme {
    BR2_DISCRIMINATOR_PLAIN,   /* the number itself: GCC up to 15, unknown compilers */
    BR2_DISCRIMINATOR_LLVM,    /* llvm/IR/DebugInfoMetadata.h: base, duplication factor, copy */
    BR2_DISCRIMINATOR_LLVM_FS, /* flow-sensitive: the whole number is the key */
    BR2_DISCRIMINATOR_GCC,     /* GCC 16 and later: base 8 bits, multiplicity 7, copy 11 */
};

struct br2_discriminator {
    uint32_t base;   /* what a profile is keyed by */
    uint32_t factor; /* how many original executions one execution stands for, at least 1 */
    uint32_t copy;
};

/* Major version of the GCC that DW_AT_producer names, e.g. "GNU C17 12.2.0 -O2"; 0: not GCC. */
int br2_gcc_major(const char *producer);

/* From DW_AT_producer and the presence of LLVM's flow-sensitive marker. */
enum br2_discriminator_scheme br2_discriminator_scheme_of(const char *producer,
                                                          bool fs_discriminators);
struct br2_discriminator br2_discriminator_decode(enum br2_discriminator_scheme scheme,
                                                  uint32_t raw);

#endif
