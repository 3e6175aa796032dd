/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is said about a recording, as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/inspect.h"
#include "report/json.h"

static struct br2_event_info events[] = {
    {.name = "cycles:u",
     .branch_sample_type = 1 << 0 | 1 << 3,
     .has_branch_stacks = true,
     .exclude_kernel = true,
     .frequency = true,
     .period_or_frequency = 4000,
     .samples = 3},
    {.name = "instructions", .period_or_frequency = 1000, .exclude_user = true},
};
static struct br2_recording_info info;
static struct br2_dso images[3];
static struct br2_dsos dsos;
static uint64_t sources[3];
static struct br2_count_stats stats;
static struct br2_inspection inspection;

static int setup(void **state)
{
    (void)state;
    info = (struct br2_recording_info){
        .container = "perf.data (file mode)",
        .events = events,
        .event_count = 2,
        .arch = "x86_64",
        .cpu_description = "A processor",
        .os_release = "6.1",
        .perf_version = "6.1.0",
        .command_line = "perf record -b ./app",
    };
    memset(images, 0, sizeof images);
    images[0] = (struct br2_dso){.path = "/bin/little", .file = true};
    images[1] = (struct br2_dso){.path = "/bin/much",
                                 .file = true,
                                 .deleted = true,
                                 .build_id = {.size = 3, .bytes = {0x0a, 0xbc, 0xde}}};
    images[2] = (struct br2_dso){.path = "[vdso]"};
    dsos = (struct br2_dsos){.items = images, .count = 3};
    memcpy(sources, (uint64_t[]){10, 80, 0}, sizeof sources);
    stats = (struct br2_count_stats){.samples = 3,
                                     .records = 100,
                                     .depth = 40,
                                     .predictions = 50,
                                     .wrong_path = 4,
                                     .empty = 2,
                                     .stale = 1};
    inspection = (struct br2_inspection){
        .path = "perf.data", .info = &info, .dsos = &dsos, .sources = sources, .stats = &stats};
    return 0;
}

/* The text; free it. */
static char *text(void)
{
    struct br2_buf out = {0};
    br2_inspect_text(&inspection, &out);
    br2_buf_u8(&out, '\0');
    assert_false(out.failed);
    return (char *)out.bytes;
}

static json_t *json(void)
{
    struct br2_buf out = {0};
    struct br2pgo_error err;
    assert_int_equal(br2_inspect_json(&inspection, &out, &err), 0);
    assert_int_equal(out.bytes[out.size - 1], '\n');
    json_error_t wrong;
    json_t *object = json_loadb((const char *)out.bytes, out.size, JSON_REJECT_DUPLICATES, &wrong);
    if (object == NULL) {
        fail_msg("%s", wrong.text);
    }
    br2_buf_done(&out);
    return object;
}

static void test_text(void **state)
{
    (void)state;
    char *got = text();
    assert_string_equal(
        got,
        "file         perf.data\n"
        "container    perf.data (file mode), little-endian, whole\n"
        "recorder     6.1.0\n"
        "command      perf record -b ./app\n"
        "machine      x86_64\n"
        "processor    A processor\n"
        "kernel       6.1\n"
        "event        'cycles:u': 3 samples, frequency 4000, user only\n"
        "             branch records: user, any\n"
        "event        'instructions': 0 samples, period 1000\n"
        "             branch records: none\n"
        "branches     100 records in 3 samples, at most 40 each, 50.0% with a prediction\n"
        "\n"
        "images       records   share  build-id\n"
        "                  80  80.00%  0abcde                                    /bin/much "
        "(deleted)\n"
        "                  10  10.00%  -                                         /bin/little\n"
        "                   3   3.00%  -                                         in no mapping\n"
        "                   4   4.00%  -                                         of a wrong path\n"
        "                   2   2.00%  -                                         empty\n"
        "                   1   1.00%  -                                         older than an "
        "empty one\n"
        "             1 more without branch records\n");
    free(got);
}

static void test_text_of_little(void **state)
{
    (void)state;
    info = (struct br2_recording_info){.container = "perf.data (pipe mode)",
                                       .big_endian = true,
                                       .compressed = true,
                                       .has_trace = true,
                                       .perf_version = "",
                                       .truncation = BR2_UNCLOSED};
    stats = (struct br2_count_stats){0};
    dsos.count = 0;
    inspection.sources = NULL;
    char *got = text();
    assert_string_equal(got,
                        "file         perf.data\n"
                        "container    perf.data (pipe mode), big-endian, compressed, not closed by "
                        "the recorder\n"
                        "trace        of an unknown kind, not decoded\n"
                        "branches     0 records in 0 samples\n");
    free(got);
}

