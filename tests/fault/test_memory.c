/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every allocation of a whole conversion, and of an inspection, fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>
#include <glob.h>
#include <jansson.h>

#include "base/mem.h"
#include "tests/unit/lib/fixture.h"

static const char *const outputs[] = {"m.textprof",   "m.prof",    "m.edges.csv",
                                      "m.edges.json", "m.fdata",   "m.gcov",
                                      "m.preagg",     "m.binprof", "m.unsymbolized"};
#define OUTPUT_COUNT (sizeof outputs / sizeof *outputs)

static struct br2pgo_error error;

/* jansson's allocations count while JSON is made. Its parser, which reads edges-json back, takes
 * some of its own failed allocations for wrong input. */
static bool json_counts;

static void *json_alloc(size_t size)
{
    return json_counts ? br2_alloc(size) : malloc(size);
}

/* The whole of a conversion, from the first call to the report; `*ret_report` may stay NULL. */
static int convert(const char *recording, const char *event, char **ret_report)
{
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.event = event;
    options.sysroot = "";
    options.symbol_list = 1;
    options.gcc_version = event == NULL ? 14 : 16;
    options.bolt_version = 22;
    struct br2pgo_conversion *conversion;
    int rc = br2pgo_open(&options, &conversion, &error);
    if (rc != 0) {
        return rc;
    }
    rc = br2pgo_add_recording(conversion, recording, &error);
    rc = rc == 0 ? br2pgo_set_image(conversion, "app", &error) : rc;
    for (size_t i = 0; rc == 0 && i < OUTPUT_COUNT; i++) {
        struct br2pgo_output_options output = BR2PGO_OUTPUT_OPTIONS_INIT;
        output.compress = i == 1;
        output.md5 = i == 1;
        rc = br2pgo_add_output(conversion, outputs[i], &output, &error);
    }
    rc = rc == 0 ? br2pgo_run(conversion, &error) : rc;
    json_counts = true;
    rc = rc == 0 ? br2pgo_report_json(conversion, ret_report, &error) : rc;
    json_counts = false;
    rc = rc == 0 ? br2pgo_write(conversion, &error) : rc;
    br2pgo_close(conversion);
    return rc;
}

static void set_old_outputs(void)
{
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        fixture_save(outputs[i], "old", 3);
    }
}

static void assert_outputs(char *const *wanted, const size_t *sizes)
{
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        size_t size;
        char *got = fixture_load(outputs[i], &size);
        assert_non_null(got);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(got, wanted[i], size);
        free(got);
    }
    glob_t found;
    assert_int_equal(glob("*.tmp", 0, NULL, &found), GLOB_NOMATCH);
}

static void check_conversion(const char *recording, const char *event)
{
    char *good[OUTPUT_COUNT];
    size_t sizes[OUTPUT_COUNT];
    char *report = NULL;
    br2_mem_fail_at(0);
    int rc = convert(recording, event, &report);
    size_t count = br2_mem_fail_at(0);
    if (rc != 0) {
        fail_msg("%s: status %d: %s", recording, rc, error.message);
    }
    br2pgo_free(report);
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        good[i] = fixture_load(outputs[i], &sizes[i]);
    }
    char text[] = "old";
    char *old[OUTPUT_COUNT];
    size_t old_sizes[OUTPUT_COUNT];
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        old[i] = text;
        old_sizes[i] = 3;
    }
    assert_in_range(count, 200, 20000);
    set_old_outputs();
    for (size_t i = 1; i <= count; i++) {
        report = NULL;
        memset(&error, 0, sizeof error);
        br2_mem_fail_at(i);
        rc = convert(recording, event, &report);
        br2_mem_fail_at(0);
        br2pgo_free(report);
        /* Every allocation of a conversion is needed: none of its failures passes unseen. */
        if (rc != BR2PGO_NO_MEMORY) {
            fail_msg("%s: allocation %zu of %zu: status %d: %s", recording, i, count, rc,
                     error.message);
        }
        assert_int_equal(error.status, BR2PGO_NO_MEMORY);
        assert_outputs(old, old_sizes);
    }
    /* None of it spoils the next one. */
    report = NULL;
    assert_int_equal(convert(recording, event, &report), 0);
    br2pgo_free(report);
    assert_outputs(good, sizes);
    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        free(good[i]);
        unlink(outputs[i]);
    }
}

static void test_conversion(void **state)
{
    (void)state;
    check_conversion("perf.data", NULL);
}

