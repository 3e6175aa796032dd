/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is no recording is refused in words that help. */
#include "recording.h"

static void expect_refusal(const char *path, int status, const char *message, const char *hint)
{
    struct br2_input *input = NULL;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_input_open(path, &input, &err), status);
    assert_null(input);
    assert_int_equal(err.status, status);
    if (!strstr(err.message, message) || !strstr(err.hint, hint))
        fail_msg("unexpected: %s (%s)", err.message, err.hint);
    assert_non_null(strstr(err.message, path));
}

static void expect_bytes(const void *bytes, size_t size, int status, const char *message,
                         const char *hint)
{
    char path[64];
    write_file(path, bytes, size);
    expect_refusal(path, status, message, hint);
    unlink(path);
}

static void refuses_other_files(void **state)
{
    (void)state;
    static const char script[] = "ls 7 1.0: 1 cycles: 400100 main+0x1 (/bin/ls)\n";
    static const char fdata[] = "1 main 4 1 main 8 0 7\n";
    static const char list[] = "\n\x18simpleperf:EtmBranchList\x12";
    static const uint8_t zeros[1024] = {0};
    expect_bytes("", 0, BR2PGO_UNSUPPORTED, "is empty", "record again");
    expect_bytes("hello\n", 6, BR2PGO_UNSUPPORTED, "a text file", "perf record -b");
    expect_bytes(script, sizeof script - 1, BR2PGO_UNSUPPORTED, "without branch stacks", "brstack");
    expect_bytes(fdata, sizeof fdata - 1, BR2PGO_UNSUPPORTED, "finished profile", "show");
    expect_bytes("main:10:1\n 1: 5\n", 16, BR2PGO_UNSUPPORTED, "finished profile", "show");
    expect_bytes("image,function,from,to,kind,count,", 34, BR2PGO_UNSUPPORTED, "finished profile",
                 "show");
    expect_bytes(list, sizeof list - 1, BR2PGO_UNSUPPORTED, "simpleperf", "inject");
    expect_bytes("\177ELF\2\1", 6, BR2PGO_UNSUPPORTED, "an ELF file", "with -b");
    expect_bytes("BZh9", 4, BR2PGO_UNSUPPORTED, "bzip2", "bzip2 -dc");
    expect_bytes("\1\2\3\4", 4, BR2PGO_UNSUPPORTED, "binary file of another kind", "perf record");
    expect_bytes(zeros, sizeof zeros, BR2PGO_UNSUPPORTED, "zero bytes only", "again");
}

static void refuses_damaged_headers(void **state)
{
    (void)state;
    uint8_t header[104] = "PERFILE2";
    expect_bytes("PERFILE2", 8, BR2PGO_CORRUPT, "after 8 bytes", "cut off");
    expect_bytes("PERFFILE........", 16, BR2PGO_CORRUPT, "is damaged", "cut off");
    header[8] = 104;
    expect_bytes(header, sizeof header, BR2PGO_CORRUPT, "has 0 bytes", "damaged");
    header[16] = 128;
    expect_bytes(header, sizeof header, BR2PGO_CORRUPT, "no event", "record again");
    expect_bytes(header, 60, BR2PGO_CORRUPT, "the file's 60", "cut off");
}

static void refuses_directories(void **state)
{
    (void)state;
    char directory[] = "/tmp/br2pgo-test-XXXXXX";
    char file[64];
    assert_non_null(mkdtemp(directory));
    expect_refusal(directory, BR2PGO_UNSUPPORTED, "is a directory", "perf record -b");
    snprintf(file, sizeof file, "%s/data", directory);
    fclose(fopen(file, "w"));
    expect_refusal(directory, BR2PGO_UNSUPPORTED, "is empty", "record again");
    unlink(file);
    rmdir(directory);
}

/* The second pass must be stopped by its sink, with the sink's own result. */
static int stop_sink(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)sample;
    int *calls = user;
    ++*calls;
    return br2_fail(err, BR2PGO_CANCELLED, "enough");
}

static void passes_on_what_a_sink_returns(void **state)
{
    (void)state;
    struct recording r;
    struct br2pgo_error err = {0};
    int calls = 0;
    uint64_t done;
    uint64_t total;
    open_recording(&r, "event sample=IP,BRANCH_STACK\n"
                       "repeat 10\nsample ip=i : 1/2/P/-/-/0\nend\n");
    tasks_of(&r);
    bool wanted = true;
    assert_int_equal(br2_input_read_samples(r.input, &wanted, stop_sink, &calls, &err),
                     BR2PGO_CANCELLED);
    assert_int_equal(calls, 1);
    assert_string_equal(err.message, "enough");
    br2_input_progress(r.input, &done, &total);
    assert_int_equal(total, 480);
    assert_int_equal(done, 48);
    close_recording(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(refuses_damaged_headers),
        cmocka_unit_test(refuses_directories),
        cmocka_unit_test(passes_on_what_a_sink_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
