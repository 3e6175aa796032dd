/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bolt_table.c: what llvm-bolt's table says, and what is no such table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "elf_builder.h"
#include "image/bolt_table.h"

#define TEXT UINT64_C(0x400000)

#define HASH  1, 2, 3, 4, 5, 6, 7, 8
#define MINUS 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 /* 57 bits, all set */

/* Two functions and a part of the second one, made by hand after bolt/docs/BAT.md. */
static const uint8_t table_bytes[] = {
    2, /* functions */
    /* at 0x400000, one entry inside it, four places, the first two at their old distances */
    0x80, 0x80, 0x80, 0x02, HASH, 3, 1, 4, 2, 0x02, /* second bit: a branch */
    0x00, HASH, 0x00,                               /* 0 -> block 0 */
    0x05,                                           /* 5 -> branch 5 */
    0x07, 0x35, HASH, 0x02,              /* c -> block 20: (0x20 << 1) - (5 << 1 | 1) is 0x35 */
    0x90, 0x01, 0x70, HASH, 0xff, MINUS, /* 9c -> block 18, removed */
    0x0c,                                /* the entry */
    /* at 0x400040, behind that place by a step back; one place */
    0x80 | 0x24, MINUS, HASH, 1, 0, 1, 1, 0x00, 0x00, HASH, 0x00, 1, /* part */
    /* at 0x400080, of the second function, moved by 0x10: two places */
    0x40, 0x01, 0x10, 2, 1, 0x00, 0x00, HASH, 0x01, /* 0 -> block 10 */
    0x04, 0x1b,                                     /* 4 -> branch 1d: 0x10 << 1 and 0x1b */
};

static struct br2_image *make_image(struct eb *eb, const uint8_t *bytes, size_t size, uint32_t type)
{
    static const uint8_t code[0x100] = {0};
    struct br2_buf note = {0};
    *eb = eb_new(ET_EXEC, EM_X86_64);
    eb_text(eb, ".text", TEXT, code, sizeof code);
    br2_buf_le32(&note, 5);
    br2_buf_le32(&note, (uint32_t)size);
    br2_buf_le32(&note, type);
    br2_buf_put(&note, "BOLT\0\0\0", 8);
    br2_buf_put(&note, bytes, size);
    eb_add(eb, ".note.bolt_bat", SHT_NOTE, 0, 0, note.bytes, note.size);
    br2_buf_done(&note);
    struct br2_image *image;
    assert_int_equal(br2_image_open(eb_write(eb), &image, NULL), 0);
    unlink(eb->path);
    return image;
}

static int read_bytes(const uint8_t *bytes, size_t size, uint32_t type, struct br2_bolt_table *ret)
{
    struct eb eb;
    struct br2pgo_error err = {0};
    struct br2_image *image = make_image(&eb, bytes, size, type);
    assert_true(br2_bolt_table_exists(image));
    int rc = br2_bolt_table_read(image, ret, &err);
    if (rc == BR2PGO_UNSUPPORTED) {
        assert_non_null(strstr(err.message, ".note.bolt_bat"));
        assert_non_null(strstr(err.hint, "llvm-bolt 19"));
        assert_int_equal(ret->fragment_count, 0);
    }
    br2_image_close(image);
    return rc;
}

static void check(const struct br2_bolt_place *place, uint32_t output, uint32_t input, bool branch)
{
    assert_non_null(place);
    assert_int_equal(place->output, output);
    assert_int_equal(place->input, input);
    assert_int_equal(place->branch, branch);
}

static void test_places(void **state)
{
    (void)state;
    struct br2_bolt_table table;
    assert_int_equal(read_bytes(table_bytes, sizeof table_bytes, 1, &table), 0);
    assert_int_equal(table.fragment_count, 3);
    assert_int_equal(table.place_count, 7);
    check(&table.places[0], 0, 0, false);
    check(&table.places[1], 5, 5, true);
    check(&table.places[2], 0xc, 0x20, false);
    check(&table.places[3], 0x9c, 0x18, false);
    check(&table.places[4], 0, 0, false);
    check(&table.places[5], 0, 0x10, false);
    check(&table.places[6], 4, 0x1d, true);
    br2_bolt_table_done(&table);
}

