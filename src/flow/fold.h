/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Folding: traces counted under runtime addresses become traces under file offsets, so that every
 * process that ran an image counts together. One look-up per distinct trace.
 */
#ifndef BR2_FLOW_FOLD_H
#define BR2_FLOW_FOLD_H

#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"
#include "flow/counting.h"
#include "flow/trace_table.h"
#include "process/address_space.h"

/* Image numbers of an address that is in no mapped file. Its folded address is 0. */
#define BR2_DSO_UNMAPPED BR2_NO_DSO
#define BR2_DSO_KERNEL   (BR2_NO_DSO - 1) /* a kernel address the recording has no mapping for */
#define BR2_DSO_MISSING  (BR2_NO_DSO - 2) /* the record has no address there */
/* In place of where a branch came from: only the run behind it was recorded; and that began behind
 * a return, or a branch from elsewhere. */
#define BR2_DSO_RUN_ONLY    (BR2_NO_DSO - 3)
#define BR2_DSO_RUN_RESUMED (BR2_NO_DSO - 4)
#define BR2_DSO_RUN_ANY     (BR2_NO_DSO - 5) /* nobody knows behind what it began */

struct br2_image_pair {
    uint32_t from; /* image numbers */
    uint32_t to;
};

/* Zero-initialise, then use. In a folded trace `from` and `to` are file offsets, `space` is the
 * number of a pair. In a folded timing `from` stays the cycle count. */
struct br2_folded {
    struct br2_trace_table traces;
    struct br2_trace_table timings;
    struct br2_strings pairs; /* struct br2_image_pair as bytes: number -> pair */
    /* What was looked up last: most traces are in one mapping, of one pair of images. */
    struct br2_fold_last {
        const struct br2_spaces *spaces;
        const struct br2_mapping *mapping; /* NULL: none */
        uint32_t view;
        uint32_t pair_number;
        struct br2_image_pair pair;
        bool has_pair;
    } last;
};

/* Adds a trace under runtime addresses, seen in the view `trace->space`. False when memory runs
 * out.
 */
bool br2_fold_trace(struct br2_folded *folded, const struct br2_spaces *spaces,
                    const struct br2_trace *trace);
/* Adds all traces (and timings) counted so far and clears their tables. */
int br2_fold(struct br2_folded *folded, const struct br2_spaces *spaces,
             struct br2_counting *counting, struct br2pgo_error *err);
/* Moves everything in `from` into `into`. False when memory runs out. `from` is to be freed. */
bool br2_folded_add(struct br2_folded *into, struct br2_folded *from);
struct br2_image_pair br2_folded_pair(const struct br2_folded *folded, uint32_t number);
void br2_folded_done(struct br2_folded *folded);

#endif
