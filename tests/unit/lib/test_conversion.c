/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conversions through the public interface only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>
#include <glob.h>
#include <jansson.h>

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

static void assert_file(const char *path, const char *expected)
{
    char *text = fixture_load(path, NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_option_sizes(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = NULL;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    size_t sizes[] = {0, 1, sizeof(size_t), sizeof options - 1, sizeof options + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.size = sizes[i];
        assert_int_equal(br2pgo_open(&options, &conversion, &last_error), BR2PGO_INVALID);
        assert_int_equal(last_error.status, BR2PGO_INVALID);
        assert_null(conversion);
        assert_int_equal(br2pgo_open(&options, &conversion, NULL), BR2PGO_INVALID);
    }
    options.size = sizeof options;
    options.suffixes = BR2PGO_SUFFIXES_NONE + 1;
    assert_int_equal(br2pgo_open(&options, &conversion, &last_error), BR2PGO_INVALID);
    options.suffixes = -1;
    assert_int_equal(br2pgo_open(&options, &conversion, &last_error), BR2PGO_INVALID);
    options.suffixes = BR2PGO_SUFFIXES_NONE;
    assert_int_equal(br2pgo_open(&options, &conversion, &last_error), 0);
    struct br2pgo_output_options output = BR2PGO_OUTPUT_OPTIONS_INIT;
    output.size--;
    assert_int_equal(br2pgo_add_output(conversion, "a.prof", &output, &last_error), BR2PGO_INVALID);
    output.size += 2;
    assert_int_equal(br2pgo_add_output(conversion, "a.prof", &output, &last_error), BR2PGO_INVALID);
    output.size--;
    assert_int_equal(br2pgo_add_output(conversion, "a.prof", &output, &last_error), 0);
    br2pgo_close(conversion);
    br2pgo_close(NULL);
}

static void test_outputs_are_checked(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "a.prof");
    struct br2pgo_output_options options = BR2PGO_OUTPUT_OPTIONS_INIT;
    assert_int_equal(br2pgo_add_output(conversion, "a.xyz", NULL, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "cannot tell the format of 'a.xyz' from its name");
    assert_non_null(strstr(last_error.hint, "llvm-extbinary (.prof)"));
    options.format = "prof";
    assert_int_equal(br2pgo_add_output(conversion, "b", &options, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "unknown format 'prof'");
    assert_int_equal(br2pgo_add_output(conversion, "a.prof", NULL, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "output 'a.prof' is named twice");
    options.format = "edges";
    options.md5 = 1;
    assert_int_equal(br2pgo_add_output(conversion, "b", &options, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "format 'edges' has no place for MD5 names");
    options.format = "llvm-text";
    options.md5 = 0;
    options.compress = 1;
    assert_int_equal(br2pgo_add_output(conversion, "b", &options, &last_error), BR2PGO_INVALID);
    options.compress = 0;
    options.partial = 1;
    assert_int_equal(br2pgo_add_output(conversion, "b", &options, &last_error), BR2PGO_INVALID);
    options.partial = 0;
    assert_int_equal(br2pgo_add_output(conversion, "b", &options, &last_error), 0);
    br2pgo_close(conversion);
}

static void test_order_of_calls(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, NULL), 0);
    assert_int_equal(br2pgo_write(conversion, &last_error), BR2PGO_INVALID);
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "no recording to read");
    assert_null(br2pgo_image_path(conversion));
    const struct br2pgo_funnel_row *rows;
    assert_int_equal(br2pgo_funnel(conversion, &rows), 0);
    assert_null(br2pgo_note(conversion, 0, NULL));
    br2pgo_close(conversion);

    conversion = ready(NULL, "perf.data", "twice.textprof");
    assert_int_equal(br2pgo_write(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "nothing to write: the conversion has not run");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "a conversion runs once");
    assert_success(br2pgo_write(conversion, &last_error));
    char *first = fixture_load("twice.textprof", NULL);
    unlink("twice.textprof");
    assert_success(br2pgo_write(conversion, &last_error));
    assert_file("twice.textprof", first);
    assert_string_equal(br2pgo_image_path(conversion), "app");
    br2pgo_close(conversion);
    free(first);
    unlink("twice.textprof");
}

/* A failed run leaves nothing to write, whichever step failed: this one fails after the graph. */
static void test_no_write_after_failed_run(void **state)
{
    (void)state;
    fixture_program("bare", "-g0 -Wl,--build-id=0x" FIXTURE_BUILD_ID);
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "failed.prof");
    assert_int_equal(br2pgo_set_image(conversion, "bare", &last_error), 0);
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_USELESS);
    assert_int_equal(br2pgo_write(conversion, &last_error), BR2PGO_INVALID);
    assert_int_equal(count_files("failed*"), 0);
    br2pgo_close(conversion);
}

