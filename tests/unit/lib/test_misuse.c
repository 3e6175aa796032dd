/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the public interface refuses, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>
#include <glob.h>

#include "fixture.h"

static struct br2pgo_error last_error;

/* A conversion of perf.data to `output`, ready to run. */
static struct br2pgo_conversion *ready(const struct br2pgo_options *options, const char *recording,
                                       const char *output)
{
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(options, &conversion, &last_error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, recording, &last_error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "app", &last_error), 0);
    if (output != NULL) {
        assert_int_equal(br2pgo_add_output(conversion, output, NULL, &last_error), 0);
    }
    return conversion;
}

static void assert_success(int status)
{
    if (status != 0) {
        fail_msg("status %d: %s (%s)", status, last_error.message, last_error.hint);
    }
}

static size_t count_files(const char *pattern)
{
    glob_t found;
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* Whatever is called after a run that would have to come before it. */
static void test_nothing_added_after_run(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "late.edges.csv");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(br2pgo_add_output(conversion, "b.prof", NULL, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "the conversion has run: nothing can be added to it");
    assert_true(last_error.hint[0] != '\0');
    assert_int_equal(br2pgo_add_recording(conversion, "perf.data", NULL), BR2PGO_INVALID);
    assert_int_equal(br2pgo_set_weight(conversion, "2", NULL), BR2PGO_INVALID);
    assert_int_equal(br2pgo_set_image(conversion, "perf.data", NULL), BR2PGO_INVALID);
    assert_string_equal(br2pgo_image_path(conversion), "app");
    assert_success(br2pgo_write(conversion, &last_error));
    char *report;
    assert_success(br2pgo_report_json(conversion, &report, &last_error));
    br2pgo_free(report);
    br2pgo_close(conversion);
    assert_int_equal(count_files("b.prof"), 0);
    unlink("late.edges.csv");
}

/* A report is wanted before the run, and made after it. */
static void test_report(void **state)
{
    (void)state;
    struct br2pgo_report_options options = BR2PGO_REPORT_OPTIONS_INIT;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", NULL);
    char *text = (char *)&options;
    options.sections = "branches,nothing";
    assert_int_equal(br2pgo_want_report(conversion, &options, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "a report has no section 'nothing'");
    options.size--;
    assert_int_equal(br2pgo_want_report(conversion, &options, NULL), BR2PGO_INVALID);
    options.size++;
    options.sections = "branches";
    assert_success(br2pgo_want_report(conversion, &options, &last_error));
    assert_int_equal(br2pgo_make_report(conversion, BR2PGO_REPORT_CSV, &text, &last_error),
                     BR2PGO_INVALID);
    assert_null(text);
    assert_true(last_error.hint[0] != '\0');
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(br2pgo_want_report(conversion, NULL, NULL), BR2PGO_INVALID);
    assert_int_equal(br2pgo_make_report(conversion, 99, &text, &last_error), BR2PGO_INVALID);
    assert_success(br2pgo_make_report(conversion, BR2PGO_REPORT_CSV, &text, &last_error));
    assert_int_equal(strncmp(text, "table,rank,", 11), 0);
    br2pgo_free(text);
    br2pgo_close(conversion);
    conversion = ready(NULL, "perf.data", NULL);
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(br2pgo_make_report(conversion, BR2PGO_REPORT_TEXT, &text, NULL),
                     BR2PGO_INVALID);
    br2pgo_close(conversion);
}

/* Of all images there is no one report. */
static void test_report_of_all(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_conversion *conversion;
    options.all_images = 1;
    assert_success(br2pgo_open(&options, &conversion, &last_error));
    assert_int_equal(br2pgo_want_report(conversion, NULL, &last_error), BR2PGO_INVALID);
    br2pgo_close(conversion);
}

/* What failed hands out nothing, so that it can be released without asking. */
static void test_nothing_handed_out(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.size = 1;
    struct br2pgo_conversion *conversion = (void *)&options;
    assert_int_equal(br2pgo_open(&options, &conversion, NULL), BR2PGO_INVALID);
    assert_null(conversion);
    char text[] = "not from br2pgo";
    char *out = text;
    assert_int_equal(br2pgo_inspect("no such file", 0, &out, NULL), BR2PGO_IO);
    assert_null(out);
}

/* The caller's own files. */
static void test_check_path(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    fixture_shell("cp app app.debug");
    options.debug_binary = "app.debug";
    struct br2pgo_conversion *conversion = ready(&options, "perf.data", "a.textprof");
    static const char *const bad[] = {"perf.data", "./perf.data", "app", "app.debug",
                                      "./a.textprof"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(br2pgo_check_path(conversion, bad[i], &last_error), BR2PGO_INVALID);
        assert_true(last_error.hint[0] != '\0');
    }
    assert_success(br2pgo_check_path(conversion, "r.json", &last_error));
    assert_success(br2pgo_check_path(conversion, "-", &last_error));
    br2pgo_close(conversion);
    unlink("app.debug");
}

/* Debug information that was found is read too. */
static void test_output_on_found_debug_file(void **state)
{
    (void)state;
    fixture_shell("cp app stripped && objcopy --only-keep-debug stripped d.textprof && "
                  "strip -g stripped && objcopy --add-gnu-debuglink=d.textprof stripped");
    size_t size;
    char *before = fixture_load("d.textprof", &size);
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "d.textprof");
    assert_success(br2pgo_set_image(conversion, "stripped", &last_error));
    int rc = br2pgo_run(conversion, &last_error);
    rc = rc == 0 ? br2pgo_write(conversion, &last_error) : rc;
    assert_int_equal(rc, BR2PGO_INVALID);
    assert_string_equal(last_error.message, "output 'd.textprof' is a file to be read");
    br2pgo_close(conversion);
    size_t size_after;
    char *after = fixture_load("d.textprof", &size_after);
    assert_int_equal(size_after, size);
    assert_memory_equal(after, before, size);
    free(before);
    free(after);
    unlink("d.textprof");
    unlink("stripped");
}

/* An option that nothing comes of. */
static void test_options_without_use(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.symbol_list = 1;
    struct br2pgo_conversion *conversion = ready(&options, "perf.data", "a.textprof");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "no output has a place for the list of all functions");
    br2pgo_close(conversion);
    options.symbol_list = 0;
    options.suffixes = BR2PGO_SUFFIXES_NONE;
    conversion = ready(&options, "perf.data", "a.edges.csv");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message,
                        "no output cuts the suffixes of names in a way to be chosen");
    br2pgo_close(conversion);
    conversion = ready(&options, "perf.data", "a.textprof");
    assert_success(br2pgo_run(conversion, &last_error));
    br2pgo_close(conversion);
}

