/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/perf_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "record/descendants.h"
#include "record/perf_refusal.h"

/* What is kept of perf's words. */
#define SAID_SIZE 4096

/* timeout(1) ends with it when the time is over. */
#define TIMED_OUT 124

/* What this process ignores, a program that it starts must not. */
static int set_attributes(posix_spawnattr_t *attributes, const sigset_t *mask)
{
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    int rc = posix_spawnattr_setsigdefault(attributes, &defaults);
    rc = rc != 0 ? rc : posix_spawnattr_setsigmask(attributes, mask);
    return rc != 0 ? rc
                   : posix_spawnattr_setflags(attributes,
                                              POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* Starts it; `actions` may be NULL. Returns an errno. */
static int start(char **words, const posix_spawn_file_actions_t *actions, const sigset_t *mask,
                 pid_t *ret)
{
    posix_spawnattr_t attributes;
    int rc = posix_spawnattr_init(&attributes);
    if (rc != 0) {
        return rc;
    }
    rc = set_attributes(&attributes, mask);
    rc = rc != 0 ? rc : posix_spawnp(ret, words[0], actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* Without input; what it says, to `output`. */
static int start_trial(char **words, int output, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    if (rc == 0) {
        rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    sigset_t mask;
    sigemptyset(&mask);
    rc = rc != 0 ? rc : start(words, &actions, &mask, ret);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Runs a trial; its wait status to `ret`. */
static int run_trial(char **words, char said[SAID_SIZE], int *ret, struct br2pgo_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return br2_fail_io(err, "run", words[0], errno);
    }
    pid_t child = 0;
    int rc = start_trial(words, ends[1], &child);
    close(ends[1]);
    if (rc == 0) {
        br2_read_beginning(ends[0], said, SAID_SIZE);
    }
    close(ends[0]);
    if (rc == ENOENT) {
        return br2_perf_missing(err);
    }
    if (rc != 0) {
        return br2_fail_io(err, "run", words[0], rc);
    }
    while (waitpid(child, ret, 0) < 0 && errno == EINTR) {
    }
    return 0;
}

static int try_event(const struct br2_machine *machine, size_t event,
                     const struct br2_record_request *request, struct br2pgo_error *err)
{
    struct br2_perf_command command;
    char said[SAID_SIZE] = "";
    int status = 0;
    int rc = br2_perf_command_make_trial(&command, machine, event, request, err);
    rc = rc != 0 ? rc : run_trial(command.words, said, &status, err);
    br2_perf_command_done(&command);
    if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        rc = br2_perf_refusal(said, machine, request, err);
    }
    return rc;
}

int br2_perf_try(const struct br2_machine *machine, const struct br2_record_request *request,
                 size_t *ret_event, struct br2pgo_error *err)
{
    for (size_t i = 0; i < BR2_MACHINE_EVENTS && machine->events[i] != NULL; i++) {
        struct br2pgo_error said = {0};
        int rc = try_event(machine, i, request, &said);
        if (request->stop != NULL && request->stop->requests != 0) {
            return br2_fail(err, BR2PGO_CANCELLED, "stopped before the recording began");
        }
        if (rc == 0) {
            *ret_event = i;
            return 0;
        }
        if (i == 0 || rc != BR2PGO_UNSUPPORTED) { /* of several, the event that was meant */
            *err = said;
        }
        if (rc != BR2PGO_UNSUPPORTED) {
            return rc;
        }
    }
    return BR2PGO_UNSUPPORTED;
}

/* Asked once, perf ends the program; asked again, the program is killed, so that perf can end. */
static void pass_on(pid_t child, const struct br2_record_request *request, int *passed_on)
{
    int requests = request->stop != NULL ? request->stop->requests : 0;
    if (requests > 0 && *passed_on == 0) {
        /* From a terminal perf was interrupted too, and minds no second signal; where SIGINT is
         * ignored, as in the background of a script, this one is not. */
        kill(child, SIGTERM);
    }
    if (requests > 1) {
        /* perf is this process's child, or timeout(1)'s. */
        bool timed = request->duration_ms != 0 && request->command != NULL;
        br2_descendants_kill(child, timed ? 2 : 1);
    }
    *passed_on = requests;
}

/* Waits; looks once a second too, for a signal that came when nobody waited. */
static int wait_for(pid_t child, const sigset_t *child_ended,
                    const struct br2_record_request *request)
{
    int passed_on = 0;
    int status = 0;
    pid_t ended = 0;
    if (request->stop != NULL) {
        request->stop->child = child;
    }
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        pass_on(child, request, &passed_on);
        static const struct timespec second = {.tv_sec = 1};
        (void)sigtimedwait(child_ended, NULL, &second);
    }
    if (request->stop != NULL) {
        request->stop->child = 0;
    }
    return status;
}

static void take_status(int status, const struct br2_record_request *request,
                        struct br2_record_result *ret)
{
    bool timed = request->duration_ms != 0 && request->command != NULL;
    *ret = (struct br2_record_result){0};
    ret->was_stopped = request->stop != NULL && request->stop->requests != 0;
    if (WIFSIGNALED(status)) {
        ret->signal = WTERMSIG(status);
        ret->exit_status = 128 + ret->signal;
    } else if (timed && WEXITSTATUS(status) == TIMED_OUT) {
        ret->was_stopped = true;
    } else {
        ret->exit_status = WEXITSTATUS(status);
    }
}

int br2_perf_run(const struct br2_perf_command *command, const struct br2_record_request *request,
                 struct br2_record_result *ret, struct br2pgo_error *err)
{
    sigset_t child_ended;
    sigset_t before;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, &before);
    pid_t child = 0;
    int rc = start(command->words, NULL, &before, &child);
    if (rc == 0) {
        take_status(wait_for(child, &child_ended, request), request, ret);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : br2_fail_io(err, "run", command->words[0], rc);
}
