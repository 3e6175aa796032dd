/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's sample profiles: what clang reads with -fprofile-sample-use. */
#ifndef BR2_CONVERTERS_LLVM_LLVM_H
#define BR2_CONVERTERS_LLVM_LLVM_H

#include "converters/converter.h"

extern const struct br2_format br2_format_llvm_text;
extern const struct br2_format br2_format_llvm_binary;
extern const struct br2_format br2_format_llvm_extbinary;
extern const struct br2_format br2_format_unsymbolized;

/* LLVM's name hash (GUID): the first 8 bytes of the MD5 of the name, little-endian. */
uint64_t br2_llvm_guid(const char *text, size_t length);

/* Adds `from`, its names as MD5 hashes, to the empty profile `into`. A profile that has only hashes
 * is copied. Errors: BR2PGO_NO_MEMORY. */
int br2_llvm_hash_names(struct br2_profile *into, const struct br2_profile *from,
                        struct br2pgo_error *err);

#endif
