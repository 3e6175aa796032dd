/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table and its two files. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "converters/table/table.h"
#include "support.h"

static const struct br2_format *const csv = &br2_format_edges_csv;
static const struct br2_format *const json = &br2_format_edges_json;

static bool add(struct br2_edge_table *table, const char *image, const char *function,
                const struct br2_edge *values)
{
    uint32_t image_name = br2_strings_add(&table->names, image, strlen(image));
    uint32_t function_name = br2_strings_add(&table->names, function, strlen(function));
    struct br2_edge *edge = br2_edge_table_add(table);
    if (!edge || image_name == BR2_NO_STRING || function_name == BR2_NO_STRING)
        return false;
    *edge = *values;
    edge->image = image_name;
    edge->function = function_name;
    return true;
}

static bool fill(struct br2_edge_table *table)
{
    const struct br2_edge edges[] = {
        {.from = 0x401000,
         .to = 0x401020,
         .kind = BR2_EDGE_COND,
         .count = 75,
         .mispredicted = 3,
         .prediction_known = true,
         .probability_known = true,
         .probability = 0.75,
         .outcomes = 100,
         .outcomes_known = true},
        {.from = 0x401000,
         .to = 0x401002,
         .kind = BR2_EDGE_FALLTHROUGH,
         .count = 25,
         .probability_known = true,
         .probability = 0.25,
         .outcomes = 100,
         .outcomes_known = true},
        {.from = 0x401010, .kind = BR2_EDGE_CALL, .count = UINT64_MAX, .prediction_known = true},
        {.to = UINT64_MAX,
         .kind = BR2_EDGE_RETURN,
         .count = 1,
         .probability_known = true,
         .probability = 1},
    };
    return add(table, "/bin/a", "main", &edges[0]) && add(table, "/bin/a", "main", &edges[1]) &&
           add(table, "/lib/b,c \"d\"", "f<int, 3>(char*)\n", &edges[2]) &&
           add(table, "/bin/a", "", &edges[3]);
}

#define OLD_HEADER "image,function,from,to,kind,count,mispredicted,probability\n"
#define HEADER     "image,function,from,to,kind,count,mispredicted,probability,outcomes\n"

static void csv_is_exactly_this(void **state)
{
    (void)state;
    static const char expected[] =
        HEADER "/bin/a,,,0xffffffffffffffff,return,1,,1,\n"
               "/bin/a,main,0x401000,0x401020,cond,75,3,0.75,100\n"
               "/bin/a,main,0x401000,0x401002,fallthrough,25,,0.25,100\n"
               "\"/lib/b,c \"\"d\"\"\",\"f<int, 3>(char*)\n\",0x401010,,call,18446744073709551615,"
               "0,,\n";
    struct br2_edge_table table = {0};
    struct br2_buf out = {0};
    assert_true(fill(&table));
    br2_edge_table_sort(&table);
    assert_int_equal(br2_format_encode_edges(csv, &table, &out, NULL), BR2PGO_OK);
    br2_buf_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, expected);
    br2_buf_done(&out);
    br2_edge_table_done(&table);
}

static void json_is_exactly_this(void **state)
{
    (void)state;
    static const char expected[] =
        "{\"version\":1,\"edges\":[\n"
        "{\"image\":\"/bin/a\",\"function\":\"\",\"from\":null,\"to\":\"0xffffffffffffffff\","
        "\"kind\":\"return\",\"count\":1,\"mispredicted\":null,\"probability\":1,\"outcomes\":null},\n"
        "{\"image\":\"/bin/a\",\"function\":\"main\",\"from\":\"0x401000\",\"to\":\"0x401020\","
        "\"kind\":\"cond\",\"count\":75,\"mispredicted\":3,\"probability\":0.75,\"outcomes\":100},\n"
        "{\"image\":\"/bin/a\",\"function\":\"main\",\"from\":\"0x401000\",\"to\":\"0x401002\","
        "\"kind\":\"fallthrough\",\"count\":25,\"mispredicted\":null,\"probability\":0.25,\"outcomes\":100},\n"
        "{\"image\":\"/lib/b,c \\\"d\\\"\",\"function\":\"f<int, 3>(char*)\\u000a\","
        "\"from\":\"0x401010\",\"to\":null,\"kind\":\"call\",\"count\":\"18446744073709551615\","
        "\"mispredicted\":0,\"probability\":null,\"outcomes\":null}\n]}\n";
    struct br2_edge_table table = {0};
    struct br2_buf out = {0};
    assert_true(fill(&table));
    br2_edge_table_sort(&table);
    assert_int_equal(br2_format_encode_edges(json, &table, &out, NULL), BR2PGO_OK);
    br2_buf_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, expected);
    br2_buf_done(&out);
    br2_edge_table_done(&table);
}

