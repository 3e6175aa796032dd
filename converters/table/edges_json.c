/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table as JSON: {"version": 1, "edges": [...]}, one edge a line. Addresses are strings,
 * because JSON's numbers are not exact beyond 2^53 in many readers; what is unknown is null. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "converters/table/table.h"

#define VERSION    1
#define ROW_KEYS   9 /* or without "outcomes", which came later */
#define PROBE_SIZE 256

/* The length of the valid UTF-8 sequence at `at`, 0 where there is none. */
static size_t sequence_length(const uint8_t *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0x80) {
        return 1;
    }
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || length > left) {
        return 0;
    }
    uint32_t point = at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = point << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < least[length] || point > 0x10ffff || surrogate ? 0 : length;
}

static int put_string(struct br2_buf *out, const struct br2_strings *names, uint32_t name,
                      struct br2pgo_error *err)
{
    size_t length;
    const char *text = br2_strings_get(names, name, &length);
    const uint8_t *bytes = (const uint8_t *)text;
    br2_buf_u8(out, '"');
    for (size_t i = 0, step; i < length; i += step) {
        step = sequence_length(bytes + i, length - i);
        if (step == 0 || bytes[i] == 0) {
            br2_fail(err, BR2PGO_UNSUPPORTED, "the name '%s' is not UTF-8, which JSON cannot hold",
                     text);
            br2_hint(err, "write the CSV format, 'edges'");
            return BR2PGO_UNSUPPORTED;
        }
        if (bytes[i] < 0x20) {
            br2_buf_printf(out, "\\u%04x", bytes[i]);
        } else if (bytes[i] == '"' || bytes[i] == '\\') {
            br2_buf_printf(out, "\\%c", bytes[i]);
        } else {
            br2_buf_put(out, bytes + i, step);
        }
    }
    br2_buf_u8(out, '"');
    return BR2PGO_OK;
}

static void put_address(struct br2_buf *out, const char *key, uint64_t address)
{
    if (address != 0) {
        br2_buf_printf(out, ",\"%s\":\"0x%" PRIx64 "\"", key, address);
    } else {
        br2_buf_printf(out, ",\"%s\":null", key);
    }
}

/* Readers' integers often end at 2^63 - 1: larger ones, which only a saturated counter has, are
 * strings. */
static void put_count(struct br2_buf *out, const char *key, uint64_t count)
{
    const char *quote = count > INT64_MAX ? "\"" : "";
    br2_buf_printf(out, ",\"%s\":%s%" PRIu64 "%s", key, quote, count, quote);
}

static int put_edge(struct br2_buf *out, const struct br2_strings *names,
                    const struct br2_edge *edge, struct br2pgo_error *err)
{
    br2_buf_str(out, "{\"image\":");
    int status = put_string(out, names, edge->image, err);
    if (status) {
        return status;
    }
    br2_buf_str(out, ",\"function\":");
    status = put_string(out, names, edge->function, err);
    if (status) {
        return status;
    }
    put_address(out, "from", edge->from);
    put_address(out, "to", edge->to);
    br2_buf_printf(out, ",\"kind\":\"%s\"", br2_edge_kind_names[edge->kind]);
    put_count(out, "count", edge->count);
    if (edge->prediction_known) {
        put_count(out, "mispredicted", edge->mispredicted);
    } else {
        br2_buf_str(out, ",\"mispredicted\":null");
    }
    br2_buf_str(out, ",\"probability\":");
    if (edge->probability_known) {
        br2_buf_probability(out, edge->probability);
    } else {
        br2_buf_str(out, "null");
    }
    if (edge->outcomes_known) {
        put_count(out, "outcomes", edge->outcomes);
    } else {
        br2_buf_str(out, ",\"outcomes\":null");
    }
    br2_buf_u8(out, '}');
    return BR2PGO_OK;
}

static int write_edges(const struct br2_edge_table *table, struct br2_buf *out,
                       struct br2pgo_error *err)
{
    br2_buf_printf(out, "{\"version\":%d,\"edges\":[", VERSION);
    for (size_t i = 0; i < table->count; i++) {
        br2_buf_str(out, i == 0 ? "\n" : ",\n");
        int status = put_edge(out, &table->names, &table->edges[i], err);
        if (status) {
            return status;
        }
    }
    br2_buf_str(out, "\n]}\n");
    return out->failed ? br2_fail_memory(err) : BR2PGO_OK;
}

/* A string of digits behind `prefix`; false where it is not one. */
static bool parse_digits(const json_t *value, const char *prefix, unsigned base, uint64_t *ret)
{
    const char *text = json_string_value(value);
    size_t length = strlen(prefix);
    return text && strncmp(text, prefix, length) == 0 &&
           br2_parse_number(text + length, strlen(text + length), base, ret);
}

static bool parse_address(const json_t *value, uint64_t *ret)
{
    *ret = 0;
    return json_is_null(value) || (parse_digits(value, "0x", 16, ret) && *ret != 0);
}

