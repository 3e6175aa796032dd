/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A line of progress on standard error, for work of more than 300 ms. */
#ifndef BR2_CLI_PROGRESS_H
#define BR2_CLI_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct br2_progress_line {
    bool enabled;
    bool at_once; /* every phase is shown, however short it is */
    bool visible;
    const char *phase; /* the last that was shown */
    struct timespec start;
    struct timespec last;
    const volatile sig_atomic_t *stop; /* non-zero: the user asked to stop */
};

/* Work of less than 300 ms goes unseen, unless `at_once` is set after this. */
void br2_progress_begin(struct br2_progress_line *line, bool enabled,
                        const volatile sig_atomic_t *stop);
/* A br2pgo_progress; `user` is the line. Asks to stop when the user did. */
int br2_progress_show(void *user, const char *phase, uint64_t done, uint64_t total);
/* Takes the line away, so that something else can be printed. */
void br2_progress_clear(struct br2_progress_line *line);

#endif
