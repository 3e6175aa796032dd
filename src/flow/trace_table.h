/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Traces and their counts. A trace is one taken branch, from -> to, and the straight run that
 * followed it: from `to` up to the source of the next newer record.
 */
#ifndef BR2_FLOW_TRACE_TABLE_H
#define BR2_FLOW_TRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "input/input.h"

/* `run` of a trace: address of the run's last instruction minus its first, plus 1; or: */
#define BR2_RUN_NONE       0u               /* no run is known to follow */
#define BR2_RUN_IMPOSSIBLE UINT32_MAX       /* the next source lies before `to`, or 4 GB after */
#define BR2_RUN_REPEATED   (UINT32_MAX - 1) /* the two newest records are equal: see below */
#define BR2_RUN_SPLIT      (UINT32_MAX - 2) /* after folding: it leaves its mapping */
#define BR2_RUN_LONGEST    (UINT32_MAX - 3)

/*
 * BR2_RUN_REPEATED: the newest record equals the one before it. Either the branch ran twice, with a
 * run from `to` back to `from` between, or the processor logged it twice (Skylake does). Which of
 * the two is decided by that run's validity; the trace stands for both records, and so does its
 * `mispredicted`, which may be twice its `count`.
 */

/* Marks in the `space` of a trace before folding: no branch was recorded, only the run; and that
 * run began behind a return, or a branch from elsewhere, or nobody knows behind what. Views are
 * never so many. */
#define BR2_SPACE_RUN_ONLY   UINT32_C(0x80000000)
#define BR2_SPACE_RESUMED    UINT32_C(0x40000000)
#define BR2_SPACE_ANY_ORIGIN UINT32_C(0x20000000)

struct br2_trace {
    uint64_t from;
    uint64_t to;
    uint32_t run;
    uint32_t space; /* a view before folding, a pair of images after it */
    uint64_t count;
    uint64_t mispredicted;
    br2_time first_seen; /* time of the earliest sample that holds it; 0: unknown */
};

/* Zero-initialise, then use. */
struct br2_trace_table {
    struct br2_trace *slots; /* count 0 = free; power of two */
    size_t slot_count;
    size_t used;
};

/* Makes room for so many more traces at once. False when memory runs out. */
bool br2_trace_table_reserve(struct br2_trace_table *table, size_t more);
/* Adds the counts of `trace`; one with a count of 0 adds only to what is there. False when memory
 * runs out. */
bool br2_trace_table_add(struct br2_trace_table *table, const struct br2_trace *trace);
/* How often the trace was added; 0: never. */
uint64_t br2_trace_table_count(const struct br2_trace_table *table, const struct br2_trace *trace);
void br2_trace_table_done(struct br2_trace_table *table);

#endif
