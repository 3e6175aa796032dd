/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the unwinder enters functions: the landing pads of C++ and its like. */
#ifndef BR2_IMAGE_LANDING_PADS_H
#define BR2_IMAGE_LANDING_PADS_H

#include "base/addresses.h"
#include "image/image.h"

/* Adds the landing pads of all functions to an empty set, sorted; what is broken in the tables is
 * left out. BR2PGO_NO_MEMORY. */
int br2_landing_pads_read(const struct br2_image *image, struct br2_addresses *ret,
                          struct br2pgo_error *err);

#endif
