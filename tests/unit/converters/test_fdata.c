/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fdata: what is written, what is read, what is refused, and merging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "converters/bolt/fdata.h"

static struct br2_block_function functions[] = {
    {.start = 0x1000},
    {.start = 0x2000, .local = 2},
    {.start = 0x3000, .plt = true},
    {.start = 0x4000, .section = true},
    {.start = 0x5a00},
    {.start = 0x6000, .local = 1},
};
static const char *const names[] = {"main", "my func\\q", "rand", ".plt", "", ".Lx"};

static struct br2_block_edge edges[] = {
    {0, 0x1000, BR2_OUTSIDE, 0, 7, 0, false},     {0x1004, 0x1010, 0, 0, 5, 2, false},
    {0x1004, 0x1010, 0, 0, 3, 0, true},           {0x1010, 0x2000, 0, 1, 4, 0, false},
    {0x2fff, 0x3000, 1, 2, UINT64_MAX, 1, false}, {0x3000, 0, 2, BR2_OUTSIDE, 9, 0, false},
    {0x4006, 0x5a01, 3, 4, 1, 1, false},          {0x6000, 0x6002, 5, 5, 1, 0, true},
};

static struct br2_block_flow make_flow(void)
{
    struct br2_block_flow flow = {
        .functions = functions, .function_count = 6, .edges = edges, .edge_count = 8};
    for (size_t i = 0; i < 6; i++) {
        const char *file = i == 5 ? "a b.c" : ""; /* counts for local symbols only */
        functions[i].name = br2_strings_add(&flow.names, names[i], strlen(names[i]));
        functions[i].file = br2_strings_add(&flow.names, file, strlen(file));
    }
    return flow;
}

static const struct br2_write_options options = {.bolt_version = 0};

#define WRITTEN                                                                                    \
    "0 [unknown] 0 1 main 0 0 7\n"                                                                 \
    "1 PG.Lx/a\\ b.c/1 0 1 PG.Lx/a\\ b.c/1 2 0 1\n"                                                \
    "1 __BOLT_PSEUDO_.plt 6 1 __BOLT_FDE_FUNCat5a00 1 1 1\n"                                       \
    "1 main 4 1 main 10 2 8\n"                                                                     \
    "1 main 10 1 my\\ func\\\\q/2 0 0 4\n"                                                         \
    "1 my\\ func\\\\q/2 fff 1 rand@PLT 0 1 18446744073709551615\n"                                 \
    "1 rand@PLT 0 0 [unknown] 0 0 9\n"

static void test_write(void **state)
{
    (void)state;
    struct br2_block_flow flow = make_flow();
    struct br2_buf out = {0};
    struct br2pgo_error err = {0};
    assert_int_equal(br2_format_encode_flow(&br2_format_fdata, &flow, &options, &out, &err), 0);
    assert_int_equal(out.size, sizeof WRITTEN - 1);
    assert_memory_equal(out.bytes, WRITTEN, out.size);
    br2_buf_done(&out);
    br2_strings_done(&flow.names);
}

/* What reads back as something else is found out, in every part of a record. */
static void test_check(void **state)
{
    (void)state;
    struct br2_block_flow flow = make_flow();
    char bytes[] = WRITTEN;
    char text[64];
    size_t size = sizeof bytes - 1;
    assert_int_equal(
        br2_format_fdata.check_flow((uint8_t *)bytes, size, &flow, text, sizeof text, NULL), 0);
    assert_string_equal(text, "");
    for (size_t i = 0; i < size; i++) {
        char kept = bytes[i];
        bytes[i] = kept == '1' ? '0' : '1';
        int rc =
            br2_format_fdata.check_flow((uint8_t *)bytes, size, &flow, text, sizeof text, NULL);
        assert_true(rc != 0 || text[0] != '\0');
        bytes[i] = kept;
    }
    size = strlen("0 [unknown] 0 1 main 0 0 7\n");
    assert_int_equal(
        br2_format_fdata.check_flow((uint8_t *)bytes, size, &flow, text, sizeof text, NULL), 0);
    assert_string_equal(text, "7 and 1 records");
    br2_strings_done(&flow.names);
}

static int read_text(struct br2_fdata *fdata, const char *text, struct br2pgo_error *err)
{
    *fdata = (struct br2_fdata){0};
    return br2_fdata_read(fdata, (const uint8_t *)text, strlen(text), err);
}

