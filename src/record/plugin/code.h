/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the last instruction of a translated block does: as little decoding as that takes. */
#ifndef BR2_RECORD_PLUGIN_CODE_H
#define BR2_RECORD_PLUGIN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "record/area.h"

struct br2_transfer {
    enum br2_block_kind kind;
    uint64_t target; /* of a direct branch */
};

/* The instruction of `size` bytes that lies at `address`. */
struct br2_transfer br2_classify_x86(const uint8_t *bytes, size_t size, uint64_t address);
struct br2_transfer br2_classify_aarch64(const uint8_t *bytes, size_t size, uint64_t address);
struct br2_transfer br2_classify_riscv(const uint8_t *bytes, size_t size, uint64_t address);

#endif
