/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finished profiles through the public interface: shown, added up, made for another GCC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>

#include "converters/gcc/gcc.h"
#include "converters/llvm/llvm.h"
#include "fixture.h"

#define TEXT                                                                                       \
    "main:130:7\n 1: 100\n 2.3: 30 foo:30\n 3: bar:0\n  0: 0\n"                                    \
    "foo:30:30\n 0: 30\nfoo.part.0:5:5\n 0: 5\n"

#define RULES_2 "# gcov version 2: by the rules of GCC, not for clang\n"

static struct br2pgo_error error;
static char notes[1024];
static struct br2pgo_merge_options options;

static void take_note(void *user, int kind, const char *text)
{
    assert_ptr_equal(user, &options);
    assert_int_equal(kind, BR2PGO_NOTE_WARNING);
    size_t used = strlen(notes);
    snprintf(notes + used, sizeof notes - used, "%s\n", text);
}

static int setup(void **state)
{
    (void)state;
    options = (struct br2pgo_merge_options)BR2PGO_MERGE_OPTIONS_INIT;
    options.note = take_note;
    options.note_user = &options;
    notes[0] = '\0';
    memset(&error, 0, sizeof error);
    return 0;
}

/* A GCC profile of the text, in a file; files and times with `times`. */
static void save_gcov(const char *path, const char *text, unsigned version, uint64_t times)
{
    struct br2_profile *profile = br2_profile_new();
    assert_int_equal(
        br2_format_llvm_text.read_profile((const uint8_t *)text, strlen(text), profile, &error), 0);
    if (times != 0) {
        profile->functions[0]->first_seen = times;
        assert_true(br2_profile_set_file(profile, profile->functions[0]->name, "a.c", 3));
    }
    struct br2_write_options write = {.gcov_version = version};
    struct br2_buf bytes = {0};
    assert_int_equal(br2_format_gcov.write_profile(profile, &write, &bytes, &error), 0);
    fixture_save(path, bytes.bytes, bytes.size);
    br2_buf_done(&bytes);
    br2_profile_free(profile);
}

static int merge(const char *a, const char *b, const char *output)
{
    const char *const inputs[] = {a, b};
    return br2pgo_merge(inputs, b != NULL ? 2 : 1, output, &options, &error);
}

static void must_merge(const char *a, const char *b, const char *output)
{
    if (merge(a, b, output) != 0) {
        fail_msg("%s (%s)", error.message, error.hint);
    }
}

static void assert_same(const char *a, const char *b)
{
    size_t a_size;
    size_t b_size;
    char *x = fixture_load(a, &a_size);
    char *y = fixture_load(b, &b_size);
    assert_non_null(x);
    assert_non_null(y);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(x, y, a_size);
    free(x);
    free(y);
}

static void assert_shown(const char *path, const char *expected)
{
    char *text;
    assert_int_equal(br2pgo_show(path, NULL, &text, &error), 0);
    assert_string_equal(text, expected);
    br2pgo_free(text);
}

/* Without a GCC to fit, one profile is written as it is, in every version. */
static void test_one_is_kept(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version++) {
        save_gcov("one.gcov", TEXT, version, version == 3 ? 77 : 0);
        must_merge("one.gcov", NULL, "again.gcov");
        assert_same("one.gcov", "again.gcov");
        must_merge("again.gcov", NULL, "again.gcov");
        assert_same("one.gcov", "again.gcov");
    }
    assert_string_equal(notes, "");
}

static void stamp(const char *path, uint32_t version)
{
    size_t size;
    char *bytes = fixture_load(path, &size);
    assert_true(bytes != NULL && size > 8);
    if (bytes != NULL) { /* gcc does not know that an assertion ends the test */
        memcpy(bytes + 4, &version, sizeof version);
        fixture_save(path, bytes, size);
    }
    free(bytes);
}

/* The version a gcov file is stamped with. */
static int version_of(const char *path)
{
    size_t size;
    char *bytes = fixture_load(path, &size);
    int version = bytes != NULL && size > 8 ? bytes[4] : -1;
    free(bytes);
    return version;
}

