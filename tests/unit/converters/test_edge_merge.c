/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of edge tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "converters/table/table.h"
#include "flow/edge_merge.h"

#define OLD_HEADER "image,function,from,to,kind,count,mispredicted,probability\n"
#define HEADER     "image,function,from,to,kind,count,mispredicted,probability,outcomes\n"

static struct br2pgo_error error;

static int add(struct br2_edge_table *sum, const char *text, uint64_t factor)
{
    struct br2_edge_table table = {0};
    assert_int_equal(
        br2_format_edges_csv.read_edges((const uint8_t *)text, strlen(text), &table, &error), 0);
    int rc = br2_edge_table_merge(sum, &table, factor, &error);
    br2_edge_table_done(&table);
    return rc;
}

static void assert_table(struct br2_edge_table *sum, const char *wanted)
{
    struct br2_buf out = {0};
    assert_int_equal(br2_format_encode_edges(&br2_format_edges_csv, sum, &out, &error), 0);
    br2_buf_u8(&out, '\0');
    assert_string_equal((const char *)out.bytes, wanted);
    br2_buf_done(&out);
    br2_edge_table_done(sum);
}

/* 7 of 8 taken have a run before them, of 10 that count 3 passed; then 19 of 20 and 1. */
static const char one[] = HEADER "a,,,0x10,call,2,0,,\n"
                                 "a,f,0x10,0x20,cond,8,1,0.7,10\n"
                                 "a,f,0x10,0x12,fallthrough,3,,0.3,10\n"
                                 "a,f,0x14,0x80,icall,4,1,1,4\n";
static const char two[] = HEADER "a,,,0x10,call,1,1,,\n"
                                 "a,f,0x10,0x20,cond,20,5,0.95,20\n"
                                 "a,f,0x10,0x12,fallthrough,1,,0.05,20\n"
                                 "a,f,0x14,0x90,icall,12,2,1,12\n"
                                 "b,g,0x10,0x99,jump,6,0,1,6\n";
static const char both[] = HEADER "a,,,0x10,call,3,1,,\n"
                                  "a,f,0x10,0x20,cond,28,6,0.866667,30\n"
                                  "a,f,0x10,0x12,fallthrough,4,,0.133333,30\n"
                                  "a,f,0x14,0x80,icall,4,1,0.25,16\n"
                                  "a,f,0x14,0x90,icall,12,2,0.75,16\n"
                                  "b,g,0x10,0x99,jump,6,0,1,6\n";

static void test_sums(void **state)
{
    (void)state;
    struct br2_edge_table sum = {0};
    assert_int_equal(add(&sum, one, 1), 0);
    assert_table(&sum, one);
    assert_int_equal(add(&sum, one, 1), 0);
    assert_int_equal(add(&sum, two, 1), 0);
    assert_table(&sum, both);
    assert_int_equal(add(&sum, two, 1), 0);
    assert_int_equal(add(&sum, one, 1), 0);
    assert_table(&sum, both);
}

/* A weight is that many of the same table. */
static void test_factors(void **state)
{
    (void)state;
    struct br2_edge_table sum = {0};
    assert_int_equal(add(&sum, one, 3), 0);
    assert_int_equal(add(&sum, two, 1), 0);
    assert_table(&sum, HEADER "a,,,0x10,call,7,1,,\n"
                              "a,f,0x10,0x20,cond,44,8,0.8,50\n"
                              "a,f,0x10,0x12,fallthrough,10,,0.2,50\n"
                              "a,f,0x14,0x80,icall,12,3,0.5,24\n"
                              "a,f,0x14,0x90,icall,12,2,0.5,24\n"
                              "b,g,0x10,0x99,jump,6,0,1,6\n");
    assert_int_equal(add(&sum, HEADER "a,f,0x14,0x80,icall,9223372036854775808,1,1,4\n", 3), 0);
    assert_table(&sum, HEADER "a,f,0x14,0x80,icall,18446744073709551615,3,1,"
                              "18446744073709551615\n");
}

