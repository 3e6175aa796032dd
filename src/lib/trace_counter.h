/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts the steps of decoded traces. What repeats is added up before it is folded. */
#ifndef BR2_LIB_TRACE_COUNTER_H
#define BR2_LIB_TRACE_COUNTER_H

#include "flow/counted.h"
#include "trace/trace.h"

struct br2_trace_counter {
    struct br2_counted_into into;
    struct br2_folded folded;
    struct br2_count_stats stats;
    struct br2_trace_count *slots; /* owned */
};

int br2_trace_counter_begin(struct br2_trace_counter *counter, const struct br2_spaces *spaces,
                            struct br2pgo_error *err);
/* A br2_trace_step_sink: `user` is the struct br2_trace_counter. BR2PGO_NO_MEMORY. */
int br2_trace_counter_take(void *user, const struct br2_trace_step *step, struct br2pgo_error *err);
/* Adds everything to `folded` and `stats`. BR2PGO_NO_MEMORY. */
int br2_trace_counter_finish(struct br2_trace_counter *counter, struct br2_folded *folded,
                             struct br2_count_stats *stats, struct br2pgo_error *err);
void br2_trace_counter_done(struct br2_trace_counter *counter);

#endif
