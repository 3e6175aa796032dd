/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the fuzz targets share. */
#ifndef BR2_TESTS_FUZZ_H
#define BR2_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory with these bytes; its name in `path`. Close the number returned. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[64])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        __builtin_trap();
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* A property that holds for every input. */
static inline void fuzz_require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "violated: %s\n", what);
        __builtin_trap();
    }
}

#endif
