/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What ends a block, on three machines. Encodings and targets are objdump's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/plugin/code.h"

#define AT UINT64_C(0x401000)

struct insn {
    size_t size;
    uint8_t bytes[8];
    enum br2_block_kind kind;
    uint64_t target;
};

typedef struct br2_transfer (*classify)(const uint8_t *bytes, size_t size, uint64_t address);

static void check(classify call, const struct insn *insns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct br2_transfer got = call(insns[i].bytes, insns[i].size, AT);
        if (got.kind != insns[i].kind || got.target != insns[i].target) {
            fail_msg("instruction %zu: kind %d, target 0x%lx", i, got.kind,
                     (unsigned long)got.target);
        }
    }
}

static void test_x86(void **state)
{
    static const struct insn insns[] = {
        {2, {0x74, 0x43}, BR2_BLOCK_COND, AT + 0x45},
        {2, {0x7f, 0xfe}, BR2_BLOCK_COND, AT},
        {3, {0x2e, 0x75, 0x10}, BR2_BLOCK_COND, AT + 0x13},
        {6, {0x0f, 0x84, 0x00, 0x01, 0x00, 0x00}, BR2_BLOCK_COND, AT + 0x106},
        {6, {0x0f, 0x8f, 0xfa, 0xff, 0xff, 0xff}, BR2_BLOCK_COND, AT},
        {2, {0xe3, 0x02}, BR2_BLOCK_COND, AT + 4}, /* jrcxz */
        {2, {0xe2, 0xfc}, BR2_BLOCK_COND, AT - 2}, /* loop */
        {2, {0xeb, 0x80}, BR2_BLOCK_JUMP, AT + 2 - 128},
        {5, {0xe9, 0x00, 0x10, 0x00, 0x00}, BR2_BLOCK_JUMP, AT + 0x1005},
        {6, {0xf2, 0xe9, 0x00, 0x10, 0x00, 0x00}, BR2_BLOCK_JUMP, AT + 0x1006}, /* bnd */
        {5, {0xe8, 0xfb, 0xff, 0xff, 0xff}, BR2_BLOCK_CALL, AT},
        {6, {0x67, 0xe8, 0x00, 0x00, 0x00, 0x00}, BR2_BLOCK_CALL, AT + 6},
        {2, {0xff, 0xd0}, BR2_BLOCK_INDIRECT_CALL, 0},
        {3, {0x41, 0xff, 0xd3}, BR2_BLOCK_INDIRECT_CALL, 0},
        {3, {0x3e, 0xff, 0xe0}, BR2_BLOCK_INDIRECT_JUMP, 0}, /* notrack */
        {6, {0xff, 0x25, 0x00, 0x10, 0x00, 0x00}, BR2_BLOCK_INDIRECT_JUMP, 0},
        {1, {0xc3}, BR2_BLOCK_RETURN, 0},
        {2, {0xf3, 0xc3}, BR2_BLOCK_RETURN, 0},
        {3, {0xc2, 0x08, 0x00}, BR2_BLOCK_RETURN, 0},
        {2, {0xf3, 0xa4}, BR2_BLOCK_REPEAT, 0},
        {3, {0xf3, 0x48, 0xab}, BR2_BLOCK_REPEAT, 0},
        {3, {0xf2, 0x66, 0xaf}, BR2_BLOCK_REPEAT, 0},
        {1, {0xa4}, BR2_BLOCK_PLAIN, 0},
        {2, {0x0f, 0x05}, BR2_BLOCK_PLAIN, 0},             /* syscall */
        {2, {0xff, 0xc0}, BR2_BLOCK_PLAIN, 0},             /* inc */
        {2, {0xff, 0x30}, BR2_BLOCK_PLAIN, 0},             /* push */
        {4, {0x0f, 0x94, 0x45, 0xe8}, BR2_BLOCK_PLAIN, 0}, /* sete */
        {3, {0x48, 0x89, 0xc3}, BR2_BLOCK_PLAIN, 0},
    };
    (void)state;
    check(br2_classify_x86, insns, sizeof insns / sizeof *insns);
}