static void test_failed_run_cannot_be_repeated(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "missing.data", "failed.prof");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_IO);
    assert_non_null(strstr(last_error.message, "missing.data"));
    assert_int_equal(br2pgo_write(conversion, &last_error), BR2PGO_INVALID);
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_int_equal(count_files("failed*"), 0);
    br2pgo_close(conversion);
}

struct canceller {
    unsigned calls;
    unsigned cancel_at; /* 0: never */
    bool strange;       /* done > total, or no phase */
};

static int cancel(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct canceller *canceller = user;
    canceller->calls++;
    canceller->strange |= done > total || phase == NULL || phase[0] == '\0';
    return canceller->calls == canceller->cancel_at ? 1 : 0;
}

/* Cancelled at every call of the progress function in turn. */
static void test_cancel(void **state)
{
    (void)state;
    static const char *const names[] = {"old.edges.csv", "old.textprof"};
    unsigned calls = 0;
    for (unsigned at = 0; at <= calls; at++) {
        struct canceller canceller = {.cancel_at = at};
        struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
        options.progress = cancel;
        options.progress_user = &canceller;
        fixture_save(names[0], "old", 3);
        fixture_save(names[1], "older", 5);
        struct br2pgo_conversion *conversion = ready(&options, "perf.data", names[0]);
        assert_int_equal(br2pgo_add_output(conversion, names[1], NULL, &last_error), 0);
        int rc = br2pgo_run(conversion, &last_error);
        rc = rc == 0 ? br2pgo_write(conversion, &last_error) : rc;
        assert_false(canceller.strange);
        if (at == 0) {
            assert_success(rc);
            calls = canceller.calls;
            assert_in_range(calls, 3, 100);
        } else {
            assert_int_equal(rc, BR2PGO_CANCELLED);
            assert_int_equal(last_error.status, BR2PGO_CANCELLED);
            assert_int_equal(strncmp(last_error.message, "stopped while ", 14), 0);
            assert_int_equal(canceller.calls, at);
            assert_file(names[0], "old");
            assert_file(names[1], "older");
        }
        br2pgo_close(conversion);
        assert_int_equal(count_files(".br2pgo-*"), 0);
    }
    unlink(names[0]);
    unlink(names[1]);
}

/* Every stage begins with "in", ends with "kept", and loses what is missing between them. Returns
 * the number of stages. */
static size_t check_funnel(const struct br2pgo_funnel_row *rows, size_t count)
{
    size_t stages = 0;
    for (size_t i = 0; i < count; stages++) {
        uint64_t in = rows[i].count;
        const char *stage = rows[i].stage;
        assert_string_equal(rows[i].reason, "in");
        uint64_t sum = 0;
        bool ended = false;
        for (i++; i < count && strcmp(rows[i].stage, stage) == 0; i++) {
            assert_false(ended);
            assert_string_not_equal(rows[i].reason, "in");
            ended = strcmp(rows[i].reason, "kept") == 0;
            assert_true(ended || rows[i].count != 0);
            assert_true(rows[i].share == (in != 0 ? (double)rows[i].count / (double)in : 0));
            sum += rows[i].count;
        }
        assert_true(ended);
        assert_int_equal(sum, in);
    }
    return stages;
}

static uint64_t row(const struct br2pgo_conversion *conversion, const char *stage,
                    const char *reason)
{
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].stage, stage) == 0 && strcmp(rows[i].reason, reason) == 0) {
            return rows[i].count;
        }
    }
    return 0;
}

