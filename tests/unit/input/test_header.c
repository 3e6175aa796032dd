/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Headers of all ages, features, pipes, and files that are not whole. */
#include "recording.h"

#include "base/mem.h"

#define SAMPLES "repeat 3\nsample ip=i : i/2/P/-/-/0\nend\n" /* 48 bytes each */

static void reads_attrs_of_every_size(void **state)
{
    (void)state;
    static const int sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct recording r;
        char description[512];
        snprintf(description, sizeof description,
                 "attrsize %d\nevent a type=4 config=0x1c4 sample=ID,IP,BRANCH_STACK branch=ANY\n"
                 "event b type=0 config=1 sample=ID,IP,BRANCH_STACK ids=7,8\n"
                 "sample event=1 ip=1 : 1/2/P/-/-/0\n",
                 sizes[i]);
        open_recording(&r, description);
        tasks_of(&r);
        assert_int_equal(r.info->event_count, 2);
        assert_string_equal(r.info->events[0].name, "r1c4");
        assert_string_equal(r.info->events[1].name, "instructions");
        assert_int_equal(r.info->events[0].branch_sample_type, sizes[i] < 80 ? 0 : 8);
        assert_int_equal(r.info->events[1].samples, 1);
        assert_string_equal(samples_of(&r, 1), "-1/-1 t1 1 x1000: 1>2:2\n");
        close_recording(&r);
    }
}

#define ABOUT                                                                                      \
    "event my-event type=4 config=1 sample=IP,TID,TIME,BRANCH_STACK\nfeature hostname box\n"       \
    "feature osrelease 6.1.0\nfeature version 6.2\nfeature arch aarch64\nfeature cpudesc A B C\n"  \
    "feature cpuid 0x41\nfeature cmdline perf record -b ./a\nfeature event_desc\n"                 \
    "feature 200 010203\nbuildid 0123456789abcdef0123456789abcdef01234567 /bin/a\n"                \
    "buildid 00112233445566778899aabbccddeeff00112233 [kernel.kallsyms] kernel\n"                  \
    "buildid 0123456789abcdef /bin/gold nosize\n"                                                  \
    "comm pid=7 name=a\nsample pid=7 ip=1 : 1/2/P/-/-/0\n"

static void expect_about(const char *description, const char *container)
{
    struct recording r;
    open_recording(&r, description);
    const struct br2_recording_info *info = r.info;
    assert_string_equal(info->container, container);
    assert_string_equal(info->hostname, "box");
    assert_string_equal(info->os_release, "6.1.0");
    assert_string_equal(info->perf_version, "6.2");
    assert_string_equal(info->arch, "aarch64");
    assert_string_equal(info->cpu_description, "A B C");
    assert_string_equal(info->cpu_id, "0x41");
    assert_string_equal(info->command_line, "perf record -b ./a");
    assert_int_equal(info->event_count, 1);
    assert_string_equal(info->events[0].name, "my-event");
    assert_int_equal(info->image_count, 3);
    assert_string_equal(info->images[0].path, "/bin/a");
    assert_int_equal(info->images[0].build_id.size, 20);
    assert_int_equal(info->images[0].build_id.bytes[19], 0x67);
    assert_false(info->images[0].kernel);
    assert_true(info->images[1].kernel);
    assert_int_equal(info->images[2].build_id.size, 8);
    assert_int_equal(info->images[2].build_id.bytes[7], 0xef);
    assert_string_equal(tasks_of(&r), "comm 7 t1 a\n");
    assert_string_equal(samples_of(&r, 0), "7/7 t2 1 x1000: 1>2:2\n");
    close_recording(&r);
}

static void reads_what_the_recorder_says(void **state)
{
    (void)state;
    expect_about(ABOUT, "perf.data (file mode)");
    expect_about("endian big\n" ABOUT, "perf.data (file mode)");
    expect_about("mode pipe\n" ABOUT, "perf.data (pipe mode)");
    expect_about("mode pipe\nendian big\n" ABOUT, "perf.data (pipe mode)");
}

static void expect_images(const char *table, size_t count, const char *last)
{
    struct recording r;
    char description[1024];
    snprintf(description, sizeof description, "event sample=IP,BRANCH_STACK\nrecord type=68\n%s",
             table);
    open_recording(&r, description);
    assert_int_equal(r.info->image_count, count);
    assert_string_equal(r.info->images[count - 1].path, last);
    assert_int_equal(r.info->images[count - 1].build_id.bytes[0], 0xaa);
    close_recording(&r);
}

static void reads_odd_build_id_tables(void **state)
{
    (void)state;
    expect_images("buildid bb01 [kernel.kallsyms] kernel nopid\nbuildid aa02 /bin/old nopid\n", 2,
                  "/bin/old");
    expect_images("buildid bb01 /bin/a unpadded\nbuildid bb02 /bin/other unpadded\n"
                  "buildid aa03 /bin/last unpadded\n",
                  3, "/bin/last");
}

