/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the emulator's plugin takes instructions for: classify x86_64|aarch64|riscv64
 * reads lines "ADDRESS BYTES", both hexadecimal, and writes for each transfer a line
 * "ADDRESS KIND TARGET", the target 0 where it is indirect.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/plugin/code.h"

typedef struct br2_transfer (*classify)(const uint8_t *bytes, size_t size, uint64_t address);

static classify choose(const char *machine)
{
    static const struct {
        const char *name;
        classify call;
    } machines[] = {
        {"x86_64", br2_classify_x86},
        {"aarch64", br2_classify_aarch64},
        {"riscv64", br2_classify_riscv},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (strcmp(machines[i].name, machine) == 0) {
            return machines[i].call;
        }
    }
    return NULL;
}

static size_t read_bytes(const char *text, uint8_t *ret, size_t room)
{
    size_t size = 0;
    while (size < room && text[0] > ' ' && text[1] > ' ') {
        char pair[3] = {text[0], text[1], '\0'};
        ret[size++] = (uint8_t)strtoul(pair, NULL, 16);
        text += 2;
    }
    return size;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"plain", "cond",  "jump",   "call",
                                        "icall", "ijump", "return", "repeat"};
    classify call = argc == 2 ? choose(argv[1]) : NULL;
    char line[128];
    if (call == NULL) {
        fprintf(stderr, "usage: classify x86_64|aarch64|riscv64\n");
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *at;
        uint8_t bytes[16];
        uint64_t address = strtoull(line, &at, 16);
        size_t size = read_bytes(at + strspn(at, " "), bytes, sizeof bytes);
        struct br2_transfer transfer = {BR2_BLOCK_PLAIN, 0};
        if (size != 0) {
            transfer = call(bytes, size, address);
        }
        if (transfer.kind != BR2_BLOCK_PLAIN) {
            printf("%" PRIx64 " %s %" PRIx64 "\n", address, names[transfer.kind], transfer.target);
        }
    }
    return 0;
}
