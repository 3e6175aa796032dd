/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/same_code.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 256

/* Data may lie anywhere; a function is known by its name. */
static bool same_reference(const struct br2_image *a, uint64_t a_address, const struct br2_image *b,
                           uint64_t b_address)
{
    const struct br2_code_range *a_range = br2_image_range_at(a, a_address);
    const struct br2_code_range *b_range = br2_image_range_at(b, b_address);
    if (a_range == NULL || b_range == NULL) {
        return a_range == b_range;
    }
    return strcmp(a_range->name, b_range->name) == 0 &&
           a_address - a_range->start == b_address - b_range->start;
}

/* An instruction of one build as text, up to where it was compared. */
struct operand_text {
    const struct br2_image *image;
    uint64_t next; /* address of the instruction behind it */
    const char *at;
};

/* The number that `at` begins with, and what follows it. */
static uint64_t take_number(struct operand_text *text)
{
    char *end;
    bool negative = *text->at == '-';
    uint64_t value = strtoull(text->at + negative, &end, 0);
    text->at = end;
    return negative ? -value : value;
}

static bool same_number(struct operand_text *a, struct operand_text *b)
{
    static const char relative[] = "(%rip)";
    uint64_t a_value = take_number(a);
    uint64_t b_value = take_number(b);
    if (strncmp(a->at, relative, strlen(relative)) == 0 &&
        strncmp(b->at, relative, strlen(relative)) == 0) {
        return same_reference(a->image, a->next + a_value, b->image, b->next + b_value);
    }
    if (a_value == b_value) {
        return true;
    }
    return br2_image_is_address(a->image, a_value) && br2_image_is_address(b->image, b_value) &&
           same_reference(a->image, a_value, b->image, b_value);
}

/* Digits of a register's name or a mnemonic are no number. */
static bool begins_number(const char *at, char before)
{
    if (isalnum((unsigned char)before) != 0) {
        return false;
    }
    return isdigit((unsigned char)at[0]) != 0 ||
           (at[0] == '-' && isdigit((unsigned char)at[1]) != 0);
}

static bool same_text(struct operand_text a, struct operand_text b)
{
    char before = ' ';
    while (*a.at != '\0' && *b.at != '\0') {
        if (begins_number(a.at, before) && begins_number(b.at, before)) {
            if (!same_number(&a, &b)) {
                return false;
            }
            before = '0';
        } else if (*a.at != *b.at) {
            return false;
        } else {
            before = *a.at++;
            b.at++;
        }
    }
    return *a.at == *b.at;
}

static bool same_bytes(const struct br2_build_function *a, const struct br2_build_function *b,
                       size_t index, size_t size)
{
    size_t a_size;
    size_t b_size;
    const uint8_t *a_bytes = br2_image_code(a->image, a->code->insns[index].address, &a_size);
    const uint8_t *b_bytes = br2_image_code(b->image, b->code->insns[index].address, &b_size);
    return a_bytes != NULL && b_bytes != NULL && a_size >= size && b_size >= size &&
           memcmp(a_bytes, b_bytes, size) == 0;
}

static bool same_x86(struct br2_decoder *decoder, const struct br2_build_function *a,
                     const struct br2_build_function *b, size_t index)
{
    const struct br2_insn *first = &a->code->insns[index];
    if (first->target != 0) { /* all but the distance, which is of the shape */
        return same_bytes(a, b, index, first->size - (first->size >= 5 ? 4u : 1u));
    }
    if (same_bytes(a, b, index, first->size)) {
        return true;
    }
    char texts[2][TEXT_SIZE];
    struct operand_text sides[2];
    const struct br2_build_function *functions[2] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        const struct br2_insn *insn = &functions[i]->code->insns[index];
        br2_insn_text(decoder, functions[i]->image, insn, texts[i], sizeof texts[i]);
        sides[i] = (struct operand_text){
            .image = functions[i]->image, .next = insn->address + insn->size, .at = texts[i]};
    }
    return same_text(sides[0], sides[1]);
}

/* Registers of AArch64 that hold the page of an address, from adrp on. */
struct arm_pages {
    uint64_t pages[32];
    uint32_t known;
};

/* What an instruction does, and the address that it does it with. */
struct arm_operands {
    uint32_t rest; /* the word without the address */
    bool refers;
    uint64_t address;
};

/* The number in `bits` bits of a word from bit `at` on, with its sign. */
static uint64_t signed_field(uint32_t word, unsigned at, unsigned bits)
{
    uint64_t value = word >> at & ((UINT32_C(1) << bits) - 1);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (value ^ sign) - sign;
}

static uint32_t word_of(const struct br2_build_function *function, size_t index)
{
    size_t size;
    const struct br2_insn *insn = &function->code->insns[index];
    const uint8_t *bytes = br2_image_code(function->image, insn->address, &size);
    uint32_t word = 0;
    if (bytes != NULL && size >= sizeof word) {
        word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
               (uint32_t)bytes[3] << 24;
    }
    return word;
}

/* Bits of a direct branch that are its distance, which is of the shape. */
static uint32_t distance_bits(uint32_t word)
{
    if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
        return 0x03ffffff;
    }
    if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        return 0x0007ffe0;
    }
    return (word & 0x7e000000) == 0x74000000 ? 0x00003fe0 /* cb<cc> */ : 0x00ffffe0;
}

