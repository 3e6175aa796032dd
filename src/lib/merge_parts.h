/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Weights of finished profiles, and leaving out what hardly ran. */
#ifndef BR2_LIB_MERGE_PARTS_H
#define BR2_LIB_MERGE_PARTS_H

#include "lib/profile_file.h"

/* Reads weights, as br2pgo_set_weight takes them; NULL: all are 1, as is one that is NULL. `ret` is
 * what counts are multiplied by: the weights themselves where all are whole, else the smallest
 * whole numbers that have their ratios. BR2PGO_INVALID. */
int br2_merge_factors(const char *const *weights, size_t count, uint64_t *ret,
                      struct br2pgo_error *err);

/* A weight in millionths. BR2PGO_INVALID. */
int br2_weight_read(const char *text, uint64_t *ret, struct br2pgo_error *err);

/* Take out functions that have less than this share, 0 to 1, of all samples. What others call them
 * stays. BR2PGO_USELESS where none is left; BR2PGO_NO_MEMORY. */
int br2_trim_profile(struct br2_profile *profile, double share, struct br2pgo_error *err);
int br2_trim_fdata(struct br2_fdata *fdata, double share, struct br2pgo_error *err);
/* Of a sorted table; rows without a function stay. */
int br2_trim_edges(struct br2_edge_table *table, double share, struct br2pgo_error *err);

#endif
