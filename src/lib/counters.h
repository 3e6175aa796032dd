/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counting in several threads. One thread reads and hands samples over in batches; the others count
 * them, each in a table of its own, and so does the reader whenever they are behind. What comes out
 * does not depend on who counted what: counts add up.
 */
#ifndef BR2_LIB_COUNTERS_H
#define BR2_LIB_COUNTERS_H

#include <br2pgo/error.h>

#include "flow/counting.h"
#include "flow/fold.h"
#include "input/input.h"
#include "process/address_space.h"

struct br2_counters;

/*
 * Counts with `threads` (1 or more) threads, the caller's among them; fewer where the system has no
 * more to give. `spaces` is only asked from now on. `*ret` is freed with br2_counters_free.
 */
int br2_counters_new(const struct br2_spaces *spaces, unsigned threads, struct br2_counters **ret,
                     struct br2pgo_error *err);
/*
 * Counts before address spaces are known: the same without `spaces`. Samples come by
 * br2_counters_take_early, with a number for a view that is not known yet. What it is, in `views`,
 * must be said before br2_counters_finish; `spaces` and `views` stay until that returns.
 */
int br2_counters_new_early(unsigned threads, struct br2_counters **ret, struct br2pgo_error *err);
int br2_counters_take_early(struct br2_counters *all, const struct br2_sample *sample,
                            uint32_t number, struct br2pgo_error *err);
void br2_counters_set_views(struct br2_counters *all, const struct br2_spaces *spaces,
                            const uint32_t *views);
/* Before the first sample: cycles are counted, too. */
void br2_counters_time(struct br2_counters *all);
/* Takes a sample in. A br2_sample_sink: `user` is the struct br2_counters. */
int br2_counters_take(void *user, const struct br2_sample *sample, struct br2pgo_error *err);
/* After the last sample: waits for all, adds up. 1: nothing is added, a table was full before
 * address spaces were known. */
int br2_counters_finish(struct br2_counters *all, struct br2_folded *folded,
                        struct br2_count_stats *stats, struct br2pgo_error *err);
/* Also before the last sample: what is not counted yet is left. */
void br2_counters_free(struct br2_counters *all);

#endif