/* Strings of version 1 under another number, as create_gcov 0.19 writes them. */
static void test_create_gcov_is_rescued(void **state)
{
    (void)state;
    save_gcov("good.gcov", TEXT, 2, 0);
    save_gcov("bad", TEXT, 1, 0);
    stamp("bad", 2);
    must_merge("bad", NULL, "fixed.gcov");
    assert_same("good.gcov", "fixed.gcov");
    stamp("bad", 0x3430372a);
    char *text;
    assert_int_equal(br2pgo_show("bad", NULL, &text, &error), 0);
    assert_non_null(strstr(text, "# gcov of a version that no GCC reads: by the rules"));
    br2pgo_free(text);
    assert_int_equal(merge("bad", NULL, "not.gcov"), BR2PGO_AMBIGUOUS);
    assert_non_null(strstr(error.message, "'bad' has a version that no GCC reads"));
    assert_null(fixture_load("not.gcov", NULL));
    options.gcc_version = 14;
    must_merge("bad", NULL, "fixed.gcov");
    assert_shown("fixed.gcov", RULES_2 "main:130:100\n 1: 100\n 2.3: 30 foo:30\n 3: bar:0\n  0: 0\n"
                                       "foo:35:35\n 0: 35\n");
}

static void test_versions(void **state)
{
    (void)state;
    save_gcov("three.gcov", TEXT, 3, 500);
    save_gcov("two.gcov", TEXT, 2, 0);
    assert_int_equal(merge("three.gcov", "two.gcov", "x.gcov"), BR2PGO_AMBIGUOUS);
    options.gcc_version = 4;
    assert_int_equal(merge("two.gcov", NULL, "x.gcov"), BR2PGO_INVALID);
    options.gcc_version = 0;
    options.gcov_version = 2; /* alone: of the newest GCC that reads it, 15 */
    must_merge("three.gcov", NULL, "x.gcov");
    assert_true(strstr(notes, "GCC 15 will find less") != NULL);
    notes[0] = '\0';
    options.gcov_version = 0;
    assert_string_equal(notes, "");
    options.gcc_version = 12;
    must_merge("three.gcov", "two.gcov", "x.afdo");
    assert_shown("x.afdo", RULES_2 "main:260:200\n 1: 200\n 2: 60 foo:60\n 3: bar:0\n  0: 0\n"
                                   "foo:70:70\n 0: 70\n");
    assert_string_equal(
        notes,
        "'three.gcov' was made for another GCC: GCC 12 will find less of it in the source than of a "
        "profile made from the recording\n"
        "'x.afdo': version 2 of GCC's profiles has no place for the files of functions and the "
        "times they first ran: they are left out\n");
    assert_int_equal(version_of("x.afdo"), 2);
    notes[0] = '\0';
    options.gcc_version = 16;
    must_merge("two.gcov", NULL, "x.gcov");
    assert_int_equal(version_of("x.gcov"), 3);
    assert_non_null(strstr(notes, "'two.gcov' was made for another GCC: GCC 16"));
    notes[0] = '\0';
    options.gcc_version = 17;
    must_merge("three.gcov", NULL, "x.gcov");
    assert_non_null(strstr(notes, "GCC 17 is newer than what is known of GCC"));
    notes[0] = '\0';
    options.gcov_version = 3; /* it was asked */
    must_merge("three.gcov", NULL, "x.gcov");
    assert_string_equal(notes, "");
}

/* The earliest first execution counts, whatever the order. */
static void test_order_does_not_matter(void **state)
{
    (void)state;
    save_gcov("a.gcov", TEXT, 3, 900);
    save_gcov("b.gcov", "zoo:4:4\n 0: 4\nmain:1:1\n 1: 1\n", 3, 20);
    save_gcov("c.gcov", "main:1:1\n 1: 1\n", 3, 20);
    must_merge("a.gcov", "b.gcov", "ab.gcov");
    must_merge("b.gcov", "a.gcov", "ba.gcov");
    assert_same("ab.gcov", "ba.gcov");
    must_merge("a.gcov", "c.gcov", "ac.gcov");
    size_t size;
    char *bytes = fixture_load("ac.gcov", &size);
    static const uint8_t head_and_time[] = {8, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0};
    assert_non_null(memmem(bytes, size, head_and_time, sizeof head_and_time));
    free(bytes);
}

