/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the places of a profile are in the source. */
#include "lib/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"
#include "image/debug.h"
#include "report/tally_report.h"

/* Where the functions of a name are declared. */
struct declaration {
    const char *file; /* NULL: not known */
    uint32_t line;
};

struct annotator {
    const struct br2_tally *tally;
    struct br2_image *image;
    struct br2_debug *debug;
    struct declaration *declarations; /* by name number */
    size_t name_count;
    struct br2_line_count *lines;
    size_t line_count;
    size_t line_capacity;
    uint32_t found;    /* the function of the last offset, whose items are together ... */
    uint64_t start;    /* ... and where it begins; 0: it is not in the image */
    uint64_t sum;      /* of what is shown */
    uint64_t unplaced; /* counts of which no line is known */
};

/* The first that is read decides: two static functions of one name cannot be told apart. */
static void declare(struct annotator *a, const struct br2_scope *scope)
{
    const struct br2_strings *names = &a->tally->names->names;
    uint32_t name = br2_strings_find(names, scope->name, strlen(scope->name));
    if (name >= a->name_count || a->declarations[name].file != NULL || scope->decl_line == 0) {
        return;
    }
    a->declarations[name] =
        (struct declaration){br2_debug_file_path(scope->decl_file), scope->decl_line};
}

/* All functions of the image, and what is inlined in them: profiles name both. */
static int read_declarations(struct annotator *a, struct br2pgo_error *err)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(a->image, &ranges);
    a->name_count = a->tally->names->names.count;
    a->declarations = br2_calloc(a->name_count + 1, sizeof *a->declarations);
    int rc = a->declarations != NULL ? 0 : br2_fail_memory(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct br2_debug_function *function;
        rc = br2_debug_function_at(a->debug, ranges[i].start, &function, err);
        for (size_t k = 0; rc == 0 && function != NULL && k < function->scope_count; k++) {
            declare(a, &function->scopes[k]);
        }
    }
    return rc;
}

static bool add_line(struct annotator *a, const char *file, uint32_t line, uint64_t count)
{
    if (!br2_grow(&a->lines, &a->line_capacity, a->line_count, sizeof *a->lines)) {
        return false;
    }
    a->lines[a->line_count++] = (struct br2_line_count){file, line, count};
    return true;
}

/* A place by line: an offset from where its innermost function is declared. */
static int place_line(struct annotator *a, const struct br2_tally_item *item,
                      struct br2pgo_error *err)
{
    uint32_t name = br2_tally_innermost(a->tally, item);
    const struct declaration *declaration = &a->declarations[name];
    if (declaration->file == NULL) {
        a->unplaced = br2_add_saturated(a->unplaced, item->count);
        return 0;
    }
    /* Lines before the declaration have wrapped around at 16 bits. */
    uint32_t line = declaration->line + (uint32_t)item->first;
    if (item->first > INT16_MAX && declaration->line > UINT16_MAX + 1 - item->first) {
        line -= UINT16_MAX + 1;
    }
    return add_line(a, declaration->file, line, item->count) ? 0 : br2_fail_memory(err);
}

/* Where a function begins, named as BOLT names it: static ones have "/" and more behind the symbol.
 * 0: there is none. */
static uint64_t find_function(const struct annotator *a, uint32_t function)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(a->image, &ranges);
    const char *name = br2_tally_name(a->tally, function);
    size_t length = strcspn(name, "/");
    for (size_t i = 0; i < count; i++) {
        if (strncmp(ranges[i].name, name, length) == 0 && ranges[i].name[length] == '\0') {
            return ranges[i].start;
        }
    }
    return 0;
}

/* The address of an offset in a function; 0: there is no such function. */
static uint64_t find_offset(struct annotator *a, const struct br2_tally_item *item)
{
    if (a->found != item->function) {
        a->found = item->function;
        a->start = find_function(a, item->function);
    }
    return a->start != 0 ? a->start + item->first : 0;
}

static int place_address(struct annotator *a, const struct br2_tally_item *item,
                         struct br2pgo_error *err)
{
    uint64_t address = a->tally->terms == BR2_TALLY_ADDRESSES ? item->first : find_offset(a, item);
    const struct br2_debug_function *function = NULL;
    int rc = address != 0 ? br2_debug_function_at(a->debug, address, &function, err) : 0;
    if (rc != 0) {
        return rc;
    }
    const struct br2_location *location =
        function != NULL ? br2_debug_location(function, address) : NULL;
    if (location == NULL || location->line == 0 || location->scope == BR2_NO_SCOPE) {
        a->unplaced = br2_add_saturated(a->unplaced, item->count);
        return 0;
    }
    const char *file = br2_debug_location_file(function, location);
    return add_line(a, file, location->line, item->count) ? 0 : br2_fail_memory(err);
}

static int compare_lines(const void *left, const void *right)
{
    const struct br2_line_count *a = left;
    const struct br2_line_count *b = right;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : br2_compare_u64(a->line, b->line);
}

/* Of one line, places of one instance are parts of it, and of several instances add up: all do. */
static void sum_lines(struct annotator *a)
{
    if (a->line_count != 0) {
        qsort(a->lines, a->line_count, sizeof *a->lines, compare_lines);
    }
    size_t kept = 0;
    for (size_t i = 0; i < a->line_count; i++) {
        if (kept != 0 && compare_lines(&a->lines[kept - 1], &a->lines[i]) == 0) {
            a->lines[kept - 1].count =
                br2_add_saturated(a->lines[kept - 1].count, a->lines[i].count);
        } else {
            a->lines[kept++] = a->lines[i];
        }
    }
    a->line_count = kept;
}

static int annotate(struct annotator *a, const struct br2pgo_show_options *options,
                    struct br2_buf *out, struct br2pgo_error *err)
{
    int rc = br2_image_open(options->annotate, &a->image, err);
    rc = rc != 0 ? rc : br2_debug_open(a->image, NULL, options->sysroot, &a->debug, err);
    bool by_line = a->tally->terms == BR2_TALLY_LINES;
    if (rc == 0 && by_line) {
        rc = read_declarations(a, err);
    }
    for (size_t i = 0; rc == 0 && i < a->tally->item_count; i++) {
        const struct br2_tally_item *item = &a->tally->items[i];
        a->sum = br2_add_saturated(a->sum, item->count);
        rc = by_line ? place_line(a, item, err) : place_address(a, item, err);
    }
    if (rc != 0) {
        return rc;
    }
    sum_lines(a);
    if (a->line_count == 0 || a->unplaced > a->sum / 2) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s' does not tell the source lines of the profile: %llu of %llu counts are of "
                 "none",
                 options->annotate, (unsigned long long)a->unplaced, (unsigned long long)a->sum);
        br2_hint(err, "give the program that the profile is of, with its debug information");
        return BR2PGO_USELESS;
    }
    br2_annotate_lines(a->lines, a->line_count, options->sysroot, out);
    if (a->unplaced != 0) {
        br2_buf_printf(out, "\n%14llu of %llu are of no line that '%s' tells\n",
                       (unsigned long long)a->unplaced, (unsigned long long)a->sum,
                       options->annotate);
    }
    return 0;
}

int br2_annotate(const struct br2_tally *tally, const struct br2pgo_show_options *options,
                 struct br2_buf *out, struct br2pgo_error *err)
{
    struct annotator annotator = {.tally = tally, .found = BR2_NO_STRING};
    int rc = annotate(&annotator, options, out, err);
    br2_free(annotator.lines);
    br2_free(annotator.declarations);
    br2_debug_close(annotator.debug);
    br2_image_close(annotator.image);
    return rc;
}
