/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

ssize_t br2_read_at(int fd, void *bytes, size_t size, off_t at)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = pread(fd, (char *)bytes + used, size - used, at + (off_t)used);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)used;
}