/* One sample for each way to be lost, beside the good one. */
#define LOSSY                                                                                      \
    "event cycles:u sample=IP,TID,TIME,BRANCH_STACK,IDENTIFIER branch=USER,ANY\n"                  \
    "event other sample=IP,TID,TIME,IDENTIFIER\n"                                                  \
    "comm pid=7 exec name=app\n"                                                                   \
    "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"      \
    "mmap2 pid=7 addr=0x7f0000000000 len=0x2000 off=0 buildid=22 name=/lib/libother.so\n"          \
    "sample pid=7 : " FIXTURE_HISTORY "sample pid=7 event=1\n"                                     \
    "sample pid=7 :\n"                                                                             \
    "sample pid=7 nr=9 : 0x401000/0x401010/P/-/-/1\n"                                              \
    "sample pid=7 : 0x401000/0x401010/P/-/-/1 0x401005/0x401000/P/-/-/1/-/SPEC_WRONG_PATH\n"       \
    "sample pid=7 : 0x401000/0x401010/P/-/-/1 0/0/-/-/-/0 0x401005/0x401000/P/-/-/1\n"             \
    "sample pid=7 : 0x401010/0x401000/P/-/-/1\n"                                                   \
    "sample pid=7 : 0x401000/0x401013/P/-/-/1\n"                                                   \
    "sample pid=7 : 0x7f0000000100/0x7f0000000200/P/-/-/1\n"                                       \
    "sample pid=7 : 0x10/0x20/P/-/-/1\n"                                                           \
    "sample pid=9 : 0x401000/0x401010/P/-/-/1\n"

static void check_report(const struct br2pgo_conversion *conversion)
{
    char *text;
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    assert_success(br2pgo_report_json(conversion, &text, &last_error));
    json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    br2pgo_free(text);
    assert_int_equal(json_integer_value(json_object_get(report, "schema_version")), 1);
    assert_string_equal(json_string_value(json_object_get(report, "br2pgo")), br2pgo_version());
    json_t *funnel = json_object_get(report, "funnel");
    assert_int_equal(json_array_size(funnel), count);
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_array_get(funnel, i);
        assert_string_equal(json_string_value(json_object_get(object, "stage")), rows[i].stage);
        assert_string_equal(json_string_value(json_object_get(object, "reason")), rows[i].reason);
        assert_int_equal(json_integer_value(json_object_get(object, "count")), rows[i].count);
        double share = json_real_value(json_object_get(object, "share"));
        assert_true(share - rows[i].share < 1e-8 && rows[i].share - share < 1e-8);
    }
    json_t *notes = json_object_get(report, "notes");
    const char *note;
    int kind;
    size_t notes_seen = 0;
    for (; (note = br2pgo_note(conversion, notes_seen, &kind)) != NULL; notes_seen++) {
        json_t *object = json_array_get(notes, notes_seen);
        assert_string_equal(json_string_value(json_object_get(object, "text")), note);
        assert_int_equal(json_is_true(json_object_get(object, "warning")),
                         kind == BR2PGO_NOTE_WARNING);
    }
    assert_int_equal(json_array_size(notes), notes_seen);
    json_decref(report);
}

static void test_funnel(void **state)
{
    (void)state;
    fixture_recording("lossy.data", LOSSY);
    struct br2pgo_conversion *conversion = ready(NULL, "lossy.data", "lossy.textprof");
    assert_success(br2pgo_run(conversion, &last_error));
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    assert_int_equal(check_funnel(rows, count), 4);
    assert_string_equal(br2pgo_note(conversion, 0, NULL),
                        "'lossy.data': 1 samples contradict their own size, left out");
    assert_int_equal(row(conversion, "samples", "in"), 11);
    assert_int_equal(row(conversion, "samples", "damaged"), 1);
    assert_int_equal(row(conversion, "samples", "of other events"), 1);
    assert_int_equal(row(conversion, "samples", "without branch records"), 1);
    assert_int_equal(row(conversion, "samples", "kept"), 8);
    assert_int_equal(row(conversion, "branch records", "in"), 16);
    assert_int_equal(row(conversion, "branch records", "wrong path"), 1);
    assert_int_equal(row(conversion, "branch records", "empty"), 1);
    assert_int_equal(row(conversion, "branch records", "older than an empty one"), 1);
    assert_int_equal(row(conversion, "branch records", "kept"), 8);
    assert_int_equal(row(conversion, "straight runs", "in"), 5);
    assert_int_equal(row(conversion, "instructions", "in"), 12);
    check_report(conversion);
    br2pgo_close(conversion);
}

