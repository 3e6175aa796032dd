/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the reader and the writer share. The format is that of gcc/auto-profile.cc and gcov-io.h, in
 * little-endian order: GCC reads the byte order of the machine it runs on. */
#ifndef BR2_CONVERTERS_GCC_INTERNAL_H
#define BR2_CONVERTERS_GCC_INTERNAL_H

#include "converters/gcc/gcc.h"

#define BR2_GCOV_MAGIC     0x67636461u
#define BR2_GCOV_DEFAULT   2u
#define BR2_GCOV_VERSION_3 3u
/* The stamp of Google's GCC 4, and the one create_gcov writes when it is not told another. */
#define BR2_GCOV_GOOGLE 0x3430372au

#define BR2_GCOV_SUMMARY     0xa8000000u
#define BR2_GCOV_NAMES       0xaa000000u
#define BR2_GCOV_FUNCTIONS   0xac000000u
#define BR2_GCOV_MODULES     0xae000000u
#define BR2_GCOV_WORKING_SET 0xaf000000u

#define BR2_GCOV_WORKING_SETS 128u /* of three words each */

#define BR2_GCOV_INDIRECT_CALL 7u /* the kind of a call target: HIST_TYPE_INDIR_CALL_TOPN */
#define BR2_GCOV_NO_FILE       UINT32_MAX

int br2_gcov_write(const struct br2_profile *profile, const struct br2_write_options *options,
                   struct br2_buf *out, struct br2pgo_error *err);
int br2_gcov_read(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                  struct br2pgo_error *err);

#endif
