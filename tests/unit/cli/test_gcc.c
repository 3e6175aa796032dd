/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gcc.c: compilers that are scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/gcc.h"

static char folder[] = "/tmp/br2-gcc-XXXXXX";
static char path[64];

#define FREE_SOFTWARE "echo 'gcc (X) 1'; echo 'Copyright (C) 2022 Free Software Foundation, Inc.'"

/* A compiler that does `version`, `dump` or `print` for its option; NULL: it fails. */
static void make_compiler(const char *version, const char *dump, const char *print)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\ncase $1 in\n--version) %s;;\n-dumpversion) %s;;\n"
            "-print-autofdo-gcov-version) %s;;\nesac\n",
            version != NULL ? version : "exit 1", dump != NULL ? dump : "exit 1",
            print != NULL ? print : "echo 'unknown option' >&2; exit 1");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static void assert_versions(int gcc, int gcov)
{
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_error err = {0};
    if (br2_ask_gcc(path, &options, &err) != 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(options.gcc_version, gcc);
    assert_int_equal(options.gcov_version, gcov);
}

static void assert_refused(const char *compiler, int status, const char *message)
{
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_ask_gcc(compiler, &options, &err), status);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, message));
    assert_non_null(strstr(err.message, compiler));
    assert_int_not_equal(err.hint[0], '\0');
}

static void versions_are_asked(void **state)
{
    (void)state;
    make_compiler(FREE_SOFTWARE, "echo 12", NULL);
    assert_versions(12, 0);
    make_compiler(FREE_SOFTWARE, "echo 9.4.0", NULL);
    assert_versions(9, 0);
    make_compiler(FREE_SOFTWARE, "echo 16", "echo 3");
    assert_versions(16, 3);
    make_compiler(FREE_SOFTWARE, "printf 14", "echo nonsense");
    assert_versions(14, 0);
}

/* A compiler that talks on is heard to its end. */
static void long_answers_are_read(void **state)
{
    (void)state;
    make_compiler(FREE_SOFTWARE "; head -c 200000 /dev/zero | tr '\\0' x || kill -9 $$", "echo 13",
                  NULL);
    assert_versions(13, 0);
}

static void others_are_refused(void **state)
{
    (void)state;
    assert_refused("/nonexistent/gcc", BR2PGO_IO, "No such file");
    assert_refused(folder, BR2PGO_IO, "Permission denied");
    make_compiler("echo 'clang version 19'", "echo 19", NULL);
    assert_refused(path, BR2PGO_INVALID, "does not say that it is GCC");
    make_compiler(NULL, "echo 12", NULL);
    assert_refused(path, BR2PGO_INVALID, "does not say that it is GCC");
    make_compiler(FREE_SOFTWARE "; kill -9 $$", "echo 12", NULL);
    assert_refused(path, BR2PGO_INVALID, "does not say that it is GCC");
    static const char *const dumps[] = {NULL,       "echo",    "echo twelve", "echo 12; exit 1",
                                        "echo 12x", "echo -1", "echo 99999"};
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        make_compiler(FREE_SOFTWARE, dumps[i], NULL);
        assert_refused(path, BR2PGO_INVALID, "does not say its version");
    }
    make_compiler(FREE_SOFTWARE, "echo 18", "echo 4");
    assert_refused(path, BR2PGO_UNSUPPORTED, "profiles of version 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_asked),
        cmocka_unit_test(long_answers_are_read),
        cmocka_unit_test(others_are_refused),
    };
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/gcc", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
