/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is compared, judged or shown: a finished profile, or what a conversion has made. */
#ifndef BR2_LIB_SIDE_H
#define BR2_LIB_SIDE_H

#include "lib/conversion.h"
#include "lib/profile_file.h"
#include "profile/tally.h"

/* Zero-initialise, then open. */
struct br2_side {
    const char *path; /* the caller's: of the profile, or of the first recording */
    const struct br2_format *format;
    struct br2_profile *profile; /* owned; of formats that hold a source profile */
    struct br2_tally tally;
    bool md5_names;
};

/* Reads a finished profile, or takes the first output of a conversion that has run. BR2PGO_INVALID:
 * the source is neither; BR2PGO_UNSUPPORTED: it has no counts by functions; errors of reading. */
int br2_side_open(struct br2_side *ret, const struct br2pgo_source *source,
                  struct br2_tally_names *names, struct br2pgo_error *err);
/* The same for two that are to be compared; of one that has hashes in place of names the other's
 * names are hashed. BR2PGO_INVALID where they are of different kinds. */
int br2_sides_open(struct br2_side ret[2], const struct br2pgo_source *base,
                   const struct br2pgo_source *test, struct br2_tally_names *names,
                   struct br2pgo_error *err);
void br2_side_done(struct br2_side *side);

/* The tally of an fdata profile; `ret` has nothing but its names before. */
int br2_tally_fdata(struct br2_tally *ret, const struct br2_fdata *fdata, struct br2pgo_error *err);

#endif
