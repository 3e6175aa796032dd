/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* x86-64: Intel SDM volume 2, appendix A (opcode maps). */
#include <stdbool.h>

#include "record/plugin/code.h"

struct insn {
    uint8_t code[2]; /* behind prefixes */
    uint8_t modrm;
    bool repeated;
};

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

static struct insn split(const uint8_t *bytes, size_t size)
{
    struct insn insn = {{0}, 0, false};
    size_t at = 0;
    while (at < size && is_prefix(bytes[at])) {
        insn.repeated |= bytes[at] == 0xf2 || bytes[at] == 0xf3;
        at++;
    }
    at += at < size && (bytes[at] & 0xf0) == 0x40; /* REX */
    for (size_t i = 0; i < 2 && at + i < size; i++) {
        insn.code[i] = bytes[at + i];
    }
    insn.modrm = insn.code[1];
    return insn;
}

/* Group 5, 0xff: far forms (3 and 5) are indirect, too. */
static enum br2_block_kind group_kind(uint8_t modrm)
{
    switch (modrm >> 3 & 7) {
    case 2:
    case 3:
        return BR2_BLOCK_INDIRECT_CALL;
    case 4:
    case 5:
        return BR2_BLOCK_INDIRECT_JUMP;
    default:
        return BR2_BLOCK_PLAIN;
    }
}

/* movs, cmps, stos, lods, scas, ins, outs */
static bool is_string(uint8_t code)
{
    return (code >= 0xa4 && code <= 0xa7) || (code >= 0xaa && code <= 0xaf) ||
           (code >= 0x6c && code <= 0x6f);
}

static enum br2_block_kind kind_of(const struct insn *insn)
{
    uint8_t code = insn->code[0];
    if ((code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0) {
        return BR2_BLOCK_COND; /* jcc short; loopne, loope, loop, jrcxz */
    }
    if (insn->repeated && is_string(code)) {
        return BR2_BLOCK_REPEAT;
    }
    switch (code) {
    case 0x0f:
        return (insn->code[1] & 0xf0) == 0x80 ? BR2_BLOCK_COND : BR2_BLOCK_PLAIN;
    case 0xe8:
        return BR2_BLOCK_CALL;
    case 0xe9:
    case 0xeb:
        return BR2_BLOCK_JUMP;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
        return BR2_BLOCK_RETURN;
    case 0xff:
        return group_kind(insn->modrm);
    default:
        return BR2_BLOCK_PLAIN;
    }
}

/* A relative branch ends with its displacement: one byte, or four. */
static uint64_t target_of(const struct insn *insn, const uint8_t *bytes, size_t size)
{
    uint8_t code = insn->code[0];
    bool is_long = code == 0x0f || code == 0xe8 || code == 0xe9;
    if (!is_long) {
        return (uint64_t)(int64_t)(int8_t)bytes[size - 1];
    }
    uint32_t value = 0;
    for (size_t i = 1; i <= 4 && i <= size; i++) {
        value = value << 8 | bytes[size - i];
    }
    return (uint64_t)(int64_t)(int32_t)value;
}

struct br2_transfer br2_classify_x86(const uint8_t *bytes, size_t size, uint64_t address)
{
    struct insn insn = split(bytes, size);
    struct br2_transfer transfer = {kind_of(&insn), 0};
    if (transfer.kind == BR2_BLOCK_COND || transfer.kind == BR2_BLOCK_JUMP ||
        transfer.kind == BR2_BLOCK_CALL) {
        transfer.target = address + size + target_of(&insn, bytes, size);
    }
    return transfer;
}