static void test_lookup(void **state)
{
    (void)state;
    struct br2_bolt_table table;
    assert_int_equal(read_bytes(table_bytes, sizeof table_bytes, 1, &table), 0);
    const struct br2_bolt_fragment *first = br2_bolt_fragment_at(&table, TEXT);
    const struct br2_bolt_fragment *second = br2_bolt_fragment_at(&table, TEXT + 0x40);
    const struct br2_bolt_fragment *part = br2_bolt_fragment_at(&table, TEXT + 0x80);
    assert_ptr_equal(first, &table.fragments[0]);
    assert_ptr_equal(second, &table.fragments[1]);
    assert_ptr_equal(part, &table.fragments[2]);
    assert_null(br2_bolt_fragment_at(&table, TEXT + 1));
    assert_int_equal(first->parent, 0);
    assert_int_equal(first->next, SIZE_MAX);
    assert_int_equal(second->parent, 1);
    assert_int_equal(second->next, 2);
    assert_int_equal(part->parent, 1);
    assert_int_equal(part->next, SIZE_MAX);
    check(br2_bolt_block(&table, first, 0xb), 0, 0, false);
    check(br2_bolt_block(&table, first, 0xc), 0xc, 0x20, false);
    check(br2_bolt_branch(&table, first, 5), 5, 5, true);
    assert_null(br2_bolt_branch(&table, first, 6));
    assert_null(br2_bolt_branch(&table, first, 0));
    br2_bolt_table_done(&table);
}

/* Cut short, too long, with a step out of the code, of another kind. */
static void test_no_table(void **state)
{
    (void)state;
    struct br2_bolt_table table;
    uint8_t bytes[sizeof table_bytes + 1] = {0};
    memcpy(bytes, table_bytes, sizeof table_bytes);
    for (size_t size = 0; size < sizeof table_bytes; size++) {
        assert_int_equal(read_bytes(bytes, size, 1, &table), BR2PGO_UNSUPPORTED);
    }
    assert_int_equal(read_bytes(bytes, sizeof bytes, 1, &table), BR2PGO_UNSUPPORTED);
    assert_int_equal(read_bytes(bytes, sizeof table_bytes, 2, &table), BR2PGO_UNSUPPORTED);
    bytes[4] = 0x03; /* the first function is elsewhere */
    assert_int_equal(read_bytes(bytes, sizeof table_bytes, 1, &table), BR2PGO_UNSUPPORTED);
}

/* Whatever the bytes: a table or an error, and every place in its fragment. */
static void test_damage(void **state)
{
    (void)state;
    uint8_t bytes[sizeof table_bytes];
    for (size_t i = 0; i < 2 * sizeof bytes; i++) {
        struct br2_bolt_table table;
        memcpy(bytes, table_bytes, sizeof bytes);
        bytes[i / 2] ^= i % 2 != 0 ? 0x80 : 0x7f;
        int rc = read_bytes(bytes, sizeof bytes, 1, &table);
        assert_true(rc == 0 || rc == BR2PGO_UNSUPPORTED);
        for (size_t k = 0; k < table.fragment_count; k++) {
            const struct br2_bolt_fragment *fragment = &table.fragments[k];
            assert_true(fragment->first <= table.place_count);
            assert_true(fragment->count <= table.place_count - fragment->first);
            assert_true(fragment->parent < table.fragment_count);
            assert_true(fragment->next == SIZE_MAX || fragment->next < table.fragment_count);
        }
        br2_bolt_table_done(&table);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    struct eb eb;
    struct br2_image *image = make_image(&eb, table_bytes, sizeof table_bytes, 1);
    struct br2_bolt_table table;
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 10) {
        br2_mem_fail_at(++nth);
        rc = br2_bolt_table_read(image, &table, NULL);
        br2_mem_fail_at(0);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(nth, 4);
    br2_bolt_table_done(&table);
    br2_image_close(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),         cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_no_table),       cmocka_unit_test(test_damage),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
