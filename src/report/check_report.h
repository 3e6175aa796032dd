/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `br2pgo check` says of a recording or a profile: figures, each with a limit or without. */
#ifndef BR2_REPORT_CHECK_REPORT_H
#define BR2_REPORT_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct br2_check_figure {
    const char *name;  /* as the option of its limit ends: "density", "lost" */
    const char *about; /* what it is */
    bool known;        /* false: the source does not tell it; it is not shown */
    bool share;        /* value and limit are shares, 0 to 1, shown in percent */
    bool at_least;     /* the limit is the least, else the most, that is good */
    bool limited;
    double value;
    double limit;
    char note[256]; /* more about it, and where it misses its limit what to do; "" for nothing */
};

/* A loss by its reason: share of what came into that stage. */
struct br2_check_loss {
    const char *stage;
    const char *reason;
    double share;
};

struct br2_check_report {
    const char *path;
    const char *format; /* of the profile, or in whose terms the recording was judged */
    const struct br2_check_figure *figures;
    size_t figure_count;
    const struct br2_check_loss *losses;
    size_t loss_count;
};

/* Whether the figure misses its limit. */
bool br2_check_missed(const struct br2_check_figure *figure);

void br2_check_text(const struct br2_check_report *report, struct br2_buf *out);
int br2_check_json(const struct br2_check_report *report, struct br2_buf *out,
                   struct br2pgo_error *err);

#endif