static void test_losses(void **state)
{
    (void)state;
    char *got = text();
    assert_null(strstr(got, "losses"));
    free(got);
    info.lost_records = 1;
    info.unknown_event_samples = 2;
    info.malformed_records = 3;
    info.unknown_records = 4;
    info.throttled = 5;
    info.bytes_lost = 6;
    info.truncation = BR2_BROKEN;
    got = text();
    assert_non_null(strstr(got, ", broken\n"));
    assert_non_null(strstr(got, "losses       1 records lost by the recorder\n"
                                "losses       2 samples of no known event\n"
                                "losses       3 records that contradict their size\n"
                                "losses       4 records of unknown type, skipped\n"
                                "losses       5 times the recorder was throttled\n"
                                "losses       6 bytes that could not be read\n"));
    free(got);
    json_t *object = json();
    json_t *expected =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "lost_records", 1, "unknown_event_samples", 2,
                  "malformed_records", 3, "unknown_records", 4, "throttled", 5, "bytes_lost", 6);
    assert_true(json_equal(json_object_get(object, "losses"), expected));
    assert_string_equal(json_string_value(json_object_get(object, "state")), "broken");
    json_decref(expected);
    json_decref(object);
}

static void test_branch_modes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {
        {0, "not said"},
        {UINT64_C(1) << 60, "not said"},
        {1 << 0 | 1 << 3, "user, any"},
        {1 << 0 | 1 << 1 | 1 << 2, "user, kernel, hypervisor"},
        {1 << 4 | 1 << 5 | 1 << 6, "any call, any return, indirect call"},
        {1 << 7 | 1 << 8 | 1 << 9 | 1 << 10, "tx abort, in tx, not in tx, cond"},
        {1 << 0 | 1 << 11, "user, call stack"},
        {1 << 12 | 1 << 13 | 1 << 14 | 1 << 15, "indirect jump, call, no flags, no cycles"},
        {1 << 16 | 1 << 17 | 1 << 18 | 1 << 19, "types, hw index, privilege, counters"},
    };
    char buffer[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(br2_branch_mode_text(cases[i].bits, buffer, sizeof buffer),
                            cases[i].text);
    }
    /* All at once fit; what does not fit is left out whole. */
    br2_branch_mode_text(UINT64_MAX, buffer, sizeof buffer);
    assert_non_null(strstr(buffer, "counters"));
    assert_string_equal(br2_branch_mode_text(1 << 0 | 1 << 3 | 1 << 11, buffer, 16), "user, any");
}

static void test_json(void **state)
{
    (void)state;
    json_t *object = json();
    json_t *expected = json_pack(
        "{s:i, s:s, s:s, s:b, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:n,"
        " s:[{s:s, s:i, s:i, s:b, s:s, s:b, s:b}, {s:s, s:i, s:i, s:b, s:n, s:b, s:b}],"
        " s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i, s:i, s:i},"
        " s:[{s:s, s:s, s:b, s:i, s:f}, {s:s, s:n, s:b, s:i, s:f}, {s:s, s:n, s:b, s:i, s:f}]}",
        "schema_version", 1, "file", "perf.data", "container", "perf.data (file mode)",
        "big_endian", 0, "compressed", 0, "state", "whole", "recorder", "6.1.0", "command",
        "perf record -b ./app", "machine", "x86_64", "processor", "A processor", "kernel", "6.1",
        "trace", "events", "name", "cycles:u", "samples", 3, "frequency", 4000, "branch_records", 1,
        "branch_mode", "user, any", "exclude_kernel", 1, "exclude_user", 0, "name", "instructions",
        "samples", 0, "period", 1000, "branch_records", 0, "branch_mode", "exclude_kernel", 0,
        "exclude_user", 1, "branches", "samples", 3, "records", 100, "depth", 40, "with_prediction",
        50, "wrong_path", 4, "not_taken", 0, "empty", 2, "stale", 1, "unmapped", 3, "losses",
        "lost_records", 0, "unknown_event_samples", 0, "malformed_records", 0, "unknown_records", 0,
        "throttled", 0, "bytes_lost", 0, "images", "path", "/bin/much", "build_id", "0abcde",
        "deleted", 1, "records", 80, "share", 0.8, "path", "/bin/little", "build_id", "deleted", 0,
        "records", 10, "share", 0.1, "path", "[vdso]", "build_id", "deleted", 0, "records", 0,
        "share", 0.0);
    assert_non_null(expected);
    if (!json_equal(object, expected)) {
        fail_msg("%s", json_dumps(object, JSON_INDENT(1)));
    }
    json_decref(expected);
    json_decref(object);
}

static const char *trace_of(json_t *object)
{
    return json_string_value(json_object_get(object, "trace"));
}

static void test_json_of_a_trace(void **state)
{
    (void)state;
    info.has_trace = true;
    info.trace_kind = "Intel PT";
    json_t *object = json();
    assert_string_equal(trace_of(object), "Intel PT");
    json_decref(object);
    info.trace_kind = NULL; /* there is one, of which no more is known */
    object = json();
    assert_string_equal(trace_of(object), "unknown");
    json_decref(object);
}

/* A path is bytes; JSON is UTF-8. */
static void test_names_that_are_not_utf8(void **state)
{
    (void)state;
    images[0].path = "/bin/caf\xe9";
    images[1].path = "/bin/\xc3\xa9t\xc3\xa9"; /* UTF-8 stays */
    inspection.path = "\xff.data";
    events[0].name = "\x80";
    json_t *object = json();
    events[0].name = "cycles:u";
    json_t *array = json_object_get(object, "images");
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 0), "path")),
                        images[1].path);
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 1), "path")),
                        "/bin/caf\xc3\xa9");
    assert_string_equal(json_string_value(json_object_get(object, "file")), "\xc3\xbf.data");
    array = json_object_get(object, "events");
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 0), "name")),
                        "\xc2\x80");
    json_decref(object);
}