/* Reads and writes again. */
static void check_round(const char *text, const char *wanted)
{
    struct br2_fdata fdata;
    struct br2_buf out = {0};
    struct br2pgo_error err = {0};
    if (read_text(&fdata, text, &err) != 0) {
        fail_msg("%s: %s", text, err.message);
    }
    br2_fdata_write(&fdata, &out);
    br2_buf_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, wanted);
    br2_buf_done(&out);
    br2_fdata_done(&fdata);
}

static void test_read(void **state)
{
    (void)state;
    check_round(WRITTEN, WRITTEN);
    check_round("", "");
    check_round("2 f/1  A   0 [unknown] 7f00 1 2  \n", "1 f/1 a 0 [unknown] 7f00 1 2\n");
    check_round("no_lbr cycles:u: x\n1 f 1a 3\n", "no_lbr cycles:u: x\n1 f 1a 3\n");
    check_round("no_lbr\n", "no_lbr\n");
    /* perf2bolt writes the header lines in one order and llvm-bolt wants the other. */
    check_round("boltedcollection\nno_lbr e\n1 f 0 3\n", "no_lbr e\nboltedcollection\n1 f 0 3\n");
    check_round("no_lbr e\nboltedcollection\n", "no_lbr e\nboltedcollection\n");
    check_round("1 f 0 1 g 0 0 1\n4 f 3 3 heap 1000 9\n5 f 3 5 x/1 8 2\n",
                "1 f 0 1 g 0 0 1\n4 f 3 3 heap 1000 9\n4 f 3 4 x/1 8 2\n");
}

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"1 f 0 1 g 0 0 1", "line 1: it has no end"},
    {"1 f 0 1 g 0 0 1\n\n", "line 2: it is empty"},
    {"1 f 0 1 g 0 0 1\r\n", "line 1: expected a count"},
    {"# c\n", "line 1: expected a kind, 0 to 2"},
    {"6 f 0 1 g 0 0 1\n", "line 1: expected a kind, 0 to 2"},
    {"1 f 0 3 g 0 0 1\n", "line 1: expected a kind, 0 to 2"},
    {"4 f 0 1 g 0 1\n", "line 1: expected a kind, 3 to 5"},
    {"1 f 0x8 1 g 0 0 1\n", "line 1: expected an offset"},
    {"1 f 10000000000000000 1 g 0 0 1\n", "line 1: expected an offset"},
    {"1 f 0 1 g 0 0 -1\n", "line 1: expected a count"},
    {"1 f 0 1 g 0 0 18446744073709551616\n", "line 1: expected a count"},
    {"1 f 0 1 g 0 0\n", "line 1: expected a count"},
    {"1 f 0 1 g 0 0 1 1\n", "line 1: more fields"},
    {"1 f 0 1 g\\\n", "line 1: a name with a backslash"},
    {"1 \n", "line 1: expected a name"},
    {"1 f\n", "line 1: expected an offset"},
    {"1 f 0 1 g 0 0 1\nno_lbr\n", "line 2: expected a kind"},
    {"no_lbr\nno_lbr\n", "line 2: expected a kind"},
    {"no_lbr\n1 f 0 1 g 0 0 1\n", "line 2: more fields"},
};

static void test_refuse(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct br2_fdata fdata;
        struct br2pgo_error err = {0};
        assert_int_equal(read_text(&fdata, refused[i].text, &err), BR2PGO_CORRUPT);
        if (strstr(err.message, refused[i].message) == NULL) {
            fail_msg("'%s' is not in '%s'", refused[i].message, err.message);
        }
        br2_fdata_done(&fdata);
    }
    struct br2_fdata fdata = {0};
    assert_int_equal(br2_fdata_read(&fdata, (const uint8_t *)"1 f\0g 0 1 g 0 0 1\n", 18, NULL),
                     BR2PGO_CORRUPT);
    br2_fdata_done(&fdata);
}

static int merge_texts(const char *a, const char *b, struct br2_buf *out, struct br2pgo_error *err)
{
    struct br2_fdata sum = {0};
    struct br2_fdata other;
    assert_int_equal(read_text(&other, a, err), 0);
    assert_int_equal(br2_fdata_merge(&sum, &other, err), 0);
    br2_fdata_done(&other);
    assert_int_equal(read_text(&other, b, err), 0);
    int rc = br2_fdata_merge(&sum, &other, err);
    br2_fdata_done(&other);
    br2_fdata_write(&sum, out);
    br2_buf_u8(out, 0);
    br2_fdata_done(&sum);
    return rc;
}