/* With what makes more of everything: processes, names, a build-id table, compression, losses. */
#define RICH                                                                                       \
    "mode pipe\n"                                                                                  \
    "event cycles:u sample=IP,TID,TIME,IDENTIFIER,BRANCH_STACK branch=USER,ANY\n"                  \
    "event other sample=IP,TID,TIME,IDENTIFIER\n"                                                  \
    "feature event_desc\nfeature hostname here\nfeature cmdline perf record -b\n"                  \
    "buildid " FIXTURE_BUILD_ID " /opt/app\nbuildid 1234 /lib/x.so\n"                              \
    "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 maj=1 min=2 ino=3 name=/opt/app\n"                 \
    "compress 200\n"                                                                               \
    "fork pid=8 ppid=7\nfork pid=9 ppid=8\n"                                                       \
    "repeat 20\n"                                                                                  \
    "mmap2 pid=9 addr=0x10000000+i*0x10000 len=0x1000 off=0 maj=1 min=2 ino=i name=/lib/x.so\n"    \
    "sample pid=9 : 0x10000010+i*0x10000/0x10000020+i*0x10000/P/-/-/1\n"                           \
    "end\n"                                                                                        \
    "sample pid=7 : " FIXTURE_HISTORY "sample pid=8 : " FIXTURE_HISTORY                            \
    "end\nlost 7\nexit pid=9\n"

static void test_rich_conversion(void **state)
{
    (void)state;
    fixture_recording("rich.data", RICH);
    check_conversion("rich.data", "cycles:u");
}

static void test_inspection(void **state)
{
    (void)state;
    fixture_recording("rich.data", RICH);
    json_counts = true;
    for (int json = 0; json < 2; json++) {
        char *text = NULL;
        br2_mem_fail_at(0);
        assert_int_equal(br2pgo_inspect("rich.data", json, &text, &error), 0);
        size_t count = br2_mem_fail_at(0);
        br2pgo_free(text);
        assert_in_range(count, 50, 20000);
        for (size_t i = 1; i <= count; i++) {
            memset(&error, 0, sizeof error);
            text = NULL;
            br2_mem_fail_at(i);
            int rc = br2pgo_inspect("rich.data", json, &text, &error);
            br2_mem_fail_at(0);
            if (rc != BR2PGO_NO_MEMORY || error.status != BR2PGO_NO_MEMORY) {
                fail_msg("allocation %zu of %zu: status %d: %s", i, count, rc, error.message);
            }
            assert_null(text);
        }
    }
}

/* A report of the recording in one form; `*ret` may stay NULL. */
static int report(const char *recording, int form, char **ret)
{
    struct br2pgo_report_options options = BR2PGO_REPORT_OPTIONS_INIT;
    struct br2pgo_conversion *conversion = NULL;
    options.sections = form == BR2PGO_REPORT_CSV ? "loops,paths,latency" : NULL;
    options.function = form == BR2PGO_REPORT_COLOR ? "work" : NULL;
    int rc = br2pgo_open(NULL, &conversion, &error);
    rc = rc == 0 ? br2pgo_add_recording(conversion, recording, &error) : rc;
    rc = rc == 0 ? br2pgo_set_image(conversion, "app", &error) : rc;
    rc = rc == 0 ? br2pgo_want_report(conversion, &options, &error) : rc;
    rc = rc == 0 ? br2pgo_run(conversion, &error) : rc;
    rc = rc == 0 ? br2pgo_make_report(conversion, form, ret, &error) : rc;
    br2pgo_close(conversion);
    return rc;
}

static void test_report(void **state)
{
    (void)state;
    json_counts = true;
    for (int form = BR2PGO_REPORT_TEXT; form <= BR2PGO_REPORT_JSON; form++) {
        char *text = NULL;
        br2_mem_fail_at(0);
        assert_int_equal(report("perf.data", form, &text), 0);
        size_t count = br2_mem_fail_at(0);
        br2pgo_free(text);
        assert_in_range(count, 100, 20000);
        for (size_t i = 1; i <= count; i++) {
            memset(&error, 0, sizeof error);
            text = NULL;
            br2_mem_fail_at(i);
            int rc = report("perf.data", form, &text);
            br2_mem_fail_at(0);
            if (rc != BR2PGO_NO_MEMORY || error.status != BR2PGO_NO_MEMORY) {
                fail_msg("form %d: allocation %zu of %zu: status %d: %s", form, i, count, rc,
                         error.message);
            }
            assert_null(text);
        }
    }
    json_counts = false;
}

/* Merging fails as a whole, and shows nothing. */
static void check_merge(const char *a, const char *b, const char *output, int gcc_version)
{
    const char *const inputs[] = {a, b};
    struct br2pgo_merge_options options = BR2PGO_MERGE_OPTIONS_INIT;
    options.gcc_version = gcc_version;
    br2_mem_fail_at(0);
    int rc = br2pgo_merge(inputs, 2, output, &options, &error);
    size_t count = br2_mem_fail_at(0);
    if (rc != 0) {
        fail_msg("%s: status %d: %s", output, rc, error.message);
    }
    assert_in_range(count, 20, 5000);
    for (size_t i = 1; i <= count; i++) {
        memset(&error, 0, sizeof error);
        fixture_save(output, "old", 3);
        br2_mem_fail_at(i);
        rc = br2pgo_merge(inputs, 2, output, &options, &error);
        br2_mem_fail_at(0);
        size_t size;
        char *text = fixture_load(output, &size);
        /* Recognising a text format may need memory: without, the next format is tried. */
        if (rc == 0) {
            assert_true(size != 3);
        } else {
            assert_true(rc == BR2PGO_NO_MEMORY || strstr(error.message, "known format") != NULL);
            assert_string_equal(text, "old");
        }
        free(text);
    }
    unlink(output);
}