/* What is known when a run fails is there to look at. */
static void test_funnel_of_failed_run(void **state)
{
    (void)state;
    fixture_recording("useless.data", FIXTURE_EVENT "comm pid=7 exec name=app\n"
                                                    "sample pid=7 :\n"
                                                    "sample pid=7 :\n");
    struct br2pgo_conversion *conversion = ready(NULL, "useless.data", "useless.prof");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_USELESS);
    assert_string_equal(last_error.message, "'useless.data': no branch records");
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    assert_int_equal(check_funnel(rows, count), 2);
    assert_int_equal(row(conversion, "samples", "in"), 2);
    assert_int_equal(row(conversion, "samples", "without branch records"), 2);
    check_report(conversion);
    br2pgo_close(conversion);

    /* No event has branch records: its samples are of no other event. */
    fixture_recording("plain.data", "event cycles:u sample=IP,TID,TIME\n"
                                    "comm pid=7 exec name=app\nsample pid=7\n");
    conversion = ready(NULL, "plain.data", "useless.prof");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_USELESS);
    br2pgo_funnel(conversion, &rows);
    assert_int_equal(row(conversion, "samples", "without branch records"), 1);
    br2pgo_close(conversion);

    /* This one gets as far as the image. */
    fixture_recording("lossy.data", LOSSY);
    conversion = ready(NULL, "lossy.data", "useless.prof");
    assert_int_equal(br2pgo_set_image(conversion, "missing", &last_error), 0);
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_IO);
    count = br2pgo_funnel(conversion, &rows);
    assert_int_equal(check_funnel(rows, count), 2);
    assert_int_equal(row(conversion, "branch records", "kept"), 13);
    check_report(conversion);
    br2pgo_close(conversion);
}

static void test_report(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "r.prof");
    assert_int_equal(br2pgo_add_recording(conversion, "./perf.data", &last_error), 0);
    assert_success(br2pgo_run(conversion, &last_error));
    char *text;
    assert_success(br2pgo_report_json(conversion, &text, &last_error));
    json_t *report = json_loads(text, 0, NULL);
    br2pgo_free(text);
    json_t *expected =
        json_pack("[{s:s, s:i, s:i, s:i}, {s:s, s:i, s:i, s:i}]", "path", "perf.data", "samples", 1,
                  "branch_records", 6, "factor", 1, "path", "./perf.data", "samples", 1,
                  "branch_records", 6, "factor", 1);
    assert_true(json_equal(json_object_get(report, "inputs"), expected));
    json_decref(expected);
    expected =
        json_pack("{s:s, s:s, s:b}", "path", "app", "build_id", FIXTURE_BUILD_ID, "chosen", 0);
    assert_true(json_equal(json_object_get(report, "image"), expected));
    json_decref(expected);
    expected = json_pack("[{s:s, s:s}]", "path", "r.prof", "format", "llvm-extbinary");
    assert_true(json_equal(json_object_get(report, "outputs"), expected));
    json_decref(expected);
    assert_int_equal(json_integer_value(json_object_get(report, "functions")), 2);
    json_decref(report);
    br2pgo_close(conversion);
}

static size_t json_allocations;
static size_t json_failing; /* the one allocation that fails; 0: none */

static void *json_alloc(size_t size)
{
    return ++json_allocations == json_failing ? NULL : malloc(size);
}

/* One missing allocation, not all from there on: it must not leave a report with a hole. */
static void test_report_without_memory(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "r.prof");
    assert_success(br2pgo_run(conversion, &last_error));
    json_set_alloc_funcs(json_alloc, free);
    char *whole;
    json_allocations = 0;
    assert_success(br2pgo_report_json(conversion, &whole, &last_error));
    size_t count = json_allocations;
    assert_in_range(count, 50, 2000);
    size_t errors = 0;
    for (json_failing = 1; json_failing <= count; json_failing++) {
        char *text;
        json_allocations = 0;
        int rc = br2pgo_report_json(conversion, &text, &last_error);
        if (rc == 0) { /* jansson could do without */
            assert_string_equal(text, whole);
            br2pgo_free(text);
        } else {
            assert_int_equal(rc, BR2PGO_NO_MEMORY);
            errors++;
        }
    }
    assert_in_range(errors, count / 2, count);
    br2pgo_free(whole);
    json_failing = 0;
    json_set_alloc_funcs(malloc, free);
    br2pgo_close(conversion);
}