/* A name may hold what moves a terminal's cursor, or a line that looks like br2pgo's. */
static void test_names_that_are_not_printable(void **state)
{
    (void)state;
    images[1].path = "/bin/\x1b[2Jx\ny\t\x7f";
    info.command_line = "perf\nlosses 0";
    inspection.path = "a\rb";
    events[0].name = "e\x1b";
    char *got = text();
    events[0].name = "cycles:u";
    for (const char *at = got; *at != '\0'; at++) {
        assert_true(*at == '\n' || ((unsigned char)*at >= 0x20 && *at != 0x7f));
    }
    assert_non_null(strstr(got, "  /bin/?[2Jx?y?? (deleted)\n"));
    assert_non_null(strstr(got, "command      perf?losses 0\n"));
    assert_non_null(strstr(got, "file         a?b\n"));
    assert_non_null(strstr(got, "'e?'"));
    free(got);
}

/* Equal ones stay in the order of the recording. */
static void test_order_of_images(void **state)
{
    (void)state;
    memcpy(sources, (uint64_t[]){5, 5, 6}, sizeof sources);
    char *got = text();
    const char *vdso = strstr(got, "[vdso]");
    const char *little = strstr(got, "/bin/little");
    const char *much = strstr(got, "/bin/much");
    assert_true(vdso < little && little < much);
    assert_null(strstr(got, "more without"));
    free(got);
}

static size_t json_allocations;
static size_t json_failing; /* the one allocation that fails; 0: none */

static void *json_alloc(size_t size)
{
    return ++json_allocations == json_failing ? NULL : br2_alloc(size);
}

/* One allocation of jansson's fails, not all from there on. */
static void test_one_failure(void **state)
{
    (void)state;
    struct br2_buf whole = {0};
    json_allocations = 0;
    assert_int_equal(br2_inspect_json(&inspection, &whole, NULL), 0);
    size_t count = json_allocations;
    assert_in_range(count, 50, 1000);
    size_t errors = 0;
    for (json_failing = 1; json_failing <= count; json_failing++) {
        struct br2_buf out = {0};
        json_allocations = 0;
        int rc = br2_inspect_json(&inspection, &out, NULL);
        if (rc == 0) { /* jansson could do without */
            assert_int_equal(out.size, whole.size);
            assert_memory_equal(out.bytes, whole.bytes, out.size);
        } else {
            assert_int_equal(rc, BR2PGO_NO_MEMORY);
            errors++;
        }
        br2_buf_done(&out);
    }
    assert_in_range(errors, count / 2, count);
    br2_buf_done(&whole);
    json_failing = 0;
}

/* Every allocation fails in turn, those of jansson too: an error, never a part of the text. */
static void test_no_memory(void **state)
{
    (void)state;
    images[0].path = "/bin/caf\xe9";
    struct br2_buf whole = {0};
    br2_mem_fail_at(0);
    assert_int_equal(br2_inspect_json(&inspection, &whole, NULL), 0);
    size_t count = br2_mem_fail_at(0);
    assert_in_range(count, 50, 1000);
    struct br2pgo_error err;
    for (size_t i = 1; i <= count; i++) {
        struct br2_buf out = {0};
        br2_mem_fail_at(i);
        int rc = br2_inspect_json(&inspection, &out, &err);
        br2_mem_fail_at(0);
        assert_int_equal(rc, BR2PGO_NO_MEMORY);
        assert_int_equal(err.status, BR2PGO_NO_MEMORY);
        br2_buf_done(&out);
        br2_inspect_text(&inspection, &out);
        br2_buf_done(&out);
    }
    br2_buf_done(&whole);
    br2_inspect_text(&inspection, &whole);
    br2_buf_done(&whole);
    count = br2_mem_fail_at(0);
    for (size_t i = 1; i <= 2; i++) {
        br2_mem_fail_at(i);
        br2_inspect_text(&inspection, &whole);
        br2_mem_fail_at(0);
        assert_true(whole.failed);
        br2_buf_done(&whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_text, setup),
        cmocka_unit_test_setup(test_text_of_little, setup),
        cmocka_unit_test_setup(test_losses, setup),
        cmocka_unit_test_setup(test_branch_modes, setup),
        cmocka_unit_test_setup(test_json, setup),
        cmocka_unit_test_setup(test_json_of_a_trace, setup),
        cmocka_unit_test_setup(test_names_that_are_not_utf8, setup),
        cmocka_unit_test_setup(test_names_that_are_not_printable, setup),
        cmocka_unit_test_setup(test_order_of_images, setup),
        cmocka_unit_test_setup(test_one_failure, setup),
        cmocka_unit_test_setup(test_no_memory, setup),
    };
    json_set_alloc_funcs(json_alloc, br2_free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