static void probabilities_are_short(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {0.5, "0.5"},
        {1.0 / 3, "0.333333"},
        {2.0 / 3, "0.666667"},
        {0.9999999, "1"},
        {0.09999999, "0.1"},
        {1.0 / 3000, "0.000333333"},
        {0.0000001, "0.0000001"},
        {1e-30, "0"},
        {0.999999, "0.999999"},
    };
    setlocale(LC_ALL, "de_DE.UTF-8");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct br2_buf out = {0};
        br2_buf_probability(&out, cases[i].value);
        br2_buf_u8(&out, 0);
        assert_string_equal((const char *)out.bytes, cases[i].text);
        br2_buf_done(&out);
    }
    setlocale(LC_ALL, "C");
}

static void the_shares_of_one_source_stay_whole(void **state)
{
    (void)state;
    for (int parts = 1; parts < 2000; parts = parts * 3 + 1) {
        struct br2_edge_table table = {0}, again = {0};
        struct br2_buf out = {0};
        for (int i = 0; i < parts; i++) {
            const struct br2_edge edge = {.from = 1,
                                          .to = (uint64_t)i + 1,
                                          .kind = BR2_EDGE_INDIRECT_JUMP,
                                          .count = 1,
                                          .probability_known = true,
                                          .probability = 1.0 / parts};
            assert_true(add(&table, "a", "f", &edge));
        }
        assert_int_equal(csv->write_edges(&table, &out, NULL), BR2PGO_OK);
        assert_int_equal(csv->read_edges(out.bytes, out.size, &again, NULL), BR2PGO_OK);
        double sum = 0;
        for (size_t i = 0; i < again.count; i++)
            sum += again.edges[i].probability;
        assert_true(sum > 1 - 1e-5 && sum < 1 + 1e-5);
        br2_buf_done(&out);
        br2_edge_table_done(&table);
        br2_edge_table_done(&again);
    }
}

static void rows_are_sorted_by_image_from_kind_to(void **state)
{
    (void)state;
    static const struct {
        const char *image;
        struct br2_edge edge;
    } rows[] = {
        {"b", {.from = 1}},
        {"a", {.from = 2, .to = 1, .kind = BR2_EDGE_FALLTHROUGH}},
        {"a", {.from = 2, .to = 9, .kind = BR2_EDGE_COND}},
        {"a", {.from = 2, .to = 3, .kind = BR2_EDGE_COND}},
        {"a", {.from = 1, .to = 9, .kind = BR2_EDGE_JUMP}},
    };
    struct br2_edge_table table = {0};
    for (size_t i = 0; i < 5; i++)
        assert_true(add(&table, rows[i].image, "", &rows[i].edge));
    br2_edge_table_sort(&table);
    static const uint64_t to[] = {9, 3, 9, 1, 0};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(table.edges[i].to, to[i]);
    br2_edge_table_done(&table);
}

static void every_difference_is_found(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "image",        "function",     "from",        "to",          "kind",    "count",
        "mispredicted", "mispredicted", "probability", "probability", "outcomes"};
    for (size_t what = 0; what < sizeof fields / sizeof fields[0]; what++) {
        char text[128];
        struct br2_edge_table a = {0}, b = {0};
        assert_true(fill(&a));
        br2_strings_add(&b.names, "other", 5); /* other numbers, same names */
        assert_true(fill(&b));
        assert_null(br2_edge_table_difference(&a, &b, text, sizeof text));
        struct br2_edge *edge = &b.edges[0];
        edge->probability += what == 8 ? 2e-6 : 5e-7;
        edge->image = what == 0 ? 0 : edge->image;
        edge->function = what == 1 ? 0 : edge->function;
        edge->from += what == 2;
        edge->to += what == 3;
        edge->kind = what == 4 ? BR2_EDGE_JUMP : edge->kind;
        edge->count += what == 5;
        edge->mispredicted += what == 6;
        edge->prediction_known = what != 7;
        edge->probability_known = what != 9;
        edge->outcomes += what == 10;
        const char *difference = br2_edge_table_difference(&a, &b, text, sizeof text);
        assert_non_null(difference);
        assert_non_null(strstr(difference, fields[what]));
        b.count--;
        assert_non_null(strstr(br2_edge_table_difference(&a, &b, text, sizeof text), "4 rows"));
        br2_edge_table_done(&a);
        br2_edge_table_done(&b);
    }
}

static void refuse(const struct br2_format *format, const char *text, int status,
                   const char *message)
{
    struct br2pgo_error err = {0};
    struct br2_edge_table table = {0};
    int got = format->read_edges((const uint8_t *)text, strlen(text), &table, &err);
    if (got != status || !strstr(err.message, message))
        fail_msg("%s\ngives %d: %s", text, got, err.message);
    br2_edge_table_done(&table);
}

