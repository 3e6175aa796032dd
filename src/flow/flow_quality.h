/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How good a flow graph is as a sample of what ran. */
#ifndef BR2_FLOW_FLOW_QUALITY_H
#define BR2_FLOW_FLOW_QUALITY_H

#include "flow/flow_graph.h"
#include "image/debug.h"

/* What enters functions, by calls, jumps and returns, leaves them: in a run, not in a sample. */
struct br2_flow_balance {
    uint64_t crossings; /* ends of branches between functions, or with one side outside */
    uint64_t imbalance; /* sum over functions of what entered and left differ by */
    uint32_t worst;     /* function with the largest difference; BR2_NO_FUNCTION: none */
    uint64_t worst_in;  /* entered it ... */
    uint64_t worst_out; /* ... and left it */
};
int br2_flow_balance(const struct br2_flow_graph *graph, struct br2_flow_balance *ret,
                     struct br2pgo_error *err);

/* BOLT's profile density: bytes executed by bytes of code, over the functions that make up `cutoff`
 * per million of all records; llvm-bolt 20's threshold is 60 at 990000. BR2PGO_NO_MEMORY. */
int br2_flow_density(const struct br2_flow_graph *graph, uint32_t cutoff, double *ret,
                     struct br2pgo_error *err);

/*
 * Functions whose code is another in another build, weighted by the instructions executed in them.
 * Code is compared by its shape: lengths and kinds of the instructions, and where direct branches
 * go, by name outside of the function; where code and data lie does not matter. Functions of the
 * same shape are compared by their operands, and instruction by instruction by their places in the
 * source.
 */
struct br2_flow_stale {
    uint64_t executed; /* instructions */
    uint64_t changed;  /* of them, in functions whose code changed ... */
    uint64_t missing;  /* ... or whose name is gone */
    size_t changed_functions;
    size_t missing_functions;
    uint32_t worst;      /* the one of them that executed most; BR2_NO_FUNCTION: none */
    bool operands_known; /* they are compared for this machine */
    uint64_t operands;   /* in functions of the same shape with other operands */
    size_t operands_functions;
    uint32_t operands_worst;
    bool lines_known; /* some function has lines in both builds */
    uint64_t moved;   /* at other places of functions of the same shape */
    size_t moved_functions;
    uint32_t moved_worst; /* the function in which most did */
};
/* The two builds. Without the debug information of both, lines are not compared. */
struct br2_stale_builds {
    struct br2_debug *debug; /* of the graph's image; NULL: none */
    const struct br2_image *other;
    struct br2_debug *other_debug; /* NULL: none */
};
/* BR2PGO_INVALID: the other image is for another machine, or has no function of a name that ran;
 * BR2PGO_NO_MEMORY. */
int br2_flow_stale(const struct br2_flow_graph *graph, const struct br2_stale_builds *builds,
                   struct br2_flow_stale *ret, struct br2pgo_error *err);

#endif
