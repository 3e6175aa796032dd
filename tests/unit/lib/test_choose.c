/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which of the recorded images is the one, and is this file it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fixture.h"

#define MMAP  "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 "
#define OTHER "mmap2 pid=7 addr=0x7f0000000000 len=0x2000 off=0 "

static struct br2pgo_error error;
static struct br2pgo_conversion *conversion;
static struct br2pgo_options options;

static int setup(void **state)
{
    (void)state;
    options = (struct br2pgo_options)BR2PGO_OPTIONS_INIT;
    memset(&error, 0, sizeof error);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    br2pgo_close(conversion);
    conversion = NULL;
    return 0;
}

/* Runs the recording that `text` describes against `image` (NULL: to be chosen). */
static int run(const char *text, const char *image)
{
    br2pgo_close(conversion);
    fixture_recording("r.data", text);
    assert_int_equal(br2pgo_open(&options, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "r.data", &error), 0);
    if (image != NULL) {
        assert_int_equal(br2pgo_set_image(conversion, image, &error), 0);
    }
    assert_int_equal(br2pgo_add_output(conversion, "r.edges.csv", NULL, &error), 0);
    return br2pgo_run(conversion, &error);
}

static uint64_t kept(void)
{
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].stage, "branch records") == 0 && strcmp(rows[i].reason, "kept") == 0) {
            return rows[i].count;
        }
    }
    return 0;
}