/* Two names of one file would be one output less than asked for, and an output that is an input
 * would destroy it. */
static void test_outputs_that_collide(void **state)
{
    (void)state;
    struct br2pgo_output_options options = BR2PGO_OUTPUT_OPTIONS_INIT;
    options.format = "edges";
    fixture_need(symlink("perf.data", "link.data") == 0, "symlink");
    const struct {
        const char *first, *second, *message;
    } cases[] = {
        {"a.prof", "./a.prof", "output './a.prof' is named twice"},
        {"perf.data", NULL, "output 'perf.data' is a file to be read"},
        {"./perf.data", NULL, "output './perf.data' is a file to be read"},
        {"link.data", NULL, "output 'link.data' is a file to be read"},
        {"app", NULL, "output 'app' is a file to be read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct br2pgo_conversion *conversion = ready(NULL, "perf.data", NULL);
        int rc = br2pgo_add_output(conversion, cases[i].first, &options, &last_error);
        if (rc == 0 && cases[i].second != NULL) {
            rc = br2pgo_add_output(conversion, cases[i].second, &options, &last_error);
        }
        rc = rc == 0 ? br2pgo_run(conversion, &last_error) : rc;
        rc = rc == 0 ? br2pgo_write(conversion, &last_error) : rc;
        assert_int_equal(rc, BR2PGO_INVALID);
        assert_string_equal(last_error.message, cases[i].message);
        br2pgo_close(conversion);
    }
    assert_int_equal(count_files(".br2pgo-*"), 0);
    assert_int_equal(count_files("*.prof"), 0);
    unlink("link.data");
}

/* No source, and one that is both. */
static void test_sources(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", NULL);
    const struct br2pgo_source both = {.profile = "app", .conversion = conversion};
    const struct br2pgo_source *const bad[] = {NULL, &both};
    char *text;
    int missed;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(br2pgo_check(bad[i], NULL, &text, &missed, &last_error), BR2PGO_INVALID);
        assert_string_equal(last_error.message, "a source is a profile or a conversion");
        assert_int_equal(br2pgo_diff(bad[i], bad[i], NULL, &text, &last_error), BR2PGO_INVALID);
        assert_string_equal(last_error.message, "a source is a profile or a conversion");
    }
    br2pgo_close(conversion);
}

/* Without options all of the profile is shown. */
static void test_show_without_options(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "shown.edges.csv");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_success(br2pgo_write(conversion, &last_error));
    br2pgo_close(conversion);
    char *all;
    char *text;
    assert_success(br2pgo_show("shown.edges.csv", NULL, &all, &last_error));
    assert_success(br2pgo_show_with("shown.edges.csv", NULL, &text, &last_error));
    assert_string_equal(text, all);
    br2pgo_free(all);
    br2pgo_free(text);
    unlink("shown.edges.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_show_without_options),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_of_all),
        cmocka_unit_test(test_nothing_added_after_run),
        cmocka_unit_test(test_nothing_handed_out),
        cmocka_unit_test(test_check_path),
        cmocka_unit_test(test_output_on_found_debug_file),
        cmocka_unit_test(test_options_without_use),
        cmocka_unit_test(test_outputs_that_collide),
    };
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
