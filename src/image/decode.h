/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The decoders of single machines, behind image/code.h. Private to src/image. */
#ifndef BR2_IMAGE_DECODE_H
#define BR2_IMAGE_DECODE_H

#include "image/code.h"

/* LLVM's disassembler of one machine. BR2PGO_NO_MEMORY; BR2PGO_INTERNAL where LLVM has none. */
struct br2_disassembler;
int br2_disassembler_new(enum br2_machine machine, struct br2_disassembler **ret,
                         struct br2pgo_error *err);
void br2_disassembler_free(struct br2_disassembler *disassembler);
/* Length of the instruction at the beginning of `size` bytes, 0 when it is none. */
size_t br2_disassemble(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                       char *text, size_t text_size);
/* The one instruction that `size` bytes are as text, "" where they are none: mnemonic, space,
 * operands. A direct branch's target is a distance. */
void br2_disassemble_text(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                          char *text, size_t text_size);

/* Length of an instruction of x86-64, 0 when it is none; sets how many prefixes LLVM takes for
 * instructions of their own ... */
size_t br2_x86_length_by_llvm(struct br2_disassembler *disassembler, const uint8_t *bytes,
                              size_t size, uint8_t *ret_prefixes);
/* ... and, for many plain ones, the same much faster: there LLVM takes no prefix for itself. 0:
 * LLVM must be asked. */
size_t br2_x86_length(const uint8_t *bytes, size_t size);

/* All: `ret` comes with its address set and as an invalid instruction of one byte; `size` is at
 * least 1. */
void br2_x86_decode(struct br2_disassembler *disassembler, const uint8_t *bytes, size_t size,
                    struct br2_insn *ret);
void br2_aarch64_decode(const uint8_t *bytes, size_t size, struct br2_insn *ret);
void br2_riscv_decode(const uint8_t *bytes, size_t size, struct br2_insn *ret);

#endif
