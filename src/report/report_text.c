/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report's tables for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report_private.h"

#define NAME_MAX_WIDTH 90 /* a longer name, of templates, makes lines nobody reads */
#define NOTE_WIDTH     100
#define GAP            2

/* SGR sequences of ECMA-48, which every terminal of today knows. */
#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

void br2_report_decimals(struct br2_buf *out, double number, unsigned decimals)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++) {
        unit *= 10;
    }
    double wanted = number * (double)unit + 0.5;
    uint64_t scaled = wanted < 0x1p64 ? (uint64_t)wanted : UINT64_MAX;
    br2_buf_printf(out, "%" PRIu64 ".%0*" PRIu64, scaled / unit, (int)decimals, scaled % unit);
}

struct writer {
    struct br2_buf *out;
    bool color;
    const struct br2_report_table *table;
    bool shown[BR2_REPORT_COLUMNS_MAX];
    size_t widths[BR2_REPORT_COLUMNS_MAX];
    size_t last; /* column shown */
    struct br2_buf cell;
};

static bool is_number(enum br2_value_kind kind)
{
    return kind == BR2_VALUE_COUNT || kind == BR2_VALUE_SHARE || kind == BR2_VALUE_NUMBER ||
           kind == BR2_VALUE_LOW;
}

/* Characters, of UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void put_name(struct br2_buf *cell, const char *text)
{
    size_t before = cell->size;
    size_t length = strlen(text);
    if (width_of(text) > NAME_MAX_WIDTH) {
        size_t width = 0;
        for (length = 0; width < NAME_MAX_WIDTH - 3; length++) {
            width += ((unsigned char)text[length + 1] & 0xc0) != 0x80;
        }
    }
    br2_buf_put(cell, text, length);
    br2_buf_str(cell, text[length] != '\0' ? "..." : "");
    if (!cell->failed) {
        br2_make_printable((char *)cell->bytes + before, cell->size - before);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* What stands in a cell; a file and the line behind it are one. */
static const char *cell_text(struct writer *writer, size_t row, size_t column)
{
    const struct br2_report_value *value = &writer->table->rows[row].values[column];
    struct br2_buf *cell = &writer->cell;
    cell->size = 0;
    switch (writer->table->shape->columns[column].kind) {
    case BR2_VALUE_COUNT:
    case BR2_VALUE_LINE:
        br2_buf_printf(cell, value->known ? "%" PRIu64 : "-", value->is.count);
        break;
    case BR2_VALUE_ADDRESS:
        br2_buf_printf(cell, value->known ? "0x%" PRIx64 : "-", value->is.count);
        break;
    case BR2_VALUE_SHARE:
        if (value->known) {
            br2_report_decimals(cell, 100 * value->is.number, 1);
        }
        br2_buf_str(cell, value->known ? "%" : "-");
        break;
    case BR2_VALUE_LOW: /* with the column behind it */
    case BR2_VALUE_HIGH:
        if (value->known) {
            br2_report_decimals(cell, 100 * value->is.number, 1);
            br2_buf_u8(cell, '-');
            br2_report_decimals(cell, 100 * value[1].is.number, 1);
        }
        br2_buf_str(cell, value->known ? "%" : "-");
        break;
    case BR2_VALUE_NUMBER:
        if (value->known) {
            br2_report_decimals(cell, value->is.number, 2);
        } else {
            br2_buf_str(cell, "-");
        }
        break;
    case BR2_VALUE_FILE:
        put_name(cell, value->known ? base_name(value->is.text) : "-");
        if (value[1].known) {
            br2_buf_printf(cell, ":%" PRIu64, value[1].is.count);
        }
        break;
    case BR2_VALUE_TEXT:
        put_name(cell, value->known ? value->is.text : "-");
        break;
    }
    br2_buf_u8(cell, '\0');
    return cell->failed ? "" : (const char *)cell->bytes;
}

static void color(const struct writer *writer, const char *sequence)
{
    br2_buf_str(writer->out, writer->color ? sequence : "");
}

static void put_padded(const struct writer *writer, size_t column, const char *text)
{
    size_t width = width_of(text);
    size_t room = writer->widths[column] > width ? writer->widths[column] - width : 0;
    bool right = is_number(writer->table->shape->columns[column].kind);
    if (right) {
        br2_buf_printf(writer->out, "%*s", (int)room, "");
    }
    br2_buf_str(writer->out, text);
    if (column != writer->last) {
        br2_buf_printf(writer->out, "%*s", (int)((right ? 0 : room) + GAP), "");
    }
}

static void widen(struct writer *writer, size_t column, const char *text)
{
    size_t width = text != NULL ? width_of(text) : 0;
    writer->widths[column] = width > writer->widths[column] ? width : writer->widths[column];
}

