/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#include "base/buf.h"
#include "base/limits.h"

struct readable {
    struct br2_buf text;
    jmp_buf too_long;
};

/* A name may refer to its own parts, each time twice: every few letters double what is printed.
 * libiberty asks nobody whether to go on, so what stops it is a jump. Of C++ it has nothing
 * allocated while it prints, of Rust at most one identifier, which is lost then. */
static void add(const char *part, size_t size, void *user)
{
    struct readable *readable = user;
    if (size > BR2_READABLE_NAME_MAX - readable->text.size) {
        longjmp(readable->too_long, 1);
    }
    br2_buf_put(&readable->text, part, size);
}

static bool print(const char *symbol, struct readable *readable)
{
    if (setjmp(readable->too_long) != 0) {
        return false;
    }
    /* Names of Rust's older mangling are names of C++ too. */
    if (rust_demangle_callback(symbol, DMGL_PARAMS | DMGL_ANSI, add, readable) != 0) {
        return true;
    }
    readable->text.size = 0;
    return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, add, readable) != 0;
}

char *br2_demangle(const char *symbol)
{
    if (symbol[0] != '_') { /* those of D begin so too; other languages are not looked for */
        return NULL;
    }
    struct readable readable = {.text = {0}};
    bool known = print(symbol, &readable);
    br2_buf_u8(&readable.text, '\0');
    if (!known || readable.text.failed) {
        br2_buf_done(&readable.text);
        return NULL;
    }
    return (char *)readable.text.bytes;
}
