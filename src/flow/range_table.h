/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the machine did, as counts of straight runs and branches and nothing else: for tools that
 * look up functions and lines themselves. */
#ifndef BR2_FLOW_RANGE_TABLE_H
#define BR2_FLOW_RANGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A run from the instruction at `first` to that at `second`, or a branch from `first` to `second`:
 * link-time addresses; 0 is outside the image. */
struct br2_range {
    uint64_t first;
    uint64_t second;
    uint64_t count;
};

/* Zero-initialise, then use. Both lists are sorted and have nothing twice. */
struct br2_range_table {
    struct br2_range *runs;
    size_t run_count;
    struct br2_range *branches;
    size_t branch_count;
    uint64_t base; /* the page where the first executable segment starts */
};
void br2_range_table_done(struct br2_range_table *table);

struct br2_flow_graph;
/* Fills an empty table with the runs and branches of the graph. BR2PGO_NO_MEMORY. */
int br2_range_table_build(const struct br2_flow_graph *graph, struct br2_range_table *table,
                          struct br2pgo_error *err);

#endif
