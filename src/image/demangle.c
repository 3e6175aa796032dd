/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

#include "base/mem.h"

char *br2_demangle(const char *symbol)
{
    if (symbol[0] != '_') { /* those of D begin so too; other languages are not looked for */
        return NULL;
    }
    char *readable = cplus_demangle(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    char *copy = readable != NULL ? br2_strdup(readable) : NULL;
    free(readable);
    return copy;
}
