/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/signals.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTION_COUNT (sizeof interruptions / sizeof *interruptions)

static struct sigaction before[INTERRUPTION_COUNT];
static struct br2_stop stop;

/* The request that ends; what is said at each. */
static int last_request;
static const char *const *said;

/* Who asks once may be heard twice: timeout(1) signals the process, then its group. */
#define ONE_REQUEST_MS 500

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void end_at_once(int number)
{
    if (stop.child > 0) {
        kill(stop.child, SIGKILL);
    }
    br2_output_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void ask_to_stop(int number, siginfo_t *info, void *context)
{
    static int64_t asked; /* the handler is never interrupted by itself */
    int before_errno = errno;
    int64_t now = now_ms();
    (void)context;
    if (stop.requests != 0 && now - asked <= ONE_REQUEST_MS) {
        return;
    }
    asked = now;
    if (stop.requests == 0) {
        stop.signal = number;
        stop.of_terminal = info->si_code == SI_KERNEL;
    }
    int request = ++stop.requests;
    if (said != NULL && request <= BR2_SIGNALS_REQUESTS) {
        const char *line = said[request - 1];
        ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
        (void)ignored;
    }
    if (request >= last_request) {
        end_at_once(number);
    }
    errno = before_errno;
}

/* A mapped file was cut short by somebody else. Nothing is being written while files are read, so
 * there is nothing to tidy up. */
static void end_by_lost_file(int number)
{
    static const char text[] = "br2pgo: error: a file became shorter while it was read\n";
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(1);
}

void br2_signals_begin(void)
{
    struct sigaction lost = {.sa_handler = end_by_lost_file};
    sigemptyset(&lost.sa_mask);
    sigaction(SIGBUS, &lost, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* ignored, as a parent may leave it, a child's status is lost */
}

static bool spared;

static void let_pass(int number)
{
    (void)number;
}

void br2_signals_spare(void)
{
    struct sigaction old;
    struct sigaction action = {.sa_handler = let_pass, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    /* Where it is ignored already, it stays so. */
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
        spared = sigaction(SIGINT, &action, NULL) == 0;
    }
}

void br2_signals_spare_no_more(void)
{
    if (spared) {
        signal(SIGINT, SIG_DFL);
        spared = false;
    }
}

static void hold(int last, const char *const *lines)
{
    last_request = last;
    said = lines;
    /* No SA_RESTART: waiting for the reader of a FIFO must end. */
    struct sigaction action = {.sa_sigaction = ask_to_stop, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaddset(&action.sa_mask, interruptions[i]);
    }
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) { /* as nohup sets it */
            sigaction(interruptions[i], &action, NULL);
        }
    }
}

void br2_signals_hold(void)
{
    hold(2, NULL);
}

void br2_signals_hold_recording(const char *const lines[BR2_SIGNALS_REQUESTS])
{
    hold(BR2_SIGNALS_REQUESTS, lines);
}

void br2_signals_release(void)
{
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], &before[i], NULL);
    }
}

const volatile sig_atomic_t *br2_signals_stop(void)
{
    return &stop.signal;
}

struct br2_stop *br2_signals_stop_recording(void)
{
    return &stop;
}

void br2_signals_forget(void)
{
    stop.signal = 0;
    stop.requests = 0;
}

void br2_signals_end(void)
{
    if (stop.signal != 0) {
        int number = stop.signal;
        signal(number, SIG_DFL);
        raise(number);
    }
}
