/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lengths of the instructions that most code is made of. LLVM, asked for a length, also prints the
 * instruction: that takes a hundred times as long. Opcodes and their operands are those of Intel's
 * manual, volume 2, appendix A; whatever is not certain there is left to LLVM.
 */
#include "image/decode.h"

#define WIDE 0x08 /* REX.W */

/* What follows the opcode. */
enum form {
    UNKNOWN = 0,
    NOTHING = 1,
    BYTE = 2,  /* an immediate or displacement */
    LONG = 4,  /* two bytes with an operand size prefix, else four */
    FULL = 8,  /* of the operand's size, up to eight bytes */
    JUMP = 16, /* four bytes */
    MODRM = 32,
    MODRM_BYTE = MODRM | BYTE,
    MODRM_LONG = MODRM | LONG,
};

struct opcode {
    uint8_t prefix; /* 66, F2 or F3; 0: none */
    uint8_t rex;    /* 0: none */
    uint8_t code;
    uint8_t modrm; /* the byte that follows */
};

static unsigned reg_of(const struct opcode *op)
{
    return op->modrm >> 3 & 7U;
}

/* test, and not, neg, mul, imul, div, idiv, which have no immediate. */
static enum form form_of_unary(unsigned reg, enum form test)
{
    if (reg == 1) {
        return UNKNOWN;
    }
    return reg == 0 ? test : MODRM;
}