/* Two recordings of one program add up. */
static void test_several_recordings(void **state)
{
    (void)state;
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "sum.edges.csv");
    assert_int_equal(br2pgo_add_recording(conversion, "perf.data", &last_error), 0);
    assert_success(br2pgo_run(conversion, &last_error));
    assert_success(br2pgo_write(conversion, &last_error));
    br2pgo_close(conversion);
    assert_file("sum.edges.csv",
                "image,function,from,to,kind,count,mispredicted,probability,outcomes\n"
                "app,_start,0x401000,0x401010,call,4,0,1,4\n"
                "app,_start,0x401005,0x401000,jump,2,0,1,2\n"
                "app,work,0x401013,0x401017,cond,2,0,0.5,4\n"
                "app,work,0x401013,0x401015,fallthrough,2,,0.5,4\n"
                "app,work,0x401019,0x401010,cond,2,2,0.5,4\n"
                "app,work,0x401019,0x40101b,fallthrough,2,,0.5,4\n"
                "app,work,0x40101b,0x401005,return,2,0,1,2\n");
    unlink("sum.edges.csv");
}

static void test_notes(void **state)
{
    (void)state;
    fixture_recording("noisy.data", FIXTURE_EVENT
                      "comm pid=7 exec name=app\n"
                      "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID
                      " name=/opt/app\nlost 5\n"
                      "sample pid=7 : " FIXTURE_HISTORY "claim 4096\n");
    struct br2pgo_conversion *conversion = ready(NULL, "noisy.data", "n.textprof");
    assert_success(br2pgo_run(conversion, &last_error));
    int kind = -1;
    const char *note = br2pgo_note(conversion, 0, &kind);
    assert_int_equal(strncmp(note, "'noisy.data' is cut short", 25), 0);
    assert_int_equal(kind, BR2PGO_NOTE_WARNING);
    assert_string_equal(br2pgo_note(conversion, 1, &kind),
                        "'noisy.data': the recorder lost 5 records");
    assert_int_equal(kind, BR2PGO_NOTE_WARNING);
    assert_string_equal(br2pgo_note(conversion, 2, &kind),
                        "image: 'app', 100.0 % of the branch records start in it");
    assert_int_equal(kind, BR2PGO_NOTE_DETAIL);
    assert_null(br2pgo_note(conversion, 3, NULL));
    assert_null(br2pgo_note(conversion, SIZE_MAX, NULL));
    br2pgo_close(conversion);
}

/* Part of a sum is no sum: with one recording that does not say it, mispredictions are unknown. */
static void test_some_without_predictions(void **state)
{
    (void)state;
    static const char opening[] = FIXTURE_EVENT
        "comm pid=7 exec name=app\n"
        "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"
        "mmap2 pid=7 addr=0x900000 len=0x2000 off=0 buildid=22 name=/opt/other\n";
    char text[1024];
    snprintf(text, sizeof text, "%ssample pid=7 : 0x401000/0x401010/-/-/-/1\n", opening);
    fixture_recording("silent.data", text);
    struct br2pgo_conversion *conversion = ready(NULL, "perf.data", "some.edges.csv");
    assert_int_equal(br2pgo_add_recording(conversion, "silent.data", &last_error), 0);
    assert_success(br2pgo_run(conversion, &last_error));
    assert_success(br2pgo_write(conversion, &last_error));
    assert_non_null(strstr(br2pgo_note(conversion, 1, NULL),
                           "'silent.data' does not say which branches were mispredicted"));
    br2pgo_close(conversion);
    char *edges = fixture_load("some.edges.csv", NULL);
    assert_non_null(strstr(edges, "app,_start,0x401000,0x401010,call,3,,1,3\n"));
    free(edges);

    /* One that has nothing of the image does not count. */
    snprintf(text, sizeof text, "%ssample pid=7 : 0x901000/0x901010/-/-/-/1\n", opening);
    fixture_recording("silent.data", text);
    conversion = ready(NULL, "perf.data", "some.edges.csv");
    assert_int_equal(br2pgo_add_recording(conversion, "silent.data", &last_error), 0);
    assert_success(br2pgo_run(conversion, &last_error));
    assert_success(br2pgo_write(conversion, &last_error));
    br2pgo_close(conversion);
    edges = fixture_load("some.edges.csv", NULL);
    assert_non_null(strstr(edges, "app,_start,0x401000,0x401010,call,2,0,1,2\n"));
    free(edges);
    unlink("some.edges.csv");
}

struct watcher {
    unsigned scanning, reading; /* calls */
    uint64_t last;
    bool backwards;
};

