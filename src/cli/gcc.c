/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/gcc.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

/* What is kept of an answer. */
#define ANSWER_SIZE 512

/* Starts `path` with one option; its messages go nowhere, its answer to `output`. */
static int start(const char *path, const char *option, int output, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (rc == 0) {
        rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (rc == 0) {
        rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    char *const words[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)option, NULL};
    if (rc == 0) {
        rc = posix_spawnp(ret, path, &actions, NULL, words, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* What `path` answers to an option; "" where it does not know it. BR2PGO_IO: it does not run. */
static int ask(const char *path, const char *option, char answer[ANSWER_SIZE],
               struct br2pgo_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return br2_fail_io(err, "run", path, errno);
    }
    pid_t child = 0;
    int rc = start(path, option, ends[1], &child);
    close(ends[1]);
    if (rc == 0) {
        br2_read_beginning(ends[0], answer, ANSWER_SIZE);
    }
    close(ends[0]);
    if (rc != 0) {
        br2_fail_io(err, "run", path, rc);
        br2_hint(err, "name a compiler with --gcc, or its version with --gcc-version");
        return BR2PGO_IO;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        answer[0] = '\0';
    }
    return 0;
}

/* A number alone in its line, or before a dot; 0 for anything else. */
static int parse_number(const char *text)
{
    char *end;
    long number = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : 0;
    bool whole = number > 0 && number <= 9999 && (*end == '.' || *end == '\n' || *end == '\0');
    return whole ? (int)number : 0;
}

int br2_ask_gcc(const char *path, struct br2pgo_options *options, struct br2pgo_error *err)
{
    char answer[ANSWER_SIZE] = "";
    int rc = ask(path, "--version", answer, err);
    if (rc != 0) {
        return rc;
    }
    if (strstr(answer, "Free Software Foundation") == NULL) { /* clang answers the next one too */
        br2_fail(err, BR2PGO_INVALID, "'%s' does not say that it is GCC", path);
        br2_hint(err, "name a GCC with --gcc, or its version with --gcc-version");
        return BR2PGO_INVALID;
    }
    rc = ask(path, "-dumpversion", answer, err);
    if (rc != 0) {
        return rc;
    }
    options->gcc_version = parse_number(answer);
    if (options->gcc_version == 0) {
        br2_fail(err, BR2PGO_INVALID, "'%s' does not say its version", path);
        br2_hint(err, "give it with --gcc-version");
        return BR2PGO_INVALID;
    }
    rc = ask(path, "-print-autofdo-gcov-version", answer, err); /* known to GCC 16 */
    if (rc != 0) {
        return rc;
    }
    options->gcov_version = parse_number(answer);
    if (options->gcov_version > 3) {
        br2_fail(err, BR2PGO_UNSUPPORTED,
                 "'%s' reads profiles of version %d, which is unknown here", path,
                 options->gcov_version);
        br2_hint(err, "known are 1, 2 and 3");
        return BR2PGO_UNSUPPORTED;
    }
    return 0;
}
