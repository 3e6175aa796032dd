/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the extensible binary format's writer and reader share. */
#ifndef BR2_CONVERTERS_LLVM_EXTBINARY_H
#define BR2_CONVERTERS_LLVM_EXTBINARY_H

#include "converters/llvm/internal.h"

/* Section types. */
#define BR2_LLVM_SUMMARY       1
#define BR2_LLVM_NAMES         2
#define BR2_LLVM_SYMBOL_LIST   3
#define BR2_LLVM_OFFSETS       4
#define BR2_LLVM_METADATA      5
#define BR2_LLVM_CONTEXT_NAMES 6
#define BR2_LLVM_RECORDS       32

/* Section flags: the low half is common to all sections, the high half is each type's own. */
#define BR2_LLVM_FLAG_COMPRESSED     (UINT64_C(1) << 0)
#define BR2_LLVM_SUMMARY_PARTIAL     (UINT64_C(1) << 32)
#define BR2_LLVM_SUMMARY_CONTEXT     (UINT64_C(1) << 33)
#define BR2_LLVM_SUMMARY_FS          (UINT64_C(1) << 34)
#define BR2_LLVM_SUMMARY_PRE_INLINED (UINT64_C(1) << 36)
#define BR2_LLVM_SUMMARY_VTABLES     (UINT64_C(1) << 37)
#define BR2_LLVM_NAMES_MD5           (UINT64_C(1) << 32)
#define BR2_LLVM_NAMES_FIXED         (UINT64_C(1) << 33)
#define BR2_LLVM_NAMES_UNIQ          (UINT64_C(1) << 34)
#define BR2_LLVM_METADATA_PROBES     (UINT64_C(1) << 32)
#define BR2_LLVM_METADATA_ATTRIBUTES (UINT64_C(1) << 33)

int br2_llvm_read_extbinary(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                            struct br2pgo_error *err);

#endif
