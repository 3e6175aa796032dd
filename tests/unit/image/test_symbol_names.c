/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* symbol_names.c: the first function symbol at an address, and the numbers of local ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "elf_builder.h"
#include "image/symbol_names.h"

#define TEXT UINT64_C(0x1000)
#define DATA UINT64_C(0x800)

static struct br2_image *make_image(struct eb *eb)
{
    static const uint8_t bytes[0x100] = {0};
    *eb = eb_new(ET_EXEC, EM_X86_64);
    uint16_t data = (uint16_t)eb_add(eb, ".data", SHT_PROGBITS, SHF_ALLOC, DATA, bytes, 16);
    uint16_t text = (uint16_t)eb_text(eb, ".text", TEXT, bytes, sizeof bytes);
    eb_symbol(eb, "a.c", STB_LOCAL, STT_FILE, SHN_ABS, 0, 0);
    eb_symbol(eb, "other", STB_LOCAL, STT_FILE, SHN_ABS, 0, 0);
    eb_symbol(eb, "helper", STB_LOCAL, STT_FUNC, text, TEXT + 0x30, 16);
    eb_symbol(eb, "twin", STB_LOCAL, STT_NOTYPE, text, TEXT + 0x60, 0);
    eb_symbol(eb, "twin", STB_LOCAL, STT_FUNC, text, TEXT + 0x60, 16);
    eb_symbol(eb, "mark", STB_LOCAL, STT_NOTYPE, text, TEXT + 0x40, 0);
    eb_symbol(eb, "$x", STB_LOCAL, STT_NOTYPE, text, TEXT + 0x44, 0);
    eb_symbol(eb, ".Lbranch", STB_LOCAL, STT_NOTYPE, text, TEXT + 0x46, 0);
    eb_symbol(eb, "sized", STB_LOCAL, STT_NOTYPE, text, TEXT + 0x48, 4);
    eb_symbol(eb, "inner", STB_GLOBAL, STT_NOTYPE, text, TEXT + 0x14, 0);
    eb_symbol(eb, "data", STB_LOCAL, STT_NOTYPE, data, DATA + 8, 0);
    eb_symbol(eb, "helper", STB_LOCAL, STT_FUNC, text, TEXT + 0x10, 16);
    eb_symbol(eb, "helper", STB_LOCAL, STT_OBJECT, data, DATA, 8);
    eb_symbol(eb, "last", STB_LOCAL, STT_FILE, SHN_ABS, 0, 0);
    eb_symbol(eb, "other", STB_LOCAL, STT_FUNC, text, TEXT + 0x50, 16);
    eb_symbol(eb, "real_name", STB_GLOBAL, STT_FUNC, text, TEXT + 0x40, 16);
    eb_symbol(eb, "a", STB_WEAK, STT_FUNC, text, TEXT + 0x40, 16);
    eb_symbol(eb, "helper", STB_GLOBAL, STT_FUNC, text, TEXT + 0x20, 16);
    eb_symbol(eb, "undefined", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
    eb_symbol(eb, "elsewhere", STB_GLOBAL, STT_FUNC, data, DATA, 8);
    eb_symtab(eb, ".symtab", SHT_SYMTAB);
    struct br2_image *image;
    assert_int_equal(br2_image_open(eb_write(eb), &image, NULL), 0);
    return image;
}

static void close_image(struct eb *eb, struct br2_image *image)
{
    br2_image_close(image);
    unlink(eb->path);
}

static void check(const struct br2_symbol_names *names, uint64_t address, const char *name,
                  uint32_t local)
{
    const struct br2_symbol_name *found = br2_symbol_names_at(names, address);
    assert_non_null(found);
    assert_string_equal(found->name, name);
    assert_int_equal(found->local, local);
    assert_int_equal(found->size, 16);
}

static void check_file(const struct br2_symbol_names *names, uint64_t address, const char *file,
                       bool alone)
{
    const struct br2_symbol_name *found = br2_symbol_names_at(names, address);
    assert_int_equal(found->file == NULL, file == NULL);
    if (file != NULL) {
        assert_string_equal(found->file, file);
    }
    assert_int_equal(found->alone, alone);
}

static void test_names(void **state)
{
    (void)state;
    struct eb eb;
    struct br2_image *image = make_image(&eb);
    struct br2_symbol_names names;
    assert_int_equal(br2_symbol_names_read(image, &names, NULL), 0);
    assert_int_equal(names.count, 7);
    /* The data of that name lies first and is number 1. */
    check(&names, TEXT + 0x10, "helper", 2);
    check(&names, TEXT + 0x20, "helper", 0);
    check(&names, TEXT + 0x30, "helper", 3);
    check(&names, TEXT + 0x40, "real_name", 0);
    check(&names, TEXT + 0x50, "other", 1); /* a file is no symbol of its name */
    check(&names, TEXT + 0x60, "twin", 1);  /* functions are numbered before what else is there */
    assert_null(br2_symbol_names_at(&names, TEXT + 0x11));
    assert_null(br2_symbol_names_at(&names, DATA));
    check_file(&names, TEXT + 0x10, "other", false); /* another one is in this file */
    check_file(&names, TEXT + 0x20, NULL, true);
    check_file(&names, TEXT + 0x30, "other", false);
    check_file(&names, TEXT + 0x50, "last", true);
    assert_int_equal(br2_symbol_names_from(&names, TEXT + 0x11), 1);
    assert_int_equal(br2_symbol_names_from(&names, TEXT + 0x51), 6);
    static const uint64_t labels[] = {TEXT + 0x14, TEXT + 0x40, TEXT + 0x60};
    assert_int_equal(names.labels.count, 3);
    assert_memory_equal(names.labels.items, labels, sizeof labels);
    br2_symbol_names_done(&names);
    close_image(&eb, image);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct eb eb;
    struct br2_image *image = make_image(&eb);
    struct br2_symbol_names names;
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 100) {
        br2_mem_fail_at(++nth);
        rc = br2_symbol_names_read(image, &names, NULL);
        br2_mem_fail_at(0);
        assert_int_equal(names.count, rc == 0 ? 7 : 0);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 3);
    br2_symbol_names_done(&names);
    close_image(&eb, image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