/* The groups: what is encoded in the middle of the ModRM byte. */
static enum form form_of_group(const struct opcode *op)
{
    unsigned reg = reg_of(op);
    switch (op->code) {
    case 0x80:
    case 0x83:
        return MODRM_BYTE;
    case 0x81:
        return MODRM_LONG;
    case 0xc0:
    case 0xc1:
        return reg != 6 ? MODRM_BYTE : UNKNOWN;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return reg != 6 ? MODRM : UNKNOWN;
    case 0xc6:
        return reg == 0 ? MODRM_BYTE : UNKNOWN;
    case 0xc7:
        return reg == 0 ? MODRM_LONG : UNKNOWN;
    case 0xf6:
        return form_of_unary(reg, MODRM_BYTE);
    case 0xf7:
        return form_of_unary(reg, MODRM_LONG);
    case 0xfe:
        return reg <= 1 ? MODRM : UNKNOWN;
    case 0xff: /* jumps and calls have no operand size prefix that means something */
        return reg <= 1 || (op->prefix == 0 && (reg == 2 || reg == 4 || reg == 6)) ? MODRM
                                                                                   : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

/* add, or, adc, sbb, and, sub, xor, cmp */
static enum form form_of_arithmetic(uint8_t code)
{
    switch (code & 7) {
    case 4:
        return BYTE;
    case 5:
        return LONG;
    case 6:
    case 7:
        return UNKNOWN;
    default:
        return MODRM;
    }
}

static enum form form_of_branch(const struct opcode *op)
{
    if (op->prefix != 0) {
        return UNKNOWN;
    }
    switch (op->code) {
    case 0xc3: /* ret */
    case 0xc9: /* leave */
        return NOTHING;
    case 0xe8:
    case 0xe9:
        return JUMP;
    case 0xeb:
        return BYTE;
    default:
        return op->code >> 4 == 7 ? BYTE : UNKNOWN;
    }
}

static enum form form_of_one_byte(const struct opcode *op)
{
    if (op->code < 0x40) {
        return form_of_arithmetic(op->code);
    }
    switch (op->code >> 3) {
    case 0x50 >> 3: /* push, pop */
    case 0x58 >> 3:
        return NOTHING;
    case 0xb0 >> 3: /* mov */
        return BYTE;
    case 0xb8 >> 3:
        return FULL;
    default:
        break;
    }
    switch (op->code) {
    case 0x63: /* movsxd */
    case 0x84: /* test, xchg, mov */
    case 0x85:
    case 0x86:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b:
        return MODRM;
    case 0x8d: /* lea */
        return op->modrm < 0xc0 ? MODRM : UNKNOWN;
    case 0x69: /* imul */
        return MODRM_LONG;
    case 0x6b:
        return MODRM_BYTE;
    case 0x6a: /* push */
    case 0xa8: /* test */
        return BYTE;
    case 0xa9:
        return LONG;
    case 0x90: /* nop, cwde, cdq */
    case 0x98:
    case 0x99:
        return NOTHING;
    default: {
        enum form form = form_of_group(op);
        return form != UNKNOWN ? form : form_of_branch(op);
    }
    }
}

/* Moves and arithmetic of floating-point numbers, and vectors in SSE registers. */
static enum form form_of_vector(const struct opcode *op)
{
    bool integers = op->prefix == 0x66;
    bool packed = op->prefix == 0 || op->prefix == 0x66;
    switch (op->code) {
    case 0x10: /* mov, sqrt, add, mul, cvt, sub, min, div, max */
    case 0x11:
    case 0x51:
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
        return MODRM;
    case 0x14: /* unpck, mova, ucomi, comi, and, xor */
    case 0x28:
    case 0x29:
    case 0x2e:
    case 0x2f:
    case 0x54:
    case 0x57:
        return packed ? MODRM : UNKNOWN;
    case 0x2a: /* cvt */
    case 0x2c:
        return op->prefix == 0xf2 || op->prefix == 0xf3 ? MODRM : UNKNOWN;
    case 0x6f: /* movdq */
    case 0x7f:
        return integers || op->prefix == 0xf3 ? MODRM : UNKNOWN;
    case 0x6c: /* punpck, movd, pand, por, padd, pxor */
    case 0x6e:
    case 0x7e:
    case 0xd4:
    case 0xdb:
    case 0xeb:
    case 0xef:
    case 0xfe:
        return integers ? MODRM : UNKNOWN;
    case 0x70: /* pshufd */
        return integers ? MODRM_BYTE : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

static enum form form_of_two_bytes(const struct opcode *op)
{
    bool plain = op->prefix == 0 || op->prefix == 0x66;
    switch (op->code >> 4) {
    case 4: /* cmov */
        return plain ? MODRM : UNKNOWN;
    case 8: /* jcc */
        return op->prefix == 0 ? JUMP : UNKNOWN;
    case 9: /* setcc */
        return plain ? MODRM : UNKNOWN;
    default:
        break;
    }
    switch (op->code) {
    case 0x1f: /* nop */
        return plain && reg_of(op) == 0 ? MODRM : UNKNOWN;
    case 0xa3: /* bt, imul, movzx, movsx */
    case 0xaf:
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
        return plain ? MODRM : UNKNOWN;
    case 0xba: /* bt */
        return plain && reg_of(op) >= 4 ? MODRM_BYTE : UNKNOWN;
    default:
        return form_of_vector(op);
    }
}

/* Bytes of ModRM, SIB and displacement at `at`; 16, which is too many, where SIB is missing. */
static size_t size_of_address(const uint8_t *at, size_t size)
{
    unsigned mod = at[0] >> 6;
    unsigned rm = at[0] & 7U;
    if (mod == 3) {
        return 1;
    }
    if (rm == 4 && size < 2) {
        return 16;
    }
    bool no_base = mod == 0 && (rm == 5 || (rm == 4 && (at[1] & 7U) == 5));
    size_t displacement = no_base || mod == 2 ? 4 : mod;
    return (rm == 4 ? 2 : 1) + displacement;
}

static size_t size_of_operands(const struct opcode *op, enum form form, const uint8_t *at,
                               size_t size)
{
    bool wide = (op->rex & WIDE) != 0;
    size_t word = op->prefix == 0x66 && !wide ? 2 : 4;
    size_t operands = (form & MODRM) != 0 ? size_of_address(at, size) : 0;
    switch ((unsigned)form & (MODRM - 1U)) {
    case BYTE:
        return operands + 1;
    case LONG:
        return operands + word;
    case FULL:
        return operands + (wide ? 8 : word);
    case JUMP:
        return operands + 4;
    default:
        return operands;
    }
}

size_t br2_x86_length(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    struct opcode op = {0};
    if (at < size && (bytes[at] == 0x66 || bytes[at] == 0xf2 || bytes[at] == 0xf3)) {
        op.prefix = bytes[at++];
    }
    if (at < size && bytes[at] >> 4 == 4) {
        op.rex = bytes[at++];
    }
    bool two_bytes = at < size && bytes[at] == 0x0f;
    at += two_bytes;
    if (at >= size) {
        return 0;
    }
    op.code = bytes[at++];
    op.modrm = at < size ? bytes[at] : 0;
    enum form form = two_bytes                             ? form_of_two_bytes(&op)
                     : op.prefix == 0 || op.prefix == 0x66 ? form_of_one_byte(&op)
                                                           : UNKNOWN;
    if (form == UNKNOWN || ((form & MODRM) != 0 && at == size)) {
        return 0;
    }
    size_t length = at + size_of_operands(&op, form, bytes + at, size - at);
    return length <= size ? length : 0;
}
