/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split_package.c, split_file.c: units in hand-made packages, and packages that are broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "elf_builder.h"
#include "image/split_package.h"

#define FIRST  UINT64_C(0x0000000500000003) /* both start at slot 3 of 4 ... */
#define SECOND UINT64_C(0x0000000600000003) /* ... this one goes on with step 3, at slot 2 */

static char folder[128];

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Index of version 2 or 5 with two units in 4 slots; columns: info, abbreviations, string offsets,
 * and section 8, which are macros in version 2 and ranges in version 5. */
static struct br2_buf make_index(uint32_t version)
{
    static const uint32_t rows[] = {0, 0, 2, 1};
    static const uint32_t table[] = {1, 3, 6, 8,             /* kinds */
                                     0, 0, 0, 0, 4, 2, 8, 3, /* offsets */
                                     4, 2, 8, 3, 5, 6, 4, 2,
                                     /* sizes */};
    struct br2_buf buf = {0};
    br2_buf_le32(&buf, version);
    br2_buf_le32(&buf, 4);
    br2_buf_le32(&buf, 2);
    br2_buf_le32(&buf, 4);
    br2_buf_le64(&buf, 0);
    br2_buf_le64(&buf, 0);
    br2_buf_le64(&buf, SECOND);
    br2_buf_le64(&buf, FIRST);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        br2_buf_le32(&buf, rows[i]);
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        br2_buf_le32(&buf, table[i]);
    }
    return buf;
}

/* Saves a package; `index` is done. The strings that units name are at 4, 0 and 8. */
static void save_package(struct br2_buf index)
{
    static const uint32_t offsets[] = {4, 0, 8};
    struct eb eb = eb_new(ET_REL, EM_X86_64);
    struct br2_buf file = {0};
    eb_add(&eb, ".debug_info.dwo", SHT_PROGBITS, 0, 0, "aaaabbbbb", 9);
    eb_add(&eb, ".debug_abbrev.dwo", SHT_PROGBITS, 0, 0, "ccdddddd", 8);
    eb_add(&eb, ".debug_str_offsets.dwo", SHT_PROGBITS, 0, 0, offsets, sizeof offsets);
    eb_add(&eb, ".debug_rnglists.dwo", SHT_PROGBITS, 0, 0, "eeeff", 5);
    eb_add(&eb, ".debug_str.dwo", SHT_PROGBITS, 0, 0, "one\0two\0three", 14);
    if (index.bytes != NULL) {
        eb_add(&eb, ".debug_cu_index", SHT_PROGBITS, 0, 0, index.bytes, index.size);
    }
    eb_finish(&eb, &file);
    eb_save(path_of("p.dwp"), file.bytes, file.size);
    br2_buf_done(&file);
    br2_buf_done(&index);
}

static void check_piece(const struct br2_split_unit *unit, enum br2_split_part part,
                        const char *text)
{
    assert_int_equal(unit->parts[part].size, strlen(text));
    assert_memory_equal(unit->parts[part].bytes, text, strlen(text));
}

static void test_find(void **state)
{
    (void)state;
    struct br2_split_package package;
    struct br2_split_unit unit;
    for (uint32_t version = 2; version <= 5; version += 3) {
        save_package(make_index(version));
        assert_int_equal(br2_split_package_open(&package, path_of("p.dwp"), NULL), 0);
        assert_true(br2_split_package_find(&package, FIRST, &unit));
        check_piece(&unit, BR2_SPLIT_INFO, "aaaa");
        check_piece(&unit, BR2_SPLIT_ABBREV, "cc");
        check_piece(&unit, BR2_SPLIT_RNGLISTS, version == 5 ? "eee" : "");
        assert_true(br2_split_package_find(&package, SECOND, &unit));
        check_piece(&unit, BR2_SPLIT_INFO, "bbbbb");
        check_piece(&unit, BR2_SPLIT_ABBREV, "dddddd");
        check_piece(&unit, BR2_SPLIT_RNGLISTS, version == 5 ? "ff" : "");
        assert_int_equal(unit.parts[BR2_SPLIT_STR].size, 14);
        assert_false(br2_split_package_find(&package, FIRST + 1, &unit));
        assert_false(br2_split_package_find(&package, FIRST + 4, &unit));
        br2_split_package_done(&package);
    }
}

/* What a unit's file has in the section of this name. */
static void check_section(const char *path, const char *name, const void *bytes, size_t size)
{
    struct br2_elf elf;
    size_t got;
    assert_int_equal(br2_elf_open(&elf, path, BR2_ELF_HEADERS, NULL), 0);
    const uint8_t *have = br2_elf_section_bytes(br2_elf_section(&elf, name), &got);
    assert_int_equal(got, size);
    assert_memory_equal(have, bytes, size);
    br2_elf_close(&elf);
}