static void malformed_csv_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        const char *message;
    } cases[] = {
        {"a,f,0x1,0x2,cond,1,0,0.5,9\n", "row 2: there are too many fields"},
        {"a,f,0x1,0x2,cond,1,0\n", "row 2: there are too few fields"},
        {"a,f,0x1,0x2,cond,1,0,\n\n", "row 3: there are too few fields"},
        {"\"a,f,0x1,0x2,cond,1,0,\n", "row 2: a quoted field does not end"},
        {"\"a\"b,f,0x1,0x2,cond,1,0,\n", "row 2: there are too few fields"},
        {"a\"b,f,0x1,0x2,cond,1,0,\n", "row 2: there are too few fields"},
        {"a,f,1,0x2,cond,1,0,\n", "'from'"},
        {"a,f,0x,0x2,cond,1,0,\n", "'from'"},
        {"a,f,0x0,0x2,cond,1,0,\n", "'from'"},
        {"a,f,0x1,0xG,cond,1,0,\n", "'to'"},
        {"a,f,0x1,0x10000000000000000,cond,1,0,\n", "'to'"},
        {"a,f,0x1,0x2,conditional,1,0,\n", "'kind'"},
        {"a,f,0x1,0x2,con,1,0,\n", "'kind'"},
        {"a,f,0x1,0x2,cond,,0,\n", "'count'"},
        {"a,f,0x1,0x2,cond,-1,0,\n", "'count'"},
        {"a,f,0x1,0x2,cond,1a,0,\n", "'count'"},
        {"a,f,0x1,0x2,cond,18446744073709551616,0,\n", "'count'"},
        {"a,f,0x1,0x2,cond,1,x,\n", "'mispredicted'"},
        {"a,f,0x1,0x2,cond,1,0,2\n", "'probability'"},
        {"a,f,0x1,0x2,cond,1,0,0.\n", "'probability'"},
        {"a,f,0x1,0x2,cond,1,0,1.5\n", "'probability'"},
        {"a,f,0x1,0x2,cond,1,0,0.1234567890123456789\n", "'probability'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s%s", OLD_HEADER, cases[i].row);
        refuse(csv, text, BR2PGO_CORRUPT, cases[i].message);
    }
    refuse(csv, HEADER "a,f,0x1,0x2,cond,1,0,0.5\n", BR2PGO_CORRUPT, "too few fields");
    refuse(csv, HEADER "a,f,0x1,0x2,cond,1,0,0.5,x\n", BR2PGO_CORRUPT, "'outcomes'");
    refuse(csv, HEADER "a,f,0x1,0x2,cond,1,0,0.5,2,\n", BR2PGO_CORRUPT, "too many fields");
    refuse(csv, "image,function\n", BR2PGO_CORRUPT, "expected the header");
    refuse(csv, "image,function,from,to,kind,count,mispredicted,probability,x\n", BR2PGO_CORRUPT,
           "expected the header");
}

/* Tables of before the last column. */
static void old_tables_are_read(void **state)
{
    (void)state;
    static const char rows[] = OLD_HEADER "a,f,0x1,0x2,cond,3,0,0.75\n";
    static const char object[] =
        "{\"version\":1,\"edges\":[{\"image\":\"a\",\"function\":\"f\",\"from\":\"0x1\","
        "\"to\":\"0x2\",\"kind\":\"cond\",\"count\":3,\"mispredicted\":0,\"probability\":0.75}]}";
    struct br2_edge_table a = {0};
    struct br2_edge_table b = {0};
    char text[128];
    assert_int_equal(csv->read_edges((const uint8_t *)rows, strlen(rows), &a, NULL), BR2PGO_OK);
    assert_int_equal(json->read_edges((const uint8_t *)object, strlen(object), &b, NULL),
                     BR2PGO_OK);
    assert_null(br2_edge_table_difference(&a, &b, text, sizeof text));
    assert_int_equal(a.edges[0].outcomes, 0);
    assert_true(a.edges[0].probability == 0.75);
    br2_edge_table_done(&a);
    br2_edge_table_done(&b);
}

static void csv_lines_may_end_with_crlf(void **state)
{
    (void)state;
    static const char text[] = "image,function,from,to,kind,count,mispredicted,probability\r\n"
                               "a,\"f\",0xab,,icall,1,0,0.5\r\n";
    struct br2_edge_table table = {0};
    assert_int_equal(csv->read_edges((const uint8_t *)text, strlen(text), &table, NULL), BR2PGO_OK);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.edges[0].from, 0xab);
    assert_int_equal(table.edges[0].kind, BR2_EDGE_INDIRECT_CALL);
    assert_true(table.edges[0].probability == 0.5);
    br2_edge_table_done(&table);
}

