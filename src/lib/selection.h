/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which samples are used: by process, command name, processor and time. */
#ifndef BR2_LIB_SELECTION_H
#define BR2_LIB_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "input/input.h"
#include "process/comms.h"

struct br2pgo_options;

/* From one number to another, both of them in it. */
struct br2_span {
    uint64_t from;
    uint64_t to;
};

struct br2_spans {
    struct br2_span items[BR2_SPANS_MAX];
    size_t count; /* 0: everything */
};

/* Parts of a whole are told in these. */
#define BR2_WHOLE_TIME UINT64_C(1000000000)

struct br2_selection {
    struct br2_spans pids;
    struct br2_spans cpus;
    struct br2_spans times; /* nanoseconds; or, of a recording's time, parts of BR2_WHOLE_TIME */
    bool times_are_parts;
    const char *comms; /* "a,b"; borrowed; NULL: all */
};

/* Why a sample is left out. */
enum br2_left_out {
    BR2_LEFT_NOT, /* it is used */
    BR2_LEFT_PID,
    BR2_LEFT_COMM,
    BR2_LEFT_CPU,
    BR2_LEFT_TIME,
    BR2_LEFT_REASONS,
};
/* For the funnel. */
extern const char *const br2_left_out_names[BR2_LEFT_REASONS];

/* Reads what the options say. BR2PGO_INVALID with the option's name. */
int br2_selection_parse(const struct br2pgo_options *options, struct br2_selection *ret,
                        struct br2pgo_error *err);
/* Whether it leaves anything out. */
bool br2_selection_chooses(const struct br2_selection *selection);
/* The option that leaves out for a reason: "--pid". */
const char *br2_selection_option(enum br2_left_out reason);

/* A recording's own times for parts of it, which lasts from `first` to `last`. */
void br2_selection_resolve(const struct br2_selection *selection, br2_time first, br2_time last,
                           struct br2_spans *ret);

/* `times`: those of the selection, resolved. `comms` are asked where the sample has no name. */
enum br2_left_out br2_selection_judge(const struct br2_selection *selection,
                                      const struct br2_spans *times, const struct br2_comms *comms,
                                      const struct br2_sample *sample);

#endif