static void test_aarch64(void **state)
{
    static const struct insn insns[] = {
        {4, {0x00, 0x04, 0x00, 0x14}, BR2_BLOCK_JUMP, AT + 0x1000},
        {4, {0xff, 0xff, 0xff, 0x17}, BR2_BLOCK_JUMP, AT - 4},
        {4, {0x01, 0x00, 0x00, 0x94}, BR2_BLOCK_CALL, AT + 4},
        {4, {0xe0, 0xff, 0xff, 0x54}, BR2_BLOCK_COND, AT - 4}, /* b.eq */
        {4, {0x41, 0x00, 0x00, 0x54}, BR2_BLOCK_COND, AT + 8}, /* b.ne */
        {4, {0x40, 0x00, 0x00, 0xb4}, BR2_BLOCK_COND, AT + 8}, /* cbz x */
        {4, {0xe0, 0xff, 0xff, 0x35}, BR2_BLOCK_COND, AT - 4}, /* cbnz w */
        {4, {0x40, 0x00, 0x08, 0x36}, BR2_BLOCK_COND, AT + 8}, /* tbz */
        {4, {0xe0, 0xff, 0xff, 0xb7}, BR2_BLOCK_COND, AT - 4}, /* tbnz, bit 63 */
        {4, {0x00, 0x02, 0x1f, 0xd6}, BR2_BLOCK_INDIRECT_JUMP, 0},
        {4, {0x20, 0x00, 0x3f, 0xd6}, BR2_BLOCK_INDIRECT_CALL, 0},
        {4, {0xc0, 0x03, 0x5f, 0xd6}, BR2_BLOCK_RETURN, 0},
        {4, {0xff, 0x0b, 0x5f, 0xd6}, BR2_BLOCK_RETURN, 0},        /* retaa */
        {4, {0x1f, 0x08, 0x1f, 0xd6}, BR2_BLOCK_INDIRECT_JUMP, 0}, /* braaz */
        {4, {0x1f, 0x08, 0x3f, 0xd7}, BR2_BLOCK_INDIRECT_CALL, 0}, /* blraa x0, sp */
        {4, {0x01, 0x00, 0x00, 0xd4}, BR2_BLOCK_PLAIN, 0},         /* svc */
        {4, {0xe0, 0x03, 0x9f, 0xd6}, BR2_BLOCK_PLAIN, 0},         /* eret */
        {4, {0x1f, 0x20, 0x03, 0xd5}, BR2_BLOCK_PLAIN, 0},
    };
    (void)state;
    check(br2_classify_aarch64, insns, sizeof insns / sizeof *insns);
}

static void test_riscv(void **state)
{
    static const struct insn insns[] = {
        {4, {0x63, 0x04, 0xb5, 0x00}, BR2_BLOCK_COND, AT + 8},  /* beq a0, a1 */
        {4, {0xe3, 0x9e, 0xa7, 0xfe}, BR2_BLOCK_COND, AT - 4},  /* bne a5, a0 */
        {4, {0xef, 0x00, 0x00, 0x01}, BR2_BLOCK_CALL, AT + 16}, /* jal ra */
        {4, {0xef, 0xf0, 0xdf, 0xff}, BR2_BLOCK_CALL, AT - 4},
        {4, {0x6f, 0x00, 0x10, 0x00}, BR2_BLOCK_JUMP, AT + 0x800},
        {4, {0x67, 0x80, 0x00, 0x00}, BR2_BLOCK_RETURN, 0},        /* ret */
        {4, {0x67, 0x80, 0x07, 0x00}, BR2_BLOCK_INDIRECT_JUMP, 0}, /* jr a5 */
        {4, {0xe7, 0x80, 0x07, 0x00}, BR2_BLOCK_INDIRECT_CALL, 0}, /* jalr a5 */
        {2, {0x82, 0x80}, BR2_BLOCK_RETURN, 0},
        {2, {0x82, 0x87}, BR2_BLOCK_INDIRECT_JUMP, 0},
        {2, {0x82, 0x97}, BR2_BLOCK_INDIRECT_CALL, 0},
        {2, {0x02, 0x90}, BR2_BLOCK_PLAIN, 0}, /* ebreak */
        {2, {0xaa, 0x87}, BR2_BLOCK_PLAIN, 0}, /* mv a5, a0 */
        {2, {0x01, 0xa0}, BR2_BLOCK_JUMP, AT},
        {2, {0x09, 0xa8}, BR2_BLOCK_JUMP, AT + 0x12},
        {2, {0xf5, 0xbf}, BR2_BLOCK_JUMP, AT - 4},
        {2, {0x11, 0xc1}, BR2_BLOCK_COND, AT + 4},         /* beqz a0 */
        {2, {0xfd, 0xff}, BR2_BLOCK_COND, AT - 2},         /* bnez a5 */
        {4, {0x73, 0x00, 0x00, 0x00}, BR2_BLOCK_PLAIN, 0}, /* ecall */
    };
    (void)state;
    check(br2_classify_riscv, insns, sizeof insns / sizeof *insns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_riscv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
