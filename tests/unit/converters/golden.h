/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's bytes for SAMPLE_TEXT, written by llvm-profdata 19 and taken apart by hand. */
#ifndef BR2_TESTS_CONVERTERS_GOLDEN_H
#define BR2_TESTS_CONVERTERS_GOLDEN_H

#include <stdint.h>

/* clang-format off */
#define GOLDEN_MAGIC 0xff, 0xe5, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53, 0x67
#define GOLDEN_SUMMARY                                                                             \
    0xd3, 0x06, 0xac, 0x02, 0xc8, 0x01, 6, 2, 16,            /* 851, 300, 200, 6 records, 2 functions */ \
    0x90, 0x4e, 0xac, 0x02, 1,       0xa0, 0x8d, 0x06, 0xac, 0x02, 1, /* 1 %, 10 % */               \
    0xc0, 0x9a, 0x0c, 0xac, 0x02, 1, 0xe0, 0xa7, 0x12, 0xac, 0x02, 1, /* 20 %, 30 % */              \
    0x80, 0xb5, 0x18, 0xc8, 0x01, 2, 0xa0, 0xc2, 0x1e, 0xc8, 0x01, 2, /* 40 %, 50 % */              \
    0xc0, 0xcf, 0x24, 0x82, 0x01, 3, 0xe0, 0xdc, 0x2a, 0x82, 0x01, 3, /* 60 %, 70 % */              \
    0x80, 0xea, 0x30, 0x78, 4,       0xa0, 0xf7, 0x36, 0x64, 5,       /* 80 %, 90 % */              \
    0xf0, 0xfd, 0x39, 0x64, 5,       0xb0, 0xb6, 0x3c, 0x64, 5,       /* 95 %, 99 % */              \
    0xd8, 0xfc, 0x3c, 0x64, 5,       0xdc, 0x83, 0x3d, 0x64, 5,       /* 99.9 %, 99.99 % */         \
    0xb6, 0x84, 0x3d, 0x64, 5,       0xbf, 0x84, 0x3d, 0x64, 5        /* 99.999 %, 99.9999 % */
#define GOLDEN_NAMES                                                                               \
    5, 'b', 'a', 'r', 0, 'b', 'a', 'z', 0, 'f', 'o', 'o', 0, 'm', 'a', 'i', 'n', 0, 'q', 'u', 'x', 0
#define GOLDEN_MAIN                                                                                \
    7, 3, 0xe8, 0x07, 2,                          /* head 7, main, total 1000, 2 samples */        \
    1, 0, 100, 0,                                 /* 1: 100 */                                     \
    2, 3, 0xac, 0x02, 2, 2, 0xc8, 0x01, 0, 90,    /* 2.3: 300 foo:200 bar:90 */                    \
    1, 3, 0, 1, 0xfa, 0x01, 2,                    /* 1 callsite: 3: baz:250, 2 samples */          \
    1, 0, 120, 0, 2, 1, 0x82, 0x01, 1, 4, 0x82, 1, /* 1: 120, 2.1: 130 qux:130 */                  \
    1, 4, 0, 4, 1, 1, 1, 0, 1, 0, 0               /* 1 callsite: 4: qux:1, 1: 1, no callsites */
#define GOLDEN_FOO 0xc8, 0x01, 2, 0xc8, 0x01, 1, 0, 0, 0xc8, 0x01, 0, 0
/* clang-format on */

static const uint8_t golden_binary[] = {GOLDEN_MAGIC, GOLDEN_SUMMARY, GOLDEN_NAMES, GOLDEN_MAIN,
                                        GOLDEN_FOO};

#endif
