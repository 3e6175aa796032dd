/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report's tables as JSON and as CSV. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "report/json.h"
#include "report/report_private.h"

static json_t *value_json(const struct br2_report_column *column,
                          const struct br2_report_value *value)
{
    char text[32];
    if (!value->known) {
        return json_null();
    }
    switch (column->kind) {
    case BR2_VALUE_COUNT:
    case BR2_VALUE_LINE:
        return br2_json_count(value->is.count);
    case BR2_VALUE_ADDRESS:
        snprintf(text, sizeof text, "0x%" PRIx64, value->is.count);
        return json_string(text);
    case BR2_VALUE_SHARE:
    case BR2_VALUE_LOW:
    case BR2_VALUE_HIGH:
    case BR2_VALUE_NUMBER:
        return json_real(value->is.number);
    case BR2_VALUE_TEXT:
    case BR2_VALUE_FILE:
        break;
    }
    return br2_json_string(value->is.text);
}

static json_t *columns_json(const struct br2_report_shape *shape)
{
    static const char *const kinds[] = {
        [BR2_VALUE_COUNT] = "count", [BR2_VALUE_ADDRESS] = "address", [BR2_VALUE_SHARE] = "share",
        [BR2_VALUE_LOW] = "low",     [BR2_VALUE_HIGH] = "high",       [BR2_VALUE_NUMBER] = "number",
        [BR2_VALUE_TEXT] = "text",   [BR2_VALUE_FILE] = "file",       [BR2_VALUE_LINE] = "line",
    };
    json_t *array = json_array();
    for (size_t i = 0; i < shape->column_count; i++) {
        const struct br2_report_column *column = &shape->columns[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(column->name));
        json_object_set_new(object, "kind", json_string(kinds[column->kind]));
        json_object_set_new(object, "unit", br2_json_string(column->unit));
        json_array_append_new(array, br2_json_whole(object, 3));
    }
    return br2_json_whole(array, shape->column_count);
}

static json_t *row_json(const struct br2_report_shape *shape, const struct br2_report_row *row,
                        bool as_array)
{
    json_t *result = as_array ? json_array() : json_object();
    for (size_t k = 0; k < shape->column_count; k++) {
        json_t *value = value_json(&shape->columns[k], &row->values[k]);
        if (as_array) {
            json_array_append_new(result, value);
        } else {
            json_object_set_new(result, shape->columns[k].name, value);
        }
    }
    return br2_json_whole(result, shape->column_count);
}

static json_t *rows_json(const struct br2_report_table *table, bool arrays)
{
    json_t *array = json_array();
    for (size_t i = 0; i < table->row_count; i++) {
        json_array_append_new(array, row_json(table->shape, &table->rows[i], arrays));
    }
    return br2_json_whole(array, table->row_count);
}

json_t *br2_report_json(const struct br2_report *report, bool arrays)
{
    json_t *tables = json_object();
    for (size_t i = 0; i < report->table_count; i++) {
        const struct br2_report_table *table = &report->tables[i];
        json_t *object = json_object();
        json_object_set_new(object, "section", json_string(table->shape->section));
        json_object_set_new(object, "title", json_string(table->shape->title));
        json_object_set_new(object, "note", br2_json_string(table->shape->note));
        json_object_set_new(object, "columns", columns_json(table->shape));
        json_object_set_new(object, "rows", rows_json(table, arrays));
        json_object_set_new(object, "left_out", br2_json_count(table->left_out));
        json_object_set_new(tables, table->shape->name, br2_json_whole(object, 6));
    }
    return br2_json_whole(tables, report->table_count);
}

/* With quotes only where they are needed (RFC 4180). */
static void put_csv_text(struct br2_buf *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        br2_buf_str(out, text);
        return;
    }
    br2_buf_u8(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"') {
            br2_buf_u8(out, '"');
        }
        br2_buf_u8(out, (uint8_t)*at);
    }
    br2_buf_u8(out, '"');
}

static void put_csv_value(struct br2_buf *out, const struct br2_report_column *column,
                          const struct br2_report_value *value)
{
    if (!value->known) {
        return;
    }
    switch (column->kind) {
    case BR2_VALUE_COUNT:
    case BR2_VALUE_LINE:
        br2_buf_printf(out, "%" PRIu64, value->is.count);
        break;
    case BR2_VALUE_ADDRESS:
        br2_buf_printf(out, "0x%" PRIx64, value->is.count);
        break;
    case BR2_VALUE_SHARE:
    case BR2_VALUE_LOW:
    case BR2_VALUE_HIGH:
        if (value->is.number <= 1) {
            br2_buf_probability(out, value->is.number);
        } else {
            br2_report_decimals(out, value->is.number, 6);
        }
        break;
    case BR2_VALUE_NUMBER:
        br2_report_decimals(out, value->is.number, 3);
        break;
    case BR2_VALUE_TEXT:
    case BR2_VALUE_FILE:
        put_csv_text(out, value->is.text);
        break;
    }
}

static void put_csv_table(struct br2_buf *out, const struct br2_report_table *table)
{
    const struct br2_report_shape *shape = table->shape;
    br2_buf_str(out, "table");
    for (size_t k = 0; k < shape->column_count; k++) {
        br2_buf_printf(out, ",%s", shape->columns[k].name);
    }
    br2_buf_u8(out, '\n');
    for (size_t i = 0; i < table->row_count; i++) {
        br2_buf_str(out, shape->name);
        for (size_t k = 0; k < shape->column_count; k++) {
            br2_buf_u8(out, ',');
            put_csv_value(out, &shape->columns[k], &table->rows[i].values[k]);
        }
        br2_buf_u8(out, '\n');
    }
}

void br2_report_csv(const struct br2_report *report, struct br2_buf *out)
{
    for (size_t i = 0; i < report->table_count; i++) {
        put_csv_table(out, &report->tables[i]);
    }
}
