/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was counted by others before it was read: it goes straight to where folded traces are. */
#ifndef BR2_FLOW_COUNTED_H
#define BR2_FLOW_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/fold.h"

/* Where it goes. Zero-initialise `scratch`, and give it to br2_live_traces_done in the end. */
struct br2_counted_into {
    struct br2_folded *folded;
    const struct br2_spaces *spaces;
    struct br2_count_stats *stats;
    struct br2_live_traces scratch;
};

/* Adds what a recorder counted, in `view`. False when memory runs out. */
bool br2_count_counted(struct br2_counted_into *into, const struct br2_counted *counted,
                       uint32_t view);
/* Adds a sample and its repeats, in `view`. False when memory runs out. */
bool br2_count_repeats(struct br2_counted_into *into, const struct br2_sample *sample,
                       uint32_t view);

#endif
