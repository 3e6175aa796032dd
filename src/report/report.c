/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report's tables: which there are, rows, their order. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "report/report_private.h"

static const struct {
    const char *name;
    br2_report_section *make;
} sections[] = {
    {"branches", br2_report_branches},   {"targets", br2_report_targets},
    {"functions", br2_report_functions}, {"loops", br2_report_loops},
    {"latency", br2_report_latency},     {"paths", br2_report_paths},
    {"coverage", br2_report_coverage},   {"code", br2_report_code},
    {"source", br2_report_source},
};
#define SECTION_COUNT (sizeof sections / sizeof *sections)

/* Whether the list, names separated by commas, has the name. */
static bool lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

static bool is_section(const char *name, size_t length)
{
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (strlen(sections[i].name) == length && strncmp(sections[i].name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

int br2_report_check_sections(const char *list, struct br2pgo_error *err)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        size_t length = strcspn(at, ",");
        if (!is_section(at, length)) {
            char names[128] = "";
            for (size_t i = 0; i < SECTION_COUNT; i++) {
                size_t used = strlen(names);
                snprintf(names + used, sizeof names - used, "%s%s", i != 0 ? ", " : "",
                         sections[i].name);
            }
            br2_fail(err, BR2PGO_INVALID, "a report has no section '%.*s'", (int)length, at);
            br2_hint(err, "its sections are %s", names);
            return BR2PGO_INVALID;
        }
    }
    return 0;
}

struct br2_report_table *br2_report_begin(struct br2_report_maker *maker,
                                          const struct br2_report_shape *shape)
{
    struct br2_report *report = maker->report;
    if (!br2_grow(&report->tables, &report->table_capacity, report->table_count,
                  sizeof *report->tables)) {
        report->failed = true;
        return NULL;
    }
    struct br2_report_table *table = &report->tables[report->table_count++];
    *table = (struct br2_report_table){.shape = shape};
    return table;
}

struct br2_report_value *br2_report_row(struct br2_report_maker *maker,
                                        struct br2_report_table *table, uint64_t weight)
{
    struct br2_report *report = maker->report;
    struct br2_report_value *values = NULL;
    if (table != NULL &&
        br2_grow(&table->rows, &table->row_capacity, table->row_count, sizeof *table->rows)) {
        values =
            br2_arena_alloc(&report->arena, table->shape->column_count * sizeof *report->scratch);
    }
    if (values == NULL) {
        report->failed = true;
        return report->scratch;
    }
    table->rows[table->row_count] =
        (struct br2_report_row){.weight = weight, .number = table->row_count, .values = values};
    table->row_count++;
    return values;
}

static int compare_rows(const void *left, const void *right)
{
    const struct br2_report_row *a = left;
    const struct br2_report_row *b = right;
    int order = br2_compare_u64(b->weight, a->weight);
    return order != 0 ? order : br2_compare_u64(a->number, b->number);
}

void br2_report_end_sorted(struct br2_report_maker *maker, struct br2_report_table *table)
{
    uint64_t top = maker->input->top;
    if (table != NULL && top != 0 && table->row_count > top) {
        table->left_out = table->row_count - (size_t)top;
        table->row_count = (size_t)top;
    }
}

void br2_report_end_grouped(struct br2_report_maker *maker, struct br2_report_table *table)
{
    if (table != NULL && table->row_count != 0) {
        qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
    }
    br2_report_end_sorted(maker, table);
}

void br2_report_end(struct br2_report_maker *maker, struct br2_report_table *table)
{
    if (table != NULL && table->row_count != 0) {
        qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
        for (size_t i = 0; i < table->row_count; i++) {
            table->rows[i].values[0] = br2_value_count(i + 1);
        }
    }
    br2_report_end_sorted(maker, table);
}

const struct br2_report_table *br2_report_table(const struct br2_report *report, const char *name)
{
    for (size_t i = 0; i < report->table_count; i++) {
        if (strcmp(report->tables[i].shape->name, name) == 0) {
            return &report->tables[i];
        }
    }
    return NULL;
}

size_t br2_report_column(const struct br2_report_table *table, const char *name)
{
    size_t i = 0;
    while (i + 1 < table->shape->column_count && strcmp(table->shape->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

static int make_tables(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SECTION_COUNT; i++) {
        const char *wanted = maker->input->sections;
        if (wanted == NULL || lists(wanted, sections[i].name)) {
            rc = sections[i].make(maker, err);
        }
    }
    return rc == 0 && maker->report->failed ? br2_fail_memory(err) : rc;
}

int br2_report_make(const struct br2_report_input *input, struct br2_report **ret,
                    struct br2pgo_error *err)
{
    struct br2_report_maker maker = {.input = input, .graph = input->graph};
    *ret = NULL;
    maker.report = br2_calloc(1, sizeof *maker.report);
    if (maker.report == NULL) {
        return br2_fail_memory(err);
    }
    maker.report->whole = input->sections != NULL || input->function != NULL;
    int rc = br2_report_prepare(&maker, err);
    rc = rc != 0 ? rc : make_tables(&maker, err);
    br2_free(maker.names);
    br2_free(maker.wanted);
    br2_free(maker.executed);
    if (rc != 0) {
        br2_report_free(maker.report);
        return rc;
    }
    *ret = maker.report;
    return 0;
}

void br2_report_free(struct br2_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->table_count; i++) {
        br2_free(report->tables[i].rows);
    }
    br2_free(report->tables);
    br2_arena_done(&report->arena);
    br2_free(report);
}
