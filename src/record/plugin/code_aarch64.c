/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AArch64: Arm ARM (DDI 0487), "Branches, Exception Generating and System instructions". */
#include "record/plugin/code.h"

/* A field of `bits` bits at `at`, signed, in instructions. */
static uint64_t offset(uint32_t word, unsigned at, unsigned bits)
{
    uint32_t field = word >> at & ((1u << bits) - 1);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return ((field ^ sign) - sign) * 4;
}

/* Unconditional branch (register): opc in bits 24 to 21; bit 24 is set for BRAA and BLRAA. RET has
 * the authenticating forms RETAA and RETAB, the others BRAAZ and so on; the field op2 is ones. */
static enum br2_block_kind register_kind(uint32_t word)
{
    if ((word >> 16 & 0x1f) != 0x1f) {
        return BR2_BLOCK_PLAIN;
    }
    switch (word >> 21 & 0xf) {
    case 0:
    case 8:
        return BR2_BLOCK_INDIRECT_JUMP;
    case 1:
    case 9:
        return BR2_BLOCK_INDIRECT_CALL;
    case 2:
        return BR2_BLOCK_RETURN;
    default:
        return BR2_BLOCK_PLAIN;
    }
}

struct br2_transfer br2_classify_aarch64(const uint8_t *bytes, size_t size, uint64_t address)
{
    if (size != 4) {
        return (struct br2_transfer){BR2_BLOCK_PLAIN, 0};
    }
    uint32_t word =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    if ((word & 0x7c000000) == 0x14000000) { /* B, BL */
        return (struct br2_transfer){word >> 31 != 0 ? BR2_BLOCK_CALL : BR2_BLOCK_JUMP,
                                     address + offset(word, 0, 26)};
    }
    if ((word & 0xff000000) == 0x54000000) { /* B.cond, BC.cond */
        return (struct br2_transfer){BR2_BLOCK_COND, address + offset(word, 5, 19)};
    }
    if ((word & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
        return (struct br2_transfer){BR2_BLOCK_COND, address + offset(word, 5, 19)};
    }
    if ((word & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        return (struct br2_transfer){BR2_BLOCK_COND, address + offset(word, 5, 14)};
    }
    if ((word & 0xfe000000) == 0xd6000000) {
        return (struct br2_transfer){register_kind(word), 0};
    }
    return (struct br2_transfer){BR2_BLOCK_PLAIN, 0};
}
