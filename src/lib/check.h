/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files that judge a recording or a profile share. */
#ifndef BR2_LIB_CHECK_H
#define BR2_LIB_CHECK_H

#include "lib/conversion.h"
#include "report/check_report.h"

struct br2_check {
    const struct br2pgo_check_options *options;
    struct br2_check_figure figures[BR2PGO_CHECK_FIGURES];
    struct br2_check_loss *losses; /* owned */
    size_t loss_count;
};

/* Sets the value of a figure, and what else there is to say of it; returns it. */
struct br2_check_figure *br2_check_set(struct br2_check *check, enum br2pgo_check_figure figure,
                                       double value, const char *note, ...)
    __attribute__((format(printf, 4, 5)));

/* check_recording.c: the figures of what a conversion has read. */
int br2_check_recording(struct br2_check *check, const struct br2pgo_conversion *conversion,
                        struct br2pgo_error *err);

/* check_newest.c: of its samples, how they were taken. */
int br2_check_newest(struct br2_check *check, const struct br2pgo_conversion *conversion,
                     struct br2pgo_error *err);

#endif
