/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* In place of libFuzzer, for any compiler: calls the target with every file named, and with some
 * damaged versions of each, always the same: replay [-r ROUNDS] FILE... */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* Of exactly this size, so that a sanitizer sees reads past the end. */
static void call(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size != 0 ? size : 1);
    if (copy == NULL) {
        __builtin_trap();
    }
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static size_t load(const char *path, uint8_t *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void replay(const char *path, unsigned rounds)
{
    static uint8_t bytes[1 << 20];
    size_t size = load(path, bytes, sizeof bytes);
    uint64_t random = size + 1;
    call(bytes, size);
    for (unsigned i = 0; i < rounds && size != 0; i++) {
        size_t at = next_random(&random) % size;
        uint8_t old = bytes[at];
        bytes[at] = (uint8_t)next_random(&random);
        call(bytes, i % 4 == 0 ? next_random(&random) % (size + 1) : size);
        bytes[at] = i % 8 == 0 ? bytes[at] : old; /* some damage stays */
    }
}

int main(int argc, char **argv)
{
    unsigned rounds = 300;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-r") == 0) {
        rounds = (unsigned)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        replay(argv[i], rounds);
    }
    printf("%d files, %u damaged versions of each\n", argc - first, rounds);
    return argc > first ? 0 : 1;
}