static void test_unit_file(void **state)
{
    (void)state;
    struct br2_split_package package;
    struct br2_split_unit unit;
    char path[64];
    int fd = -1;
    save_package(make_index(2));
    assert_int_equal(br2_split_package_open(&package, path_of("p.dwp"), NULL), 0);
    assert_true(br2_split_package_find(&package, FIRST, &unit));
    assert_int_equal(br2_split_unit_file(&package, &unit, &fd, NULL), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check_section(path, ".debug_info.dwo", "aaaa", 4);
    check_section(path, ".debug_str_offsets.dwo", (uint32_t[]){0, 4}, 8);
    check_section(path, ".debug_str.dwo", "two\0one", 8);
    close(fd);
    /* Out of memory anywhere is said to be that. */
    for (size_t i = 1; i < 8; i++) {
        br2_mem_fail_at(i);
        int status = br2_split_unit_file(&package, &unit, &fd, NULL);
        bool reached = br2_mem_fail_at(0) >= i;
        assert_int_equal(status, reached ? BR2PGO_NO_MEMORY : 0);
        if (status == 0) {
            close(fd);
        }
    }
    /* A unit may be asked for again and again, but not for ever. */
    int status = 0;
    for (size_t i = 0; i < 1000 && status == 0; i++) {
        status = br2_split_unit_file(&package, &unit, &fd, NULL);
        if (status == 0) {
            close(fd);
        }
    }
    assert_int_equal(status, BR2PGO_CORRUPT);
    br2_split_package_done(&package);
}

/* Sets 4 bytes of the index of version 5 and opens the package. */
static int open_broken(size_t at, uint32_t value, struct br2_split_package *package)
{
    struct br2_buf index = make_index(5);
    memcpy(index.bytes + at, &value, 4);
    save_package(index);
    return br2_split_package_open(package, path_of("p.dwp"), NULL);
}

static void test_broken(void **state)
{
    (void)state;
    struct br2_split_package package;
    struct br2_split_unit unit;
    static const struct {
        size_t at;
        uint32_t value;
    } headers[] = {{0, 3},          {4, 5},  {4, UINT32_MAX}, {8, 3},
                   {8, UINT32_MAX}, {12, 3}, {12, 8},         {12, 1U << 31}};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        assert_int_equal(open_broken(headers[i].at, headers[i].value, &package), BR2PGO_CORRUPT);
        br2_split_package_done(&package);
    }
    const size_t row = 16 + 4 * 8 + 3 * 4;
    const size_t offsets = 16 + 4 * 12 + 4 * 4;
    const size_t sizes = offsets + 2 * 4 * 4;
    static const struct {
        size_t at;
        uint32_t value;
    } rows[] = {{row, 3},    {row, UINT32_MAX}, {offsets, 6}, {offsets, UINT32_MAX},
                {sizes, 10}, {sizes, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(open_broken(rows[i].at, rows[i].value, &package), 0);
        assert_false(br2_split_package_find(&package, FIRST, &unit));
        assert_true(br2_split_package_find(&package, SECOND, &unit));
        br2_split_package_done(&package);
    }
    /* No empty slot ends the search for what is not there. */
    struct br2_buf full = make_index(5);
    memset(full.bytes + 16 + 4 * 8, 1, 8);
    save_package(full);
    assert_int_equal(br2_split_package_open(&package, path_of("p.dwp"), NULL), 0);
    assert_false(br2_split_package_find(&package, 7, &unit));
    br2_split_package_done(&package);
}

static void test_string_table(void **state)
{
    (void)state;
    struct br2_split_package package;
    struct br2_split_unit unit;
    int fd;
    save_package((struct br2_buf){0}); /* a .dwo file: everything is the unit's */
    assert_int_equal(br2_split_package_open(&package, path_of("p.dwp"), NULL), 0);
    assert_true(br2_split_package_find(&package, 7, &unit));
    check_piece(&unit, BR2_SPLIT_INFO, "aaaabbbbb");
    assert_int_equal(br2_split_unit_file(&package, &unit, &fd, NULL), 0);
    close(fd);
    unit.parts[BR2_SPLIT_STR].size = 13; /* the last does not end */
    assert_int_equal(br2_split_unit_file(&package, &unit, &fd, NULL), BR2PGO_CORRUPT);
    unit.parts[BR2_SPLIT_STR].size = 8; /* is not there */
    assert_int_equal(br2_split_unit_file(&package, &unit, &fd, NULL), BR2PGO_CORRUPT);
    br2_split_package_done(&package);
}

static int make_folder(void **state)
{
    (void)state;
    eb_folder(folder, sizeof folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path_of("p.dwp"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_unit_file),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_string_table),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