static void check_merge(const char *a, const char *b, const char *wanted)
{
    struct br2_buf out = {0};
    assert_int_equal(merge_texts(a, b, &out, NULL), 0);
    assert_string_equal((const char *)out.bytes, wanted);
    br2_buf_done(&out);
}

/* Records of one edge are summed, whatever their mispredictions. */
static void test_merge(void **state)
{
    (void)state;
    check_merge("1 f 8 1 g 0 1 10\n1 a 0 1 a 2 0 1\n0 [unknown] 0 1 f 0 0 1\n",
                "1 z 0 1 z 2 0 3\n1 f 8 1 g 0 2 5\n",
                "0 [unknown] 0 1 f 0 0 1\n1 a 0 1 a 2 0 1\n1 f 8 1 g 0 3 15\n1 z 0 1 z 2 0 3\n");
    check_merge("1 f 8 1 g 0 0 18446744073709551615\n", "1 f 8 1 g 0 0 5\n",
                "1 f 8 1 g 0 0 18446744073709551615\n");
    /* A symbol is not what is none, and an offset is part of an edge. */
    check_merge("1 f 8 1 g 0 0 1\n", "1 f 8 0 g 0 0 1\n1 f 8 1 g 1 0 1\n",
                "1 f 8 0 g 0 0 1\n1 f 8 1 g 0 0 1\n1 f 8 1 g 1 0 1\n");
    check_merge("no_lbr c\n1 f 8 1\n", "no_lbr c\n1 f 8 2\n1 f 7 1\n",
                "no_lbr c\n1 f 7 1\n1 f 8 3\n");
    /* A local symbol is one like others; a record of memory is no branch, nor of another symbol. */
    check_merge("1 f 8 1 g 0 1 2\n", "2 f 8 1 g 0 3 4\n", "1 f 8 1 g 0 4 6\n");
    check_merge("1 f 8 1 d 0 0 1\n4 f 8 4 d 0 5\n", "5 f 8 4 d 0 1\n3 f 8 4 d 0 2\n4 f 8 4 d 1 3\n",
                "1 f 8 1 d 0 0 1\n3 f 8 4 d 0 2\n4 f 8 4 d 0 6\n4 f 8 4 d 1 3\n");
    check_merge("no_lbr c\n1 f 8 1\n4 f 8 4 d 0 5\n", "no_lbr c\n4 f 8 4 d 0 1\n",
                "no_lbr c\n1 f 8 1\n4 f 8 4 d 0 6\n");
    /* Both orders of the header lines, in one. */
    check_merge("boltedcollection\nno_lbr e\n1 f 0 3\n", "no_lbr e\nboltedcollection\n1 f 0 4\n",
                "no_lbr e\nboltedcollection\n1 f 0 7\n");
    check_merge("4 f 8 4 d 0 1\n1 z 0 1 z 2 0 3\n", "4 f 8 4 d 0 6\n",
                "1 z 0 1 z 2 0 3\n4 f 8 4 d 0 7\n");
}

static void test_merge_refused(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    struct br2_buf out = {0};
    assert_int_equal(merge_texts("1 f 8 1 g 0 1 1\n", "no_lbr\n1 f 8 1\n", &out, &err),
                     BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "no_lbr"));
    assert_int_equal(merge_texts("boltedcollection\n", "1 f 8 1 g 0 1 1\n", &out, &err),
                     BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "boltedcollection"));
    assert_int_equal(merge_texts("no_lbr a\n1 f 8 1\n", "no_lbr b\n1 f 8 1\n", &out, &err),
                     BR2PGO_INVALID);
    assert_non_null(strstr(err.message, "different events"));
    br2_buf_done(&out);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_block_flow flow = make_flow();
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 200) {
        struct br2_buf out = {0};
        br2_mem_fail_at(++nth);
        rc = br2_format_encode_flow(&br2_format_fdata, &flow, &options, &out, NULL);
        br2_mem_fail_at(0);
        br2_buf_done(&out);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 10);
    br2_strings_done(&flow.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),          cmocka_unit_test(test_check),
        cmocka_unit_test(test_read),           cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_merge),          cmocka_unit_test(test_merge_refused),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
