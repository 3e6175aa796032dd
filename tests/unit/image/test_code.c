/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* code.c and the decoders: length, kind and target of single instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "image/code.h"

#define AT UINT64_C(0x100000)

struct example {
    const char *bytes;
    uint8_t size;
    uint8_t kind;
    int64_t distance; /* of the target from AT; INT64_MIN: there is none */
    uint8_t compares;
};

#define NONE INT64_MIN

static const struct example x86[] = {
    {"\x90", 1, BR2_INSN_PLAIN, NONE, 0},
    {"\x74\x10", 2, BR2_INSN_COND, 0x12, 0},
    {"\x7f\x80", 2, BR2_INSN_COND, -0x7e, 0},
    {"\x0f\x84\x00\x01\x00\x00", 6, BR2_INSN_COND, 0x106, 0},
    {"\x2e\x0f\x8f\xf9\xff\xff\xff", 7, BR2_INSN_COND, 0, 0},
    {"\xe2\x02", 2, BR2_INSN_COND, 4, 0},
    {"\x67\xe3\x02", 3, BR2_INSN_COND, 5, 0},
    {"\xeb\xfe", 2, BR2_INSN_JUMP, 0, 0},
    {"\xf2\xe9\x00\x00\x00\x01", 6, BR2_INSN_JUMP, 0x1000006, 0},
    {"\xe8\xfb\xff\xff\xff", 5, BR2_INSN_CALL, 0, 0},
    {"\x66\x66\x48\xe8\x01\x00\x00\x00", 8, BR2_INSN_CALL, 9, 0},
    {"\x41\xff\xd3", 3, BR2_INSN_INDIRECT_CALL, NONE, 0},
    {"\xff\x18", 2, BR2_INSN_INDIRECT_CALL, NONE, 0},
    {"\x3e\xff\xe0", 3, BR2_INSN_INDIRECT_JUMP, NONE, 0},
    {"\xff\x25\x00\x00\x00\x00", 6, BR2_INSN_INDIRECT_JUMP, NONE, 0},
    {"\xff\x28", 2, BR2_INSN_INDIRECT_JUMP, NONE, 0},
    {"\xff\x30", 2, BR2_INSN_PLAIN, NONE, 0},
    {"\xc3", 1, BR2_INSN_RETURN, NONE, 0},
    {"\xf3\xc3", 2, BR2_INSN_RETURN, NONE, 0},
    {"\xc2\x08\x00", 3, BR2_INSN_RETURN, NONE, 0},
    {"\x48\xcb", 2, BR2_INSN_RETURN, NONE, 0},
    {"\x0f\x05", 2, BR2_INSN_SYSCALL, NONE, 0},
    {"\xcd\x80", 2, BR2_INSN_SYSCALL, NONE, 0},
    {"\xf4", 1, BR2_INSN_STOP, NONE, 0},
    {"\x0f\x0b", 2, BR2_INSN_STOP, NONE, 0},
    {"\xcc", 1, BR2_INSN_STOP, NONE, 0},
    {"\x48\xcf", 2, BR2_INSN_STOP, NONE, 0},
    {"\x48\x0f\x07", 3, BR2_INSN_STOP, NONE, 0},
    {"\xc7\xf8\x00\x00\x00\x00", 6, BR2_INSN_PLAIN, NONE, 0},
    {"\x48\x39\xd8", 3, BR2_INSN_PLAIN, NONE, 1},
    {"\x83\xf8\x01", 3, BR2_INSN_PLAIN, NONE, 1},
    {"\x83\xc0\x01", 3, BR2_INSN_PLAIN, NONE, 0},
    {"\x84\xc0", 2, BR2_INSN_PLAIN, NONE, 1},
    {"\xf6\x00\x01", 3, BR2_INSN_PLAIN, NONE, 1},
    {"\xf7\xd8", 2, BR2_INSN_PLAIN, NONE, 0},
    {"\xc5\xf8\x77", 3, BR2_INSN_PLAIN, NONE, 0},
    {"\x0f\x38\x00\xc0", 4, BR2_INSN_PLAIN, NONE, 0},
    {"\xf0\xff\x00", 3, BR2_INSN_PLAIN, NONE, 0},
    {"\x06", 1, BR2_INSN_INVALID, NONE, 0},
    {"\x0f\x84\x00", 1, BR2_INSN_INVALID, NONE, 0}, /* the end is missing */
};

