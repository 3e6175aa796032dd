/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How good a flow graph is as a sample of what ran. */
#ifndef BR2_FLOW_FLOW_QUALITY_H
#define BR2_FLOW_FLOW_QUALITY_H

#include "flow/flow_graph.h"

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
 * Functions whose code is another in `other`, weighted by the instructions executed in them. Code
 * is compared by its shape: lengths and kinds of the instructions, and where direct branches go, by
 * name outside of the function. A constant that changed is not seen; where code and data lie does
 * not matter.
 */
struct br2_flow_stale {
    uint64_t executed; /* instructions */
    uint64_t changed;  /* of them, in functions whose code changed ... */
    uint64_t missing;  /* ... or whose name is gone */
    size_t changed_functions;
    size_t missing_functions;
    uint32_t worst; /* the one of them that executed most; BR2_NO_FUNCTION: none */
};
/* BR2PGO_INVALID: the image is for another machine; BR2PGO_NO_MEMORY. */
int br2_flow_stale(const struct br2_flow_graph *graph, const struct br2_image *other,
                   struct br2_flow_stale *ret, struct br2pgo_error *err);

#endif
