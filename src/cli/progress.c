/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

#define FIRST_SHOWN_MS 300
#define INTERVAL_MS    100
#define BAR_WIDTH      30

static long milliseconds_between(const struct timespec *from, const struct timespec *to)
{
    return (to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

void br2_progress_begin(struct br2_progress_line *line, bool enabled,
                        const volatile sig_atomic_t *stop)
{
    *line = (struct br2_progress_line){.enabled = enabled, .stop = stop};
    clock_gettime(CLOCK_MONOTONIC, &line->start);
    line->last = line->start;
}

static bool is_too_soon(const struct br2_progress_line *line, const char *phase,
                        const struct timespec *now)
{
    if (line->at_once && (line->phase == NULL || strcmp(line->phase, phase) != 0)) {
        return false;
    }
    return (!line->at_once && milliseconds_between(&line->start, now) < FIRST_SHOWN_MS) ||
           (line->visible && milliseconds_between(&line->last, now) < INTERVAL_MS);
}

int br2_progress_show(void *user, const char *phase, uint64_t done, uint64_t total)
{
    struct br2_progress_line *line = user;
    if (*line->stop != 0) {
        return 1;
    }
    struct timespec now;
    if (!line->enabled || clock_gettime(CLOCK_MONOTONIC, &now) != 0 ||
        is_too_soon(line, phase, &now)) {
        return 0;
    }
    double share = total != 0 ? (double)done / (double)total : 0;
    int filled = (int)(share * BAR_WIDTH);
    static const char bar[BAR_WIDTH + 1] = "##############################";
    fprintf(stderr, "\r\033[K%s [%.*s%*s] %3.0f%%", phase, filled, bar, BAR_WIDTH - filled, "",
            share * 100);
    (void)fflush(stderr);
    line->visible = true;
    line->phase = phase;
    line->last = now;
    return 0;
}

void br2_progress_clear(struct br2_progress_line *line)
{
    if (line->visible) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        line->visible = false;
    }
}
