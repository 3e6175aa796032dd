/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* file.c: whole files in, and outputs that appear complete or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static char folder[64];
static char path[128];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    memcpy(folder, "/tmp/br2-file-XXXXXX", sizeof "/tmp/br2-file-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

/* Fails when the test left anything behind. */
static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void save(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_content(const char *name, const char *wanted)
{
    struct br2_file file;
    assert_int_equal(br2_file_open(&file, in_folder(name), NULL, NULL), 0);
    assert_int_equal(file.size, strlen(wanted));
    assert_memory_equal(file.bytes, wanted, file.size);
    br2_file_close(&file);
}

static unsigned mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(in_folder(name), &st), 0);
    return st.st_mode & 07777;
}

/* Number of files in the folder. */
static unsigned files(void)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count - 2;
}

static int write_all(const char *name, const char *text)
{
    struct br2_output out;
    assert_int_equal(br2_output_open(&out, in_folder(name), NULL), 0);
    assert_int_equal(br2_output_write(&out, text, strlen(text), NULL), 0);
    return br2_output_commit(&out, NULL);
}

static void test_read(void **state)
{
    (void)state;
    struct br2_file file;
    struct br2pgo_error err = {0};
    save("a", "hello");
    assert_int_equal(br2_file_open(&file, in_folder("a"), NULL, NULL), 0);
    assert_true(file.mapped);
    assert_int_equal(file.size, 5);
    assert_memory_equal(file.bytes, "hello", 5);
    br2_file_close(&file);
    assert_null(file.bytes);
    br2_file_close(&file);
    save("a", "");
    assert_int_equal(br2_file_open(&file, in_folder("a"), NULL, NULL), 0);
    assert_int_equal(file.size, 0);
    br2_file_close(&file);
    unlink(path);
    assert_int_equal(br2_file_open(&file, in_folder("none"), NULL, &err), BR2PGO_IO);
    assert_non_null(strstr(err.message, "cannot open '"));
    assert_int_equal(br2_file_open(&file, folder, NULL, &err), BR2PGO_IO);
    assert_non_null(strstr(err.message, "Is a directory"));
}

/* A file that has no size to be mapped by, larger than one read. */
static void test_read_pipe(void **state)
{
    (void)state;
    struct br2_file file;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    char command[256];
    snprintf(command, sizeof command, "head -c 200000 /dev/zero | tr '\\0' z > '%s' &", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(br2_file_open(&file, path, NULL, NULL), 0);
    assert_false(file.mapped);
    assert_int_equal(file.size, 200000);
    for (size_t i = 0; i < file.size; i++) {
        assert_int_equal(file.bytes[i], 'z');
    }
    br2_file_close(&file);
    struct br2pgo_error err;
    snprintf(command, sizeof command, "head -c 200000 /dev/zero > '%s' 2>/dev/null &", path);
    assert_int_equal(system(command), 0);
    br2_mem_fail_at(2); /* while it grows */
    int rc = br2_file_open(&file, path, NULL, &err);
    br2_mem_fail_at(0);
    assert_int_equal(rc, BR2PGO_NO_MEMORY);
    unlink(path);
}

static void test_write(void **state)
{
    (void)state;
    assert_int_equal(write_all("a", "new"), 0);
    check_content("a", "new");
    assert_int_equal(files(), 1);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(mode_of("a"), 0666 & ~mask);
    unlink(path);
}

/* The old file stays whole until commit, keeps its permissions, and stays when we give up. */
static void test_replace(void **state)
{
    (void)state;
    struct br2_output out;
    save("a", "old");
    chmod(path, 0640);
    assert_int_equal(br2_output_open(&out, path, NULL), 0);
    assert_int_equal(br2_output_write(&out, "half", 4, NULL), 0);
    check_content("a", "old");
    assert_int_equal(files(), 2);
    br2_output_abandon(&out);
    check_content("a", "old");
    assert_int_equal(files(), 1);
    assert_int_equal(write_all("a", "newer"), 0);
    check_content("a", "newer");
    assert_int_equal(mode_of("a"), 0640);
    br2_output_abandon(&out);
    check_content("a", "newer");
    unlink(path);
}

static void test_flush_then_commit(void **state)
{
    (void)state;
    struct br2_output out;
    save("a", "old");
    assert_int_equal(br2_output_open(&out, in_folder("a"), NULL), 0);
    assert_int_equal(br2_output_write(&out, "new", 3, NULL), 0);
    assert_int_equal(br2_output_flush(&out, NULL), 0);
    check_content("a", "old");
    assert_int_equal(br2_output_commit(&out, NULL), 0);
    check_content("a", "new");
    assert_int_equal(files(), 1);
    unlink(in_folder("a"));
}

/* Several outputs in steps; a folder lies in the way of "b". */
static int replace_three(const char *last)
{
    struct br2_output outs[3];
    const char *const names[] = {"a", "fresh", last};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(br2_output_open(&outs[i], in_folder(names[i]), NULL), 0);
        assert_int_equal(br2_output_write(&outs[i], "new", 3, NULL), 0);
        br2_output_keep_old(&outs[i]);
    }
    assert_int_equal(mkdir(in_folder("b"), 0700), 0);
    int rc = 0;
    int done = 0;
    while (rc == 0 && done < 3) {
        rc = br2_output_replace(&outs[done], NULL);
        done += rc == 0;
    }
    while (rc != 0 && done != 0) {
        br2_output_put_back(&outs[--done]);
    }
    for (int i = 0; i < 3; i++) {
        br2_output_abandon(&outs[i]);
    }
    rmdir(in_folder("b"));
    return rc;
}

