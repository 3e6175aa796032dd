/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/tally_report.h"

/* Lines of the source shown before and behind one that has a count. */
#define AROUND 2

struct source {
    struct br2_file file;
    const char *at; /* the line to come */
    uint32_t line;  /* its number */
};

static bool open_source(struct source *source, const char *path, const char *sysroot)
{
    char *full = br2_format("%s%s", sysroot != NULL ? sysroot : "", path);
    bool open = full != NULL && br2_file_is_regular(full) &&
                br2_file_open(&source->file, full, NULL, NULL) == 0;
    br2_free(full);
    source->at = (const char *)source->file.bytes;
    source->line = 1;
    return open && source->file.size != 0;
}

/* The next line, without its end; false behind the last. */
static bool next_line(struct source *source, const char **ret, size_t *ret_length)
{
    const char *end = (const char *)source->file.bytes + source->file.size;
    if (source->at == end) {
        return false;
    }
    const char *newline = memchr(source->at, '\n', (size_t)(end - source->at));
    *ret = source->at;
    *ret_length = (size_t)((newline != NULL ? newline : end) - source->at);
    source->at = newline != NULL ? newline + 1 : end;
    source->line++;
    return true;
}

/* Lines up to AROUND behind the counted ones, in one piece with those before the next. */
static void print_file(struct source *source, const struct br2_line_count *lines, size_t count,
                       struct br2_buf *out)
{
    const char *text;
    size_t length;
    size_t next = 0;      /* of `lines` */
    uint32_t until = 0;   /* the last line to be shown for what was counted before */
    uint32_t printed = 0; /* the last line that was */
    uint32_t number = source->line;
    for (; next_line(source, &text, &length); number = source->line) {
        bool counted = next < count && lines[next].line == number;
        bool before = next < count && lines[next].line <= number + AROUND;
        if (!counted && !before && number > until) {
            continue;
        }
        if (printed != 0 && printed + 1 != number) {
            br2_buf_str(out, "                   ...\n");
        }
        if (counted) {
            br2_buf_printf(out, "%14" PRIu64, lines[next++].count);
            until = number + AROUND;
        } else {
            br2_buf_printf(out, "%14s", "");
        }
        br2_buf_printf(out, " %6" PRIu32 "  %.*s\n", number, (int)length, text);
        printed = number;
    }
    for (; next < count; next++) {
        br2_buf_printf(out, "%14" PRIu64 " %6" PRIu32 "  (the file has no such line)\n",
                       lines[next].count, lines[next].line);
    }
}

void br2_annotate_lines(const struct br2_line_count *lines, size_t count, const char *sysroot,
                        struct br2_buf *out)
{
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && strcmp(lines[end].file, lines[i].file) == 0) {
            end++;
        }
        struct source source = {0};
        const char *name = lines[i].file[0] != '\0' ? lines[i].file : "a file without a name";
        if (open_source(&source, lines[i].file, sysroot)) {
            br2_buf_printf(out, "%s%s\n", i != 0 ? "\n" : "", name);
            print_file(&source, lines + i, end - i, out);
        } else {
            br2_buf_printf(out, "%s%s: not found, these are its lines\n", i != 0 ? "\n" : "", name);
            for (size_t k = i; k < end; k++) {
                br2_buf_printf(out, "%14" PRIu64 " %6" PRIu32 "\n", lines[k].count, lines[k].line);
            }
        }
        br2_file_close(&source.file);
        i = end;
    }
}