static const struct {
    uint32_t word;
    uint8_t kind;
    int64_t distance;
} aarch64[] = {
    {0x14000004, BR2_INSN_JUMP, 16},
    {0x17ffffff, BR2_INSN_JUMP, -4},
    {0x94000001, BR2_INSN_CALL, 4},
    {0x96000000, BR2_INSN_CALL, -0x8000000},
    {0x54000041, BR2_INSN_COND, 8},
    {0x54ffffe0, BR2_INSN_COND, -4},
    {0x54000053, BR2_INSN_COND, 8}, /* bc.lo */
    {0xb4000040, BR2_INSN_COND, 8},
    {0x35ffffe7, BR2_INSN_COND, -4},
    {0x36180040, BR2_INSN_COND, 8},
    {0xb7fbffff, BR2_INSN_COND, 0x7ffc},
    {0xb7fc001f, BR2_INSN_COND, -0x8000},
    {0x7423a005, BR2_INSN_COND, -1024}, /* cbbge w5, w3 */
    {0xd61f0000, BR2_INSN_INDIRECT_JUMP, NONE},
    {0xd71f0801, BR2_INSN_INDIRECT_JUMP, NONE}, /* braa */
    {0xd63f0020, BR2_INSN_INDIRECT_CALL, NONE},
    {0xd63f085f, BR2_INSN_INDIRECT_CALL, NONE}, /* blraaz */
    {0xd65f03c0, BR2_INSN_RETURN, NONE},
    {0xd65f0bff, BR2_INSN_RETURN, NONE}, /* retaa */
    {0x5500001f, BR2_INSN_RETURN, NONE}, /* retaasppc */
    {0xd69f03e0, BR2_INSN_STOP, NONE},   /* eret */
    {0xd4000001, BR2_INSN_SYSCALL, NONE},
    {0xd4000023, BR2_INSN_SYSCALL, NONE}, /* smc #1 */
    {0xd4200020, BR2_INSN_STOP, NONE},    /* brk */
    {0xd4400000, BR2_INSN_STOP, NONE},    /* hlt */
    {0x00000000, BR2_INSN_STOP, NONE},    /* udf */
    {0x0000ffff, BR2_INSN_STOP, NONE},
    {0x02000000, BR2_INSN_INVALID, NONE},
    {0x06000000, BR2_INSN_INVALID, NONE},
    {0xd503201f, BR2_INSN_PLAIN, NONE},
    {0x58000040, BR2_INSN_PLAIN, NONE}, /* ldr x0, 8 */
    {0xf9400211, BR2_INSN_PLAIN, NONE},
};

static void check(const struct br2_insn *insn, unsigned size, unsigned kind, int64_t distance)
{
    assert_int_equal(insn->address, AT);
    assert_int_equal(insn->size, size);
    assert_int_equal(insn->kind, kind);
    assert_int_equal(insn->target, distance == NONE ? 0 : AT + (uint64_t)distance);
}

static void test_x86(void **state)
{
    (void)state;
    struct br2_decoder *decoder;
    assert_int_equal(br2_decoder_new(BR2_MACHINE_X86_64, &decoder, NULL), 0);
    for (size_t i = 0; i < sizeof x86 / sizeof x86[0]; i++) {
        const struct example *e = &x86[i];
        struct br2_insn insn;
        size_t size = e->kind == BR2_INSN_INVALID ? 3 : e->size;
        print_message("%zu\n", i);
        br2_decode_one(decoder, (const uint8_t *)e->bytes, e->bytes[0] == 6 ? 1 : size, AT, &insn);
        check(&insn, e->size, e->kind, e->distance);
        assert_int_equal(insn.compares, e->compares);
        /* LLVM takes lock apart, and what goes with a jump or return not. */
        assert_int_equal(insn.prefixes, e->bytes[0] == '\xf0');
    }
    br2_decoder_free(decoder);
}

static void test_aarch64(void **state)
{
    (void)state;
    struct br2_decoder *decoder;
    struct br2_insn insn;
    assert_int_equal(br2_decoder_new(BR2_MACHINE_AARCH64, &decoder, NULL), 0);
    for (size_t i = 0; i < sizeof aarch64 / sizeof aarch64[0]; i++) {
        uint32_t word = aarch64[i].word;
        uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                            (uint8_t)(word >> 24)};
        print_message("%08x\n", word);
        br2_decode_one(decoder, bytes, 4, AT, &insn);
        check(&insn, 4, aarch64[i].kind, aarch64[i].distance);
    }
    br2_decode_one(decoder, (const uint8_t *)"\0\0\0", 3, AT, &insn);
    check(&insn, 3, BR2_INSN_INVALID, NONE);
    br2_decoder_free(decoder);
}

