/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same records in every container there is: they must come out the same. */
#include "recording.h"

#include <sys/stat.h>

#include "base/mem.h"

#define EVENT "event sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY\n"
#define TASKS                                                                                      \
    "comm pid=7 exec name=app time=1\n"                                                            \
    "mmap2 pid=7 addr=0x400000 len=0x1000 off=0x3000 maj=8 min=2 ino=77 name=/bin/app time=2\n"
#define SAMPLES                                                                                    \
    "repeat 3\nsample pid=7 ip=i time=10+i : 0x400100+i/0x400200/M/-/-/9 1/2/P/-/-/0\nend\n"

#define TASKS_TOLD "comm 7 t1 exec app\nmmap 7 t2 400000+1000@3000 8:2/77/0  /bin/app\n"
#define SAMPLES_TOLD                                                                               \
    "7/7 t10 0 x1000: 400100>400200:91 1>2:2\n"                                                    \
    "7/7 t11 1 x1000: 400101>400200:91 1>2:2\n"                                                    \
    "7/7 t12 2 x1000: 400102>400200:91 1>2:2\n"

static void remove_recording(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static void open_path(struct recording *r, const char *path)
{
    struct br2pgo_error err = {0};
    if (br2_input_open(path, &r->input, &err))
        fail_msg("%s", err.message);
    r->info = br2_input_info(r->input);
}

static void expect_content(struct recording *r, const char *tasks, const char *samples,
                           const char *what)
{
    const char *told = tasks_of(r);
    if (strcmp(told, tasks) != 0)
        fail_msg("%s: tasks are %s", what, told);
    told = samples_of(r, 0);
    if (strcmp(told, samples) != 0)
        fail_msg("%s: samples are %s", what, told);
    assert_int_equal(r->info->samples, 3);
}

/* Makes it, reads it as it is, and checks all of it. */
static void expect_same(const char *head, const char *body, const char *container)
{
    struct recording r = {0};
    char description[2048];
    snprintf(description, sizeof description, "%s\n" EVENT "%s", head, body);
    make_file(r.path, description);
    open_path(&r, r.path);
    remove_recording(r.path);
    assert_string_equal(r.info->container, container);
    expect_content(&r, TASKS_TOLD, SAMPLES_TOLD, description);
    assert_int_equal(r.info->truncation, BR2_WHOLE);
    assert_null(r.info->damaged_part);
    close_recording(&r);
}

/* A record of 96 bytes goes on over several of 50. */
static const char *const bodies[] = {
    TASKS SAMPLES,
    TASKS "compress 50\n" SAMPLES "end\n",
    TASKS "compress 50 v2\n" SAMPLES "end\n",
};
#define BODIES (sizeof bodies / sizeof *bodies)

static const char *const orders[] = {"endian little\n", "endian big\n"};

static void reads_every_form_in_both_byte_orders(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {"mode file\n", "perf.data (file mode)"},
        {"mode pipe\n", "perf.data (pipe mode)"},
        {"version 1\n", "perf.data (file mode, version 1)"},
        {"version 1\nmode pipe\n", "perf.data (pipe mode, version 1)"},
        {"packed gzip\n", "perf.data (file mode), packed by gzip"},
        {"packed xz\nmode pipe\n", "perf.data (pipe mode), packed by xz"},
        {"packed zstd\nversion 1\n", "perf.data (file mode, version 1), packed by zstd"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t order = 0; order < 2; order++) {
            /* All bodies in the first two, one in each of the others. */
            for (size_t body = i < 2 ? 0 : i % BODIES; body < (i < 2 ? BODIES : i % BODIES + 1);
                 body++) {
                char head[128];
                snprintf(head, sizeof head, "%s%s", orders[order], forms[i][0]);
                expect_same(head, bodies[body], forms[i][1]);
            }
        }
    }
}

#define SAMPLE(n)                                                                                  \
    "sample pid=7 ip=" #n " time=1" #n " : 0x40010" #n "/0x400200/M/-/-/9 1/2/P/-/-/0\n"

/* Each part has a stream of its own, which begins anew. */
static void reads_directories(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "part 0\n" SAMPLE(0) SAMPLE(1) "end\npart 1\nend\npart 2\n" SAMPLE(2) "end\n",
        "part 0\ncompress 50\n" SAMPLE(0) SAMPLE(1) "end\nend\n"
                                                    "part 1\ncompress 50\n" SAMPLE(2) "end\nend\n",
        "part 0\ncompress 50 v2\n" SAMPLE(0) "end\nend\n"
                                             "part 1\ncompress 40 v2\n" SAMPLE(1)
                                                 SAMPLE(2) "end\nend\n",
    };
    for (size_t order = 0; order < 2; order++) {
        for (size_t i = 0; i < 3; i++) {
            char body[1024];
            snprintf(body, sizeof body, TASKS "%s", parts[i]);
            expect_same(orders[order], body, "perf.data (directory mode)");
        }
    }
}

