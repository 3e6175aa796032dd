/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The instructions of one code range: where each starts and how it moves control. */
#ifndef BR2_IMAGE_CODE_H
#define BR2_IMAGE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

enum br2_insn_kind {
    BR2_INSN_PLAIN, /* goes on to the next instruction */
    BR2_INSN_COND,  /* conditional direct jump */
    BR2_INSN_JUMP,  /* unconditional direct jump */
    BR2_INSN_CALL,  /* direct call */
    BR2_INSN_INDIRECT_CALL,
    BR2_INSN_INDIRECT_JUMP,
    BR2_INSN_RETURN,
    BR2_INSN_SYSCALL, /* enters the kernel and usually comes back to the next instruction */
    BR2_INSN_STOP,    /* never goes on: hlt, ud2, int3, brk, udf, iret, eret */
    BR2_INSN_INVALID, /* bytes that do not decode; one byte (x86), two or four are skipped */
};

struct br2_insn {
    uint64_t address;
    uint64_t
        target; /* of a direct transfer, else 0; also 0 where it leads out of a kernel module */
    uint8_t size;
    uint8_t kind;     /* enum br2_insn_kind */
    uint8_t compares; /* cmp or test: AMD reports a fused pair at this one instead of the branch */
    uint8_t prefixes; /* leading bytes that LLVM takes for instructions of their own, mostly 0 */
};

struct br2_code {
    uint64_t start;
    uint64_t end;
    struct br2_insn *insns; /* owned, sorted by address */
    size_t count;
};

/* Opaque; holds the disassembler of one machine, made at first use. */
struct br2_decoder;
int br2_decoder_new(enum br2_machine machine, struct br2_decoder **ret, struct br2pgo_error *err);
void br2_decoder_free(struct br2_decoder *decoder);

/* Decodes [start, end) of the image from start on. BR2PGO_NO_MEMORY; BR2PGO_INVALID when the
 * bytes are not in one executable segment. Free with br2_code_done. */
int br2_code_decode(struct br2_decoder *decoder, const struct br2_image *image, uint64_t start,
                    uint64_t end, struct br2_code *ret, struct br2pgo_error *err);
void br2_code_done(struct br2_code *code);

/* Index of the instruction that starts at `address`, or SIZE_MAX. */
size_t br2_code_find(const struct br2_code *code, uint64_t address);

/* Decodes one instruction at the start of `bytes`; `ret->size` is never 0. */
void br2_decode_one(struct br2_decoder *decoder, const uint8_t *bytes, size_t size,
                    uint64_t address, struct br2_insn *ret);

/* The instruction in the assembler's language, as a number where LLVM knows none. Into `text`. */
void br2_insn_text(struct br2_decoder *decoder, const struct br2_image *image,
                   const struct br2_insn *insn, char *text, size_t size);

#endif