/* When the last cannot be moved, what was moved before it is moved back. */
static void test_all_or_none(void **state)
{
    (void)state;
    save("a", "old");
    chmod(in_folder("a"), 0640);
    assert_int_equal(replace_three("b"), BR2PGO_IO);
    check_content("a", "old");
    assert_int_equal(mode_of("a"), 0640);
    assert_int_equal(files(), 1);
    assert_int_equal(replace_three("c"), 0);
    check_content("a", "new");
    check_content("fresh", "new");
    assert_int_equal(files(), 3);
    unlink(in_folder("a"));
    unlink(in_folder("fresh"));
    unlink(in_folder("c"));
}

/* The link stays a link; what it points to is replaced. */
static void test_link(void **state)
{
    (void)state;
    char link[128];
    save("a", "old");
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("a", link), 0);
    assert_int_equal(write_all("link", "new"), 0);
    check_content("a", "new");
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(link);
    unlink(in_folder("a"));
}

static void test_refusals(void **state)
{
    (void)state;
    struct br2_output out;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_output_open(&out, folder, &err), BR2PGO_IO);
    assert_non_null(strstr(err.message, "Is a directory"));
    assert_string_not_equal(err.hint, "");
    err.hint[0] = '\0';
    assert_int_equal(br2_output_open(&out, in_folder("no/such"), &err), BR2PGO_IO);
    assert_non_null(strstr(err.message, "no/such': No such file"));
    assert_string_not_equal(err.hint, "");
    for (size_t nth = 1; nth <= 2; nth++) {
        br2_mem_fail_at(nth);
        int rc = br2_output_open(&out, in_folder("a"), &err);
        br2_mem_fail_at(0);
        assert_int_equal(rc, BR2PGO_NO_MEMORY);
    }
    assert_int_equal(files(), 0);
}

/* The folder goes away while the output is made. */
static void test_commit_fails(void **state)
{
    (void)state;
    struct br2_output out;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_output_open(&out, in_folder("a"), NULL), 0);
    unlink(out.temporary);
    assert_int_equal(br2_output_commit(&out, &err), BR2PGO_IO);
    assert_non_null(strstr(err.message, "cannot replace '"));
    assert_int_equal(files(), 0);
}

static void test_device(void **state)
{
    (void)state;
    struct br2_output out;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_output_open(&out, "/dev/null", NULL), 0);
    assert_null(out.temporary);
    assert_int_equal(br2_output_write(&out, "x", 1, NULL), 0);
    assert_int_equal(br2_output_commit(&out, NULL), 0);
    assert_int_equal(br2_output_open(&out, "/dev/full", NULL), 0);
    assert_int_equal(br2_output_write(&out, "x", 1, &err), BR2PGO_IO);
    assert_string_equal(err.message, "cannot write '/dev/full': No space left on device");
    br2_output_abandon(&out);
    assert_int_equal(br2_output_open(&out, "-", NULL), 0);
    assert_int_equal(out.fd, STDOUT_FILENO);
    assert_int_equal(br2_output_commit(&out, NULL), 0);
    assert_int_equal(fflush(stdout), 0);
    assert_int_equal(write(STDOUT_FILENO, "", 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read),         TEST(test_read_pipe),
        TEST(test_write),        TEST(test_replace),
        TEST(test_all_or_none),  TEST(test_flush_then_commit),
        TEST(test_all_or_none),  TEST(test_replace),
        TEST(test_all_or_none),  TEST(test_flush_then_commit),
        TEST(test_link),         TEST(test_refusals),
        TEST(test_commit_fails), TEST(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