static void test_riscv(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        uint8_t size;
        uint8_t kind;
        int64_t distance;
    } riscv[] = {
        {0x00b50463, 4, BR2_INSN_COND, 8},         /* beq a0, a1, 8 */
        {0xfeb57fe3, 4, BR2_INSN_COND, -2},        /* bgeu a0, a1, -2 */
        {0x80b50063, 4, BR2_INSN_COND, -4096},     /* the farthest back */
        {0x00b52463, 4, BR2_INSN_INVALID, NONE},   /* funct3 2 */
        {0x0080006f, 4, BR2_INSN_JUMP, 8},         /* j 8 */
        {0xffdff0ef, 4, BR2_INSN_CALL, -4},        /* jal -4 */
        {0x800002ef, 4, BR2_INSN_CALL, -0x100000}, /* jal t0, the farthest back */
        {0x7fe0036f, 4, BR2_INSN_JUMP, 0x7fe},     /* jal t1: no link register */
        {0x000500e7, 4, BR2_INSN_INDIRECT_CALL, NONE},
        {0x00008067, 4, BR2_INSN_RETURN, NONE},
        {0x00028067, 4, BR2_INSN_RETURN, NONE},        /* jr t0 */
        {0x000082e7, 4, BR2_INSN_INDIRECT_CALL, NONE}, /* jalr t0, ra */
        {0x000e0367, 4, BR2_INSN_INDIRECT_JUMP, NONE}, /* jalr t1, t3: of a PLT */
        {0x00000073, 4, BR2_INSN_SYSCALL, NONE},
        {0x00100073, 4, BR2_INSN_STOP, NONE},
        {0x10200073, 4, BR2_INSN_STOP, NONE},
        {0x10500073, 4, BR2_INSN_PLAIN, NONE}, /* wfi */
        {0x00150513, 4, BR2_INSN_PLAIN, NONE},
        {0xa001, 2, BR2_INSN_JUMP, 0}, /* c.j */
        {0xbffd, 2, BR2_INSN_JUMP, -2},
        {0xb001, 2, BR2_INSN_JUMP, -2048},
        {0xc109, 2, BR2_INSN_COND, 2},  /* c.beqz a0 */
        {0xfffd, 2, BR2_INSN_COND, -2}, /* c.bnez a5 */
        {0xf001, 2, BR2_INSN_COND, -256},
        {0x8082, 2, BR2_INSN_RETURN, NONE},
        {0x8502, 2, BR2_INSN_INDIRECT_JUMP, NONE}, /* c.jr a0 */
        {0x9502, 2, BR2_INSN_INDIRECT_CALL, NONE}, /* c.jalr a0 */
        {0x9002, 2, BR2_INSN_STOP, NONE},          /* c.ebreak */
        {0x8002, 2, BR2_INSN_INVALID, NONE},
        {0x852e, 2, BR2_INSN_PLAIN, NONE}, /* c.mv a0, a1 */
        {0x0000, 2, BR2_INSN_STOP, NONE},
        {0x0000001f, 2, BR2_INSN_INVALID, NONE}, /* longer than four bytes */
    };
    struct br2_decoder *decoder;
    struct br2_insn insn;
    assert_int_equal(br2_decoder_new(BR2_MACHINE_RISCV64, &decoder, NULL), 0);
    for (size_t i = 0; i < sizeof riscv / sizeof riscv[0]; i++) {
        uint32_t word = riscv[i].word;
        uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                            (uint8_t)(word >> 24)};
        print_message("%08x\n", word);
        br2_decode_one(decoder, bytes, 4, AT, &insn);
        check(&insn, riscv[i].size, riscv[i].kind, riscv[i].distance);
    }
    br2_decode_one(decoder, (const uint8_t *)"\x63\0\0", 3, AT, &insn);
    check(&insn, 2, BR2_INSN_INVALID, NONE);
    br2_decode_one(decoder, (const uint8_t *)"\x82", 1, AT, &insn);
    check(&insn, 1, BR2_INSN_INVALID, NONE);
    br2_decoder_free(decoder);
}

static void test_decode_and_find(void **state)
{
    (void)state;
    static const uint8_t text[] = {0x90, 0x06, 0x74, 0xfd, 0x48, 0x89, 0xd8, 0xc3};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_image *image;
    struct br2_decoder *decoder;
    struct br2_code code;
    struct br2pgo_error err;
    eb_text(&eb, ".text", 0x1000, text, sizeof text);
    assert_int_equal(br2_image_open(eb_write(&eb), &image, NULL), 0);
    unlink(eb.path);
    assert_int_equal(br2_decoder_new(BR2_MACHINE_X86_64, &decoder, NULL), 0);
    assert_int_equal(br2_code_decode(decoder, image, 0x1000, 0x1008, &code, NULL), 0);
    assert_int_equal(code.count, 5);
    assert_int_equal(code.insns[1].kind, BR2_INSN_INVALID);
    assert_int_equal(code.insns[1].size, 1);
    assert_int_equal(code.insns[2].target, 0x1001);
    assert_int_equal(br2_code_find(&code, 0x1004), 3);
    assert_int_equal(br2_code_find(&code, 0x1005), SIZE_MAX);
    assert_int_equal(br2_code_find(&code, 0x1008), SIZE_MAX);
    br2_code_done(&code);
    assert_int_equal(br2_code_decode(decoder, image, 0x1000, 0x1009, &code, &err), BR2PGO_INVALID);
    assert_int_equal(br2_code_decode(decoder, image, 0x1004, 0x1000, &code, &err), BR2PGO_INVALID);
    assert_int_equal(br2_code_decode(decoder, image, 0xfff, 0x1001, &code, &err), BR2PGO_INVALID);
    br2_decoder_free(decoder);
    br2_image_close(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_riscv),
        cmocka_unit_test(test_decode_and_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