static int watch(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct watcher *watcher = user;
    bool scanning = strcmp(phase, "scanning") == 0;
    bool reading = strcmp(phase, "reading") == 0;
    watcher->scanning += scanning;
    watcher->reading += reading;
    if (scanning || reading) {
        watcher->backwards = watcher->backwards || (done != 0 && done < watcher->last);
        watcher->last = done;
    }
    return done > total;
}

/* Both passes over a long recording say how far they are, whatever they find in it. */
static void test_progress(void **state)
{
    (void)state;
    fixture_recording("long.data",
                      "event a sample=IP,TID,BRANCH_STACK,IDENTIFIER branch=USER,ANY\n"
                      "event b sample=IP,TID,IDENTIFIER\n"
                      "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID
                      " name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY
                      "repeat 9000\nsample pid=7 event=1\nend\n");
    struct watcher watcher = {0};
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.progress = watch;
    options.progress_user = &watcher;
    struct br2pgo_conversion *conversion = ready(&options, "long.data", "long.edges.csv");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(watcher.scanning, 3);
    assert_int_equal(watcher.reading, 3);
    assert_false(watcher.backwards);
    br2pgo_close(conversion);
}

/* However many events there are, they are read in one pass. */
static void test_many_events(void **state)
{
    (void)state;
    char text[16384];
    int used = 0;
    for (int i = 0; i < 80; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "event e%d sample=IDENTIFIER,IP,TID,BRANCH_STACK branch=USER,ANY\n", i);
    }
    snprintf(text + used, sizeof text - (size_t)used,
             "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID
             " name=/opt/app\n"
             "sample pid=7 event=1 : 0x401000/0x401010/P/-/-/1\n"
             "sample pid=7 event=79 : 0x401000/0x401010/P/-/-/1\n");
    fixture_recording("many.data", text);
    struct br2pgo_conversion *conversion = ready(NULL, "many.data", "many.edges.csv");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(row(conversion, "branch records", "kept"), 2);
    br2pgo_close(conversion);
}

static void test_event(void **state)
{
    (void)state;
    fixture_recording(
        "events.data",
        "feature event_desc\n"
        "event cycles:u sample=IDENTIFIER,IP,TID,BRANCH_STACK branch=USER,ANY\n"
        "event branches:u sample=IDENTIFIER,IP,TID,BRANCH_STACK branch=USER,ANY\n"
        "event stacks sample=IDENTIFIER,IP,TID,BRANCH_STACK branch=CALL_STACK\n"
        "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"
        "sample pid=7 : " FIXTURE_HISTORY "sample pid=7 event=1 : 0x401000/0x401010/P/-/-/1\n"
        "sample pid=7 event=2 : 0x401000/0x401010/P/-/-/1\n");
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.event = "branches:u";
    struct br2pgo_conversion *conversion = ready(&options, "events.data", "e.edges.csv");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_int_equal(row(conversion, "samples", "of other events"), 2);
    assert_int_equal(row(conversion, "branch records", "kept"), 1);
    br2pgo_close(conversion);

    options.event = "cycles";
    conversion = ready(&options, "events.data", "e.edges.csv");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "'events.data' has no event 'cycles'");
    assert_string_equal(last_error.hint, "its events are 'cycles:u', 'branches:u', 'stacks'");
    br2pgo_close(conversion);

    /* All events: one of them is no history. */
    conversion = ready(NULL, "events.data", "e.edges.csv");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_USELESS);
    assert_non_null(strstr(last_error.message, "call stacks"));
    br2pgo_close(conversion);
}

/* The names of functions that did not run are in the profile only when asked for. */
static void test_symbol_list(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    size_t sizes[2];
    for (int list = 0; list < 2; list++) {
        options.symbol_list = list;
        struct br2pgo_conversion *conversion = ready(&options, "perf.data", "list.prof");
        /* A format that has no place for the list is made without it. */
        assert_int_equal(br2pgo_add_output(conversion, "list.textprof", NULL, &last_error), 0);
        assert_success(br2pgo_run(conversion, &last_error));
        assert_success(br2pgo_write(conversion, &last_error));
        br2pgo_close(conversion);
        free(fixture_load("list.prof", &sizes[list]));
    }
    assert_true(sizes[1] > sizes[0]);
    unlink("list.prof");
    unlink("list.textprof");
}

