/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading at a place of a file; of its own, since the emulator's plugin needs it too. */
#ifndef BR2_BASE_READ_AT_H
#define BR2_BASE_READ_AT_H

#include <stddef.h>
#include <sys/types.h>

/* pread of all `size` bytes, or of as many as there are, in as many parts as it takes; -1 with
 * errno. */
ssize_t br2_read_at(int fd, void *bytes, size_t size, off_t at);

#endif