static void test_old_output_survives(void **state)
{
    (void)state;
    fixture_save("old.textprof", "old", 3);
    fixture_save("a.textprof", TEXT, sizeof TEXT - 1);
    fixture_save("bad.textprof", TEXT " x\n", sizeof TEXT + 2);
    assert_int_equal(merge("a.textprof", "bad.textprof", "old.textprof"), BR2PGO_CORRUPT);
    assert_non_null(strstr(error.message, "'bad.textprof': line "));
    char *text = fixture_load("old.textprof", NULL);
    assert_string_equal(text, "old");
    free(text);
}

static void test_nothing_in_it(void **state)
{
    (void)state;
    save_gcov("empty.gcov", TEXT, 1, 0);
    static const uint8_t empty[] = "adcg\1\0\0\0\0\0\0\0"
                                   "\0\0\0\xaa\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0"
                                   "\0\0\0\xac\0\0\0\0\0\0\0\0"
                                   "\0\0\0\xae\1\0\0\0\0\0\0";
    fixture_save("empty.gcov", empty, sizeof empty);
    assert_int_equal(merge("empty.gcov", NULL, "x.gcov"), BR2PGO_USELESS);
    assert_string_equal(error.message, "'empty.gcov' (gcov) holds no function");
    assert_non_null(strstr(error.hint, "create_gcov 0.19"));
    char *text = notes;
    assert_int_equal(br2pgo_show("empty.gcov", NULL, &text, &error), BR2PGO_USELESS);
    assert_null(text);
}

static void test_misuse(void **state)
{
    (void)state;
    fixture_save("a.textprof", TEXT, sizeof TEXT - 1);
    assert_int_equal(br2pgo_merge(NULL, 0, "x.prof", NULL, &error), BR2PGO_INVALID);
    const char *const inputs[] = {"a.textprof"};
    options.size = 1;
    assert_int_equal(br2pgo_merge(inputs, 1, "x.prof", &options, &error), BR2PGO_INVALID);
    options.size = sizeof options;
    options.gcov_version = 4;
    assert_int_equal(br2pgo_merge(inputs, 1, "x.prof", &options, &error), BR2PGO_INVALID);
    assert_int_equal(br2pgo_merge(inputs, 1, "x.prof", NULL, NULL), 0);
    save_gcov("a.gcov", TEXT, 2, 0);
    options.gcov_version = 0;
    assert_int_equal(merge("a.gcov", "a.textprof", "x.gcov"), BR2PGO_INVALID);
    assert_string_equal(error.message,
                        "'a.gcov' is by the rules of GCC, 'a.textprof' by those of LLVM");
    assert_int_equal(merge("a.gcov", NULL, "x.prof"), BR2PGO_INVALID);
    fixture_save("perf.data", "PERFILE2rest", 12);
    char *text;
    assert_int_equal(br2pgo_show("perf.data", NULL, &text, &error), BR2PGO_UNSUPPORTED);
    assert_string_equal(error.message, "'perf.data' is a recording, not a profile");
}

static char folder[] = "/tmp/br2pgo-merge-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    fixture_shell(command);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_is_kept, setup),
        cmocka_unit_test_setup(test_create_gcov_is_rescued, setup),
        cmocka_unit_test_setup(test_versions, setup),
        cmocka_unit_test_setup(test_order_does_not_matter, setup),
        cmocka_unit_test_setup(test_old_output_survives, setup),
        cmocka_unit_test_setup(test_nothing_in_it, setup),
        cmocka_unit_test_setup(test_misuse, setup),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
