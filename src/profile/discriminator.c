/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "profile/discriminator.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int br2_gcc_major(const char *producer)
{
    if (strncmp(producer, "GNU ", 4) != 0) {
        return 0;
    }
    /* The first word that starts with a digit. */
    for (const char *at = producer; *at != '\0'; at++) {
        if (at[0] == ' ' && isdigit((unsigned char)at[1])) {
            long major = strtol(at + 1, NULL, 10);
            return major <= 9999 ? (int)major : 0;
        }
    }
    return 0;
}

enum br2_discriminator_scheme br2_discriminator_scheme_of(const char *producer,
                                                          bool fs_discriminators)
{
    if (strncmp(producer, "GNU ", 4) == 0) {
        return br2_gcc_major(producer) >= 16 ? BR2_DISCRIMINATOR_GCC : BR2_DISCRIMINATOR_PLAIN;
    }
    if (fs_discriminators) {
        return BR2_DISCRIMINATOR_LLVM_FS;
    }
    bool llvm = strstr(producer, "clang") != NULL || strstr(producer, "LLVM") != NULL ||
                strstr(producer, "rustc") != NULL || strstr(producer, "LDC") != NULL ||
                strstr(producer, "flang") != NULL;
    return llvm ? BR2_DISCRIMINATOR_LLVM : BR2_DISCRIMINATOR_PLAIN;
}

/* A component is one bit `1` for 0, else a `0` bit, five bits, and, where the next bit says so,
 * seven more (llvm::DILocation::getPrefixEncodingFromUnsigned). */
static uint32_t llvm_component(uint32_t raw)
{
    if ((raw & 1) != 0) {
        return 0;
    }
    raw >>= 1;
    return (raw & 0x20) != 0 ? (raw >> 1 & 0xfe0) | (raw & 0x1f) : raw & 0x1f;
}

static uint32_t llvm_next(uint32_t raw)
{
    if ((raw & 1) != 0) {
        return raw >> 1;
    }
    return raw >> ((raw & 0x40) != 0 ? 14 : 7);
}

static struct br2_discriminator decode_llvm(uint32_t raw)
{
    uint32_t rest = llvm_next(raw);
    uint32_t factor = llvm_component(rest);
    return (struct br2_discriminator){
        .base = llvm_component(raw),
        .factor = factor != 0 ? factor : 1,
        .copy = llvm_component(llvm_next(rest)),
    };
}

static struct br2_discriminator decode_gcc(uint32_t raw)
{
    uint32_t multiplicity = raw >> 8 & 0x7f;
    return (struct br2_discriminator){
        .base = raw & 0xff,
        .factor = multiplicity != 0 ? multiplicity : 1,
        .copy = raw >> 15 & 0x7ff,
    };
}

struct br2_discriminator br2_discriminator_decode(enum br2_discriminator_scheme scheme,
                                                  uint32_t raw)
{
    switch (scheme) {
    case BR2_DISCRIMINATOR_LLVM:
        return decode_llvm(raw);
    case BR2_DISCRIMINATOR_GCC:
        return decode_gcc(raw);
    case BR2_DISCRIMINATOR_PLAIN:
    case BR2_DISCRIMINATOR_LLVM_FS:
        break;
    }
    return (struct br2_discriminator){.base = raw, .factor = 1};
}