static bool noted(enum br2pgo_note_kind kind, const char *text)
{
    const char *note;
    int found;
    for (size_t i = 0; (note = br2pgo_note(conversion, i, &found)) != NULL; i++) {
        if (found == (int)kind && strstr(note, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void assert_taken(int status, const char *note)
{
    if (status != 0) {
        fail_msg("status %d: %s (%s)", status, error.message, error.hint);
    }
    assert_int_equal(kept(), 6);
    assert_true(noted(BR2PGO_NOTE_DETAIL, "100.0 % of the branch records start in it"));
    if (note != NULL) {
        assert_true(noted(BR2PGO_NOTE_WARNING, note));
    } else {
        assert_false(noted(BR2PGO_NOTE_WARNING, ""));
    }
}

static void test_build_id(void **state)
{
    (void)state;
    /* By build-id alone: another name, another place, no inode. */
    assert_taken(run(FIXTURE_EVENT MMAP "buildid=" FIXTURE_BUILD_ID
                                        " name=/elsewhere/x\nsample pid=7 : " FIXTURE_HISTORY,
                     "app"),
                 NULL);
    /* From the recording's table, which has it for the path. */
    assert_taken(run(FIXTURE_EVENT MMAP "maj=1 min=2 ino=3 name=/elsewhere/x\n"
                                        "buildid " FIXTURE_BUILD_ID " /elsewhere/x\n"
                                        "sample pid=7 : " FIXTURE_HISTORY,
                     "app"),
                 NULL);
}

static void test_other_build_id(void **state)
{
    (void)state;
    static const char text[] =
        FIXTURE_EVENT MMAP "buildid=abcd name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY;
    assert_int_equal(run(text, "app"), BR2PGO_USELESS);
    assert_string_equal(error.message, "'app' has build-id " FIXTURE_BUILD_ID
                                       ", but the recording is of '/opt/app' with build-id abcd");
    assert_non_null(strstr(error.hint, "--ignore-build-id"));
    options.ignore_build_id = 1;
    assert_taken(run(text, "app"), "although their build-ids differ");
    /* By any other name too, as the recording is clearly of one program. */
    fixture_shell("cp app prog");
    assert_taken(run(text, "prog"), "although their build-ids differ");
    options.ignore_build_id = 0;
    assert_int_equal(run(text, "prog"), BR2PGO_USELESS);
    assert_string_equal(error.message, "'prog' has build-id " FIXTURE_BUILD_ID
                                       ", but the recording is of '/opt/app' with build-id abcd");
    unlink("prog");
}

static void test_inode(void **state)
{
    (void)state;
    struct stat st;
    char text[1024];
    fixture_program("bare", "-Wl,--build-id=none");
    assert_int_equal(stat("bare", &st), 0);
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        snprintf(text, sizeof text,
                 FIXTURE_EVENT MMAP "maj=%u min=%u ino=%llu name=/gone/x\nsample pid=7 : %s",
                 major(st.st_dev) + (wrong == 1), minor(st.st_dev) + (wrong == 2),
                 (unsigned long long)st.st_ino + (wrong == 3), FIXTURE_HISTORY);
        if (wrong == 0) {
            assert_taken(run(text, "bare"), NULL);
        } else {
            assert_int_equal(run(text, "bare"), BR2PGO_USELESS);
            assert_string_equal(error.message, "no branch record lies in 'bare'");
        }
    }
    unlink("bare");
}

static void test_path(void **state)
{
    (void)state;
    char folder[200];
    char text[1024];
    char path[256];
    fixture_program("bare", "-Wl,--build-id=none");
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(text, sizeof text, FIXTURE_EVENT MMAP "name=%s/bare\nsample pid=7 : %s", folder,
             FIXTURE_HISTORY);
    snprintf(path, sizeof path, "%s/bare", folder);
    assert_taken(run(text, path), NULL);
    assert_taken(run(text, "./bare"), NULL);
    assert_int_equal(symlink("bare", "other-name"), 0);
    assert_taken(run(text, "other-name"), NULL);
    unlink("other-name");
    unlink("bare");
}

static void test_name(void **state)
{
    (void)state;
    fixture_program("bare", "-Wl,--build-id=none");
    assert_taken(run(FIXTURE_EVENT MMAP "name=/gone/bare\nsample pid=7 : " FIXTURE_HISTORY, "bare"),
                 "'bare' is taken for the recorded '/gone/bare' by its name and code segments");
    /* The same name, mapped from where the file has no code. */
    assert_int_equal(run(FIXTURE_EVENT "mmap2 pid=7 addr=0x400000 len=0x2000 off=0x7000 "
                                       "name=/gone/bare\nsample pid=7 : " FIXTURE_HISTORY,
                         "bare"),
                     BR2PGO_USELESS);
    assert_string_equal(error.message, "no branch record lies in 'bare'");
    assert_int_equal(
        run(FIXTURE_EVENT MMAP "name=/gone/bar\nsample pid=7 : " FIXTURE_HISTORY, "bare"),
        BR2PGO_USELESS);
    unlink("bare");
}

#define APP_CALL   "sample pid=7 : 0x401000/0x401010/P/-/-/1\n"
#define OTHER_CALL "sample pid=7 : 0x7f0000000010/0x7f0000000020/P/-/-/1\n"

/* A description in which the program lies in this folder. */
static const char *beside(const char *other, const char *samples)
{
    static char text[2048];
    char folder[200];
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(text, sizeof text, FIXTURE_EVENT MMAP "buildid=" FIXTURE_BUILD_ID " name=%s/app\n%s%s",
             folder, other, samples);
    return text;
}

static void test_chosen(void **state)
{
    (void)state;
    const char *text = beside(OTHER "name=/bin/other\n", APP_CALL APP_CALL OTHER_CALL);
    assert_int_equal(run(text, NULL), 0);
    assert_true(noted(BR2PGO_NOTE_CHOICE, "/app', 66.7 % of the branch records start in it"));
    char *end = strrchr(br2pgo_image_path(conversion), '/');
    assert_string_equal(end, "/app");
    /* Records outside files do not count against it. */
    text = beside("mmap2 pid=7 addr=0x7f0000000000 len=0x2000 name=[vdso]\n",
                  APP_CALL OTHER_CALL OTHER_CALL OTHER_CALL);
    assert_int_equal(run(text, NULL), 0);
    assert_true(noted(BR2PGO_NOTE_CHOICE, "/app', 25.0 % of the branch records start in it"));
}

static void test_ambiguous(void **state)
{
    (void)state;
    const char *text =
        beside(OTHER "name=/bin/other\n", APP_CALL APP_CALL APP_CALL OTHER_CALL OTHER_CALL);
    assert_int_equal(run(text, NULL), BR2PGO_AMBIGUOUS);
    assert_string_equal(
        error.message, "no executable has clearly most of the branch records: which one is meant?");
    assert_non_null(strstr(error.hint, "--binary"));
    assert_non_null(strstr(error.hint, "/app' 60.0 %, '/bin/other' 40.0 %"));
    assert_null(br2pgo_image_path(conversion));
    /* Said which, it works. */
    assert_int_equal(run(text, "app"), 0);
}

static void test_libraries_are_not_chosen(void **state)
{
    (void)state;
    static const char *const libraries[] = {"libc.so", "libc.so.6", "lib.something.so.1"};
    char other[256];
    for (size_t i = 0; i < 3; i++) {
        snprintf(other, sizeof other, OTHER "name=/lib/%s\n", libraries[i]);
        assert_int_equal(run(beside(other, OTHER_CALL OTHER_CALL OTHER_CALL), NULL),
                         BR2PGO_AMBIGUOUS);
        assert_non_null(strstr(error.hint, libraries[i]));
    }
    /* A program whose name only looks a little like it: chosen, and not there. */
    assert_int_equal(run(beside(OTHER "name=/bin/quick.sort\n", OTHER_CALL), NULL), BR2PGO_IO);
    assert_non_null(strstr(error.message, "/bin/quick.sort"));
    assert_non_null(strstr(error.hint, "--sysroot"));
}

static void test_nothing_to_choose(void **state)
{
    (void)state;
    assert_int_equal(run(FIXTURE_EVENT "comm pid=7 exec name=app\n" APP_CALL, NULL),
                     BR2PGO_USELESS);
    assert_string_equal(error.message, "no branch record lies in a file that the recording knows");
    assert_string_equal(error.hint, "see what it holds: br2pgo inspect 'r.data'");
    assert_int_equal(run(FIXTURE_EVENT "comm pid=7 exec name=app\n" APP_CALL, "app"),
                     BR2PGO_USELESS);
    assert_string_equal(error.hint, "see what was recorded: br2pgo inspect 'r.data'");
}

static void test_sysroot(void **state)
{
    (void)state;
    fixture_shell("mkdir -p root/opt && cp app root/opt/app");
    static const char text[] = FIXTURE_EVENT MMAP "name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY;
    static const char *const roots[] = {"root", "root/", "./root//"};
    for (size_t i = 0; i < 3; i++) {
        options.sysroot = roots[i];
        assert_int_equal(run(text, NULL), 0);
        assert_int_equal(kept(), 6);
        assert_true(noted(BR2PGO_NOTE_CHOICE, "100.0 % of the branch records start in it"));
        assert_false(noted(BR2PGO_NOTE_WARNING, ""));
    }
    /* The path below the root is the recorded one: no guess by name. */
    options.sysroot = "root";
    assert_taken(run(text, "root/opt/app"), NULL);
    options.sysroot = "root/";
    assert_taken(run(text, "root/opt/app"), NULL);
    options.sysroot = "nowhere";
    assert_int_equal(run(text, NULL), BR2PGO_IO);
    assert_non_null(strstr(error.message, "nowhere/opt/app"));
    fixture_shell("rm -r root");
}

/* The right name and path, but other code. */
static void test_contradicted(void **state)
{
    (void)state;
    assert_int_equal(run(FIXTURE_EVENT MMAP "name=/opt/app\n"
                                            "sample pid=7 : 0x401001/0x401010/P/-/-/1 "
                                            "0x401017/0x401000/P/-/-/1 0x401000/0x401010/P/-/-/1\n",
                         "app"),
                     BR2PGO_USELESS);
    assert_non_null(strstr(error.message, "2 of 3 branch records in 'app' contradict its code"));
    assert_non_null(strstr(error.hint, "--binary"));
}

/* A second recording of another program adds nothing, which must not pass unseen. */
static void test_recording_of_another_program(void **state)
{
    (void)state;
    fixture_recording("other.data", FIXTURE_EVENT OTHER "name=/bin/other\n" OTHER_CALL);
    fixture_recording("r.data",
                      FIXTURE_EVENT MMAP "buildid=" FIXTURE_BUILD_ID
                                         " name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY);
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "r.data", &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "other.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "app", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, "r.edges.csv", NULL, &error), 0);
    assert_int_equal(br2pgo_run(conversion, &error), 0);
    assert_int_equal(kept(), 6);
    assert_true(noted(BR2PGO_NOTE_WARNING, "'other.data' has no branch record in 'app'"));
    assert_false(noted(BR2PGO_NOTE_WARNING, "'r.data' has no"));
}

/* Runs r.data and another recording, of `text`, against app. */
static int run_two(const char *text)
{
    br2pgo_close(conversion);
    fixture_recording("r.data",
                      FIXTURE_EVENT MMAP "buildid=" FIXTURE_BUILD_ID
                                         " name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY);
    fixture_recording("other.data", text);
    assert_int_equal(br2pgo_open(&options, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "r.data", &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "other.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "app", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, "r.edges.csv", NULL, &error), 0);
    return br2pgo_run(conversion, &error);
}

/* A second recording of another build is no recording of nothing. */
static void test_recording_of_another_build(void **state)
{
    (void)state;
    assert_int_equal(
        run_two(FIXTURE_EVENT MMAP "buildid=abcd name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY),
        BR2PGO_USELESS);
    assert_string_equal(error.message, "'app' has build-id " FIXTURE_BUILD_ID
                                       ", but 'other.data' is of '/opt/app' with build-id abcd");
    assert_non_null(strstr(error.hint, "--ignore-build-id"));
    /* It is mapped, but did not run. */
    assert_int_equal(run_two(FIXTURE_EVENT MMAP "buildid=abcd name=/opt/app\n" OTHER
                                                "name=/bin/other\n" OTHER_CALL),
                     0);
    assert_true(noted(BR2PGO_NOTE_WARNING, "'other.data' has no branch record in 'app'"));
    options.ignore_build_id = 1;
    assert_int_equal(
        run_two(FIXTURE_EVENT MMAP "buildid=abcd name=/opt/app\nsample pid=7 : " FIXTURE_HISTORY),
        0);
    assert_int_equal(kept(), 12);
}

/* What one recording is sure of, another may only guess. */
static void test_recording_by_name(void **state)
{
    (void)state;
    assert_int_equal(run_two(FIXTURE_EVENT MMAP "name=/gone/app\nsample pid=7 : " FIXTURE_HISTORY),
                     0);
    assert_true(noted(BR2PGO_NOTE_WARNING, "'app' is taken for the recorded '/gone/app'"));
    assert_int_equal(kept(), 12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_build_id),
        TEST(test_other_build_id),
        TEST(test_inode),
        TEST(test_path),
        TEST(test_name),
        TEST(test_chosen),
        TEST(test_ambiguous),
        TEST(test_libraries_are_not_chosen),
        TEST(test_nothing_to_choose),
        TEST(test_sysroot),
        TEST(test_contradicted),
        TEST(test_recording_of_another_program),
        TEST(test_recording_of_another_build),
        TEST(test_recording_by_name),
    };
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
