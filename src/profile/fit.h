/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What GCC asks of a profile, whoever made it. */
#ifndef BR2_PROFILE_FIT_H
#define BR2_PROFILE_FIT_H

#include "profile/build.h"
#include "profile/profile.h"

/* GCC 12 takes a function whose head count is 0 for one that never runs, whatever its body says:
 * gives it a head count of at least 1, and of its lowest line's count. */
void br2_profile_floor_head(struct br2_function_profile *function);

/* GCC 16 warns of call targets where a function is inlined, and ignores them: drops them. */
void br2_profile_drop_targets(struct br2_function_profile *function);

/*
 * Lines where discriminators are ignored (GCC up to 12): all blocks of a line get one count, that
 * of its least busy block. GCC raises a block's count to what it knows to flow through the block,
 * and never lowers one (afdo_propagate_edge in auto-profile.cc): a count that is too low is put
 * right by the lines around it, one that is too high spoils them.
 */

/*
 * A copy of `from`, which is by the rules of some GCC, that fits the GCC of `rules` as far as that
 * can be known without the program: names are cut as that GCC cuts them, functions that then have
 * one name add up, lines have no discriminators where it ignores them, head counts are not 0. Names
 * whose files are known are left to GCC 16, which tells them apart.
 * Errors: BR2PGO_NO_MEMORY.
 */
int br2_profile_fit(const struct br2_profile *from, enum br2_rules rules, struct br2_profile **ret,
                    struct br2pgo_error *err);

#endif
