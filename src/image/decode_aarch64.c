/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AArch64, from the encoding tables of the Arm Architecture Reference Manual, section C4.1. */
#include "image/decode.h"

static uint32_t load_word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* `bits` bits of the word from bit `at` on are a signed distance in instructions. */
static uint64_t target_of(uint64_t address, uint32_t word, unsigned at, unsigned bits)
{
    uint64_t distance = word >> at & ((UINT32_C(1) << bits) - 1);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    distance = (distance ^ sign) - sign;
    return address + distance * 4;
}

/* Conditional branches; false for all others. */
static bool decode_conditional(uint32_t word, struct br2_insn *ret)
{
    unsigned at = 5;
    unsigned bits;
    if ((word & 0xff000000) == 0x54000000) { /* B.cond, BC.cond */
        bits = 19;
    } else if ((word & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
        bits = 19;
    } else if ((word & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        bits = 14;
    } else if ((word & 0x7f000000) == 0x74000000 || (word & 0x7f004000) == 0x75000000) {
        bits = 9; /* CB<cc>, CBB<cc>, CBH<cc> of FEAT_CMPBR, with a register or an immediate */
    } else {
        return false;
    }
    ret->kind = BR2_INSN_COND;
    ret->target = target_of(ret->address, word, at, bits);
    return true;
}

/* Unconditional branch (register): the authenticated forms differ in bits that do not matter here.
 */
static enum br2_insn_kind kind_of_register_branch(uint32_t word)
{
    switch (word >> 21 & 0xf) {
    case 0x0: /* BR, BRAAZ, BRABZ */
    case 0x8: /* BRAA, BRAB */
        return BR2_INSN_INDIRECT_JUMP;
    case 0x1: /* BLR, BLRAAZ, BLRABZ */
    case 0x9: /* BLRAA, BLRAB */
        return BR2_INSN_INDIRECT_CALL;
    case 0x2: /* RET, RETAA, RETAB, RETAASPPCR, RETABSPPCR */
        return BR2_INSN_RETURN;
    case 0x4: /* ERET, ERETAA, ERETAB */
    case 0x5: /* DRPS */
        return BR2_INSN_STOP;
    default:
        return BR2_INSN_INVALID;
    }
}

/* Exception generation. */
static enum br2_insn_kind kind_of_exception(uint32_t word)
{
    unsigned level = word & 3;
    switch (word >> 21 & 7) {
    case 0: /* SVC, HVC, SMC */
        return level != 0 ? BR2_INSN_SYSCALL : BR2_INSN_INVALID;
    case 1: /* BRK */
    case 2: /* HLT */
        return level == 0 ? BR2_INSN_STOP : BR2_INSN_INVALID;
    case 3: /* TCANCEL */
        return level == 0 ? BR2_INSN_PLAIN : BR2_INSN_INVALID;
    case 5: /* DCPS1, DCPS2, DCPS3 */
        return level != 0 ? BR2_INSN_STOP : BR2_INSN_INVALID;
    default:
        return BR2_INSN_INVALID;
    }
}

static enum br2_insn_kind kind_of_other(uint32_t word)
{
    if ((word & 0xffff0000) == 0) { /* UDF, and data words that look like it */
        return BR2_INSN_STOP;
    }
    if ((word & 0xfe1f0000) == 0xd61f0000) {
        return kind_of_register_branch(word);
    }
    if ((word & 0xff00001c) == 0xd4000000) {
        return kind_of_exception(word);
    }
    if ((word & 0xffc0001f) == 0x5500001f) { /* RETAASPPC, RETABSPPC */
        return BR2_INSN_RETURN;
    }
    unsigned group = word >> 25 & 0xf; /* op0 of the top-level table */
    bool reserved = group == 1 || group == 3 || (group == 0 && word >> 31 == 0);
    return reserved ? BR2_INSN_INVALID : BR2_INSN_PLAIN;
}

void br2_aarch64_decode(const uint8_t *bytes, size_t size, struct br2_insn *ret)
{
    if (size < 4) {
        ret->size = (uint8_t)size;
        return;
    }
    uint32_t word = load_word(bytes);
    ret->size = 4;
    if (decode_conditional(word, ret)) {
        return;
    }
    if ((word & 0x7c000000) == 0x14000000) { /* B, BL */
        ret->kind = word >> 31 != 0 ? BR2_INSN_CALL : BR2_INSN_JUMP;
        ret->target = target_of(ret->address, word, 0, 26);
        return;
    }
    ret->kind = (uint8_t)kind_of_other(word);
}
