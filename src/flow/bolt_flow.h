/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The block flow of an image that llvm-bolt rewrote, in terms of the image it was made of. */
#ifndef BR2_FLOW_BOLT_FLOW_H
#define BR2_FLOW_BOLT_FLOW_H

#include "flow/block_flow.h"
#include "flow/flow_graph.h"
#include "image/bolt_table.h"
#include "image/symbol_names.h"

/* Changes the functions and edges of `flow`, which are those of the graph, as block_flow.h says.
 * BR2PGO_NO_MEMORY. */
int br2_bolt_flow_translate(const struct br2_flow_graph *graph, const struct br2_bolt_table *table,
                            const struct br2_symbol_names *symbols, struct br2_block_flow *flow,
                            struct br2pgo_error *err);

#endif
