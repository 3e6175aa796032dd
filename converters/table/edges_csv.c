/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table as CSV (RFC 4180, lines ended by LF). */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "converters/table/table.h"

/* Tables of before the last column end without it. */
#define OLD_HEADER "image,function,from,to,kind,count,mispredicted,probability"
#define HEADER     OLD_HEADER ",outcomes"

enum column {
    IMAGE,
    FUNCTION,
    FROM,
    TO,
    KIND,
    COUNT,
    MISPREDICTED,
    PROBABILITY,
    OUTCOMES,
    COLUMNS,
};

static void put_name(struct br2_buf *out, const struct br2_strings *names, uint32_t name)
{
    size_t length;
    const char *text = br2_strings_get(names, name, &length);
    if (!strpbrk(text, ",\"\r\n")) {
        br2_buf_put(out, text, length);
        return;
    }
    br2_buf_u8(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') {
            br2_buf_u8(out, '"');
        }
        br2_buf_u8(out, (uint8_t)text[i]);
    }
    br2_buf_u8(out, '"');
}

static void put_address(struct br2_buf *out, uint64_t address)
{
    if (address != 0) {
        br2_buf_printf(out, "0x%" PRIx64, address);
    }
}

static int write_edges(const struct br2_edge_table *table, struct br2_buf *out,
                       struct br2pgo_error *err)
{
    br2_buf_str(out, HEADER "\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct br2_edge *edge = &table->edges[i];
        put_name(out, &table->names, edge->image);
        br2_buf_u8(out, ',');
        put_name(out, &table->names, edge->function);
        br2_buf_u8(out, ',');
        put_address(out, edge->from);
        br2_buf_u8(out, ',');
        put_address(out, edge->to);
        br2_buf_printf(out, ",%s,%" PRIu64 ",", br2_edge_kind_names[edge->kind], edge->count);
        if (edge->prediction_known) {
            br2_buf_printf(out, "%" PRIu64, edge->mispredicted);
        }
        br2_buf_u8(out, ',');
        if (edge->probability_known) {
            br2_buf_probability(out, edge->probability);
        }
        br2_buf_u8(out, ',');
        if (edge->outcomes_known) {
            br2_buf_printf(out, "%" PRIu64, edge->outcomes);
        }
        br2_buf_u8(out, '\n');
    }
    return out->failed ? br2_fail_memory(err) : BR2PGO_OK;
}

struct csv_reader {
    const char *at;
    const char *end;
    size_t row; /* the header is row 1 */
    unsigned columns;
    struct br2_buf field;
    struct br2_edge_table *table;
    struct br2pgo_error *err;
};

static int corrupt(struct csv_reader *r, const char *what)
{
    return br2_fail(r->err, BR2PGO_CORRUPT, "row %zu: %s", r->row, what);
}

/* After the opening quote. */
static int read_quoted(struct csv_reader *r)
{
    for (;;) {
        const char *quote = memchr(r->at, '"', (size_t)(r->end - r->at));
        if (!quote) {
            return corrupt(r, "a quoted field does not end");
        }
        br2_buf_put(&r->field, r->at, (size_t)(quote - r->at));
        r->at = quote + 1;
        if (r->at == r->end || *r->at != '"') {
            return BR2PGO_OK;
        }
        br2_buf_u8(&r->field, '"');
        r->at++;
    }
}

static bool at_line_end(const struct csv_reader *r)
{
    if (r->at == r->end || *r->at == '\n') {
        return true;
    }
    return *r->at == '\r' && r->end - r->at > 1 && r->at[1] == '\n';
}

/* The next field into `field`, and what ends it: a comma, or the end of the row for the last. */
static int read_field(struct csv_reader *r, bool last)
{
    r->field.size = 0;
    int status = BR2PGO_OK;
    if (r->at < r->end && *r->at == '"') {
        r->at++;
        status = read_quoted(r);
    } else {
        const char *start = r->at;
        while (!at_line_end(r) && *r->at != ',' && *r->at != '"') {
            r->at++;
        }
        br2_buf_put(&r->field, start, (size_t)(r->at - start));
    }
    if (status) {
        return status;
    }
    br2_buf_u8(&r->field, 0); /* for messages and searches */
    if (r->field.failed) {
        return br2_fail_memory(r->err);
    }
    r->field.size--;
    if (!last) {
        if (r->at == r->end || *r->at != ',') {
            return corrupt(r, "there are too few fields");
        }
        r->at++;
        return BR2PGO_OK;
    }
    if (!at_line_end(r)) {
        return corrupt(r, "there are too many fields, or the line does not end");
    }
    if (r->at < r->end && *r->at == '\r') {
        r->at++;
    }
    if (r->at < r->end) {
        r->at++;
    }
    return BR2PGO_OK;
}

/* Empty: 0, outside the image. */
static bool parse_address(const char *text, size_t length, uint64_t *ret)
{
    *ret = 0;
    if (length == 0) {
        return true;
    }
    return length > 2 && text[0] == '0' && text[1] == 'x' &&
           br2_parse_number(text + 2, length - 2, 16, ret) && *ret != 0;
}

