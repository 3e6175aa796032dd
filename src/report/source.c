/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The source lines of the hottest functions, with their text where the file is still where the
 * compiler found it. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/file.h"
#include "report/report_private.h"

#define USUAL_FUNCTIONS 20
/* Lines without code between two with code are shown where they are so few. */
#define GAP_MAX 4
/* Bytes of a line that are shown, and columns of a tab. */
#define TEXT_MAX 200
#define TAB      8

enum {
    S_FUNCTION,
    S_FILE,
    S_LINE,
    S_COUNT,
    S_TEXT,
    S_NAME,
    S_COLUMNS
};

static const struct br2_report_column columns[S_COLUMNS] = {
    [S_FUNCTION] = {"function_address", NULL, BR2_VALUE_ADDRESS, true},
    [S_FILE] = {"file", NULL, BR2_VALUE_FILE, false},
    [S_LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [S_COUNT] = {"count", "executions", BR2_VALUE_COUNT, false},
    [S_TEXT] = {"text", NULL, BR2_VALUE_TEXT, false},
    [S_NAME] = {"function", NULL, BR2_VALUE_TEXT, true},
};

static const struct br2_report_shape shape = {
    .name = "source",
    .section = "source",
    .title = "Source lines of the hottest functions",
    .note =
        "A line counts as often as the instruction of it that ran most. The text is that of the "
        "file today.",
    .columns = columns,
    .column_count = S_COLUMNS,
    .detail = true,
};

struct line {
    const char *file;
    uint64_t number;
    uint64_t count;
};

struct lines {
    struct line *items; /* owned */
    size_t count;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    int order = strcmp(left->file, right->file);
    return order != 0 ? order : br2_compare_u64(left->number, right->number);
}

/* The lines of a function's instructions, each once, in order. */
static int collect(struct br2_report_maker *maker, const struct br2_flow_function *function,
                   struct lines *ret, struct br2pgo_error *err)
{
    *ret = (struct lines){.items = br2_calloc(function->code.count + 1, sizeof *ret->items)};
    if (ret->items == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < function->code.count; i++) {
        struct br2_report_place place;
        int rc = br2_report_place(maker, function->code.insns[i].address, &place, err);
        if (rc != 0) {
            return rc;
        }
        if (place.file.known && place.line.known) {
            ret->items[ret->count++] =
                (struct line){place.file.is.text, place.line.is.count, function->counts[i]};
        }
    }
    qsort(ret->items, ret->count, sizeof *ret->items, compare_lines);
    size_t kept = 0;
    for (size_t i = 0; i < ret->count; i++) {
        if (kept != 0 && compare_lines(&ret->items[kept - 1], &ret->items[i]) == 0) {
            struct line *same = &ret->items[kept - 1];
            same->count = same->count > ret->items[i].count ? same->count : ret->items[i].count;
        } else {
            ret->items[kept++] = ret->items[i];
        }
    }
    ret->count = kept;
    return 0;
}

/* A file that is read line by line. */
struct text {
    struct br2_file file;
    const char *path; /* NULL: none is open */
    size_t at;
    uint64_t number; /* of the line at `at` */
};

static void open_text(struct text *text, const char *path)
{
    *text = (struct text){.path = path, .number = 1};
    if (path[0] != '/' || !br2_file_is_regular(path) ||
        br2_file_open(&text->file, path, NULL, NULL) != 0) {
        text->file = (struct br2_file){0};
    }
}

static size_t line_end(const struct text *text)
{
    const uint8_t *start = text->file.bytes + text->at;
    const uint8_t *end = memchr(start, '\n', text->file.size - text->at);
    return end != NULL ? (size_t)(end - text->file.bytes) : text->file.size;
}

/* Goes on to that line, which is not before where it is; false where there is none. */
static bool go_to(struct text *text, uint64_t number)
{
    while (text->number < number && text->at < text->file.size) {
        text->at = line_end(text) + 1;
        text->number++;
    }
    return text->at < text->file.size && text->number == number;
}

/* The line as it is shown: without control characters, tabs as spaces. */
static struct br2_report_value shown(struct br2_report_maker *maker, const struct text *text)
{
    char copy[TEXT_MAX + TAB + 1];
    size_t length = 0;
    size_t end = line_end(text);
    for (size_t i = text->at; i < end && length < TEXT_MAX; i++) {
        uint8_t c = text->file.bytes[i];
        size_t spaces = c == '\t' ? TAB - length % TAB : 1;
        memset(copy + length, c < ' ' || c == 0x7f ? ' ' : c, spaces);
        length += spaces;
    }
    while (length >= TEXT_MAX && length != 0 && ((uint8_t)copy[length - 1] & 0x80) != 0) {
        length--; /* not within a character */
    }
    copy[length] = '\0';
    return br2_value_copy(maker, copy);
}

struct listing {
    struct br2_report_maker *maker;
    struct br2_report_table *table;
    uint64_t address;
    const char *name;
    struct text text;
};

static void add_row(struct listing *listing, const struct line *line, bool counted)
{
    struct br2_report_value *row = br2_report_row(listing->maker, listing->table, 0);
    row[S_FUNCTION] = br2_value_count(listing->address);
    row[S_FILE] = br2_value_text(line->file);
    row[S_LINE] = br2_value_count(line->number);
    if (counted) {
        row[S_COUNT] = br2_value_count(line->count);
    }
    if (go_to(&listing->text, line->number)) {
        row[S_TEXT] = shown(listing->maker, &listing->text);
    }
    row[S_NAME] = br2_value_text(listing->name);
}

static void add_lines(struct listing *listing, const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct line *line = &lines->items[i];
        const struct line *before = i != 0 ? line - 1 : NULL;
        bool same = before != NULL && strcmp(before->file, line->file) == 0;
        if (!same) {
            br2_file_close(&listing->text.file);
            open_text(&listing->text, line->file);
        }
        bool near = same && line->number - before->number <= GAP_MAX + 1;
        for (uint64_t gap = near ? before->number + 1 : line->number; gap < line->number; gap++) {
            add_row(listing, &(struct line){line->file, gap, 0}, false);
        }
        add_row(listing, line, true);
    }
    br2_file_close(&listing->text.file);
    listing->text = (struct text){0};
}

int br2_report_source(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    size_t count;
    uint32_t *functions = br2_report_hottest(maker, USUAL_FUNCTIONS, &count);
    if (functions == NULL) {
        return br2_fail_memory(err);
    }
    struct listing listing = {.maker = maker, .table = br2_report_begin(maker, &shape)};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct br2_flow_function *function = &maker->graph->functions[functions[i]];
        struct lines lines;
        rc = collect(maker, function, &lines, err);
        if (rc == 0) {
            listing.address = function->range->start;
            listing.name = maker->names[functions[i]];
            add_lines(&listing, &lines);
        }
        br2_free(lines.items);
    }
    br2_free(functions);
    return rc;
}
