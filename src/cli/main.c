/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/commands.h"

static volatile sig_atomic_t stop_signal;

static void ask_to_stop(int number)
{
    stop_signal = number;
}

/* Interruptions only ask: the work in hand is given up in order, without a file left behind. */
static void set_up_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Ends the way the signal would have ended the process, as shells expect. */
static void end_by_signal(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

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

static int run_command(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    switch (arguments->command) {
    case BR2_COMMAND_CONVERT:
        return br2_convert(arguments, &stop_signal, err);
    case BR2_COMMAND_INSPECT:
        return br2_inspect(arguments, err);
    case BR2_COMMAND_HELP:
        br2_print_help();
        return 0;
    case BR2_COMMAND_VERSION:
        printf("br2pgo %s\n", br2pgo_version());
        return 0;
    }
    return br2_fail(err, BR2PGO_INTERNAL, "unknown command");
}

int main(int argc, char **argv)
{
    set_up_signals();
    struct br2pgo_error err = {0};
    struct br2_arguments arguments;
    int rc = br2_arguments_parse(argc, argv, &arguments, &err);
    if (rc == 0) {
        rc = run_command(&arguments, &err);
    }
    br2_arguments_done(&arguments);
    if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        rc = br2_fail_io(&err, "write", "standard output", errno);
    }
    if (rc != 0) {
        br2_print_error(&err);
    }
    if (rc == BR2PGO_CANCELLED && stop_signal != 0) {
        end_by_signal(stop_signal);
    }
    return br2_exit_status(rc);
}