#define ROW                                                                                        \
    "\"image\":\"a\",\"function\":\"f\",\"to\":null,\"kind\":\"cond\",\"mispredicted\":null,"      \
    "\"probability\":null"

static void malformed_json_is_refused(void **state)
{
    (void)state;
    refuse(json, "", BR2PGO_CORRUPT, "line 1");
    refuse(json, "{", BR2PGO_CORRUPT, "line 1");
    refuse(json, "[]", BR2PGO_CORRUPT, "\"edges\"");
    refuse(json, "{\"version\":2,\"edges\":[]}", BR2PGO_UNSUPPORTED, "version 2");
    refuse(json, "{\"version\":1,\"edges\":[],\"x\":1}", BR2PGO_CORRUPT, "\"edges\"");
    refuse(json, "{\"version\":1,\"edges\":[5]}", BR2PGO_CORRUPT, "edge 1: expected an object");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW "}]}", BR2PGO_CORRUPT, "edge 1: expected");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW ",\"from\":null,\"x\":1}]}", BR2PGO_CORRUPT,
           "'count' is missing");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW ",\"from\":null,\"count\":-1}]}", BR2PGO_CORRUPT,
           "'count'");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW ",\"from\":\"0x0\",\"count\":1}]}",
           BR2PGO_CORRUPT, "'from'");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW ",\"from\":7,\"count\":1}]}", BR2PGO_CORRUPT,
           "'from'");
    refuse(json, "{\"version\":1,\"edges\":[{" ROW ",\"from\":null,\"count\":1,\"count\":1}]}",
           BR2PGO_CORRUPT, "duplicate");
}

static void names_that_are_not_utf8_do_not_fit_json(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xff",         "a\xc3",        "\xc0\x80",
                                      "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct br2_edge_table table = {0};
        struct br2_buf out = {0};
        const struct br2_edge edge = {.from = 1};
        assert_true(add(&table, "a", bad[i], &edge));
        assert_int_equal(json->write_edges(&table, &out, NULL), BR2PGO_UNSUPPORTED);
        assert_int_equal(br2_format_encode_edges(csv, &table, &out, NULL), BR2PGO_OK);
        br2_edge_table_done(&table);
        br2_buf_done(&out);
    }
    struct br2_edge_table table = {0};
    struct br2_buf out = {0};
    const struct br2_edge edge = {.from = 1};
    assert_true(add(&table, "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\x7f\\\t", &edge));
    assert_int_equal(br2_format_encode_edges(json, &table, &out, NULL), BR2PGO_OK);
    br2_edge_table_done(&table);
    br2_buf_done(&out);
}

static void damage_and_missing_memory_are_errors(void **state)
{
    (void)state;
    const struct br2_format *formats[] = {csv, json};
    struct br2_edge_table table = {0};
    assert_true(fill(&table));
    for (size_t f = 0; f < 2; f++) {
        struct br2_buf out = {0};
        assert_int_equal(formats[f]->write_edges(&table, &out, NULL), BR2PGO_OK);
        for (size_t size = 0; size < out.size; size++) {
            struct br2_edge_table read = {0};
            uint8_t *copy = br2_alloc(size);
            memcpy(copy, out.bytes, size);
            int status = formats[f]->read_edges(copy, size, &read, NULL);
            assert_true(status == BR2PGO_OK || status == BR2PGO_CORRUPT);
            br2_edge_table_done(&read);
            br2_free(copy);
        }
        br2_buf_done(&out);
        size_t failures = 0;
        for (int status = BR2PGO_NO_MEMORY; status != BR2PGO_OK; br2_buf_done(&out)) {
            br2_mem_fail_at(++failures);
            out = (struct br2_buf){0};
            status = br2_format_encode_edges(formats[f], &table, &out, NULL);
            br2_mem_fail_at(0);
            assert_true(status == BR2PGO_OK || status == BR2PGO_NO_MEMORY);
        }
        assert_in_range(failures, 4, 100);
    }
    br2_edge_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_exactly_this),
        cmocka_unit_test(json_is_exactly_this),
        cmocka_unit_test(probabilities_are_short),
        cmocka_unit_test(the_shares_of_one_source_stay_whole),
        cmocka_unit_test(rows_are_sorted_by_image_from_kind_to),
        cmocka_unit_test(every_difference_is_found),
        cmocka_unit_test(malformed_csv_is_refused),
        cmocka_unit_test(old_tables_are_read),
        cmocka_unit_test(csv_lines_may_end_with_crlf),
        cmocka_unit_test(malformed_json_is_refused),
        cmocka_unit_test(names_that_are_not_utf8_do_not_fit_json),
        cmocka_unit_test(damage_and_missing_memory_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
