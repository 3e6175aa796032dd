/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the files that build a block flow. */
#ifndef BR2_FLOW_BLOCK_PRIVATE_H
#define BR2_FLOW_BLOCK_PRIVATE_H

#include "base/addresses.h"
#include "flow/block_flow.h"
#include "flow/flow_graph.h"
#include "image/symbol_names.h"

/* Makes the functions of an empty flow: those of the graph, with names. BR2PGO_NO_MEMORY. */
int br2_block_flow_name(struct br2_block_flow *flow, const struct br2_flow_graph *graph,
                        const struct br2_symbol_names *symbols, struct br2pgo_error *err);

/* Adds to `targets`, which are not sorted then, where the graph's functions, and parts of them that
 * never ran, jump out of their code, seen or not. BR2PGO_NO_MEMORY. */
int br2_block_jumps_out(const struct br2_flow_graph *graph, struct br2_addresses *targets,
                        struct br2pgo_error *err);

/* Appends a trace. BR2PGO_NO_MEMORY. */
int br2_block_traces_add(struct br2_block_flow *flow, const struct br2_block_trace *trace,
                         struct br2pgo_error *err);
/* Sorts the traces and adds equal ones up. */
void br2_block_traces_merge(struct br2_block_flow *flow);

#endif
