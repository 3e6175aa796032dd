/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every container a recording can be in, cut short and with wrong bytes, through the whole library:
 * no crash, and never success with nothing in the output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/fault/outcome.h"

/* Wrong bytes in each file; more when it is built to look longer. */
#ifndef CORRUPTIONS
#define CORRUPTIONS 250
#endif
/* Bytes from one length to the next. */
#ifndef CUT_STEP
#define CUT_STEP 5
#endif

#define EVENT "event cycles:u sample=IP,TID,TIME,CPU,BRANCH_STACK branch=USER,ANY\n"
#define TASKS                                                                                      \
    "comm pid=7 exec name=app\n"                                                                   \
    "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"
#define SAMPLES "sample pid=7 : " FIXTURE_HISTORY "sample pid=7 : " FIXTURE_HISTORY

static const struct form {
    const char *file; /* that is damaged */
    const char *text; /* NULL: the recording of the form before it */
} forms[] = {
    {"old", "version 1\n" EVENT TASKS SAMPLES},
    {"old-big", "version 1\nendian big\n" EVENT TASKS SAMPLES},
    {"old-pipe", "version 1\nmode pipe\nendian big\n" EVENT TASKS SAMPLES},
    {"compressed2", EVENT TASKS "compress 90 v2\n" SAMPLES "end\n"},
    {"gzip", "packed gzip\n" EVENT TASKS SAMPLES},
    {"xz", "packed xz\nmode pipe\n" EVENT TASKS SAMPLES},
    {"zstd", "packed zstd\n" EVENT TASKS SAMPLES},
    {"dir/data", EVENT TASKS "part 0\n" SAMPLES "end\npart 1\ncompress 90\n" SAMPLES "end\nend\n"},
    {"dir/data.0", NULL},
    {"dir/data.1", NULL},
    {"big/data", "endian big\n" EVENT TASKS "part 0\n" SAMPLES "end\n"
                 "part 1\ncompress 90 v2\n" SAMPLES "end\nend\n"},
    {"big/data.0", NULL},
    {"big/data.1", NULL},
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

/* "dir" of "dir/data". */
static const char *recording_of(const char *file)
{
    static char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "/"), file);
    return name;
}

static int try_all(const char *file, const char *what, bool json)
{
    const char *recording = recording_of(file);
    int rc = try(recording, "app", what);
    try_inspection(recording, json, what);
    return rc;
}

static void test_cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        const char *file = forms[i].file;
        size_t size = 0;
        size_t successes = 0;
        char *whole = fixture_load(file, &size);
        assert_in_range(size, 100, 3000);
        for (size_t left = 0; left <= size; left += left + CUT_STEP > size ? 1 : CUT_STEP) {
            char what[96];
            fixture_save(file, whole, left);
            snprintf(what, sizeof what, "%s, %zu of %zu bytes", file, left, size);
            successes += try_all(file, what, left % 2 != 0) == 0;
        }
        assert_true(successes > 0); /* the whole one at least */
        free(whole);
    }
}

static void test_wrong_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        const char *file = forms[i].file;
        uint64_t random = i + 1;
        size_t size = 0;
        size_t successes = 0;
        char *bytes = fixture_load(file, &size);
        for (size_t k = 0; k < CORRUPTIONS; k++) {
            size_t at = next_random(&random) % size;
            char old = bytes[at];
            char what[96];
            bytes[at] = (char)(old ^ (char)(1 + next_random(&random) % 255));
            fixture_save(file, bytes, size);
            snprintf(what, sizeof what, "%s, byte %zu 0x%02x to 0x%02x", file, at,
                     (unsigned)(unsigned char)old, (unsigned)(unsigned char)bytes[at]);
            successes += try_all(file, what, k % 2 != 0) == 0;
            bytes[at] = old;
        }
        fixture_save(file, bytes, size);
        free(bytes);
        /* Of several files the others still have samples. */
        assert_true(successes < CORRUPTIONS || strstr(file, "/data.") != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_wrong_bytes),
    };
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0); /* where bringing a file to the disk takes no time */
    }
    fixture_begin();
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i].text != NULL) {
            fixture_recording(recording_of(forms[i].file), forms[i].text);
        }
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
