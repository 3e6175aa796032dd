/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loaded before the C library (LD_PRELOAD): one chosen system call of the program goes wrong.
 *
 *     BR2_FAULT=CALL:N:WHAT   the Nth call of CALL (1: the first) fails with errno WHAT, or with
 *                             "short" reads or writes one byte only; at "signal" SIGTERM comes
 * first BR2_FAULT_COUNTS=FILE   in the end, how often each call was made, a line "CALL COUNT" each
 *
 * Only in br2pgo itself: what it starts is left alone. Memory that is mapped without a file is not
 * counted, nor what the C library calls inside itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
    OPEN,
    READ,
    PREAD,
    WRITE,
    MMAP,
    FSTAT,
    FSYNC,
    CLOSE,
    RENAME,
    LINK,
    FCHMOD,
    CALL_COUNT
};

static const char *const names[] = {"open",  "read",  "pread",  "write", "mmap",  "fstat",
                                    "fsync", "close", "rename", "link",  "fchmod"};

static atomic_uint counts[CALL_COUNT];
static bool active;
static enum call chosen = CALL_COUNT;
static unsigned chosen_number;
static int chosen_errno; /* 0: short */
static bool chosen_signal;

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("BR2_FAULT");
    active = strcmp(program_invocation_short_name, "br2pgo") == 0;
    for (int i = 0; fault != NULL && i < CALL_COUNT; i++) {
        size_t length = strlen(names[i]);
        char *end;
        if (strncmp(fault, names[i], length) == 0 && fault[length] == ':') {
            chosen = (enum call)i;
            chosen_number = (unsigned)strtoul(fault + length + 1, &end, 10);
            chosen_errno = *end == ':' ? (int)strtol(end + 1, NULL, 10) : 0;
            chosen_signal = strcmp(end, ":signal") == 0;
        }
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("BR2_FAULT_COUNTS");
    FILE *file = active && path != NULL ? fopen(path, "w") : NULL;
    for (int i = 0; file != NULL && i < CALL_COUNT; i++) {
        fprintf(file, "%s %u\n", names[i], atomic_load(&counts[i]));
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Whether this call is the one that goes wrong. */
static bool is_chosen(enum call call)
{
    if (!active || atomic_fetch_add(&counts[call], 1) + 1 != chosen_number || call != chosen) {
        return false;
    }
    if (chosen_signal) {
        raise(SIGTERM);
    }
    return !chosen_signal;
}

/* Whether it fails, errno set. */
static bool fails(enum call call)
{
    if (!is_chosen(call)) {
        return false;
    }
    errno = chosen_errno;
    return true;
}

/* How much of a transfer is done; -1: it fails. */
static ssize_t portion(enum call call, size_t size)
{
    if (!is_chosen(call)) {
        return (ssize_t)size;
    }
    errno = chosen_errno;
    return chosen_errno != 0 ? -1 : size != 0;
}

/* `next`: the C library's function; ISO C has no cast to a pointer to a function. */
#define NEXT(name)                                                                                 \
    __typeof__(name) *next;                                                                        \
    do {                                                                                           \
        void *symbol = dlsym(RTLD_NEXT, #name);                                                    \
        memcpy(&next, &symbol, sizeof next);                                                       \
    } while (false)

static mode_t mode_of(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(args, unsigned) : 0;
}

int open(const char *path, int flags, ...)
{
    NEXT(open);
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return fails(OPEN) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    NEXT(open64);
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return fails(OPEN) ? -1 : next(path, flags, mode);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    NEXT(read);
    ssize_t left = portion(READ, size);
    return left < 0 ? -1 : next(fd, bytes, (size_t)left);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    NEXT(pread);
    ssize_t left = portion(PREAD, size);
    return left < 0 ? -1 : next(fd, bytes, (size_t)left, at);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    NEXT(pread64);
    ssize_t left = portion(PREAD, size);
    return left < 0 ? -1 : next(fd, bytes, (size_t)left, at);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    NEXT(write);
    ssize_t left = portion(WRITE, size);
    return left < 0 ? -1 : next(fd, bytes, (size_t)left);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    NEXT(mmap);
    return fd >= 0 && fails(MMAP) ? MAP_FAILED : next(address, size, protection, flags, fd, at);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t at)
{
    NEXT(mmap64);
    return fd >= 0 && fails(MMAP) ? MAP_FAILED : next(address, size, protection, flags, fd, at);
}

int fstat(int fd, struct stat *ret)
{
    NEXT(fstat);
    return fails(FSTAT) ? -1 : next(fd, ret);
}

int fstat64(int fd, struct stat64 *ret)
{
    NEXT(fstat64);
    return fails(FSTAT) ? -1 : next(fd, ret);
}

int fsync(int fd)
{
    NEXT(fsync);
    return fails(FSYNC) ? -1 : next(fd);
}

/* The file is closed all the same, as Linux does. */
int close(int fd)
{
    NEXT(close);
    int rc = next(fd);
    return fails(CLOSE) ? -1 : rc;
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return fails(RENAME) ? -1 : next(from, to);
}

int link(const char *from, const char *to)
{
    NEXT(link);
    return fails(LINK) ? -1 : next(from, to);
}

int fchmod(int fd, mode_t mode)
{
    NEXT(fchmod);
    return fails(FCHMOD) ? -1 : next(fd, mode);
}