/* adr and adrp; a linker may make `nop; adr` of `adrp; add`, where the address is near. */
static struct arm_operands take_relative(uint32_t word, uint64_t at, struct arm_pages *pages)
{
    uint32_t target = word & 31;
    uint64_t distance = signed_field(word, 5, 19) * 4 + (word >> 29 & 3);
    if ((word & 0x80000000) == 0) {
        return (struct arm_operands){.rest = target, .refers = true, .address = at + distance};
    }
    pages->pages[target] = (at & ~UINT64_C(0xfff)) + (distance << 12);
    pages->known |= UINT32_C(1) << target;
    return (struct arm_operands){.rest = 0};
}

/* Encodings are in the Arm Architecture Reference Manual, C4.1. */
static struct arm_operands operands_of(const struct br2_build_function *function, size_t index,
                                       struct arm_pages *pages)
{
    const uint32_t nop = 0xd503201f;
    uint64_t at = function->code->insns[index].address;
    uint32_t word = word_of(function, index);
    if (function->code->insns[index].target != 0) {
        return (struct arm_operands){.rest = word & ~distance_bits(word)};
    }
    if ((word & 0x1f000000) == 0x10000000) {
        return take_relative(word, at, pages);
    }
    if ((word & 0x3b000000) == 0x18000000) { /* ldr, literal */
        return (struct arm_operands){word & ~UINT32_C(0x00ffffe0), true,
                                     at + signed_field(word, 5, 19) * 4};
    }
    uint32_t target = word & 31;
    uint32_t base = word >> 5 & 31;
    uint64_t offset = word >> 10 & 0xfff;
    bool of_page = (pages->known >> base & 1) != 0;
    if (of_page && (word & 0xffc00000) == 0x91000000) { /* add, immediate */
        pages->known &= ~(UINT32_C(1) << target);
        return (struct arm_operands){target, true, pages->pages[base] + offset};
    }
    if (of_page && (word & 0x3b000000) == 0x39000000) { /* load and store, unsigned offset */
        unsigned scale = (word & 0x04800000) == 0x04800000 ? 4 : word >> 30;
        bool loads = (word & 0x04c00000) != 0 && (word & 0x04000000) == 0;
        pages->known &= loads ? ~(UINT32_C(1) << target) : ~UINT32_C(0);
        return (struct arm_operands){word & ~UINT32_C(0x003ffc00), true,
                                     pages->pages[base] + (offset << scale)};
    }
    return (struct arm_operands){.rest = word != nop ? word : 0};
}

static bool same_arm(const struct br2_build_function *a, const struct br2_build_function *b)
{
    struct arm_pages a_pages = {.known = 0};
    struct arm_pages b_pages = {.known = 0};
    for (size_t i = 0; i < a->code->count; i++) {
        struct arm_operands x = operands_of(a, i, &a_pages);
        struct arm_operands y = operands_of(b, i, &b_pages);
        if (x.rest != y.rest || x.refers != y.refers ||
            (x.refers && !same_reference(a->image, x.address, b->image, y.address))) {
            return false;
        }
    }
    return true;
}

bool br2_compares_operands(enum br2_machine machine)
{
    return machine == BR2_MACHINE_X86_64 || machine == BR2_MACHINE_AARCH64;
}

bool br2_same_code(struct br2_decoder *decoder, const struct br2_build_function *a,
                   const struct br2_build_function *b)
{
    bool same = a->code->count == b->code->count;
    if (same && br2_image_machine(a->image) == BR2_MACHINE_AARCH64) {
        return same_arm(a, b);
    }
    for (size_t i = 0; same && i < a->code->count; i++) {
        same = same_x86(decoder, a, b, i);
    }
    return same;
}

static const struct br2_location *location_of(const struct br2_build_function *function,
                                              size_t index)
{
    return function->debug != NULL
               ? br2_debug_location(function->debug, function->code->insns[index].address)
               : NULL;
}

/* As profiles have them: from the line of the declaration on; 0: unknown, in its own terms. */
static bool same_line(uint32_t a, const struct br2_scope *a_scope, uint32_t b,
                      const struct br2_scope *b_scope)
{
    if (a == 0 || b == 0) {
        return a == b;
    }
    return a - a_scope->decl_line == b - b_scope->decl_line;
}

bool br2_same_place(const struct br2_build_function *a, const struct br2_build_function *b,
                    size_t index)
{
    const struct br2_location *x = location_of(a, index);
    const struct br2_location *y = location_of(b, index);
    if (x == NULL || y == NULL) {
        return x == y;
    }
    uint32_t lines[2] = {x->line, y->line};
    uint32_t discriminators[2] = {x->discriminator, y->discriminator};
    uint32_t p = x->scope;
    uint32_t q = y->scope;
    while (p != BR2_NO_SCOPE && q != BR2_NO_SCOPE) {
        const struct br2_scope *s = &a->debug->scopes[p];
        const struct br2_scope *t = &b->debug->scopes[q];
        if (!same_line(lines[0], s, lines[1], t) || discriminators[0] != discriminators[1] ||
            strcmp(s->name, t->name) != 0) {
            return false;
        }
        lines[0] = s->call_line;
        lines[1] = t->call_line;
        discriminators[0] = s->call_discriminator;
        discriminators[1] = t->call_discriminator;
        p = s->parent;
        q = t->parent;
    }
    return p == q;
}
