/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a person looks at: tables made of a flow graph, one or several for each section, and the
 * three ways of writing them. Everything a writer needs is in the tables, so text, CSV and JSON
 * say the same.
 */
#ifndef BR2_REPORT_REPORT_H
#define BR2_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "flow/histories.h"
#include "image/debug.h"

enum br2_value_kind {
    BR2_VALUE_COUNT,
    BR2_VALUE_ADDRESS,
    BR2_VALUE_SHARE, /* 0 to 1 */
    BR2_VALUE_LOW,   /* a share: of an interval; the next column is BR2_VALUE_HIGH */
    BR2_VALUE_HIGH,
    BR2_VALUE_NUMBER, /* with decimals */
    BR2_VALUE_TEXT,
    BR2_VALUE_FILE, /* a text; the next column is BR2_VALUE_LINE */
    BR2_VALUE_LINE, /* a count */
};

struct br2_report_value {
    bool known;
    union {
        uint64_t count; /* also addresses and lines */
        double number;  /* also shares */
        const char *text;
    } is;
};

struct br2_report_column {
    const char *name; /* of CSV and JSON, and the heading with spaces for '_' */
    const char *unit; /* "records", "bytes", ...; NULL: none */
    enum br2_value_kind kind;
    bool detail; /* not in the text */
};

/* What is the same for a table in every report. */
struct br2_report_shape {
    const char *name;
    const char *section;
    const char *title; /* what its rows are */
    const char *note;  /* what to know before one believes it; NULL: nothing */
    const struct br2_report_column *columns;
    size_t column_count; /* at most BR2_REPORT_COLUMNS_MAX */
    bool detail;         /* in the text only where the section or a function is asked for */
};
#define BR2_REPORT_COLUMNS_MAX 24

struct br2_report_row {
    uint64_t weight; /* rows with more come first ... */
    uint64_t number; /* ... else in the order in which they were added */
    struct br2_report_value *values;
};

struct br2_report_table {
    const struct br2_report_shape *shape;
    struct br2_report_row *rows; /* owned */
    size_t row_count;
    size_t row_capacity;
    size_t left_out; /* rows, by the limit */
};

struct br2_report {
    struct br2_arena arena; /* values and texts */
    struct br2_report_table *tables;
    size_t table_count;
    size_t table_capacity;
    bool failed; /* memory ran out */
    bool whole;  /* sections were chosen, or a function: text shows the tables with details */
    struct br2_report_value scratch[BR2_REPORT_COLUMNS_MAX];
};

/* What a report is made of, and what is wanted of it. */
struct br2_report_input {
    const struct br2_flow_graph *graph;
    const struct br2_histories *histories;
    struct br2_debug *debug; /* NULL: there are no source lines */
    const char *sections;    /* names, separated by commas; NULL: all */
    const char *function;    /* only of functions of this name; NULL: of all */
    uint64_t top;            /* rows of each table at most; 0: all */
    bool raw_names;          /* symbols' names as they are */
    uint64_t samples;
    uint64_t records; /* of all recordings, not weighed ... */
    double evidence;  /* ... and what one of a weighed count stands for: 1 or less */
};

/* Whether every name in the list, separated by commas, is a section. BR2PGO_INVALID. */
int br2_report_check_sections(const char *list, struct br2pgo_error *err);

/* Makes all tables that are wanted. `*ret` is freed with br2_report_free. BR2PGO_NO_MEMORY;
 * BR2PGO_INVALID: no function that ran has the name. */
int br2_report_make(const struct br2_report_input *input, struct br2_report **ret,
                    struct br2pgo_error *err);
void br2_report_free(struct br2_report *report);
/* The table of that name, NULL where it is not in the report. */
const struct br2_report_table *br2_report_table(const struct br2_report *report, const char *name);
/* Index of a table's column; the table has it. */
size_t br2_report_column(const struct br2_report_table *table, const char *name);

/* Appends the tables; failures stick to `out`. Colours are those of terminals. */
void br2_report_text(const struct br2_report *report, bool color, struct br2_buf *out);
/* For each table a line "table" and the columns' names, then lines of the table's name and the
 * values. */
void br2_report_csv(const struct br2_report *report, struct br2_buf *out);
struct json_t;
/* The tables as members of a new object (docs/formats.md); rows are objects, or arrays in the order
 * of the columns. NULL when memory runs out. */
struct json_t *br2_report_json(const struct br2_report *report, bool arrays);

#endif
