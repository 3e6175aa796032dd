/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The decoders of single machines, behind image/code.h. Private to src/image. */
#ifndef BR2_IMAGE_DECODE_H
#define BR2_IMAGE_DECODE_H

#include "image/code.h"

struct br2_x86_decoder;
int br2_x86_decoder_new(struct br2_x86_decoder **ret, struct br2pgo_error *err);
void br2_x86_decoder_free(struct br2_x86_decoder *decoder);

/* Length of the instruction at the beginning of `size` bytes, 0 when it is none; sets how many
 * prefixes LLVM takes for instructions of their own ... */
size_t br2_x86_length_by_llvm(struct br2_x86_decoder *decoder, const uint8_t *bytes, size_t size,
                              uint8_t *ret_prefixes);
/* ... and, for many plain ones, the same much faster: there LLVM takes no prefix for itself. 0:
 * LLVM must be asked. */
size_t br2_x86_length(const uint8_t *bytes, size_t size);

/* The instruction at the beginning of `size` bytes as text, "" where it is none: mnemonic, space,
 * operands. A direct branch's target is a distance. */
void br2_x86_text(struct br2_x86_decoder *decoder, const uint8_t *bytes, size_t size, char *text,
                  size_t text_size);

/* Both: `ret` comes with its address set and as an invalid instruction of one byte; `size` is at
 * least 1. */
void br2_x86_decode(struct br2_x86_decoder *decoder, const uint8_t *bytes, size_t size,
                    struct br2_insn *ret);
void br2_aarch64_decode(const uint8_t *bytes, size_t size, struct br2_insn *ret);

#endif
