/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* discriminator.c: what compilers pack into a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/discriminator.h"

static void test_schemes(void **state)
{
    (void)state;
    static const struct {
        const char *producer;
        bool fs;
        enum br2_discriminator_scheme scheme;
    } rows[] = {
        {"Debian clang version 19.1.7 (3~deb12u1)", false, BR2_DISCRIMINATOR_LLVM},
        {"clang version 3.8.0", false, BR2_DISCRIMINATOR_LLVM},
        {"clang LLVM (rustc version 1.78.0)", false, BR2_DISCRIMINATOR_LLVM},
        {"flang-new version 19", false, BR2_DISCRIMINATOR_LLVM},
        {"LDC - the LLVM D compiler", false, BR2_DISCRIMINATOR_LLVM},
        {"clang version 19.1.7", true, BR2_DISCRIMINATOR_LLVM_FS},
        {"GNU C17 12.2.0 -mtune=generic -g -O2", false, BR2_DISCRIMINATOR_PLAIN},
        {"GNU C17 12.2.0 -march=x86-64", true, BR2_DISCRIMINATOR_PLAIN},
        {"GNU C++17 15.1.0", false, BR2_DISCRIMINATOR_PLAIN},
        {"GNU C23 16.0.1 20260101 (experimental)", false, BR2_DISCRIMINATOR_GCC},
        {"GNU C++26 17.0.0", false, BR2_DISCRIMINATOR_GCC},
        {"GNU Fortran2008 16.1.0", false, BR2_DISCRIMINATOR_GCC},
        {"GNU AS 2.40", false, BR2_DISCRIMINATOR_PLAIN},
        {"GNU C", false, BR2_DISCRIMINATOR_PLAIN},
        {"Go cmd/compile go1.22", false, BR2_DISCRIMINATOR_PLAIN},
        {"", false, BR2_DISCRIMINATOR_PLAIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i].producer);
        assert_int_equal(br2_discriminator_scheme_of(rows[i].producer, rows[i].fs), rows[i].scheme);
    }
}

static void test_major_version(void **state)
{
    (void)state;
    static const struct {
        const char *producer;
        int major;
    } rows[] = {
        {"GNU C17 12.2.0 -mtune=generic -O2", 12},
        {"GNU C++17 9.4.0", 9},
        {"GNU GIMPLE 14.2.0 -O2 -fltrans", 14},
        {"GNU Fortran2008 16.0.1 20260101 (experimental)", 16},
        {"GNU C 4.6.3", 4},
        {"GNU C17", 0},
        {"GNU C17 99999999999999999999", 0},
        {"Debian clang version 19.1.7", 0},
        {"GNU", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i].producer);
        assert_int_equal(br2_gcc_major(rows[i].producer), rows[i].major);
    }
}

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        enum br2_discriminator_scheme scheme;
        uint32_t raw;
        struct br2_discriminator wanted;
    } rows[] = {
        {BR2_DISCRIMINATOR_PLAIN, 0, {0, 1, 0}},
        {BR2_DISCRIMINATOR_PLAIN, 1028, {1028, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM_FS, 0x80000102, {0x80000102, 1, 0}},
        /* LLVM: one bit 1, or 0, five bits and, after a 1, seven more; three of them. */
        {BR2_DISCRIMINATOR_LLVM, 0, {0, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 1, {0, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 2, {1, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 0x3e, {31, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 0xc0, {32, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 0x3ffe, {4095, 1, 0}},
        {BR2_DISCRIMINATOR_LLVM, 4 | 8 << 7, {2, 4, 0}},
        {BR2_DISCRIMINATOR_LLVM, 1 | 8 << 1, {0, 4, 0}},
        {BR2_DISCRIMINATOR_LLVM, 0xc0 | 6 << 14, {32, 3, 0}},
        {BR2_DISCRIMINATOR_LLVM, 4 | 1 << 7 | 10 << 8, {2, 1, 5}},
        {BR2_DISCRIMINATOR_LLVM, 1 | 1 << 1 | 2 << 2, {0, 1, 1}},
        {BR2_DISCRIMINATOR_LLVM, 4 | 8 << 7 | 14 << 14, {2, 4, 7}},
        {BR2_DISCRIMINATOR_LLVM, 4 | 0xc0 << 7 | 6 << 21, {2, 32, 3}},
        /* GCC 16: base 8 bits, multiplicity 7, copy 11. */
        {BR2_DISCRIMINATOR_GCC, 0, {0, 1, 0}},
        {BR2_DISCRIMINATOR_GCC, 255, {255, 1, 0}},
        {BR2_DISCRIMINATOR_GCC, 5 | 4 << 8, {5, 4, 0}},
        {BR2_DISCRIMINATOR_GCC, 5 | 127 << 8 | 3 << 15, {5, 127, 3}},
        {BR2_DISCRIMINATOR_GCC, UINT32_MAX, {255, 127, 2047}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_discriminator got = br2_discriminator_decode(rows[i].scheme, rows[i].raw);
        print_message("%zu: %#x\n", i, rows[i].raw);
        assert_int_equal(got.base, rows[i].wanted.base);
        assert_int_equal(got.factor, rows[i].wanted.factor);
        assert_int_equal(got.copy, rows[i].wanted.copy);
    }
}

/* llvm::DILocation::encodeDiscriminator's way to write a component. */
static uint32_t encode(uint32_t value, unsigned *bits)
{
    if (value == 0) {
        *bits = 1;
        return 1;
    }
    *bits = value > 31 ? 14 : 7;
    return value > 31 ? (value & 0x1f) << 1 | 0x40 | (value & 0xfe0) << 2 : value << 1;
}

static void test_every_pair(void **state)
{
    (void)state;
    for (uint32_t base = 0; base < 4096; base += 3) {
        for (uint32_t factor = 0; factor < 200; factor += 7) {
            unsigned base_bits, factor_bits;
            uint32_t raw = encode(base, &base_bits);
            raw |= encode(factor, &factor_bits) << base_bits;
            struct br2_discriminator got = br2_discriminator_decode(BR2_DISCRIMINATOR_LLVM, raw);
            assert_int_equal(got.base, base);
            assert_int_equal(got.factor, factor != 0 ? factor : 1);
            assert_int_equal(got.copy, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes),
        cmocka_unit_test(test_major_version),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_every_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
