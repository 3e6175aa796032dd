/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a recording. */
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = fuzz_file(data, size, path);
    fuzz_read(path);
    close(fd);
    return 0;
}
