/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* length_x86.c: where it knows a length, LLVM knows the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/decode.h"

#define SIZE 15

struct tally {
    struct br2_disassembler *decoder;
    unsigned long known;
    unsigned long asked;
};

/* The bytes and whatever LLVM makes of them; cut short, nothing is known of them any more. */
static void check(struct tally *tally, const uint8_t *bytes)
{
    tally->asked++;
    size_t length = br2_x86_length(bytes, SIZE);
    if (length == 0) {
        return;
    }
    tally->known++;
    uint8_t prefixes = 0;
    size_t wanted = br2_x86_length_by_llvm(tally->decoder, bytes, SIZE, &prefixes);
    if (wanted != length || prefixes != 0) {
        fail_msg("%02x %02x %02x %02x %02x: %zu bytes, LLVM says %zu with %u prefixes", bytes[0],
                 bytes[1], bytes[2], bytes[3], bytes[4], length, wanted, prefixes);
    }
    assert_int_equal(br2_x86_length(bytes, length), length);
    assert_int_equal(br2_x86_length(bytes, length - 1), 0);
}

/* An opcode with ModRM bytes of all modes and extensions, and some registers and SIB bytes. */
static void check_operands(struct tally *tally, uint8_t *bytes, size_t at)
{
    static const uint8_t registers[] = {0, 4, 5};
    static const uint8_t sibs[] = {0x00, 0x25, 0x9c};
    for (unsigned high = 0; high < 32; high++) {
        for (size_t i = 0; i < sizeof registers; i++) {
            for (size_t k = 0; k < sizeof sibs; k++) {
                bytes[at] = (uint8_t)(high << 3 | registers[i]);
                bytes[at + 1] = sibs[k];
                check(tally, bytes);
                if (bytes[at] >= 0xc0 || registers[i] != 4) {
                    break;
                }
            }
        }
    }
}

static void test_all_opcodes(void **state)
{
    (void)state;
    static const char *const begins[] = {"", "\x66", "\xf2", "\xf3"};
    static const char *const middles[] = {"",     "\x41",     "\x48",     "\x4f",
                                          "\x0f", "\x41\x0f", "\x48\x0f", "\x44\x0f"};
    struct tally tally = {0};
    assert_int_equal(br2_disassembler_new(BR2_MACHINE_X86_64, &tally.decoder, NULL), 0);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        for (size_t k = 0; k < sizeof middles / sizeof middles[0]; k++) {
            uint8_t bytes[SIZE] = {0};
            size_t begin = strlen(begins[i]);
            size_t at = begin + strlen(middles[k]);
            memcpy(bytes, begins[i], begin);
            memcpy(bytes + begin, middles[k], at - begin);
            for (unsigned opcode = 0; opcode < 256; opcode++) {
                bytes[at] = (uint8_t)opcode;
                check_operands(&tally, bytes, at + 1);
            }
        }
    }
    br2_disassembler_free(tally.decoder);
    assert_true(tally.known > tally.asked / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_opcodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