static void test_gcc_versions(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_conversion *conversion = NULL;
    static const int bad[][2] = {{-1, 0}, {12, -1}, {12, 4}};
    for (size_t i = 0; i < 3; i++) {
        options.gcc_version = bad[i][0];
        options.gcov_version = bad[i][1];
        assert_int_equal(br2pgo_open(&options, &conversion, &last_error), BR2PGO_INVALID);
        assert_non_null(strstr(last_error.message, "unknown version of GCC"));
    }
    /* The format's version counts, the compiler's decides about the rules. */
    options.gcc_version = 12;
    options.gcov_version = 3;
    conversion = ready(&options, "perf.data", "g.afdo");
    assert_string_equal(br2pgo_output_format(conversion, 0), "llvm-extbinary");
    assert_null(br2pgo_output_format(conversion, 1));
    assert_success(br2pgo_run(conversion, &last_error));
    assert_string_equal(br2pgo_output_format(conversion, 0), "gcov");
    assert_success(br2pgo_write(conversion, &last_error));
    br2pgo_close(conversion);
    size_t size;
    char *bytes = fixture_load("g.afdo", &size);
    assert_true(size > 8);
    assert_memory_equal(bytes, "adcg\3\0\0\0", 8);
    free(bytes);
    unlink("g.afdo");
    struct br2pgo_format format;
    assert_success(br2pgo_format_of("x.afdo", NULL, &format, &last_error));
    assert_int_equal(format.can & BR2PGO_CAN_GCC_VERSION, BR2PGO_CAN_GCC_VERSION);
    assert_success(br2pgo_format_of("x.afdo", "llvm-extbinary", &format, &last_error));
    assert_int_equal(format.can & BR2PGO_CAN_GCC_VERSION, 0);
}

static void test_bolt_versions(void **state)
{
    (void)state;
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_conversion *conversion = NULL;
    static const int bad[] = {-1, 1, 13};
    for (size_t i = 0; i < 3; i++) {
        options.bolt_version = bad[i];
        assert_int_equal(br2pgo_open(&options, &conversion, &last_error), BR2PGO_INVALID);
        assert_non_null(strstr(last_error.message, "no BOLT of version"));
    }
    options.bolt_version = 22;
    conversion = ready(&options, "perf.data", "b.fdata");
    assert_int_equal(br2pgo_run(conversion, &last_error), BR2PGO_INVALID);
    assert_string_equal(last_error.message, "no output is for a version of BOLT");
    br2pgo_close(conversion);
    conversion = ready(&options, "perf.data", "b.preagg");
    assert_success(br2pgo_run(conversion, &last_error));
    assert_success(br2pgo_write(conversion, &last_error));
    br2pgo_close(conversion);
    size_t size;
    char *bytes = fixture_load("b.preagg", &size);
    assert_true(size > 2);
    assert_memory_equal(bytes, "T ", 2);
    free(bytes);
    unlink("b.preagg");
}

static void test_formats(void **state)
{
    (void)state;
    struct br2pgo_format format;
    struct br2pgo_format same;
    size_t count = 0;
    for (; br2pgo_format_info(count, &format) == 0; count++) {
        assert_int_equal(br2pgo_format_of("x", format.name, &same, NULL), 0);
        assert_string_equal(same.name, format.name);
        if (format.suffix != NULL) {
            char path[64];
            snprintf(path, sizeof path, "folder.d/x%s", format.suffix);
            assert_int_equal(br2pgo_format_of(path, NULL, &same, NULL), 0);
            assert_string_equal(same.name, format.name);
        }
    }
    assert_in_range(count, 6, 100);
    assert_int_equal(br2pgo_format_info(SIZE_MAX, &format), BR2PGO_INVALID);
    assert_int_equal(br2pgo_format_of("-", NULL, &format, &last_error), BR2PGO_INVALID);
    assert_int_equal(br2pgo_format_of("", NULL, &format, &last_error), BR2PGO_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_option_sizes),
        cmocka_unit_test(test_outputs_are_checked),
        cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_no_write_after_failed_run),
        cmocka_unit_test(test_failed_run_cannot_be_repeated),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_funnel),
        cmocka_unit_test(test_funnel_of_failed_run),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_without_memory),
        cmocka_unit_test(test_several_recordings),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_some_without_predictions),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_many_events),
        cmocka_unit_test(test_symbol_list),
        cmocka_unit_test(test_gcc_versions),
        cmocka_unit_test(test_bolt_versions),
        cmocka_unit_test(test_formats),
    };
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