/* What stands above a column. */
static const char *heading_of(const struct br2_report_column *column)
{
    return column->kind == BR2_VALUE_LOW ? "95 % interval" : column->name;
}

static void measure(struct writer *writer)
{
    const struct br2_report_table *table = writer->table;
    for (size_t k = 0; k < table->shape->column_count; k++) {
        const struct br2_report_column *column = &table->shape->columns[k];
        bool known = false;
        for (size_t i = 0; !known && i < table->row_count; i++) {
            known = table->rows[i].values[k].known;
        }
        writer->shown[k] = known && !column->detail && column->kind != BR2_VALUE_LINE &&
                           column->kind != BR2_VALUE_HIGH;
        writer->widths[k] = 0;
        if (!writer->shown[k]) {
            continue;
        }
        writer->last = k;
        widen(writer, k, heading_of(column));
        widen(writer, k, column->unit);
        for (size_t i = 0; i < table->row_count; i++) {
            widen(writer, k, cell_text(writer, i, k));
        }
    }
}

/* The names of the columns, or their units. */
static void put_heading(struct writer *writer, bool units)
{
    const struct br2_report_shape *shape = writer->table->shape;
    color(writer, units ? DIM : BOLD);
    for (size_t k = 0; k < shape->column_count; k++) {
        const char *text = units ? shape->columns[k].unit : heading_of(&shape->columns[k]);
        if (!writer->shown[k]) {
            continue;
        }
        writer->cell.size = 0;
        for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
            br2_buf_u8(&writer->cell, (uint8_t)(*at == '_' ? ' ' : *at));
        }
        br2_buf_u8(&writer->cell, '\0');
        put_padded(writer, k, writer->cell.failed ? "" : (const char *)writer->cell.bytes);
    }
    while (!writer->out->failed && writer->out->bytes[writer->out->size - 1] == ' ') {
        writer->out->size--; /* what the last column has none of */
    }
    color(writer, PLAIN);
    br2_buf_u8(writer->out, '\n');
}

static bool has_units(const struct writer *writer)
{
    const struct br2_report_shape *shape = writer->table->shape;
    bool any = false;
    for (size_t k = 0; k < shape->column_count; k++) {
        any = any || (writer->shown[k] && shape->columns[k].unit != NULL);
    }
    return any;
}

static void put_rows(struct writer *writer)
{
    const struct br2_report_shape *shape = writer->table->shape;
    for (size_t i = 0; i < writer->table->row_count; i++) {
        for (size_t k = 0; k < shape->column_count; k++) {
            if (writer->shown[k]) {
                bool advice = strcmp(shape->columns[k].name, "advice") == 0;
                color(writer, advice ? YELLOW : "");
                put_padded(writer, k, cell_text(writer, i, k));
                color(writer, advice ? PLAIN : "");
            }
        }
        br2_buf_u8(writer->out, '\n');
    }
}

/* In lines of NOTE_WIDTH at most, broken between words. */
static void put_note(const struct writer *writer, const char *note)
{
    size_t used = 0;
    while (*note != '\0') {
        size_t length = strcspn(note, " ");
        if (used != 0) {
            bool breaks = used + 1 + length > NOTE_WIDTH;
            br2_buf_u8(writer->out, breaks ? '\n' : ' ');
            used = breaks ? 0 : used + 1;
        }
        br2_buf_put(writer->out, note, length);
        used += length;
        note += length + (note[length] == ' ');
    }
    br2_buf_u8(writer->out, '\n');
}

static void put_table(struct writer *writer)
{
    const struct br2_report_table *table = writer->table;
    measure(writer);
    color(writer, BOLD);
    br2_buf_str(writer->out, table->shape->title);
    color(writer, PLAIN);
    if (table->left_out != 0) {
        br2_buf_printf(writer->out, " (%zu of %zu)", table->row_count,
                       table->row_count + table->left_out);
    }
    br2_buf_u8(writer->out, '\n');
    if (table->shape->note != NULL) {
        color(writer, DIM);
        put_note(writer, table->shape->note);
        color(writer, PLAIN);
    }
    if (table->row_count == 0) {
        br2_buf_str(writer->out, "nothing was seen\n");
        return;
    }
    put_heading(writer, false);
    if (has_units(writer)) {
        put_heading(writer, true);
    }
    put_rows(writer);
}

void br2_report_text(const struct br2_report *report, bool with_color, struct br2_buf *out)
{
    struct writer writer = {.out = out, .color = with_color};
    bool first = true;
    for (size_t i = 0; i < report->table_count; i++) {
        writer.table = &report->tables[i];
        if (writer.table->shape->detail && !report->whole) {
            continue;
        }
        if (!first) {
            br2_buf_u8(out, '\n');
        }
        first = false;
        put_table(&writer);
    }
    out->failed = out->failed || writer.cell.failed;
    br2_buf_done(&writer.cell);
}
