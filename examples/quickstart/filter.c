/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "words.h"

enum op {
    OP_ADD,
    OP_MIX,
    OP_SKIP,
    OP_SPLIT,
    OP_ROTATE,
    OP_STOP
};

/* A small interpreter: one operation is run far more often than the others. */
static unsigned run(const unsigned char *code, unsigned value, unsigned input)
{
    for (;;) {
        switch ((enum op) * code++) {
        case OP_ADD:
            value += input;
            break;
        case OP_MIX:
            if (value % 1000 == 999) {
                value /= 3;
            } else {
                value ^= value << 5;
            }
            break;
        case OP_SKIP:
            code += input > 100000;
            break;
        case OP_SPLIT:
            value = (value & 0xffff) + (value >> 16);
            break;
        case OP_ROTATE:
            value = value << 7 | value >> 25;
            break;
        case OP_STOP:
            return value;
        }
    }
}

unsigned words_filter(const struct words *words)
{
    static const unsigned char code[] = {OP_ADD, OP_MIX, OP_MIX,   OP_MIX, OP_ADD,
                                         OP_MIX, OP_MIX, OP_SPLIT, OP_MIX, OP_STOP};
    unsigned value = 1;
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned i = 0; i < WORDS_MAX; i++) {
            value = run(code, value, words->slots[i].count);
        }
    }
    return value;
}
