/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decoding a stretch of code, whatever the machine. */
#include "image/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/decode.h"
#include "image/image_private.h"

struct br2_decoder {
    enum br2_machine machine;
    struct br2_disassembler *disassembler; /* owned; except for x86-64 made when text is wanted */
};

int br2_decoder_new(enum br2_machine machine, struct br2_decoder **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    struct br2_decoder *decoder = br2_calloc(1, sizeof *decoder);
    if (decoder == NULL) {
        return br2_fail_memory(err);
    }
    decoder->machine = machine;
    if (machine == BR2_MACHINE_X86_64) {
        int status = br2_disassembler_new(machine, &decoder->disassembler, err);
        if (status != 0) {
            br2_free(decoder);
            return status;
        }
    }
    *ret = decoder;
    return 0;
}

void br2_decoder_free(struct br2_decoder *decoder)
{
    if (decoder != NULL) {
        br2_disassembler_free(decoder->disassembler);
        br2_free(decoder);
    }
}

void br2_decode_one(struct br2_decoder *decoder, const uint8_t *bytes, size_t size,
                    uint64_t address, struct br2_insn *ret)
{
    *ret = (struct br2_insn){.address = address, .size = 1, .kind = BR2_INSN_INVALID};
    if (size == 0) {
        return;
    }
    switch (decoder->machine) {
    case BR2_MACHINE_X86_64:
        br2_x86_decode(decoder->disassembler, bytes, size, ret);
        break;
    case BR2_MACHINE_AARCH64:
        br2_aarch64_decode(bytes, size, ret);
        break;
    case BR2_MACHINE_RISCV64:
        br2_riscv_decode(bytes, size, ret);
        break;
    }
}

static int decode_all(struct br2_decoder *decoder, const uint8_t *bytes, struct br2_code *code,
                      struct br2pgo_error *err)
{
    size_t size = (size_t)(code->end - code->start);
    size_t capacity = size / 4 + 1;
    code->insns = br2_calloc(capacity, sizeof *code->insns);
    if (code->insns == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t at = 0; at < size;) {
        if (!br2_grow(&code->insns, &capacity, code->count, sizeof *code->insns)) {
            return br2_fail_memory(err);
        }
        struct br2_insn *insn = &code->insns[code->count++];
        br2_decode_one(decoder, bytes + at, size - at, code->start + at, insn);
        at += insn->size;
    }
    return 0;
}

/* A branch out of a kernel module has its target only once the module is loaded. */
static void forget_unresolved(const struct br2_image *image, struct br2_code *code)
{
    if (image->elf.unresolved_count == 0) {
        return;
    }
    for (size_t i = 0; i < code->count; i++) {
        struct br2_insn *insn = &code->insns[i];
        if (insn->target != 0 &&
            br2_image_is_unresolved(image, insn->address, insn->address + insn->size)) {
            insn->target = 0;
        }
    }
}

int br2_code_decode(struct br2_decoder *decoder, const struct br2_image *image, uint64_t start,
                    uint64_t end, struct br2_code *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_code){.start = start, .end = end};
    size_t available;
    const uint8_t *bytes = br2_image_code(image, start, &available);
    if (bytes == NULL || end < start || end - start > available) {
        return br2_fail(err, BR2PGO_INVALID, "0x%llx to 0x%llx is not code of '%s'",
                        (unsigned long long)start, (unsigned long long)end, br2_image_path(image));
    }
    int status = decode_all(decoder, bytes, ret, err);
    if (status != 0) {
        br2_code_done(ret);
        return status;
    }
    forget_unresolved(image, ret);
    return 0;
}

void br2_code_done(struct br2_code *code)
{
    br2_free(code->insns);
    *code = (struct br2_code){0};
}

size_t br2_code_find(const struct br2_code *code, uint64_t address)
{
    size_t low = 0;
    size_t high = code->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->insns[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < code->count && code->insns[low].address == address ? low : SIZE_MAX;
}

/* Bytes that are no instruction, or for which there is no disassembler. */
static void number_text(const uint8_t *bytes, size_t size, char *text, size_t text_size)
{
    uint32_t number = 0;
    for (size_t i = 0; i < size; i++) {
        number |= (uint32_t)bytes[i] << 8 * i;
    }
    const char *directive = size == 4 ? ".inst" : size == 2 ? ".2byte" : ".byte";
    snprintf(text, text_size, "%s 0x%0*" PRIx32, directive, (int)(2 * size), number);
}

void br2_insn_text(struct br2_decoder *decoder, const struct br2_image *image,
                   const struct br2_insn *insn, char *text, size_t size)
{
    size_t available;
    const uint8_t *bytes = br2_image_code(image, insn->address, &available);
    text[0] = '\0';
    if (bytes == NULL || available < insn->size) {
        return;
    }
    bool known = decoder->disassembler != NULL ||
                 br2_disassembler_new(decoder->machine, &decoder->disassembler, NULL) == 0;
    if (known) {
        br2_disassemble_text(decoder->disassembler, bytes, insn->size, text, size);
    }
    if (text[0] == '\0') {
        number_text(bytes, insn->size <= 4 ? insn->size : 1, text, size);
    } else if (insn->target != 0) {
        char *operands = strrchr(text, ' ');
        size_t used = operands != NULL ? (size_t)(operands - text) : strlen(text);
        snprintf(text + used, size - used, " 0x%" PRIx64, insn->target);
    }
}
