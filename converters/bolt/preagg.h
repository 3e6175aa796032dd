/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pre-aggregated addresses, for perf2bolt and llvm-bolt with --pa (bolt/docs/profiles.md). One line
 * for each distinct branch, straight run or pair of both, numbers but counts hexadecimal:
 *   B from to count mispredicted     a branch; 0 is outside the program
 *   F start end count                a run behind a branch within its function
 *   f start end count                a run behind a return, or a branch from elsewhere: BOLT goes
 *                                    back from its start to the call before it
 *   T from to end count              a trace, from BOLT 21 on: the branch B and the run F or f
 *                                    behind it, which of the two BOLT finds out
 *   R from to end count              a trace whose branch is a return: only the run counts
 * BOLT 23 takes mispredictions in T and R too, 21 and 22 refuse the line then. All of them add up
 * what B lines say, so the mispredictions of traces are there.
 */
#ifndef BR2_CONVERTERS_BOLT_PREAGG_H
#define BR2_CONVERTERS_BOLT_PREAGG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "flow/block_flow.h"

/* Whether the first line is one of this format. */
bool br2_preagg_probe(const uint8_t *bytes, size_t size);

/* Reads a file, makes lines B, F and f of the traces, adds equal lines up and compares them with
 * what the flow says. `text` says where they differ first, or is "". BR2PGO_NO_MEMORY. */
int br2_preagg_check(const uint8_t *bytes, size_t size, const struct br2_block_flow *flow,
                     char *text, size_t text_size, struct br2pgo_error *err);

#endif
