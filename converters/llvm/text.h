/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the text format's writer and reader share. */
#ifndef BR2_CONVERTERS_LLVM_TEXT_H
#define BR2_CONVERTERS_LLVM_TEXT_H

#include "converters/llvm/internal.h"

/* LLVM 22 marks lines of vtable records with this. */
#define BR2_LLVM_VTABLE_PREFIX "<vtables> "

bool br2_llvm_probe_text(const uint8_t *bytes, size_t size);
int br2_llvm_read_text(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                       struct br2pgo_error *err);

#endif
