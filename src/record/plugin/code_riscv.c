/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* RISC-V, 64 bits: the unprivileged ISA manual, chapters RV32I (control transfer) and "C". */
#include <stdbool.h>

#include "record/plugin/code.h"

/* The registers that hold return addresses: manual, table of return-address stack hints. */
static bool is_link(uint32_t number)
{
    return number == 1 || number == 5;
}

static uint64_t extend(uint32_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (value ^ sign) - sign;
}

static struct br2_transfer indirect(uint32_t rd, uint32_t rs1)
{
    enum br2_block_kind kind = BR2_BLOCK_INDIRECT_JUMP;
    if (is_link(rd)) {
        kind = BR2_BLOCK_INDIRECT_CALL;
    } else if (is_link(rs1)) {
        kind = BR2_BLOCK_RETURN;
    }
    return (struct br2_transfer){kind, 0};
}

static struct br2_transfer full(uint32_t word, uint64_t address)
{
    uint32_t rd = word >> 7 & 31;
    switch (word & 0x7f) {
    case 0x63: { /* BEQ and its like; funct3 2 and 3 are not defined */
        uint32_t imm = (word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3f) << 5 |
                       (word >> 8 & 0xf) << 1;
        return (struct br2_transfer){BR2_BLOCK_COND, address + extend(imm, 13)};
    }
    case 0x6f: { /* JAL */
        uint32_t imm = (word >> 31) << 20 | (word >> 12 & 0xff) << 12 | (word >> 20 & 1) << 11 |
                       (word >> 21 & 0x3ff) << 1;
        return (struct br2_transfer){is_link(rd) ? BR2_BLOCK_CALL : BR2_BLOCK_JUMP,
                                     address + extend(imm, 21)};
    }
    case 0x67: /* JALR */
        return indirect(rd, word >> 15 & 31);
    default:
        return (struct br2_transfer){BR2_BLOCK_PLAIN, 0};
    }
}

static struct br2_transfer compressed(uint32_t half, uint64_t address)
{
    uint32_t funct = half >> 13;
    if ((half & 3) == 1 && funct == 5) { /* C.J: imm[11|4|9:8|10|6|7|3:1|5] */
        uint32_t imm = (half >> 12 & 1) << 11 | (half >> 11 & 1) << 4 | (half >> 9 & 3) << 8 |
                       (half >> 8 & 1) << 10 | (half >> 7 & 1) << 6 | (half >> 6 & 1) << 7 |
                       (half >> 3 & 7) << 1 | (half >> 2 & 1) << 5;
        return (struct br2_transfer){BR2_BLOCK_JUMP, address + extend(imm, 12)};
    }
    if ((half & 3) == 1 && funct >= 6) { /* C.BEQZ, C.BNEZ: imm[8|4:3], register, [7:6|2:1|5] */
        uint32_t imm = (half >> 12 & 1) << 8 | (half >> 10 & 3) << 3 | (half >> 5 & 3) << 6 |
                       (half >> 3 & 3) << 1 | (half >> 2 & 1) << 5;
        return (struct br2_transfer){BR2_BLOCK_COND, address + extend(imm, 9)};
    }
    uint32_t rs1 = half >> 7 & 31;
    if ((half & 3) == 2 && funct == 4 && (half >> 2 & 31) == 0 && rs1 != 0) { /* C.JR, C.JALR */
        return indirect(half >> 12 & 1, rs1);
    }
    return (struct br2_transfer){BR2_BLOCK_PLAIN, 0};
}

struct br2_transfer br2_classify_riscv(const uint8_t *bytes, size_t size, uint64_t address)
{
    if (size == 2) {
        return compressed(bytes[0] | (uint32_t)bytes[1] << 8, address);
    }
    if (size != 4) {
        return (struct br2_transfer){BR2_BLOCK_PLAIN, 0};
    }
    return full(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24,
                address);
}
