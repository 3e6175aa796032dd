/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* jump_tables.c: tables found by the instructions that load from them, and addresses in data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "elf_builder.h"
#include "image/jump_tables.h"

#define TEXT  UINT64_C(0x1000)
#define TABLE UINT64_C(0x2000)
#define COLD  UINT64_C(0x1048)

/* f: two tables of distances, at TABLE and TABLE + 16, and one of addresses at TABLE + 64; the code
 * they lead to begins at 0x1030. f.cold is at COLD. */
/* clang-format off */
static const uint8_t code[0x50] = {
    [0x00] = 0x48, 0x8d, 0x0d, 0xf9, 0x0f, 0, 0, /* lea 0x2000(%rip),%rcx */
    0x48, 0x63, 0x04, 0x81,                      /* movslq (%rcx,%rax,4),%rax */
    0x48, 0x01, 0xc8,                            /* add %rcx,%rax */
    0x3e, 0xff, 0xe0,                            /* notrack jmp *%rax */
    0x4c, 0x8d, 0x05, 0xf8, 0x0f, 0, 0,          /* lea 0x2010(%rip),%r8 */
    0x3e, 0xff, 0x24, 0xc5, 0x40, 0x20, 0, 0,    /* notrack jmp *0x2040(,%rax,8) */
    [0x20] = 0x48, 0x8d, 0x3d, 0x09, 0, 0, 0,    /* lea 0x1030(%rip),%rdi: code is no table */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    [0x30] = 0x90, 0x90, 0x31, 0xc0, 0x90, 0xc3, /* nop; nop; xor; nop; ret */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    [0x48] = 0x90, 0xc3,
};
/* clang-format on */

static void put32(uint8_t *data, size_t at, uint64_t value)
{
    for (size_t i = 0; i < 4; i++) {
        data[at + i] = (uint8_t)(value >> 8 * i);
    }
}

static struct br2_image *make_image(struct eb *eb)
{
    uint8_t data[0x60] = {0};
    put32(data, 0, TEXT + 0x30 - TABLE);
    put32(data, 4, COLD + 1 - TABLE);    /* in the part that was split off */
    put32(data, 8, TEXT + 0x40 - TABLE); /* the end of f: nothing gets there */
    put32(data, 12, TEXT + 0x32 - TABLE);
    /* The second table begins where the first one's next entry would lie. */
    put32(data, 16, TEXT + 0x37 - (TABLE + 16));
    put32(data, 20, TEXT + 0x33 - (TABLE + 16)); /* inside xor: the table ended before */
    put32(data, 24, TEXT + 0x34 - (TABLE + 16));
    put32(data, 0x40, TEXT + 0x35);
    put32(data, 0x48, TEXT + 0x1000);
    put32(data, 0x50, TEXT + 0x34);
    *eb = eb_new(ET_EXEC, EM_X86_64);
    uint16_t text = (uint16_t)eb_text(eb, ".text", TEXT, code, sizeof code);
    uint32_t rodata = eb_add(eb, ".rodata", SHT_PROGBITS, SHF_ALLOC, TABLE, data, sizeof data);
    uint32_t debug = eb_add(eb, ".debug_x", SHT_PROGBITS, 0, 0, data, sizeof data);
    uint32_t f = eb_symbol(eb, "f", STB_GLOBAL, STT_FUNC, text, TEXT, 0x40);
    eb_symbol(eb, "f.cold", STB_GLOBAL, STT_FUNC, text, COLD, 8);
    uint32_t symtab = eb_symtab(eb, ".symtab", SHT_SYMTAB);
    const Elf64_Rela values[] = {
        {TABLE + 0x58, ELF64_R_INFO(f, R_X86_64_64), 0x11},
        {TABLE + 0x58, ELF64_R_INFO(f, R_X86_64_PC32), 0x20},
        {TABLE + 0x58, ELF64_R_INFO(99, R_X86_64_64), 0x30},
        {TABLE + 0x58, ELF64_R_INFO(f, R_X86_64_64), 0x10000},
    };
    const Elf64_Rela of_debug[] = {{8, ELF64_R_INFO(f, R_X86_64_64), 0x30}};
    const Elf64_Rela dynamic[] = {{TABLE, ELF64_R_INFO(0, R_X86_64_RELATIVE), (int64_t)COLD}};
    eb_rela(eb, ".rela.rodata", symtab, rodata, values, 4);
    eb_rela(eb, ".rela.debug_x", symtab, debug, of_debug, 1);
    eb_rela(eb, ".rela.dyn", symtab, 0, dynamic, 1);
    eb->sections[eb->count - 1].flags = SHF_ALLOC;
    struct br2_image *image;
    assert_int_equal(br2_image_open(eb_write(eb), &image, NULL), 0);
    return image;
}

struct decoded {
    struct eb eb;
    struct br2_image *image;
    struct br2_decoder *decoder;
    struct br2_code code;
};

static void begin(struct decoded *d)
{
    d->image = make_image(&d->eb);
    assert_int_equal(br2_decoder_new(BR2_MACHINE_X86_64, &d->decoder, NULL), 0);
    assert_int_equal(br2_code_decode(d->decoder, d->image, TEXT, TEXT + 0x40, &d->code, NULL), 0);
}

static void end(struct decoded *d)
{
    br2_code_done(&d->code);
    br2_decoder_free(d->decoder);
    br2_image_close(d->image);
    unlink(d->eb.path);
}

static void test_tables(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {TEXT + 0x30, TEXT + 0x32, TEXT + 0x35, TEXT + 0x37, COLD + 1};
    struct decoded d;
    begin(&d);
    struct br2_jump_tables *tables;
    struct br2_addresses targets = {0};
    assert_int_equal(br2_jump_tables_open(d.image, &tables, NULL), 0);
    for (int i = 0; i < 2; i++) { /* the second call replaces the first one's result */
        assert_int_equal(br2_jump_tables_targets(tables, &d.code, &targets, NULL), 0);
        assert_int_equal(targets.count, 5);
        assert_memory_equal(targets.items, wanted, sizeof wanted);
    }
    br2_addresses_done(&targets);
    br2_jump_tables_close(tables);
    end(&d);
}

static void test_in_data(void **state)
{
    (void)state;
    struct decoded d;
    begin(&d);
    struct br2_jump_tables *tables;
    assert_int_equal(br2_jump_tables_open(d.image, &tables, NULL), 0);
    assert_true(br2_jump_tables_in_data(tables, TEXT + 0x11));
    assert_true(br2_jump_tables_in_data(tables, COLD));
    assert_false(br2_jump_tables_in_data(tables, TEXT + 0x20)); /* of a distance */
    assert_false(br2_jump_tables_in_data(tables, TEXT + 0x30)); /* no such symbol; debug data */
    assert_false(br2_jump_tables_in_data(tables, TEXT + 0x10000));
    br2_jump_tables_close(tables);
    end(&d);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct decoded d;
    begin(&d);
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 100) {
        struct br2_jump_tables *tables = NULL;
        struct br2_addresses targets = {0};
        br2_mem_fail_at(++nth);
        rc = br2_jump_tables_open(d.image, &tables, NULL);
        rc = rc != 0 ? rc : br2_jump_tables_targets(tables, &d.code, &targets, NULL);
        br2_mem_fail_at(0);
        br2_addresses_done(&targets);
        br2_jump_tables_close(tables);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 4);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_in_data),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
