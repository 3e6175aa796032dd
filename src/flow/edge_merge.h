/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adding edge tables up. */
#ifndef BR2_FLOW_EDGE_MERGE_H
#define BR2_FLOW_EDGE_MERGE_H

#include "base/err.h"
#include "flow/edge_table.h"

/*
 * Adds the rows of `other`, their counts multiplied by `factor`, to `sum`; both are sorted
 * afterwards. Counts saturate. A probability is that of all outcomes that the tables' probabilities
 * are of, so the order of tables does not matter; where a table does not say how many those are
 * (files of before the column), they follow from the share of the passed ones, or are all that were
 * counted. Mispredictions are unknown where one table does not know them.
 *
 * BR2PGO_INVALID where the tables cannot be of the same build of an image: one has another kind of
 * branch at an address, another target of a direct one, or another function; BR2PGO_CORRUPT where
 * that is so of the rows of `other` alone; BR2PGO_NO_MEMORY. The sum is then of no use.
 */
int br2_edge_table_merge(struct br2_edge_table *sum, struct br2_edge_table *other, uint64_t factor,
                         struct br2pgo_error *err);

#endif
