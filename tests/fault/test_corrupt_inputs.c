/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every kind of recording, and a program, with one wrong byte: no crash, no success with nothing in
 * the output, and no more branch records than went in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/fault/corruption.h"

#define EVENT "event cycles:u sample=IP,TID,TIME,CPU,BRANCH_STACK branch=USER,ANY\n"
#define TASKS                                                                                      \
    "comm pid=7 exec name=app\n"                                                                   \
    "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"      \
    "fork pid=8 ppid=7\n"
#define SAMPLES "sample pid=7 : " FIXTURE_HISTORY "sample pid=8 : " FIXTURE_HISTORY

static const char *recording;

static int attempt_recording(size_t number, const char *what)
{
    int rc = try(recording, "app", what);
    if (number % 4 == 0) {
        try_inspection(recording, number % 8 == 0, what);
    }
    return rc;
}

static int attempt_image(size_t number, const char *what)
{
    (void)number;
    return try("perf.data", "bad", what);
}

/* `seed` tells files of one recording apart. */
static void check_file(const char *path, size_t share, uint64_t seed)
{
    size_t count = corruption_count() / share;
    recording = path;
    size_t accepted = corrupt_file(path, count, seed, attempt_recording);
    /* Most bytes matter to none of what is asked; some do. */
    assert_in_range(accepted, count / 100, count - 1);
}

static void test_file(void **state)
{
    (void)state;
    fixture_recording("file.data",
                      "event cycles:u sample=IP,TID,TIME,IDENTIFIER,BRANCH_STACK branch=USER,ANY\n"
                      "event other:u sample=IP,TID,TIME,IDENTIFIER\nfeature event_desc\n"
                      "feature cmdline perf record -b\nfeature hostname here\n"
                      "buildid " FIXTURE_BUILD_ID " /opt/app\n" TASKS SAMPLES
                      "sample pid=7 event=1\n"
                      "exit pid=8\n");
    check_file("file.data", 1, 1);
}

static void test_pipe(void **state)
{
    (void)state;
    fixture_recording("pipe.data",
                      "mode pipe\nendian big\nfeature event_desc\n" EVENT TASKS SAMPLES "lost 4\n");
    check_file("pipe.data", 1, 2);
}

static void test_compressed(void **state)
{
    (void)state;
    fixture_recording("zstd.data", EVENT TASKS "compress 90\n" SAMPLES "end\n");
    check_file("zstd.data", 2, 3);
    fixture_recording("zstd2.data", EVENT TASKS "compress 90 v2\n" SAMPLES "end\n");
    check_file("zstd2.data", 2, 4);
}

static void test_packed(void **state)
{
    (void)state;
    fixture_recording("gzip.data", "packed gzip\n" EVENT TASKS SAMPLES);
    fixture_recording("xz.data", "packed xz\n" EVENT TASKS SAMPLES);
    static const char *const files[] = {"gzip.data", "xz.data"};
    for (size_t i = 0; i < 2; i++) {
        recording = files[i];
        /* Checked by their own sums: next to nothing passes. */
        size_t count = corruption_count() / 2;
        assert_in_range(corrupt_file(files[i], count, 5 + i, attempt_recording), 0, count / 2);
    }
    fixture_recording("zst.data", "packed zstd\n" EVENT TASKS SAMPLES);
    check_file("zst.data", 4, 7); /* this frame has no sum */
}

static int attempt_directory(size_t number, const char *what)
{
    recording = "dir.data";
    return attempt_recording(number, what);
}

static void test_directory(void **state)
{
    (void)state;
    fixture_recording("dir.data", EVENT TASKS "part 0\n" SAMPLES
                                              "end\npart 1\ncompress 90\n" SAMPLES "end\nend\n");
    static const char *const files[] = {"dir.data/data", "dir.data/data.0", "dir.data/data.1"};
    for (size_t i = 0; i < 3; i++) {
        /* Of several files the others still have samples. */
        size_t count = corruption_count() / 3;
        size_t accepted = corrupt_file(files[i], count, 8 + i, attempt_directory);
        assert_in_range(accepted, count / 100, i == 0 ? count - 1 : count);
    }
}

static void test_script(void **state)
{
    (void)state;
    static const char text[] =
        "app 7 1.000001: PERF_RECORD_COMM exec: app:7/7\n"
        "app 7 1.000002: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 <51ac>]: r-xp /opt/app\n"
        "app 7 1.000003: PERF_RECORD_FORK(8:8):(7:7)\n"
        "app 7/7 [001] 1.000004: 1000 cycles:u: 401010 work+0x0 (/opt/app) "
        "0x401000/0x401010/P/-/-/1  0x401005/0x401000/P/-/-/1  0x40101b/0x401005/P/-/-/1  "
        "0x401019/0x401010/M/-/-/1  0x401013/0x401017/P/-/-/1  0x401000/0x401010/P/-/-/1 \n"
        "app 8/8 [001] 1.000005: 1000 cycles:u: 401010 work+0x0 (/opt/app) "
        "0x401000/0x401010/P/-/-/1//-  0x401005/0x401000/P/-/-/1//-  0x40101b/0x401005/P/-/-/1//- "
        "\nPERF_RECORD_LOST lost 3\n";
    fixture_save("script.txt", text, sizeof text - 1);
    check_file("script.txt", 1, 11);
}

/* Counted texts, as the fixture's recording gives them. */
static void make_counted(const char *path)
{
    struct br2pgo_error error = {0};
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "perf.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "app", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, path, NULL, &error), 0);
    assert_int_equal(br2pgo_run(conversion, &error), 0);
    assert_int_equal(br2pgo_write(conversion, &error), 0);
    br2pgo_close(conversion);
}

static void test_unsymbolized(void **state)
{
    (void)state;
    make_counted("counted.unsymbolized");
    check_file("counted.unsymbolized", 1, 12);
}

static void test_preaggregated(void **state)
{
    (void)state;
    make_counted("counted.preagg");
    check_file("counted.preagg", 1, 13);
}

static void test_image(void **state)
{
    (void)state;
    fixture_program("bad", "-Wl,--build-id=0x" FIXTURE_BUILD_ID);
    size_t count = corruption_count();
    assert_in_range(corrupt_file("bad", count, 14, attempt_image), count / 100, count - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),         cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_compressed),   cmocka_unit_test(test_packed),
        cmocka_unit_test(test_directory),    cmocka_unit_test(test_script),
        cmocka_unit_test(test_unsymbolized), cmocka_unit_test(test_preaggregated),
        cmocka_unit_test(test_image),
    };
    work_in_memory();
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
