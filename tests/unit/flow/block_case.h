/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For the tests of blocks: a program with a jump joined to a branch, a table, an inner symbol and
 * returns to the start of a block. */
#ifndef BR2_TESTS_UNIT_FLOW_BLOCK_CASE_H
#define BR2_TESTS_UNIT_FLOW_BLOCK_CASE_H

#include "flow_case.h"

#define BC_TEXT UINT64_C(0x401000)

/* clang-format off */
#define BC_PROGRAM                                                                                 \
    ".globl _start\n.type _start, @function\n"                                                     \
    "_start: cmp $1, %eax\n"      /* 401000 */                                                     \
    "je 1f\n"                     /* 401003 */                                                     \
    "jmp 2f\n"                    /* 401005 */                                                     \
    "nop\n"                       /* 401007 */                                                     \
    "1: call other\n"             /* 401008 */                                                     \
    "2: dec %edx\n"               /* 40100d */                                                     \
    "jne 1b\n"                    /* 40100f */                                                     \
    "js other\n"                  /* 401011 */                                                     \
    "jmp other\n"                 /* 401013 */                                                     \
    "call 3f\n"                   /* 401015 */                                                     \
    "3: mov %eax, %ebx\n"         /* 40101a */                                                     \
    ".size _start, .-_start\n.org 0x30, 0x90\n.type other, @function\n"                            \
    "other: lea table(%rip), %rcx\n" /* 401030 */                                                  \
    "movslq (%rcx,%rax,4), %rax\n"   /* 401037 */                                                  \
    "add %rcx, %rax\n"            /* 40103b */                                                     \
    "jmp *%rax\n"                 /* 40103e */                                                     \
    "4: call *%rdx\n"             /* 401040 */                                                     \
    "nop\n"                       /* 401042 */                                                     \
    "5: inc %eax\n"               /* 401043 */                                                     \
    "jne 5b\n"                    /* 401045 */                                                     \
    "call *%rdx\n"                /* 401047 */                                                     \
    ".globl inner\n.type inner, @function\n"                                                       \
    "inner: ret\n"                /* 401049 */                                                     \
    ".size inner, 0\n"                                                                             \
    "6: jmp *%rbx\n"              /* 40104a */                                                     \
    ".size other, .-other\n.org 0x60, 0x90\n"                                                      \
    ".type again, @function\nagain: ret\n.size again, .-again\n"                                   \
    ".type tail, @function\ntail: jmp inner\n.size tail, .-tail\n"                                 \
    ".section .rodata\ntable: .long 4b-table, 5b-table\n"
/* clang-format on */

#endif
