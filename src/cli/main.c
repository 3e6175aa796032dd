/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/compat/compat.h"
#include "cli/signals.h"

int br2_exit_status(int status)
{
    switch (status) {
    case BR2PGO_OK:
        return 0;
    case BR2PGO_INVALID:
    case BR2PGO_AMBIGUOUS:
        return 2;
    case BR2PGO_USELESS:
        return 3;
    default:
        return 1;
    }
}

void br2_print_error(const struct br2pgo_error *err)
{
    fprintf(stderr, "br2pgo: error: %s\n", err->message);
    if (err->hint[0] != '\0') {
        fprintf(stderr, "br2pgo: hint: %s\n", err->hint);
    }
}

int br2_inspect(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    char *text;
    int rc = br2pgo_inspect(arguments->recordings[0], arguments->json, &text, err);
    if (rc == 0) {
        fputs(text, stdout);
        br2pgo_free(text);
    }
    return rc;
}

/* `ret_exit` is the exit status where all goes well. */
static int run_command(const struct br2_arguments *arguments, int *ret_exit,
                       struct br2pgo_error *err)
{
    switch (arguments->command) {
    case BR2_COMMAND_CONVERT:
        return br2_convert(arguments, err);
    case BR2_COMMAND_INSPECT:
        return br2_inspect(arguments, err);
    case BR2_COMMAND_SHOW:
        return br2_show(arguments, err);
    case BR2_COMMAND_MERGE:
        return br2_merge(arguments, err);
    case BR2_COMMAND_RECORD:
        return br2_record(arguments, ret_exit, err);
    case BR2_COMMAND_CHECK:
        return br2_check(arguments, ret_exit, err);
    case BR2_COMMAND_DIFF:
        return br2_diff(arguments, err);
    case BR2_COMMAND_REPORT:
        return br2_report(arguments, err);
    case BR2_COMMAND_HELP:
        br2_print_help(arguments->help_of);
        return 0;
    case BR2_COMMAND_COMPLETION:
        br2_print_completion(arguments->shell);
        return 0;
    case BR2_COMMAND_VERSION:
        printf("br2pgo %s\n", br2pgo_version());
        return 0;
    }
    return br2_fail(err, BR2PGO_INTERNAL, "unknown command");
}

/* A standard stream that was closed would lend its number to the next file opened, and what is
 * meant for the stream would end in that file. Read-only, so that writing to it is an error. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDONLY) < 0) {
            return;
        }
    }
}

/* br2pgo's own command line. */
static int run_own(int argc, char **argv, int *ret_exit, struct br2pgo_error *err)
{
    struct br2_arguments arguments;
    int rc = br2_arguments_parse(argc, argv, &arguments, err);
    if (rc == 0) {
        br2pgo_set_max_memory(arguments.max_memory);
        rc = run_command(&arguments, ret_exit, err);
    }
    br2_arguments_done(&arguments);
    return rc;
}

/* What is for another tool becomes br2pgo's own command line, and is run as that. */
static int run(int argc, char **argv, struct br2_compat *compat, int *ret_exit,
               struct br2pgo_error *err)
{
    int rc = br2_compat_read(argc, argv, compat, err);
    if (rc != 0) {
        return rc;
    }
    if (compat->help) {
        br2_compat_print_help(compat->peer);
        return 0;
    }
    return compat->peer != NULL ? run_own((int)compat->count, compat->words, ret_exit, err)
                                : run_own(argc, argv, ret_exit, err);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    br2_signals_begin();
    struct br2pgo_error err = {0};
    struct br2_compat compat = {0};
    int exit_status = 0;
    int rc = run(argc, argv, &compat, &exit_status, &err);
    if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        rc = br2_fail_io(&err, "write", "standard output", errno);
    }
    if (rc != 0) {
        br2_print_error(&err);
        br2_compat_print_own(&compat);
    }
    br2_compat_done(&compat);
    br2_signals_end();
    return rc != 0 ? br2_exit_status(rc) : exit_status;
}
