/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* preagg.c: what is written, and that what reads back as something else is found out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"

static struct br2_block_edge edges[] = {
    {0, 0x1000, BR2_OUTSIDE, 0, 7, 0, false},
    {0x1004, 0x1abc, 0, 0, 12, 2, false},
    {0x1004, 0x1006, 0, 0, 3, 0, true},
    {0x1010, 0, 0, BR2_OUTSIDE, UINT64_MAX, 0, false},
};
static struct br2_block_run runs[] = {
    {0x1000, 0x1004, 9, 0},
    {0x1006, 0x1010, 5, 5},
    {0x1abc, 0x1ac0, 12, 2},
};
static const struct br2_block_flow flow = {
    .edges = edges, .edge_count = 4, .runs = runs, .run_count = 3};

#define WRITTEN                                                                                    \
    "B 0 1000 7 0\n"                                                                               \
    "B 1004 1abc 12 2\n"                                                                           \
    "B 1010 0 18446744073709551615 0\n"                                                            \
    "F 1000 1004 9\n"                                                                              \
    "f 1006 1010 5\n"                                                                              \
    "F 1abc 1ac0 10\n"                                                                             \
    "f 1abc 1ac0 2\n"

static const struct br2_write_options any = {.bolt_version = 0};

static void test_write(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    assert_int_equal(br2_format_encode_flow(&br2_format_bolt_preagg, &flow, &any, &out, NULL), 0);
    assert_int_equal(out.size, sizeof WRITTEN - 1);
    assert_memory_equal(out.bytes, WRITTEN, out.size);
    br2_buf_done(&out);
}

/* Half of what the flow above holds was seen as traces. */
static struct br2_block_trace traces[] = {
    {0, 0x1000, 0x1004, 4, 0, false, false},
    {0x1004, 0x1abc, 0x1ac0, 10, 1, false, false},
    {0x1ac0, 0x1006, 0x1010, 5, 0, true, true},
    {0x1ac0, 0x1abc, 0x1ac0, 2, 0, true, true},
};
static struct br2_block_function functions[] = {{.start = 0x1000}};
static const struct br2_block_flow traced = {
    .functions = functions,
    .function_count = 1,
    .edges = edges,
    .edge_count = 4,
    .runs = runs,
    .run_count = 3,
    .traces = traces,
    .trace_count = 4,
};

#define TRACED                                                                                     \
    "T 0 1000 1004 4\n"                                                                            \
    "T 1004 1abc 1ac0 10\n"                                                                        \
    "R 1ac0 1006 1010 5\n"                                                                         \
    "R 1ac0 1abc 1ac0 2\n"                                                                         \
    "B 0 1000 3 0\n"                                                                               \
    "B 1004 1abc 2 2\n"                                                                            \
    "B 1010 0 18446744073709551615 0\n"                                                            \
    "F 1000 1004 5\n"

/* Versions that read traces get them. */
static void test_traces(void **state)
{
    (void)state;
    /* A run behind a branch from outside is resumed. */
    runs[0].resumed = 4;
    traces[0].resumed = true;
    static const int versions[] = {0, 14, 20, 21, 22, 99};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct br2_buf out = {0};
        struct br2_write_options options = {.bolt_version = versions[i]};
        assert_int_equal(
            br2_format_encode_flow(&br2_format_bolt_preagg, &traced, &options, &out, NULL), 0);
        const char *start = versions[i] < 21 ? "B 0 1000 7 0\n" : TRACED;
        assert_true(out.size >= strlen(start));
        assert_memory_equal(out.bytes, start, strlen(start));
        assert_true(versions[i] < 21 || out.size == strlen(start));
        br2_buf_done(&out);
    }
    runs[0].resumed = 0;
    traces[0].resumed = false;
}

static bool is_found(const struct br2_block_flow *wanted, const char *bytes, size_t size,
                     const char *where)
{
    char text[64];
    assert_int_equal(br2_format_bolt_preagg.check_flow((const uint8_t *)bytes, size, wanted, text,
                                                       sizeof text, NULL),
                     0);
    return where == NULL ? text[0] != '\0' : strcmp(text, where) == 0;
}

/* A change of any byte, or the end anywhere, is found. */
static void check_bytes(const struct br2_block_flow *wanted, char *bytes, size_t size)
{
    assert_true(is_found(wanted, bytes, size, ""));
    for (size_t i = 0; i < size; i++) {
        char kept = bytes[i];
        bytes[i] = kept == '1' ? '2' : '1';
        assert_true(is_found(wanted, bytes, size, NULL));
        bytes[i] = kept;
        assert_true(is_found(wanted, bytes, i, NULL));
    }
}

static void test_check(void **state)
{
    (void)state;
    char bytes[] = WRITTEN "F 1 2 3\n";
    size_t size = sizeof WRITTEN - 1;
    check_bytes(&flow, bytes, size);
    assert_true(is_found(&flow, bytes, sizeof bytes - 1, "line F 1 2"));
    assert_true(is_found(&flow, bytes, size - strlen("f 1abc 1ac0 2\n"), "line f 1abc 1ac0"));
    bytes[14] = 'x';
    assert_true(is_found(&flow, bytes, size, "line 2"));
}

/* Traces are as good as the branches and runs they stand for; a return says nothing of a branch,
 * and a trace from another function is a run of the other kind. */
static void test_check_traces(void **state)
{
    (void)state;
    runs[0].resumed = 4;
    char bytes[] = TRACED;
    check_bytes(&traced, bytes, sizeof TRACED - 1);
    char plain[] = "T 1004 1abc 1ac0 10\nB 1004 1abc 2 2\nR 1ac0 1abc 1ac0 2\n"
                   "B 0 1000 7 0\nB 1010 0 18446744073709551615 0\n"
                   "F 1000 1004 5\nf 1000 1004 4\nR 1ac0 1006 1010 5\n";
    assert_true(is_found(&traced, plain, strlen(plain), ""));
    plain[0] = 'R';
    assert_true(is_found(&traced, plain, strlen(plain), "line B 1004 1abc"));
    plain[0] = 'T';
    struct br2_block_function two[] = {{.start = 0x1000}, {.start = 0x1800}};
    struct br2_block_flow other = traced;
    other.functions = two;
    other.function_count = 2;
    assert_true(is_found(&other, plain, strlen(plain), "line F 1abc 1ac0"));
    runs[0].resumed = 0;
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 100) {
        br2_buf_done(&out);
        br2_mem_fail_at(++nth);
        rc = br2_format_encode_flow(&br2_format_bolt_preagg, &flow, &any, &out, NULL);
        br2_mem_fail_at(0);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 3);
    br2_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),          cmocka_unit_test(test_traces),
        cmocka_unit_test(test_check),          cmocka_unit_test(test_check_traces),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
