/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counting samples: one update of a table per branch record. A trace is known here by what a
 * history says without arithmetic: its branch, the source of the next newer record, and the view of
 * the address space. What the addresses mean is looked up once per distinct trace, by folding.
 */
#ifndef BR2_FLOW_COUNTING_H
#define BR2_FLOW_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "flow/trace_table.h"
#include "input/input.h"

struct br2_live_trace {
    uint64_t from;
    uint64_t to;
    uint64_t next;   /* source of the next newer record; 0: none, or it is missing */
    uint64_t counts; /* high half: how often; low half: of those, or more, mispredicted */
    br2_time first_seen;
    uint64_t where; /* the view; with BR2_REPEATED where the two newest records are meant */
};
#define BR2_REPEATED (UINT64_C(1) << 32)

/* Zero-initialise, then use. */
struct br2_live_traces {
    struct br2_live_trace *traces; /* [0] is nobody's; then in order of appearance */
    size_t used;
    size_t capacity;
    uint32_t *slots; /* hash -> number of a trace; 0 = free */
    unsigned bits;   /* of the hash that count: 1 << bits slots */
    struct br2_hash_key key;
    size_t room;     /* so many may be used */
    br2_time latest; /* of all samples counted */
    uint64_t updates;
};

/* Whether the table has to be folded (fold.h) before more is counted: a million distinct traces, or
 * a count might not fit. */
bool br2_live_traces_full(const struct br2_live_traces *table);
/* The trace of that number, 1 to used - 1, with its run. */
struct br2_trace br2_live_traces_get(const struct br2_live_traces *table, size_t number);
/* Puts another view in the place of each, `views[old]`: of traces that were counted before views
 * were known. Folding is what can be done with the table then. */
void br2_live_traces_set_views(struct br2_live_traces *table, const uint32_t *views);
/* Forgets all traces, keeps the memory. */
void br2_live_traces_clear(struct br2_live_traces *table);
void br2_live_traces_done(struct br2_live_traces *table);

/* What one recording's samples came to before anything was looked up. */
struct br2_count_stats {
    uint64_t samples;
    br2_time first_time; /* of the earliest sample; meaningful where there are samples */
    uint64_t records;
    uint64_t depth;        /* records in the longest history */
    uint64_t wrong_path;   /* records of a speculation that was cancelled, dropped */
    uint64_t not_taken;    /* records of branches that were passed, dropped: the run goes on */
    uint64_t empty;        /* {0,0}: ends the history */
    uint64_t stale;        /* older than a {0,0}, dropped */
    uint64_t repeated;     /* newest record equal to the one before, still to be judged */
    uint64_t predictions;  /* records that say predicted or mispredicted */
    uint64_t cycles_known; /* records with a cycle count */
    uint64_t lone_runs;    /* straight runs that a recorder counted without their branch */
};

/* The `run` of a trace whose branch goes to `to`, up to an instruction at `end` (0: none known). */
uint32_t br2_run_between(uint64_t to, uint64_t end);

/* What is kept of a number of cycles: up to 511 all of it, above that nine binary digits, so that
 * there are not too many different ones. */
uint32_t br2_cycles_kept(uint64_t cycles);

/* Adds so many times what other samples came to. */
void br2_count_stats_add(struct br2_count_stats *sum, const struct br2_count_stats *more,
                         uint64_t times);

/* How samples are counted. */
struct br2_counting {
    struct br2_live_traces *traces;
    /* NULL, or where cycle counts go: traces with `from` = cycles that the run took (the cycles of
     * the record that ends it). */
    struct br2_live_traces *timings;
    struct br2_count_stats stats;
};

/* Counts one sample taken in `space`. False when memory runs out. */
bool br2_count_sample(struct br2_counting *counting, const struct br2_sample *sample,
                      uint32_t space);

#endif
