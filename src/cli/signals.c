/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/signals.h"

#include <stddef.h>

static const int interruptions[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTION_COUNT (sizeof interruptions / sizeof *interruptions)

static struct sigaction before[INTERRUPTION_COUNT];
static volatile sig_atomic_t stop_signal;

static void ask_to_stop(int number)
{
    stop_signal = number;
}

void br2_signals_begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void br2_signals_hold(void)
{
    /* No SA_RESTART: waiting for the reader of a FIFO must end. */
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
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

void br2_signals_end(void)
{
    if (stop_signal != 0) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
}