static void test_merging(void **state)
{
    (void)state;
    char *report = NULL;
    br2_mem_fail_at(0);
    assert_int_equal(convert("rich.data", "cycles:u", &report), 0);
    br2pgo_free(report);
    check_merge("m.textprof", "m.textprof", "sum.prof", 0);
    check_merge("m.prof", "m.prof", "sum.prof", 0);
    check_merge("m.gcov", "m.gcov", "sum.gcov", 12);
    check_merge("m.fdata", "m.fdata", "sum.fdata", 0);
}

/* Every format shown fails as a whole. */
static void test_showing(void **state)
{
    (void)state;
    char *report = NULL;
    br2_mem_fail_at(0);
    assert_int_equal(convert("rich.data", "cycles:u", &report), 0);
    br2pgo_free(report);
    static const char *const shown[] = {"m.textprof", "m.prof",      "m.binprof",   "m.gcov",
                                        "m.fdata",    "m.edges.csv", "m.edges.json"};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        char *text = NULL;
        br2_mem_fail_at(0);
        assert_int_equal(br2pgo_show(shown[k], NULL, &text, &error), 0);
        size_t count = br2_mem_fail_at(0);
        size_t length = strlen(text);
        br2pgo_free(text);
        assert_in_range(count, 5, 5000);
        for (size_t i = 1; i <= count; i++) {
            memset(&error, 0, sizeof error);
            br2_mem_fail_at(i);
            int rc = br2pgo_show(shown[k], NULL, &text, &error);
            br2_mem_fail_at(0);
            /* Recognising a text format may need memory: without, the next format is tried. */
            if (rc == 0 ? strlen(text) != length
                        : text != NULL || (rc != BR2PGO_NO_MEMORY &&
                                           strstr(error.message, "known format") == NULL)) {
                fail_msg("%s: allocation %zu of %zu: status %d: %s", shown[k], i, count, rc,
                         error.message);
            }
            br2pgo_free(text);
        }
    }
}

static int compare_profiles(char **ret)
{
    const struct br2pgo_source base = {.profile = "m.textprof"};
    const struct br2pgo_source test = {.profile = "m.prof"};
    struct br2pgo_diff_options options = BR2PGO_DIFF_OPTIONS_INIT;
    options.json = json_counts;
    return br2pgo_diff(&base, &test, &options, ret, &error);
}

static int judge_profile(char **ret)
{
    const struct br2pgo_source source = {.profile = "m.fdata"};
    struct br2pgo_check_options options = BR2PGO_CHECK_OPTIONS_INIT;
    int missed;
    options.baseline = "m.fdata";
    options.json = json_counts;
    return br2pgo_check(&source, &options, ret, &missed, &error);
}

static int show_function(char **ret)
{
    struct br2pgo_show_options options = BR2PGO_SHOW_OPTIONS_INIT;
    options.top = 1;
    options.json = json_counts;
    return br2pgo_show_with("m.edges.csv", &options, ret, &error);
}

/* What is said of finished profiles is said as a whole, or not at all. */
static void test_judging(void **state)
{
    (void)state;
    static int (*const makers[])(char **) = {compare_profiles, judge_profile, show_function};
    char *text = NULL;
    br2_mem_fail_at(0);
    assert_int_equal(convert("rich.data", "cycles:u", &text), 0);
    br2pgo_free(text);
    for (size_t k = 0; k < 2 * sizeof makers / sizeof *makers; k++) {
        json_counts = k % 2 != 0;
        br2_mem_fail_at(0);
        assert_int_equal(makers[k / 2](&text), 0);
        size_t count = br2_mem_fail_at(0);
        size_t length = strlen(text);
        br2pgo_free(text);
        assert_in_range(count, 10, 5000);
        for (size_t i = 1; i <= count; i++) {
            memset(&error, 0, sizeof error);
            br2_mem_fail_at(i);
            int rc = makers[k / 2](&text);
            br2_mem_fail_at(0);
            /* Recognising a text format may need memory: without, the next format is tried. */
            if (rc == 0 ? strlen(text) != length
                        : text != NULL || (rc != BR2PGO_NO_MEMORY &&
                                           strstr(error.message, "known format") == NULL)) {
                fail_msg("%zu: allocation %zu of %zu: status %d: %s", k, i, count, rc,
                         error.message);
            }
            br2pgo_free(text);
        }
    }
    json_counts = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversion), cmocka_unit_test(test_rich_conversion),
        cmocka_unit_test(test_inspection), cmocka_unit_test(test_report),
        cmocka_unit_test(test_merging),    cmocka_unit_test(test_showing),
        cmocka_unit_test(test_judging),
    };
    fixture_begin();
    json_set_alloc_funcs(json_alloc, free);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