/* Without the last column outcomes follow from those that passed, or are all. */
static void test_old_tables(void **state)
{
    (void)state;
    struct br2_edge_table sum = {0};
    assert_int_equal(add(&sum,
                         OLD_HEADER "a,f,0x10,0x20,cond,8,1,0.7\n"
                                    "a,f,0x10,0x12,fallthrough,3,,0.3\n"
                                    "a,f,0x20,0x30,cond,5,1,1\n"
                                    "a,f,0x20,0x22,fallthrough,0,,0\n",
                         1),
                     0);
    assert_int_equal(add(&sum, two, 1), 0);
    assert_table(&sum, HEADER "a,,,0x10,call,1,1,,\n"
                              "a,f,0x10,0x20,cond,28,6,0.866667,30\n"
                              "a,f,0x10,0x12,fallthrough,4,,0.133333,30\n"
                              "a,f,0x14,0x90,icall,12,2,1,12\n"
                              "a,f,0x20,0x30,cond,5,1,1,5\n"
                              "a,f,0x20,0x22,fallthrough,0,,0,5\n"
                              "b,g,0x10,0x99,jump,6,0,1,6\n");
}

/* Where no run leads to what was taken, all that were seen count, but no longer in a sum in which
 * some do: 3 of 5 here, then 3 of 6. */
static void test_oldest_records(void **state)
{
    (void)state;
    static const char oldest[] = HEADER "a,f,0x10,0x20,cond,2,0,0.666667,1\n"
                                        "a,f,0x10,0x12,fallthrough,1,,0.333333,1\n"
                                        "a,f,0x20,0x30,cond,4,0,1,0\n"
                                        "a,f,0x20,0x22,fallthrough,0,,0,0\n";
    static const char more[] = HEADER "a,f,0x10,0x20,cond,3,0,0.6,5\n"
                                      "a,f,0x10,0x12,fallthrough,2,,0.4,5\n";
    struct br2_edge_table sum = {0};
    assert_int_equal(add(&sum, oldest, 1), 0);
    assert_table(&sum, oldest);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(add(&sum, i == 0 ? oldest : more, 1), 0);
        assert_int_equal(add(&sum, i == 0 ? more : oldest, 1), 0);
        assert_table(&sum, HEADER "a,f,0x10,0x20,cond,5,0,0.5,6\n"
                                  "a,f,0x10,0x12,fallthrough,3,,0.5,6\n"
                                  "a,f,0x20,0x30,cond,4,0,1,0\n"
                                  "a,f,0x20,0x22,fallthrough,0,,0,0\n");
    }
}

/* What one does not know the sum does not, but for a name. */
static void test_unknown(void **state)
{
    (void)state;
    struct br2_edge_table sum = {0};
    assert_int_equal(add(&sum, HEADER "a,,0x10,0x99,jump,6,,1,6\n", 1), 0);
    assert_int_equal(add(&sum, HEADER "a,f,0x10,0x99,jump,2,1,1,2\n", 1), 0);
    assert_table(&sum, HEADER "a,f,0x10,0x99,jump,8,,1,8\n");
}

/* Rows of one table that cannot be of one build: the table is wrong, not the one before it. */
static void test_contradiction(void **state)
{
    (void)state;
    static const char *const rows[] = {
        HEADER "a,f,0x10,0x20,cond,1,0,1,1\na,f,0x10,0x20,jump,1,0,1,1\n",
        HEADER "a,f,0x10,0x20,cond,1,0,1,1\na,f,0x10,0x24,cond,1,0,1,1\n",
        HEADER "a,f,0x10,0x20,cond,1,0,1,1\na,g,0x10,0x20,cond,1,0,1,1\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct br2_edge_table sum = {0};
        assert_int_equal(add(&sum, rows[i], 1), BR2PGO_CORRUPT);
        assert_string_equal(error.message, "it has two branches at 0x10 of 'a'");
        br2_edge_table_done(&sum);
    }
}

static void test_other_builds(void **state)
{
    (void)state;
    static const char *const rows[] = {
        HEADER "a,f,0x10,0x20,jump,1,0,1,1\n", /* another kind */
        HEADER "a,f,0x10,0x24,cond,1,0,1,1\n", /* another target */
        HEADER "a,g,0x10,0x20,cond,1,0,1,1\n", /* another function */
        HEADER "a,f,0x14,0x12,fallthrough,1,,1,1\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct br2_edge_table sum = {0};
        assert_int_equal(add(&sum, one, 1), 0);
        if (i < 3) {
            assert_int_equal(add(&sum, rows[i], 1), BR2PGO_INVALID);
            assert_string_equal(error.message, "it is of another build of 'a' than what came "
                                               "before: at 0x10 is another branch");
        } else {
            assert_int_equal(add(&sum, rows[i], 1), BR2PGO_INVALID);
        }
        br2_edge_table_done(&sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),           cmocka_unit_test(test_factors),
        cmocka_unit_test(test_old_tables),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_contradiction),  cmocka_unit_test(test_other_builds),
        cmocka_unit_test(test_oldest_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
