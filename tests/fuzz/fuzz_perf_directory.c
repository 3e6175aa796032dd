/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a recording in a directory: the first two say how many are `data`, the rest is
 * data.0. */
#include <stdlib.h>
#include <sys/stat.h>

#include "reading.h"

static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    if (folder[0] != '\0') {
        return;
    }
    snprintf(folder, sizeof folder, "%s/br2-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL) {
        __builtin_trap();
    }
    atexit(remove_folder);
}

static void write_part(const char *name, const uint8_t *bytes, size_t size, char path[96])
{
    snprintf(path, 96, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char first[96];
    char second[96];
    if (size < 2) {
        return 0;
    }
    size_t left = size - 2;
    size_t length = (size_t)data[0] << 8 | data[1];
    length = length < left ? length : left;
    make_folder();
    write_part("data", data + 2, length, first);
    write_part("data.0", data + 2 + length, left - length, second);
    fuzz_read(folder);
    unlink(first);
    unlink(second);
    return 0;
}
