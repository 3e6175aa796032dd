/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The line of progress, with time made by setting its start back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"

static volatile sig_atomic_t stop;
static struct br2_progress_line line;
static FILE *captured;
static int old_stderr;

static void capture(void)
{
    captured = tmpfile();
    assert_non_null(captured);
    fflush(stderr);
    old_stderr = dup(STDERR_FILENO);
    dup2(fileno(captured), STDERR_FILENO);
}

/* What went to standard error since capture(). */
static const char *release(void)
{
    static char text[1024];
    fflush(stderr);
    dup2(old_stderr, STDERR_FILENO);
    close(old_stderr);
    rewind(captured);
    text[fread(text, 1, sizeof text - 1, captured)] = '\0';
    fclose(captured);
    return text;
}

/* Makes it a minute later. */
static void let_time_pass(void)
{
    line.start.tv_sec -= 60;
    line.last.tv_sec -= 60;
}

static void test_disabled(void **state)
{
    (void)state;
    capture();
    br2_progress_begin(&line, false, &stop);
    let_time_pass();
    int rc = br2_progress_show(&line, "reading", 1, 2);
    br2_progress_clear(&line);
    assert_string_equal(release(), "");
    assert_int_equal(rc, 0);
    assert_false(line.visible);
}

static void test_stop(void **state)
{
    (void)state;
    for (int enabled = 0; enabled < 2; enabled++) {
        stop = 0;
        br2_progress_begin(&line, enabled != 0, &stop);
        assert_int_equal(br2_progress_show(&line, "reading", 1, 2), 0);
        stop = SIGTERM;
        assert_int_not_equal(br2_progress_show(&line, "reading", 1, 2), 0);
        stop = 0;
        assert_int_equal(br2_progress_show(&line, "reading", 1, 2), 0);
    }
}

static void test_short_work_is_silent(void **state)
{
    (void)state;
    capture();
    br2_progress_begin(&line, true, &stop);
    br2_progress_show(&line, "reading", 1, 2);
    br2_progress_clear(&line);
    assert_string_equal(release(), "");
}

static void test_text(void **state)
{
    (void)state;
    capture();
    br2_progress_begin(&line, true, &stop);
    let_time_pass();
    br2_progress_show(&line, "reading", 1, 4);
    br2_progress_show(&line, "too soon", 2, 4);
    let_time_pass();
    br2_progress_show(&line, "writing", 0, 0);
    let_time_pass();
    br2_progress_show(&line, "writing", UINT64_MAX, UINT64_MAX);
    br2_progress_clear(&line);
    br2_progress_clear(&line);
    assert_string_equal(release(), "\r\033[Kreading [#######                       ]  25%"
                                   "\r\033[Kwriting [                              ]   0%"
                                   "\r\033[Kwriting [##############################] 100%"
                                   "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_short_work_is_silent),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