/* 0, 1 or 0.digits */
static bool parse_probability(const char *text, size_t length, double *ret)
{
    uint64_t digits;
    if (length == 1 && (text[0] == '0' || text[0] == '1')) {
        *ret = text[0] - '0';
        return true;
    }
    if (length < 3 || length > 20 || text[0] != '0' || text[1] != '.' ||
        !br2_parse_number(text + 2, length - 2, 10, &digits)) {
        return false;
    }
    double scale = 1;
    for (size_t i = 2; i < length; i++) {
        scale *= 10;
    }
    *ret = (double)digits / scale;
    return true;
}

static int parse_name(struct csv_reader *r, uint32_t *ret)
{
    const char *text = (const char *)r->field.bytes;
    if (memchr(text, '\0', r->field.size)) {
        return corrupt(r, "there is a NUL byte in a name");
    }
    *ret = br2_strings_add(&r->table->names, text, r->field.size);
    return *ret == BR2_NO_STRING ? br2_fail_memory(r->err) : BR2PGO_OK;
}

static int parse_field(struct csv_reader *r, enum column column, struct br2_edge *edge)
{
    const char *text = (const char *)r->field.bytes;
    size_t length = r->field.size;
    switch (column) {
    case IMAGE:
        return parse_name(r, &edge->image);
    case FUNCTION:
        return parse_name(r, &edge->function);
    case FROM:
        return parse_address(text, length, &edge->from) ? BR2PGO_OK
                                                        : corrupt(r, "'from' is not an address");
    case TO:
        return parse_address(text, length, &edge->to) ? BR2PGO_OK
                                                      : corrupt(r, "'to' is not an address");
    case KIND:
        edge->kind = br2_table_kind(text, length);
        return edge->kind != BR2_EDGE_KINDS ? BR2PGO_OK : corrupt(r, "'kind' is not a kind");
    case COUNT:
        return br2_parse_number(text, length, 10, &edge->count)
                   ? BR2PGO_OK
                   : corrupt(r, "'count' is not a number");
    case MISPREDICTED:
        edge->prediction_known = length > 0;
        return length == 0 || br2_parse_number(text, length, 10, &edge->mispredicted)
                   ? BR2PGO_OK
                   : corrupt(r, "'mispredicted' is not a number");
    case OUTCOMES:
        edge->outcomes_known = length > 0;
        return length == 0 || br2_parse_number(text, length, 10, &edge->outcomes)
                   ? BR2PGO_OK
                   : corrupt(r, "'outcomes' is not a number");
    default: /* PROBABILITY */
        edge->probability_known = length > 0;
        return length == 0 || parse_probability(text, length, &edge->probability)
                   ? BR2PGO_OK
                   : corrupt(r, "'probability' is not a number from 0 to 1");
    }
}

static int read_row(struct csv_reader *r)
{
    struct br2_edge *edge = br2_edge_table_add(r->table);
    if (!edge) {
        return br2_fail_memory(r->err);
    }
    for (unsigned column = 0; column < r->columns; column++) {
        int status = read_field(r, column + 1 == r->columns);
        if (!status) {
            status = parse_field(r, (enum column)column, edge);
        }
        if (status) {
            return status;
        }
    }
    return BR2PGO_OK;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    size_t length = sizeof OLD_HEADER - 1;
    return size >= length && memcmp(bytes, OLD_HEADER, length) == 0;
}

/* Takes the first line. */
static int read_header(struct csv_reader *r)
{
    static const char last[] = ",outcomes";
    r->at += sizeof OLD_HEADER - 1;
    r->columns = COLUMNS - 1;
    if ((size_t)(r->end - r->at) >= sizeof last - 1 && memcmp(r->at, last, sizeof last - 1) == 0) {
        r->at += sizeof last - 1;
        r->columns = COLUMNS;
    }
    if (!at_line_end(r)) {
        return corrupt(r, "expected the header " HEADER);
    }
    while (r->at < r->end && *r->at != '\n') {
        r->at++;
    }
    if (r->at < r->end) {
        r->at++;
    }
    return BR2PGO_OK;
}

static int read_edges(const uint8_t *bytes, size_t size, struct br2_edge_table *table,
                      struct br2pgo_error *err)
{
    struct csv_reader r = {.row = 1, .table = table, .err = err};
    if (!probe(bytes, size)) {
        return corrupt(&r, "expected the header " HEADER);
    }
    r.at = (const char *)bytes;
    r.end = r.at + size;
    int status = read_header(&r);
    while (!status && r.at < r.end) {
        r.row++;
        status = read_row(&r);
    }
    br2_buf_done(&r.field);
    return status;
}

const struct br2_format br2_format_edges_csv = {
    .name = "edges",
    .suffixes = {".edges.csv"},
    .description = "every branch outcome with count and probability, CSV",
    .product = BR2_PRODUCT_EDGES,
    .probe = probe,
    .write_edges = write_edges,
    .read_edges = read_edges,
};