static bool parse_count(const json_t *value, uint64_t *ret)
{
    if (json_is_string(value)) {
        return parse_digits(value, "", 10, ret);
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *ret = (uint64_t)json_integer_value(value);
    return true;
}

static bool parse_probability(const json_t *value, struct br2_edge *edge)
{
    edge->probability_known = !json_is_null(value);
    if (!edge->probability_known) {
        return true;
    }
    edge->probability = json_number_value(value);
    return json_is_number(value) && edge->probability >= 0 && edge->probability <= 1;
}

static bool parse_prediction(const json_t *value, struct br2_edge *edge)
{
    edge->prediction_known = !json_is_null(value);
    return !edge->prediction_known || parse_count(value, &edge->mispredicted);
}

static bool parse_outcomes(const json_t *value, struct br2_edge *edge)
{
    edge->outcomes_known = value != NULL && !json_is_null(value);
    return !edge->outcomes_known || parse_count(value, &edge->outcomes);
}

static bool parse_kind(const json_t *value, struct br2_edge *edge)
{
    const char *text = json_string_value(value);
    edge->kind = text ? br2_table_kind(text, strlen(text)) : BR2_EDGE_KINDS;
    return edge->kind != BR2_EDGE_KINDS;
}

/* The first key whose value is wrong, or NULL. */
static const char *parse_numbers(const json_t *row, struct br2_edge *edge)
{
    if (!parse_address(json_object_get(row, "from"), &edge->from)) {
        return "from";
    }
    if (!parse_address(json_object_get(row, "to"), &edge->to)) {
        return "to";
    }
    if (!parse_kind(json_object_get(row, "kind"), edge)) {
        return "kind";
    }
    if (!parse_count(json_object_get(row, "count"), &edge->count)) {
        return "count";
    }
    if (!parse_prediction(json_object_get(row, "mispredicted"), edge)) {
        return "mispredicted";
    }
    if (!parse_probability(json_object_get(row, "probability"), edge)) {
        return "probability";
    }
    if (!parse_outcomes(json_object_get(row, "outcomes"), edge)) {
        return "outcomes";
    }
    return NULL;
}

static int parse_name(struct br2_edge_table *table, const json_t *value, uint32_t *ret,
                      struct br2pgo_error *err)
{
    if (!json_is_string(value)) {
        return br2_fail(err, BR2PGO_CORRUPT, "edge %zu: the image or function is not a string",
                        table->count);
    }
    *ret = br2_strings_add(&table->names, json_string_value(value), json_string_length(value));
    return *ret == BR2_NO_STRING ? br2_fail_memory(err) : BR2PGO_OK;
}

static int read_edge(const json_t *row, struct br2_edge_table *table, struct br2pgo_error *err)
{
    struct br2_edge *edge = br2_edge_table_add(table);
    if (!edge) {
        return br2_fail_memory(err);
    }
    bool old = json_object_get(row, "outcomes") == NULL;
    if (json_object_size(row) != ROW_KEYS - (size_t)old) {
        return br2_fail(err, BR2PGO_CORRUPT, "edge %zu: expected an object of %d keys",
                        table->count, ROW_KEYS);
    }
    int status = parse_name(table, json_object_get(row, "image"), &edge->image, err);
    if (!status) {
        status = parse_name(table, json_object_get(row, "function"), &edge->function, err);
    }
    if (status) {
        return status;
    }
    const char *wrong = parse_numbers(row, edge);
    if (wrong) {
        return br2_fail(err, BR2PGO_CORRUPT, "edge %zu: '%s' is missing or wrong", table->count,
                        wrong);
    }
    return BR2PGO_OK;
}

static int read_document(const json_t *document, struct br2_edge_table *table,
                         struct br2pgo_error *err)
{
    const json_t *version = json_object_get(document, "version");
    const json_t *edges = json_object_get(document, "edges");
    if (!json_is_integer(version) || !json_is_array(edges) || json_object_size(document) != 2) {
        return br2_fail(err, BR2PGO_CORRUPT,
                        "expected an object of \"version\" and \"edges\", an array");
    }
    if (json_integer_value(version) != VERSION) {
        return br2_fail(err, BR2PGO_UNSUPPORTED,
                        "the edge table has version %" JSON_INTEGER_FORMAT
                        "; only version %d is supported",
                        json_integer_value(version), VERSION);
    }
    int status = BR2PGO_OK;
    for (size_t i = 0; !status && i < json_array_size(edges); i++) {
        status = read_edge(json_array_get(edges, i), table, err);
    }
    return status;
}

static int read_edges(const uint8_t *bytes, size_t size, struct br2_edge_table *table,
                      struct br2pgo_error *err)
{
    json_error_t error;
    json_t *document =
        json_loadb(size > 0 ? (const char *)bytes : "", size, JSON_REJECT_DUPLICATES, &error);
    if (!document) {
        if (json_error_code(&error) == json_error_out_of_memory) {
            return br2_fail_memory(err);
        }
        return br2_fail(err, BR2PGO_CORRUPT, "line %d, column %d: %s", error.line, error.column,
                        error.text);
    }
    int status = read_document(document, table, err);
    json_decref(document);
    return status;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    static const char key[] = "\"edges\"";
    return size > 0 && bytes[0] == '{' &&
           memmem(bytes, size < PROBE_SIZE ? size : PROBE_SIZE, key, sizeof key - 1);
}

const struct br2_format br2_format_edges_json = {
    .name = "edges-json",
    .suffixes = {".edges.json"},
    .description = "every branch outcome with count and probability, JSON",
    .product = BR2_PRODUCT_EDGES,
    .probe = probe,
    .write_edges = write_edges,
    .read_edges = read_edges,
};
