/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What record_steps.c knows of x86-64 instructions: the branches. */
#ifndef BR2_TESTS_RECORD_CODE_H
#define BR2_TESTS_RECORD_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/user.h>

/* The kinds of edges, named as in an edge table; OTHER and SYSCALL are none. */
enum kind {
    OTHER,
    COND,
    JUMP,
    CALL,
    ICALL,
    IJUMP,
    RETURN,
    SYSCALL,
    FALLTHROUGH
};
static const char *const kind_names[] = {
    "", "cond", "jump", "call", "icall", "ijump", "return", "", "fallthrough",
};

struct insn {
    uint64_t address; /* 0: a free slot of a table */
    uint64_t last;    /* where an indirect branch went last */
    uint64_t end;     /* a block that begins here ends with the branch there; 0: not known */
    uint32_t steps;   /* instructions of the block before that branch */
    int32_t displacement;
    uint8_t kind;      /* enum kind */
    uint8_t length;    /* of a branch or system call */
    uint8_t condition; /* of a jcc: its low four bits */
    bool simple;       /* `follow` can run it */
    bool patched;      /* has a breakpoint */
    uint8_t first;     /* its first byte */
    uint8_t strength;  /* of a conditional branch: two-bit counter, 2 and 3 say taken */
};

static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

static enum kind group_kind(uint8_t modrm)
{
    switch (modrm >> 3 & 7) {
    case 2:
    case 3:
        return ICALL;
    case 4:
    case 5:
        return IJUMP;
    default:
        return OTHER;
    }
}

static enum kind opcode_kind(uint8_t code, uint8_t next)
{
    if ((code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0) {
        return COND; /* jcc short; loopne, loope, loop, jrcxz */
    }
    switch (code) {
    case 0x0f:
        if (next == 0x05) {
            return SYSCALL;
        }
        return (next & 0xf0) == 0x80 ? COND : OTHER;
    case 0xe8:
        return CALL;
    case 0xe9:
    case 0xeb:
        return JUMP;
    case 0xc2:
    case 0xc3:
        return RETURN;
    case 0xff:
        return group_kind(next);
    default:
        return OTHER;
    }
}

/* Fills in what the bytes say. */
static void decode(struct insn *insn, const uint8_t bytes[24])
{
    uint8_t at = 0;
    while (at < 10 && is_prefix(bytes[at])) {
        at++;
    }
    bool small =
        memchr(bytes, 0x66, at) != NULL; /* an operand size prefix: left to the processor */
    at = (bytes[at] & 0xf0) == 0x40 ? at + 1 : at; /* REX */
    uint8_t code = bytes[at++];
    insn->first = bytes[0];
    insn->kind = (uint8_t)opcode_kind(code, bytes[at]);
    if (code == 0x0f) {
        code = bytes[at++];
    }
    insn->condition = code & 15;
    insn->length = insn->kind == SYSCALL ? at : at + 1;
    insn->displacement = (int8_t)bytes[at];
    insn->simple =
        !small &&
        (insn->kind == COND || insn->kind == JUMP || insn->kind == CALL || code == 0xc3) &&
        (code & 0xfc) != 0xe0;
    if (insn->kind == CALL || code == 0xe9 || (insn->kind == COND && (code & 0xf0) == 0x80)) {
        memcpy(&insn->displacement, bytes + at, 4);
        insn->length = at + 4;
    }
}

/* Whether a jcc with this condition jumps: the order of the conditions is that of their codes. */
static bool condition_holds(unsigned condition, unsigned long long flags)
{
    bool carry = flags & 1;
    bool parity = flags >> 2 & 1;
    bool zero = flags >> 6 & 1;
    bool sign = flags >> 7 & 1;
    bool overflow = flags >> 11 & 1;
    const bool values[8] = {
        overflow,
        carry,
        zero,
        carry || zero,
        sign,
        parity,
        sign != overflow,
        zero || sign != overflow,
    };
    return values[condition >> 1] != (condition & 1);
}

/* Whether the branch went another way than its counter says or, if indirect, than the last time. */
static bool mispredicted(struct insn *branch, uint64_t to, bool taken)
{
    bool missed = false;
    if (branch->kind == COND) {
        missed = (branch->strength >= 2) != taken;
        if (taken) {
            branch->strength = branch->strength < 3 ? branch->strength + 1 : 3;
        } else {
            branch->strength = branch->strength > 0 ? branch->strength - 1 : 0;
        }
    } else if (branch->kind == ICALL || branch->kind == IJUMP) {
        missed = branch->last != to;
        branch->last = to;
    }
    return missed;
}

#endif
