/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One reading, a profile for every image that has enough records: each is a conversion of its own
 * that borrows the recordings. */
#ifndef BR2_LIB_ALL_IMAGES_H
#define BR2_LIB_ALL_IMAGES_H

#include "lib/conversion.h"

/* Branch records an image must have to be worth a profile: some thirty samples of 32. */
#define BR2_IMAGE_RECORDS_MIN 1000

/* One image of a recording, busiest first. */
struct br2_image_part {
    char *path;                           /* as recorded */
    uint64_t records;                     /* branch records that start in it */
    double share;                         /* of those that were counted */
    struct br2pgo_conversion *conversion; /* owned; NULL where there is no profile of it */
    char *reason;                         /* owned; why there is none */
};

/* Refuses patterns that would give every image the same name. */
int br2_check_patterns(const struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* After the recordings are read: makes the outputs of every image, encoded. BR2PGO_USELESS when
 * there is not one. */
int br2_run_all_images(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

void br2_image_parts_done(struct br2pgo_conversion *conversion);

#endif
