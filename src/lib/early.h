/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counting while address spaces are still being read, so that a compressed recording is unpacked
 * once. A process's samples are counted by its stays: from one exec, fork or exit of it to the
 * next, in file order. When all events are known each stay must turn out to be of one view; where
 * one is not, as events were not in order of time, what was counted is dropped and a second pass
 * counts.
 */
#ifndef BR2_LIB_EARLY_H
#define BR2_LIB_EARLY_H

#include <br2pgo/error.h>

#include "flow/counting.h"
#include "flow/fold.h"
#include "input/input.h"
#include "process/address_space.h"

struct br2_early;

/* Nothing more is made before there is a sample. Free it with br2_early_free; NULL: no memory. */
struct br2_early *br2_early_new(unsigned threads);
/* Takes in a task event, in file order between the samples. */
void br2_early_add_task(struct br2_early *early, const struct br2_task_event *event);
/* Counts a sample. A br2_sample_sink: `user` is the struct br2_early. */
int br2_early_take(void *user, const struct br2_sample *sample, struct br2pgo_error *err);
/* When `spaces` is finished: adds to `folded` and sets `stats`. 1: nothing is changed, there was no
 * sample, or it cannot be told what was counted. */
int br2_early_finish(struct br2_early *early, const struct br2_spaces *spaces,
                     struct br2_folded *folded, struct br2_count_stats *stats,
                     struct br2pgo_error *err);
void br2_early_free(struct br2_early *early);

#endif
