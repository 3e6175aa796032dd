/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * x86-64: length_x86.c, or LLVM, tells the length of an instruction, its bytes tell what it does.
 * The numbers are those of the opcode maps in Intel's manual, volume 2, appendix A.
 */
#include <string.h>

#include "image/decode.h"

#define MAX_LENGTH 15

/* One instruction taken apart up to its opcode. */
struct parts {
    const uint8_t *bytes;
    size_t length;
    size_t opcode_at; /* of the last opcode byte */
    uint8_t opcode;
    bool two_bytes; /* 0F opcode */
    bool other;     /* a longer or VEX-like opcode: none of those move control */
    bool repeat;    /* F2 or F3 */
};

static bool is_legacy_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26: /* segments; 2e and 3e are also hints, 3e notrack */
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2: /* also bnd */
    case 0xf3:
        return true;
    default:
        return false;
    }
}

/* LLVM takes some prefixes for instructions of their own; a processor does not. */
size_t br2_x86_length_by_llvm(struct br2_disassembler *disassembler, const uint8_t *bytes,
                              size_t size, uint8_t *ret_prefixes)
{
    char text[128];
    size_t available = size < MAX_LENGTH ? size : MAX_LENGTH;
    for (size_t at = 0; at < available;) {
        size_t length =
            br2_disassemble(disassembler, bytes + at, available - at, text, sizeof text);
        if (length == 0) {
            return 0;
        }
        at += length;
        if (!is_legacy_prefix(bytes[at - 1]) || length != 1) {
            *ret_prefixes = (uint8_t)(at - length);
            return at;
        }
    }
    return 0;
}

static void take_apart(struct parts *p)
{
    size_t at = 0;
    while (at < p->length && is_legacy_prefix(p->bytes[at])) {
        p->repeat = p->repeat || p->bytes[at] == 0xf2 || p->bytes[at] == 0xf3;
        at++;
    }
    if (at < p->length && (p->bytes[at] & 0xf0) == 0x40) { /* REX */
        at++;
    } else if (at + 1 < p->length && p->bytes[at] == 0xd5) { /* REX2: its top bit is the map */
        p->two_bytes = (p->bytes[at + 1] & 0x80) != 0;
        at += 2;
    }
    if (!p->two_bytes && at + 1 < p->length && p->bytes[at] == 0x0f) {
        p->two_bytes = true;
        at++;
    }
    if (at >= p->length) {
        p->other = true;
        return;
    }
    p->opcode = p->bytes[at];
    p->opcode_at = at;
    if (p->two_bytes) {
        p->other = p->opcode == 0x38 || p->opcode == 0x3a;
        return;
    }
    /* VEX, EVEX, and XOP, which is told from pop by its map number. */
    bool xop = p->opcode == 0x8f && at + 1 < p->length && (p->bytes[at + 1] & 0x1f) >= 8;
    p->other = p->opcode == 0xc4 || p->opcode == 0xc5 || p->opcode == 0x62 || xop;
}

/* The ModRM byte's middle field, which is part of some opcodes; 8 when there is no such byte. */
static unsigned extension(const struct parts *p)
{
    return p->opcode_at + 1 < p->length ? p->bytes[p->opcode_at + 1] >> 3 & 7U : 8;
}

/* The target of a direct branch: all bytes after the opcode are the displacement. */
static uint64_t target_of(const struct parts *p, uint64_t address)
{
    const uint8_t *at = p->bytes + p->opcode_at + 1;
    uint64_t next = address + p->length;
    switch (p->length - p->opcode_at - 1) {
    case 1:
        return next + (uint64_t)(int8_t)at[0];
    case 2:
        return next + (uint64_t)(int16_t)(uint16_t)(at[0] | at[1] << 8);
    case 4:
        return next + (uint64_t)(int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 |
                                          (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    default:
        return 0;
    }
}

static enum br2_insn_kind kind_of_group5(const struct parts *p)
{
    switch (extension(p)) {
    case 2:
    case 3:
        return BR2_INSN_INDIRECT_CALL;
    case 4:
    case 5:
        return BR2_INSN_INDIRECT_JUMP;
    default:
        return BR2_INSN_PLAIN;
    }
}

static enum br2_insn_kind kind_of_one_byte(const struct parts *p)
{
    if (p->opcode >= 0x70 && p->opcode <= 0x7f) {
        return BR2_INSN_COND;
    }
    switch (p->opcode) {
    case 0xe0: /* loopne, loope, loop, jrcxz */
    case 0xe1:
    case 0xe2:
    case 0xe3:
        return BR2_INSN_COND;
    case 0xe8:
        return BR2_INSN_CALL;
    case 0xe9:
    case 0xeb:
        return BR2_INSN_JUMP;
    case 0xff:
        return kind_of_group5(p);
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
        return BR2_INSN_RETURN;
    case 0xcd: /* int n */
        return BR2_INSN_SYSCALL;
    case 0xcc: /* int3 */
    case 0xcf: /* iret */
    case 0xf1: /* int1 */
    case 0xf4: /* hlt */
        return BR2_INSN_STOP;
    default:
        return BR2_INSN_PLAIN;
    }
}

static enum br2_insn_kind kind_of_two_bytes(const struct parts *p)
{
    if (p->opcode >= 0x80 && p->opcode <= 0x8f) {
        return BR2_INSN_COND;
    }
    switch (p->opcode) {
    case 0x05: /* syscall */
    case 0x34: /* sysenter */
        return BR2_INSN_SYSCALL;
    case 0x07: /* sysret */
    case 0x0b: /* ud2 */
    case 0x35: /* sysexit */
    case 0xaa: /* rsm */
    case 0xb9: /* ud1 */
    case 0xff: /* ud0 */
        return BR2_INSN_STOP;
    case 0x01: { /* erets, eretu, uiret */
        uint8_t modrm = p->opcode_at + 1 < p->length ? p->bytes[p->opcode_at + 1] : 0;
        bool back = p->repeat && (modrm == 0xca || modrm == 0xec);
        return back ? BR2_INSN_STOP : BR2_INSN_PLAIN;
    }
    default:
        return BR2_INSN_PLAIN;
    }
}

/* cmp and test in all their forms. */
static bool compares(const struct parts *p)
{
    if (p->other || p->two_bytes) {
        return false;
    }
    if (p->opcode >= 0x38 && p->opcode <= 0x3d) {
        return true;
    }
    switch (p->opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
        return extension(p) == 7;
    case 0x84:
    case 0x85:
    case 0xa8:
    case 0xa9:
        return true;
    case 0xf6:
    case 0xf7:
        return extension(p) <= 1;
    default:
        return false;
    }
}

void br2_x86_decode(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                    struct br2_insn *ret)
{
    uint8_t prefixes = 0;
    struct parts p = {.bytes = bytes, .length = br2_x86_length(bytes, size)};
    if (p.length == 0) {
        p.length = br2_x86_length_by_llvm(disassembler, bytes, size, &prefixes);
    }
    if (p.length == 0) {
        return;
    }
    take_apart(&p);
    enum br2_insn_kind kind = BR2_INSN_PLAIN;
    if (!p.other) {
        kind = p.two_bytes ? kind_of_two_bytes(&p) : kind_of_one_byte(&p);
    }
    ret->size = (uint8_t)p.length;
    ret->kind = (uint8_t)kind;
    ret->compares = compares(&p);
    ret->prefixes = prefixes;
    if (kind == BR2_INSN_COND || kind == BR2_INSN_JUMP || kind == BR2_INSN_CALL) {
        ret->target = target_of(&p, ret->address);
    }
}
