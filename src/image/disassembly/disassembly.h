/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lib/br2pgo/br2pgo-disassembly.so: LLVM's disassemblers of machines whose instructions are decoded
 * here and only shown by LLVM. They are as large as all the rest, and what they need when they are
 * loaded would double the time that the program takes to start: it loads them when they are asked
 * for. What it finds by name:
 */
#ifndef BR2_IMAGE_DISASSEMBLY_DISASSEMBLY_H
#define BR2_IMAGE_DISASSEMBLY_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

#define BR2_DISASSEMBLY_NAME "br2pgo_disassembly"

struct br2_disassembly {
    /* NULL: LLVM has none for the machine. */
    void *(*open)(const char *triple, const char *features);
    void (*close)(void *context);
    /* Length of the instruction that `bytes` begin with, 0 where they are none, and its text. */
    size_t (*text)(void *context, uint8_t *bytes, size_t size, char *text, size_t text_size);
};

#endif
