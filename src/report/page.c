/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/page.h"

#include <jansson.h>
#include <string.h>

#include "report/json.h"

/* In JSON '<' is only found in strings, where "\u003c" is the same: no text of a program can end
 * the script element it is in. */
static int append(const char *text, size_t size, void *user)
{
    struct br2_buf *out = user;
    for (size_t at = 0; at < size;) {
        const char *tag = memchr(text + at, '<', size - at);
        size_t length = tag != NULL ? (size_t)(tag - text) - at : size - at;
        br2_buf_put(out, text + at, length);
        if (tag != NULL) {
            br2_buf_str(out, "\\u003c");
            length++;
        }
        at += length;
    }
    return out->failed ? -1 : 0;
}

int br2_report_page(json_t *report, size_t members, struct br2_buf *out, struct br2pgo_error *err)
{
    int rc = -1;
    report = br2_json_whole(report, members);
    if (report != NULL) {
        br2_buf_put(out, br2_page_before, br2_page_before_size);
        rc = json_dump_callback(report, append, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
        br2_buf_put(out, br2_page_after, br2_page_after_size);
    }
    json_decref(report);
    return rc == 0 && !out->failed ? 0 : br2_fail_memory(err);
}
