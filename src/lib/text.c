/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/text.h"

#include <string.h>

int br2_take_text(int rc, struct br2_buf *buf, char **ret, struct br2pgo_error *err)
{
    br2_buf_u8(buf, '\0');
    if (rc == 0 && buf->failed) {
        rc = br2_fail_memory(err);
    }
    if (rc != 0) {
        br2_buf_done(buf);
        return rc;
    }
    *ret = (char *)buf->bytes;
    return 0;
}

void br2_printable_lines(struct br2_buf *buf)
{
    char *line = (char *)buf->bytes;
    char *end = line != NULL ? line + buf->size : NULL;
    while (line < end) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *line_end = newline != NULL ? newline : end;
        br2_make_printable(line, (size_t)(line_end - line));
        line = newline != NULL ? newline + 1 : end;
    }
}
