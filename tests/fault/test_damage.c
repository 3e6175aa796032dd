/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Small recordings cut short at every byte, through the whole library: no crash, and never success
 * with nothing in the output. Wrong bytes are in test_corrupt_inputs.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "tests/fault/outcome.h"

static const struct {
    const char *name;
    const char *text;
} recordings[] = {
    {"file.data", "event cycles:u sample=IP,TID,TIME,IDENTIFIER,BRANCH_STACK branch=USER,ANY\n"
                  "event other:u sample=IP,TID,TIME,IDENTIFIER\n"
                  "feature event_desc\nfeature cmdline perf record -b\nfeature hostname here\n"
                  "buildid " FIXTURE_BUILD_ID " /opt/app\n"
                  "comm pid=7 exec name=app\n"
                  "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 maj=1 min=2 ino=3 name=/opt/app\n"
                  "fork pid=8 ppid=7\n"
                  "sample pid=8 : " FIXTURE_HISTORY "sample pid=7 event=1\nexit pid=8\n"},
    {"pipe.data",
     "mode pipe\nendian big\n"
     "event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY,HW_INDEX\n"
     "comm pid=7 exec name=app\n"
     "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"
     "compress 100\nsample pid=7 : " FIXTURE_HISTORY "lost 4\nend\n"},
};

static void test_cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        size_t size = 0;
        char what[64];
        char *whole = fixture_load(recordings[i].name, &size);
        assert_in_range(size, 500, 3000);
        size_t successes = 0;
        for (size_t left = 0; left <= size; left++) {
            fixture_save("cut.data", whole, left);
            snprintf(what, sizeof what, "%s, %zu of %zu bytes", recordings[i].name, left, size);
            successes += try("cut.data", "app", what) == 0;
            try_inspection("cut.data", left % 2 != 0, what);
        }
        free(whole);
        /* The whole one at least; not those without their sample. */
        assert_in_range(successes, 1, size - 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_short),
    };
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0); /* where bringing a file to the disk takes no time */
    }
    fixture_begin();
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        fixture_recording(recordings[i].name, recordings[i].text);
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
