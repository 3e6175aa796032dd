/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every format of finished profiles with one wrong byte: shown and merged, or refused with a
 * reason. Success always has something in it, and what was merged can be merged again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/fault/corruption.h"

static const char *profile;
static const char *sum; /* NULL: of a kind that is not merged */

static void check_error(int rc, const struct br2pgo_error *error, const char *what)
{
    if (rc != error->status || error->message[0] == '\0' || rc == BR2PGO_INTERNAL ||
        rc == BR2PGO_NO_MEMORY) {
        fail_msg("%s: status %d: %s", what, rc, error->message);
    }
}

static int show(const char *path, const char *what)
{
    struct br2pgo_error error = {0};
    char *text = NULL;
    int rc = br2pgo_show(path, NULL, &text, &error);
    if (rc != 0) {
        check_error(rc, &error, what);
        assert_null(text);
    } else if (text == NULL || strlen(text) < 5) {
        fail_msg("%s: shown as nothing", what);
    }
    br2pgo_free(text);
    return rc;
}

static void merge(const char *what)
{
    struct br2pgo_error error = {0};
    unlink(sum);
    int rc = br2pgo_merge(&profile, 1, sum, NULL, &error);
    if (rc != 0) {
        check_error(rc, &error, what);
        assert_int_not_equal(access(sum, F_OK), 0);
    } else {
        assert_int_equal(br2pgo_merge(&sum, 1, sum, NULL, &error), 0);
    }
}

static int attempt(size_t number, const char *what)
{
    int rc = show(profile, what);
    if (sum != NULL && number % 4 == 0) {
        merge(what);
    }
    return rc;
}

static void make_profile(const char *path, int version, bool compress)
{
    struct br2pgo_error error = {0};
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_output_options output = BR2PGO_OUTPUT_OPTIONS_INIT;
    struct br2pgo_conversion *conversion;
    options.gcc_version = version;
    output.compress = compress;
    assert_int_equal(br2pgo_open(&options, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "perf.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "app", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, path, &output, &error), 0);
    assert_int_equal(br2pgo_run(conversion, &error), 0);
    assert_int_equal(br2pgo_write(conversion, &error), 0);
    br2pgo_close(conversion);
}

static void check_profile(const char *path, const char *merged, uint64_t seed)
{
    size_t count = corruption_count();
    profile = path;
    sum = merged;
    size_t accepted = corrupt_file(path, count, seed, attempt);
    print_message("%s: %zu of %zu accepted\n", path, accepted, count);
    assert_in_range(accepted, 1, count - 1);
}

static void test_gcov(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const int versions[] = {11, 12, 16};
        make_profile("p.gcov", versions[i], false);
        check_profile("p.gcov", "sum.gcov", (uint64_t)i + 1);
    }
}

static void test_extbinary(void **state)
{
    (void)state;
    make_profile("p.prof", 0, false);
    check_profile("p.prof", "sum.prof", 4);
}

static void test_compressed_extbinary(void **state)
{
    (void)state;
    make_profile("z.prof", 0, true);
    check_profile("z.prof", "sum.prof", 5);
}

static void test_binary(void **state)
{
    (void)state;
    make_profile("p.binprof", 0, false);
    check_profile("p.binprof", "sum.prof", 6);
}

static void test_text(void **state)
{
    (void)state;
    make_profile("p.textprof", 0, false);
    check_profile("p.textprof", "sum.textprof", 7);
}

static void test_fdata(void **state)
{
    (void)state;
    make_profile("p.fdata", 0, false);
    check_profile("p.fdata", "sum.fdata", 8);
}

static void test_edges(void **state)
{
    (void)state;
    make_profile("p.edges.csv", 0, false);
    check_profile("p.edges.csv", NULL, 9);
    make_profile("p.edges.json", 0, false);
    check_profile("p.edges.json", NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcov),
        cmocka_unit_test(test_extbinary),
        cmocka_unit_test(test_compressed_extbinary),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_fdata),
        cmocka_unit_test(test_edges),
    };
    work_in_memory();
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
