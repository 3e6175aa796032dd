/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recordings that are alike: of the same images, with the same weight. What one has counted adds to
 * the first of its kind, whose mappings and tables then stand for both, so that time and memory
 * grow with the kinds of recordings, not with their number.
 */
#ifndef BR2_LIB_LIKE_H
#define BR2_LIB_LIKE_H

#include "lib/conversion.h"

/* Zero-initialise, then use. */
struct br2_kinds {
    struct br2_strings names;     /* all that tells a kind from others, as bytes: number -> kind */
    struct br2_recording **first; /* of each kind, borrowed */
    size_t count;
    size_t capacity;
};

/*
 * After a recording is counted: adds it to the first of its kind and closes it, or makes it the
 * first of one. Those that are asked later for more than their sums stay as they are: texts of
 * counts, whose addresses may be any kind, and all of a conversion that reads samples again, for a
 * report, or leaves out rare branches. The recordings do not move from now on. BR2PGO_NO_MEMORY.
 */
int br2_kinds_take(struct br2_kinds *kinds, const struct br2pgo_conversion *conversion,
                   struct br2_recording *recording, struct br2pgo_error *err);
void br2_kinds_done(struct br2_kinds *kinds);

#endif
