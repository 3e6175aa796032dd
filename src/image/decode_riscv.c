/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* RISC-V, 64 bits, from the unprivileged ISA manual: chapters "RV32I Base Integer Instruction Set"
 * (control transfer; table of return-address stack hints), "C" and the instruction listings. */
#include "image/decode.h"

/* The registers that hold return addresses. */
static bool is_link(uint32_t number)
{
    return number == 1 || number == 5;
}

static uint64_t extend(uint32_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (value ^ sign) - sign;
}

/* A jump to where rs1 says that leaves the address behind it in rd. */
static enum br2_insn_kind kind_of_register_jump(uint32_t rd, uint32_t rs1)
{
    if (is_link(rd)) {
        return BR2_INSN_INDIRECT_CALL;
    }
    return is_link(rs1) ? BR2_INSN_RETURN : BR2_INSN_INDIRECT_JUMP;
}

/* ECALL, EBREAK, returns of the privileged modes; anything else goes on. */
static enum br2_insn_kind kind_of_system(uint32_t word)
{
    switch (word) {
    case 0x00000073: /* ECALL */
        return BR2_INSN_SYSCALL;
    case 0x00100073: /* EBREAK */
    case 0x10200073: /* SRET */
    case 0x30200073: /* MRET */
        return BR2_INSN_STOP;
    default:
        return BR2_INSN_PLAIN;
    }
}

static void decode_full(uint32_t word, struct br2_insn *ret)
{
    uint32_t rd = word >> 7 & 31;
    uint32_t funct3 = word >> 12 & 7;
    ret->kind = BR2_INSN_PLAIN;
    switch (word & 0x7f) {
    case 0x63: { /* BEQ and its like: imm[12|10:5], registers, imm[4:1|11] */
        uint32_t distance = (word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3f) << 5 |
                            (word >> 8 & 0xf) << 1;
        if (funct3 != 2 && funct3 != 3) {
            ret->kind = BR2_INSN_COND;
            ret->target = ret->address + extend(distance, 13);
        } else {
            ret->kind = BR2_INSN_INVALID;
        }
        break;
    }
    case 0x6f: { /* JAL: imm[20|10:1|11|19:12] */
        uint32_t distance = (word >> 31) << 20 | (word >> 12 & 0xff) << 12 |
                            (word >> 20 & 1) << 11 | (word >> 21 & 0x3ff) << 1;
        ret->kind = is_link(rd) ? BR2_INSN_CALL : BR2_INSN_JUMP;
        ret->target = ret->address + extend(distance, 21);
        break;
    }
    case 0x67: /* JALR */
        ret->kind =
            (uint8_t)(funct3 == 0 ? kind_of_register_jump(rd, word >> 15 & 31) : BR2_INSN_INVALID);
        break;
    case 0x73:
        ret->kind = (uint8_t)kind_of_system(word);
        break;
    default:
        break;
    }
}

/* C.J: imm[11|4|9:8|10|6|7|3:1|5] in bits 12 to 2. */
static uint64_t jump_distance(uint32_t half)
{
    return extend((half >> 12 & 1) << 11 | (half >> 11 & 1) << 4 | (half >> 9 & 3) << 8 |
                      (half >> 8 & 1) << 10 | (half >> 7 & 1) << 6 | (half >> 6 & 1) << 7 |
                      (half >> 3 & 7) << 1 | (half >> 2 & 1) << 5,
                  12);
}

/* C.BEQZ and C.BNEZ: imm[8|4:3], register, imm[7:6|2:1|5]. */
static uint64_t branch_distance(uint32_t half)
{
    return extend((half >> 12 & 1) << 8 | (half >> 10 & 3) << 3 | (half >> 5 & 3) << 6 |
                      (half >> 3 & 3) << 1 | (half >> 2 & 1) << 5,
                  9);
}

static void decode_compressed(uint32_t half, struct br2_insn *ret)
{
    uint32_t quadrant = half & 3;
    uint32_t funct3 = half >> 13;
    uint32_t rs1 = half >> 7 & 31;
    ret->kind = BR2_INSN_PLAIN;
    if (half == 0) { /* defined as illegal: padding, data */
        ret->kind = BR2_INSN_STOP;
    } else if (quadrant == 1 && funct3 == 5) {
        ret->kind = BR2_INSN_JUMP;
        ret->target = ret->address + jump_distance(half);
    } else if (quadrant == 1 && funct3 >= 6) {
        ret->kind = BR2_INSN_COND;
        ret->target = ret->address + branch_distance(half);
    } else if (quadrant == 2 && funct3 == 4 && (half >> 2 & 31) == 0) {
        bool calls = (half >> 12 & 1) != 0; /* C.JALR; else C.JR */
        if (rs1 != 0) {
            ret->kind = (uint8_t)kind_of_register_jump(calls, rs1);
        } else { /* C.EBREAK; without that bit reserved */
            ret->kind = calls ? BR2_INSN_STOP : BR2_INSN_INVALID;
        }
    }
}

void br2_riscv_decode(const uint8_t *bytes, size_t size, struct br2_insn *ret)
{
    if (size < 2) {
        return;
    }
    uint32_t half = bytes[0] | (uint32_t)bytes[1] << 8;
    ret->size = 2;
    if ((half & 3) != 3) {
        decode_compressed(half, ret);
    } else if ((half & 0x1c) != 0x1c && size >= 4) { /* else it is longer, which none is so far */
        ret->size = 4;
        decode_full(half | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24, ret);
    }
}
