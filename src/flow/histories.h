/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What only whole histories tell: how often loops go round, how long that takes, and which ways
 * through functions are taken in one go. Histories are followed one by one, by a graph that was
 * made of all of them before; what is kept grows with the program, not with their number.
 */
#ifndef BR2_FLOW_HISTORIES_H
#define BR2_FLOW_HISTORIES_H

#include "flow/loops.h"
#include "flow/paths.h"
#include "flow/trace_table.h"

/* One branch record, as part of the graph. */
struct br2_step {
    uint32_t edge;   /* number in the graph, or BR2_NO_EDGE: not one of the image */
    uint32_t cycles; /* since the record before it; 0: not known */
    bool joined;     /* between the record before it and this one nothing is unknown */
    bool mispredicted;
};
#define BR2_NO_EDGE UINT32_MAX

/* A visit to a loop goes from where its header is entered to where the loop is left. */
enum br2_trips {
    BR2_TRIPS_COMPLETE, /* both were seen */
    BR2_TRIPS_CUT,      /* the history ends in between: there may have been more */
    BR2_TRIPS_ENTERED,  /* it begins in between, or the loop was not entered by its header */
};

struct br2_loop_visits {
    uint64_t exits;        /* by a taken branch */
    uint64_t mispredicted; /* of those */
};

struct br2_histories {
    struct br2_loops loops;
    struct br2_loop_visits *visits; /* owned; per loop */
    /* `from`: number of a loop, `to`: times round, `run`: enum br2_trips. */
    struct br2_trace_table trips;
    /* `from`: number of a loop, `to`: cycles (br2_cycles_kept) of one time round. */
    struct br2_trace_table iterations;
    struct br2_paths paths;
    uint64_t followed; /* histories */
    size_t depth;      /* records in the longest */
};

/* Readies the counting. Free with br2_histories_done, also after a failure. BR2PGO_NO_MEMORY. */
int br2_histories_begin(const struct br2_flow_graph *graph, struct br2_histories *ret,
                        struct br2pgo_error *err);
/* Follows a history, oldest first; it counts `times`. False when memory runs out. */
struct br2_follower;
bool br2_history_follow(struct br2_follower *follower, const struct br2_step *steps, size_t count,
                        uint64_t times);
void br2_histories_done(struct br2_histories *histories);

/* Who follows: has room for one history. Free with br2_follower_free. NULL when memory runs out. */
struct br2_follower *br2_follower_new(const struct br2_flow_graph *graph,
                                      struct br2_histories *histories);
void br2_follower_free(struct br2_follower *follower);

/* The number of the graph's edge, or BR2_NO_EDGE. */
uint32_t br2_flow_edge_number(const struct br2_flow_graph *graph, uint64_t from, uint64_t to);
/* Whether the graph has a run. */
bool br2_flow_has_run(const struct br2_flow_graph *graph, uint64_t start, uint64_t end);

#endif
