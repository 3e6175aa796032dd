/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What compilers split off functions because it hardly runs. */
#ifndef BR2_IMAGE_COLD_PARTS_H
#define BR2_IMAGE_COLD_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "image/image.h"

/* Length of the function's name in that of its cold part (NAME.cold of GCC, NAME.cold.N of clang),
 * 0 where the range has the name of no such part. */
size_t br2_cold_part_owner(const struct br2_code_range *range);
/* Whether one of two different ranges is by its name a cold part of the other. */
bool br2_are_parts_of_one(const struct br2_code_range *a, const struct br2_code_range *b);

#endif
