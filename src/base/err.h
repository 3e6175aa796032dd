/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Errors as values. A function that can fail returns an enum br2pgo_status (0 on success) and
 * takes `struct br2pgo_error *err` as its last argument; `err` may be NULL. Whoever detects the
 * failure fills it with one of these functions and returns their result; callers pass it on.
 */
#ifndef BR2_BASE_ERR_H
#define BR2_BASE_ERR_H

#include <stddef.h>

#include <br2pgo/error.h>

/* Fills `err` with `status` and a formatted message, clears the hint; returns `status`. */
int br2_fail(struct br2pgo_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "what to do" to an error just filled. */
void br2_hint(struct br2pgo_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "`prefix`: " before the message of an error filled deeper down. */
void br2_prefix(struct br2pgo_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "cannot `verb` '`path`': `strerror(errnum)`", where there is no room with a hint; returns
 * BR2PGO_IO. */
int br2_fail_io(struct br2pgo_error *err, const char *verb, const char *path, int errnum);

/* Replaces control characters: a name from a file may hold anything, but what is said about it is
 * one line on somebody's terminal. */
void br2_make_printable(char *text, size_t size);

/* "out of memory", or that the limit of base/mem.h is reached; returns BR2PGO_NO_MEMORY. */
int br2_fail_memory(struct br2pgo_error *err);

#endif
