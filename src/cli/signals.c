/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/signals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTION_COUNT (sizeof interruptions / sizeof *interruptions)

static struct sigaction before[INTERRUPTION_COUNT];
static volatile sig_atomic_t stop_signal;

/* Who asks once may be heard twice: timeout(1) signals the process, then its group. */
#define ONE_REQUEST_MS 500

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void ask_to_stop(int number)
{
    static int64_t asked; /* the handler is never interrupted by itself */
    if (stop_signal == 0) {
        stop_signal = number;
        asked = now_ms();
    } else if (now_ms() - asked > ONE_REQUEST_MS) {
        signal(number, SIG_DFL);
        raise(number);
    }
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

void br2_signals_hold(void)
{
    /* No SA_RESTART: waiting for the reader of a FIFO must end. */
    struct sigaction action = {.sa_handler = ask_to_stop};
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

void br2_signals_release(void)
{
    for (size_t i = 0; i < INTERRUPTION_COUNT; i++) {
        sigaction(interruptions[i], &before[i], NULL);
    }
}

const volatile sig_atomic_t *br2_signals_stop(void)
{
    return &stop_signal;
}

void br2_signals_forget(void)
{
    stop_signal = 0;
}

void br2_signals_end(void)
{
    if (stop_signal != 0) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
}
