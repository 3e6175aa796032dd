/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two functions of the same shape, of two builds: whether more than their shape is the same. */
#ifndef BR2_FLOW_SAME_CODE_H
#define BR2_FLOW_SAME_CODE_H

#include "image/code.h"
#include "image/debug.h"

/* A function of one build. */
struct br2_build_function {
    const struct br2_image *image;
    const struct br2_code *code;
    const struct br2_debug_function *debug; /* NULL: nothing is known of its lines */
};

/* Whether operands are compared: not where an address is put together in ways that are not known.
 */
bool br2_compares_operands(enum br2_machine machine);

/* Whether all instructions have the same conditions, registers, constants and offsets. Addresses
 * are the same where they are of the same place in a function, or of any data: that code and data
 * lie elsewhere is no difference. The decoder is one of the images' machine,
 * whose operands are compared. */
bool br2_same_code(struct br2_decoder *decoder, const struct br2_build_function *a,
                   const struct br2_build_function *b);

/* Whether instruction `index` is at the same place in the source, in terms of a profile: the same
 * line from the start of its function and discriminator, and the same calls inlined around it. */
bool br2_same_place(const struct br2_build_function *a, const struct br2_build_function *b,
                    size_t index);

#endif
