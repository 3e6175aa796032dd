/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Traces and their counts. A trace is one taken branch, from -> to, and the straight run that
 * followed it: from `to` up to the source of the next newer record. The table takes one update per
 * branch record and knows nothing else; what the addresses mean is looked up once per distinct
 * trace, afterwards.
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

struct br2_trace {
    uint64_t from;
    uint64_t to;
    uint32_t run;
    uint32_t space; /* a view while counting, a pair of images after folding */
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

/* Adds the counts of `trace`. False when memory runs out. */
bool br2_trace_table_add(struct br2_trace_table *table, const struct br2_trace *trace);
/* Forgets all traces, keeps the memory. */
void br2_trace_table_clear(struct br2_trace_table *table);
void br2_trace_table_done(struct br2_trace_table *table);

/* What one recording's samples came to before anything was looked up. */
struct br2_count_stats {
    uint64_t samples;
    br2_time first_time; /* of the earliest sample; meaningful where there are samples */
    uint64_t records;
    uint64_t depth;        /* records in the longest history */
    uint64_t wrong_path;   /* records of a speculation that was cancelled, dropped */
    uint64_t empty;        /* {0,0}: ends the history */
    uint64_t stale;        /* older than a {0,0}, dropped */
    uint64_t repeated;     /* newest record equal to the one before, still to be judged */
    uint64_t predictions;  /* records that say predicted or mispredicted */
    uint64_t cycles_known; /* records with a cycle count */
};

/* How samples are counted. */
struct br2_counting {
    struct br2_trace_table *traces;
    /* NULL, or where cycle counts go: traces with `from` = cycles that the run took (the cycles of
     * the record that ends it). */
    struct br2_trace_table *timings;
    struct br2_count_stats stats;
};

/* Counts one sample taken in `space`. False when memory runs out. */
bool br2_count_sample(struct br2_counting *counting, const struct br2_sample *sample,
                      uint32_t space);

#endif
