/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One byte of a file goes wrong at a time, always the same ones: what every format must survive. */
#ifndef BR2_TEST_CORRUPTION_H
#define BR2_TEST_CORRUPTION_H

#include "tests/fault/outcome.h"

/* In each file; more when the variable says so. */
#define CORRUPTIONS          10000u
#define CORRUPTIONS_VARIABLE "BR2PGO_CORRUPTIONS"

static inline size_t corruption_count(void)
{
    const char *text = getenv(CORRUPTIONS_VARIABLE);
    unsigned long count = text != NULL ? strtoul(text, NULL, 10) : 0;
    return count != 0 ? count : CORRUPTIONS;
}

/* Puts one byte of a file into place. */
static inline void put_byte(const char *path, size_t at, char byte)
{
    FILE *file = fopen(path, "r+b");
    fixture_need(file != NULL && fseek(file, (long)at, SEEK_SET) == 0 && fputc(byte, file) != EOF &&
                     fclose(file) == 0,
                 path);
}

/*
 * Changes one byte of `path` at a time, `count` times, and calls `attempt`, which returns 0 where
 * the file was accepted and fails the test for what may not be. Returns how many were accepted. The
 * file is as it was in the end.
 */
static inline size_t corrupt_file(const char *path, size_t count, uint64_t seed,
                                  int (*attempt)(size_t number, const char *what))
{
    size_t size = 0;
    size_t accepted = 0;
    char *bytes = fixture_load(path, &size);
    fixture_need(bytes != NULL && size != 0, path);
    for (size_t i = 0; i < count; i++) {
        size_t at = next_random(&seed) % size;
        char bad = (char)(bytes[at] ^ (char)(1 + next_random(&seed) % 255));
        char what[160];
        snprintf(what, sizeof what, "%s, byte %zu 0x%02x to 0x%02x", path, at,
                 (unsigned)(unsigned char)bytes[at], (unsigned)(unsigned char)bad);
        put_byte(path, at, bad);
        accepted += attempt(i, what) == 0;
        put_byte(path, at, bytes[at]);
    }
    free(bytes);
    return accepted;
}

/* Room for files that need not come to a disk. */
static inline void work_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0);
    }
}

#endif