/* The directory may be named by its file; that file alone is of no use. */
static void finds_the_directory_of_its_file(void **state)
{
    (void)state;
    struct recording r = {0};
    char path[96];
    struct br2pgo_error err = {0};
    make_file(r.path, EVENT TASKS "part 0\n" SAMPLES "end\n");
    snprintf(path, sizeof path, "%s/data", r.path);
    open_path(&r, path);
    assert_string_equal(r.info->container, "perf.data (directory mode)");
    expect_content(&r, TASKS_TOLD, SAMPLES_TOLD, path);
    close_recording(&r);
    char alone[96];
    snprintf(alone, sizeof alone, "%s/other", r.path);
    assert_int_equal(rename(path, alone), 0);
    struct br2_input *input = NULL;
    assert_int_equal(br2_input_open(alone, &input, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.hint, "whole directory"));
    assert_int_equal(br2_input_open(r.path, &input, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no file 'data'"));
    remove_recording(r.path);
}

static void open_directory(struct recording *r, const char *parts, const char *command)
{
    char description[1024];
    char line[256];
    memset(r, 0, sizeof *r);
    snprintf(description, sizeof description, EVENT TASKS "%s", parts);
    make_file(r->path, description);
    snprintf(line, sizeof line, "cd '%s' && %s", r->path, command);
    assert_int_equal(system(line), 0);
    open_path(r, r->path);
    remove_recording(r->path);
    tasks_of(r);
}

/* What is wrong with one part costs what is behind it there, not the other parts. */
static void reads_on_behind_a_damaged_part(void **state)
{
    (void)state;
    struct recording r;
    const char *parts = "part 0\n" SAMPLE(0) SAMPLE(1) "end\npart 1\n" SAMPLE(2) "end\n";
    open_directory(&r, parts, "truncate -s 100 data.0"); /* a sample has 88 bytes */
    assert_int_equal(r.info->truncation, BR2_TRUNCATED);
    assert_string_equal(r.info->damaged_part, "data.0");
    assert_int_equal(r.info->damaged_at, 88);
    assert_int_equal(r.info->bytes_lost, 12);
    assert_string_equal(samples_of(&r, 0), "7/7 t10 0 x1000: 400100>400200:91 1>2:2\n"
                                           "7/7 t12 2 x1000: 400102>400200:91 1>2:2\n");
    close_recording(&r);

    parts = "part 0\n" SAMPLE(0) "record type=68 size=7\nend\npart 1\n" SAMPLE(2) "end\n";
    open_directory(&r, parts, "true");
    assert_int_equal(r.info->truncation, BR2_BROKEN);
    assert_string_equal(r.info->damaged_part, "data.0");
    assert_int_equal(r.info->samples, 2);
    close_recording(&r);

    /* The beginning of a record that is left of one stream is not the next one's: 88 bytes in two
     * records of 8 + 9 + 50 and 8 + 3 + 38 bytes. */
    parts =
        "part 0\ncompress 50\n" SAMPLE(0) "end\nend\n"
                                          "part 1\ncompress 50\n" SAMPLE(1) SAMPLE(2) "end\nend\n";
    open_directory(&r, parts, "truncate -s 67 data.0");
    assert_int_equal(r.info->truncation, BR2_TRUNCATED);
    assert_string_equal(r.info->damaged_part, "data.0");
    assert_int_equal(r.info->samples, 2);
    assert_string_equal(samples_of(&r, 0), "7/7 t11 1 x1000: 400101>400200:91 1>2:2\n"
                                           "7/7 t12 2 x1000: 400102>400200:91 1>2:2\n");
    close_recording(&r);
}

static void counts_missing_parts(void **state)
{
    (void)state;
    struct recording r;
    const char *parts = "part 0\nend\npart 1\nend\npart 2\n" SAMPLE(2) "end\npart 10\nend\n";
    open_directory(&r, parts, "rm data.0 && rm data.1 && mkdir data.11 && touch data.x data.zst");
    assert_int_equal(r.info->parts_missing, 2 + 7 + 1);
    assert_int_equal(r.info->samples, 1);
    close_recording(&r);
}

static void expect_packed(const char *head, const char *command, int status, const char *message)
{
    char path[64];
    char line[512];
    char description[1024];
    struct br2_input *input = NULL;
    struct br2pgo_error err = {0};
    snprintf(description, sizeof description, "%s\n" EVENT TASKS SAMPLES, head);
    make_file(path, description);
    snprintf(line, sizeof line, "f='%s'; %s", path, command);
    assert_int_equal(system(line), 0);
    int rc = br2_input_open(path, &input, &err);
    if (rc != status || !strstr(err.message, message))
        fail_msg("%s, %s: status %d %s", head, command, rc, err.message);
    assert_int_equal(rc != 0, err.hint[0] != '\0');
    br2_input_close(rc ? NULL : input);
    remove_recording(path);
}

static void refuses_damaged_packing(void **state)
{
    (void)state;
    static const char *const heads[] = {"packed gzip", "packed xz", "packed zstd"};
    for (size_t i = 0; i < 3; i++) {
        expect_packed(heads[i], "truncate -s -1 $f", BR2PGO_CORRUPT, "ends too early");
        expect_packed(heads[i], "truncate -s 9 $f", BR2PGO_CORRUPT, "ends too early");
        expect_packed(heads[i], "true", 0, "");
    }
    const char *damage =
        "printf '\\377\\377\\377' | dd of=$f bs=1 seek=60 conv=notrunc 2>/dev/null";
    expect_packed("packed gzip", damage, BR2PGO_CORRUPT, "is damaged");
    expect_packed("packed xz", damage, BR2PGO_CORRUPT, "is damaged");
    expect_packed("packed gzip", "gzip <$f >$f.2; mv $f.2 $f", BR2PGO_UNSUPPORTED, "twice");
    /* Two members: the second is the rest of the recording. */
    expect_packed("", "(head -c 200 $f | gzip; tail -c +201 $f | gzip) >$f.2; mv $f.2 $f", 0, "");
    /* Padding behind the last member. */
    expect_packed("packed gzip", "head -c 100 /dev/zero >>$f", 0, "");
}

/* Stored zeros of a length that no block has room for: 200 MB of 25 KB. */
static void refuses_what_grows_too_much(void **state)
{
    (void)state;
    static uint8_t bomb[6 + 4 * 1600] = "\x28\xb5\x2f\xfd\0\x50";
    for (size_t i = 0; i < 1600; i++) {
        uint32_t block = (uint32_t)128 * 1024 << 3 | 1 << 1 | (i == 1599); /* one byte repeated */
        memcpy(bomb + 6 + 4 * i, &block, 3);
    }
    char path[64];
    struct br2_input *input = NULL;
    struct br2pgo_error err = {0};
    write_file(path, bomb, sizeof bomb);
    assert_int_equal(br2_input_open(path, &input, &err), BR2PGO_LIMIT);
    assert_non_null(strstr(err.message, "1000 times"));
    unlink(path);
}

/* A pipe, through standard input and by name. */
static void reads_streams(void **state)
{
    (void)state;
    static const char *const heads[] = {"mode pipe", "mode file", "mode pipe\npacked gzip"};
    for (size_t i = 0; i < 3; i++) {
        struct recording r = {0};
        char file[64];
        char command[128];
        char description[1024];
        snprintf(description, sizeof description, "%s\n" EVENT TASKS SAMPLES, heads[i]);
        make_file(file, description);
        snprintf(command, sizeof command, "cat '%s'", file);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        int old = dup(STDIN_FILENO);
        assert_int_equal(dup2(fileno(pipe), STDIN_FILENO), STDIN_FILENO);
        open_path(&r, "-");
        assert_int_equal(dup2(old, STDIN_FILENO), STDIN_FILENO);
        close(old);
        assert_int_equal(pclose(pipe), 0);
        expect_content(&r, TASKS_TOLD, SAMPLES_TOLD, heads[i]);
        close_recording(&r);
        unlink(file);
    }
}

static int ignore_task(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    (void)user;
    (void)event;
    (void)err;
    return 0;
}

static int read_through(const char *path, struct br2pgo_error *err)
{
    struct br2_input *input = NULL;
    int rc = br2_input_open(path, &input, err);
    if (rc == 0)
        rc = br2_input_read_tasks(input, ignore_task, NULL, err);
    br2_input_close(input);
    return rc;
}

/* Each allocation in turn fails; the sanitizer sees what is left behind. */
static void survives_without_memory(void **state)
{
    (void)state;
    static const char *const descriptions[] = {
        "packed gzip\n" EVENT TASKS SAMPLES,
        "packed xz\n" EVENT TASKS SAMPLES,
        "packed zstd\n" EVENT TASKS SAMPLES,
        EVENT TASKS "part 0\ncompress 50\n" SAMPLES "end\nend\npart 1\n" SAMPLES "end\n",
    };
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++) {
        char path[64];
        make_file(path, descriptions[i]);
        br2_mem_fail_at(0);
        assert_int_equal(read_through(path, NULL), 0);
        size_t all = br2_mem_fail_at(0);
        assert_true(all > 6);
        for (size_t nth = 1; nth <= all; nth++) {
            struct br2pgo_error err = {0};
            br2_mem_fail_at(nth);
            int rc = read_through(path, &err);
            br2_mem_fail_at(0);
            assert_int_equal(rc, BR2PGO_NO_MEMORY);
            assert_int_equal(err.status, BR2PGO_NO_MEMORY);
        }
        remove_recording(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_form_in_both_byte_orders),
        cmocka_unit_test(reads_directories),
        cmocka_unit_test(finds_the_directory_of_its_file),
        cmocka_unit_test(reads_on_behind_a_damaged_part),
        cmocka_unit_test(counts_missing_parts),
        cmocka_unit_test(refuses_damaged_packing),
        cmocka_unit_test(refuses_what_grows_too_much),
        cmocka_unit_test(reads_streams),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