static void refuses_what_would_read_as_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *feature;
        const char *message;
    } cases[] = {{"feature 24 0100000000000000", "--threads"},
                 {"feature compressed 9", "number 9"}};
    for (size_t i = 0; i < 2; i++) {
        char path[64];
        char description[128];
        struct br2_input *input = NULL;
        struct br2pgo_error err = {0};
        snprintf(description, sizeof description,
                 "event sample=IP,BRANCH_STACK\nrecord type=68\n%s\n", cases[i].feature);
        make_file(path, description);
        assert_int_equal(br2_input_open(path, &input, &err), BR2PGO_UNSUPPORTED);
        assert_non_null(strstr(err.message, cases[i].message));
        unlink(path);
    }
}

static void expect_end(const char *change, enum br2_truncation truncation, uint64_t samples,
                       uint64_t read, uint64_t lost)
{
    struct recording r;
    char description[512];
    snprintf(description, sizeof description, "event sample=IP,BRANCH_STACK\n" SAMPLES "%s\n",
             change);
    open_recording(&r, description);
    tasks_of(&r);
    assert_int_equal(r.info->truncation, truncation);
    assert_int_equal(r.info->samples, samples);
    assert_int_equal(r.info->bytes_read, read);
    assert_int_equal(r.info->bytes_lost, lost);
    assert_int_equal(strlen(samples_of(&r, 0)) > 0, samples > 0);
    close_recording(&r);
}

/* The data begins at 104 + 8 (id) + 128 (attr and section) = 240. */
static void reads_to_the_last_whole_record(void **state)
{
    (void)state;
    expect_end("feature arch x", BR2_WHOLE, 3, 144, 0);
    expect_end("unclosed", BR2_UNCLOSED, 3, 144, 0);
    expect_end("unclosed\ntruncate 240+100", BR2_UNCLOSED, 2, 96, 4);
    expect_end("truncate 240+100", BR2_TRUNCATED, 2, 96, 48);
    expect_end("truncate 240", BR2_TRUNCATED, 0, 0, 144);
    /* What no file can hold is not counted as missing; what is behind the data is no record. */
    expect_end("claim -1", BR2_TRUNCATED, 3, 144, 0);
    expect_end("claim -1\nfeature arch x", BR2_TRUNCATED, 3, 144, 16 + 68);
    expect_end("claim 1000", BR2_TRUNCATED, 3, 144, 1000 - 144);
    expect_end("claim 1000\nfeature arch x", BR2_BROKEN, 3, 144, 16 + 68);
    expect_end("record type=68 size=7\n" SAMPLES, BR2_BROKEN, 3, 144, 8 + 144);
    expect_end("record type=68 size=9", BR2_BROKEN, 3, 144, 8);
    expect_end("mode pipe\nbytes 010203", BR2_TRUNCATED, 3, 128 + 144, 3);
}

static int ignore_task(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    (void)user;
    (void)event;
    (void)err;
    return 0;
}

static int ignore_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)user;
    (void)sample;
    (void)err;
    return 0;
}

static int read_all(const char *path, struct br2pgo_error *err)
{
    struct br2_input *input = NULL;
    int rc = br2_input_open(path, &input, err);
    if (!rc)
        rc = br2_input_read_tasks(input, ignore_task, NULL, err);
    if (!rc)
        rc = br2_input_read_samples(input, (const bool[]){true}, ignore_sample, NULL, err);
    br2_input_close(input);
    return rc;
}

/* Each allocation in turn fails; the sanitizer sees what is left behind. */
static void survives_without_memory(void **state)
{
    (void)state;
    char path[64];
    make_file(path, "endian big\n" ABOUT "compress 100\nsample ip=1 : 1/2/P/-/-/0\nend\n");
    br2_mem_fail_at(0);
    assert_int_equal(read_all(path, NULL), 0);
    size_t all = br2_mem_fail_at(0);
    assert_true(all > 6);
    for (size_t nth = 1; nth <= all; nth++) {
        struct br2pgo_error err = {0};
        br2_mem_fail_at(nth);
        int rc = read_all(path, &err);
        br2_mem_fail_at(0);
        assert_int_equal(rc, BR2PGO_NO_MEMORY);
        assert_int_equal(err.status, BR2PGO_NO_MEMORY);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_attrs_of_every_size),
        cmocka_unit_test(reads_what_the_recorder_says),
        cmocka_unit_test(reads_odd_build_id_tables),
        cmocka_unit_test(refuses_what_would_read_as_nothing),
        cmocka_unit_test(reads_to_the_last_whole_record),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
