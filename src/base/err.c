/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void br2_make_printable(char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f) {
            text[i] = '?';
        }
    }
}

static void make_printable(char *text)
{
    br2_make_printable(text, strlen(text));
}

int br2_fail(struct br2pgo_error *err, int status, const char *format, ...)
{
    if (err != NULL) {
        err->status = status;
        err->hint[0] = '\0';
        va_list args;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        make_printable(err->message);
    }
    return status;
}

void br2_hint(struct br2pgo_error *err, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->hint, sizeof err->hint, format, args);
        va_end(args);
        make_printable(err->hint);
    }
}

void br2_prefix(struct br2pgo_error *err, const char *format, ...)
{
    if (err == NULL) {
        return;
    }
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = strlen(text);
    const char *const parts[] = {": ", err->message};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(parts[i]);
        size_t room = sizeof text - 1 - used;
        length = length < room ? length : room;
        memcpy(text + used, parts[i], length);
        used += length;
    }
    text[used] = '\0';
    make_printable(text);
    memcpy(err->message, text, sizeof text);
}

/* What to do about it, where the reason does not say that by itself; NULL. */
static const char *cure(int errnum)
{
    switch (errnum) {
    case ENOSPC:
        return "make room there, or name another folder";
    case EDQUOT:
        return "make room in the quota, or name another folder";
    case EFBIG:
        return "raise the limit (ulimit -f), or name another folder";
    default:
        return NULL;
    }
}

int br2_fail_io(struct br2pgo_error *err, const char *verb, const char *path, int errnum)
{
    char reason[128];
    /* The GNU strerror_r: may return a constant string instead of filling the buffer. */
    const char *text = strerror_r(errnum, reason, sizeof reason);
    br2_fail(err, BR2PGO_IO, "cannot %s '%s': %s", verb, path, text);
    if (cure(errnum) != NULL) {
        br2_hint(err, "%s", cure(errnum));
    }
    return BR2PGO_IO;
}

int br2_fail_memory(struct br2pgo_error *err)
{
    size_t limit;
    if (!br2_mem_limit_hit(&limit)) {
        return br2_fail(err, BR2PGO_NO_MEMORY, "out of memory");
    }
    const size_t mib = 1024 * 1024;
    br2_fail(err, BR2PGO_NO_MEMORY, "more memory is needed than the %zu %s that are allowed",
             limit >= mib ? limit / mib : limit, limit >= mib ? "MiB" : "bytes");
    br2_hint(err, "allow more (--max-memory), or convert fewer recordings or images at a time");
    return BR2PGO_NO_MEMORY;
}
