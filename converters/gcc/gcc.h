/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* GCC's AutoFDO profiles: what gcc reads with -fauto-profile. */
#ifndef BR2_CONVERTERS_GCC_GCC_H
#define BR2_CONVERTERS_GCC_GCC_H

#include "converters/converter.h"

/* Versions 1 (GCC 5 to 11), 2 (12 to 15) and 3 (16). */
extern const struct br2_format br2_format_gcov;

/* The version that a GCC profile says it has; 0 where no GCC since 5 has that version. */
unsigned br2_gcov_version(const uint8_t *bytes, size_t size);

#endif
