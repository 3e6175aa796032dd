/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* debug_*.c on hand-made DWARF 4: scopes, lines, what the linker threw away, broken units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/mem.h"
#include "elf_builder.h"
#include "image/debug.h"

/* DWARF numbers. */
enum {
    TAG_compile_unit = 0x11,
    TAG_inlined_subroutine = 0x1d,
    TAG_subprogram = 0x2e,
    TAG_lexical_block = 0x0b,
    TAG_base_type = 0x24,
    TAG_enumeration_type = 0x04,
    AT_sibling = 0x01,
    AT_name = 0x03,
    AT_stmt_list = 0x10,
    AT_low_pc = 0x11,
    AT_high_pc = 0x12,
    AT_producer = 0x25,
    AT_abstract_origin = 0x31,
    AT_decl_line = 0x3b,
    AT_specification = 0x47,
    AT_call_line = 0x59,
    AT_linkage_name = 0x6e,
    FORM_addr = 0x01,
    FORM_data4 = 0x06,
    FORM_string = 0x08,
    FORM_data1 = 0x0b,
    FORM_ref4 = 0x13,
    FORM_sec_offset = 0x17,
};

/* Abbreviations by number. */
enum {
    UNIT = 1,
    FUNCTION,
    ABSTRACT,
    INLINED,
    BLOCK,
    TYPE,
    DECLARATION,
    OUT_OF_LINE,
    HOLDER,
};

static const uint8_t abbreviations[] = {
    UNIT,
    TAG_compile_unit,
    1,
    AT_producer,
    FORM_string,
    AT_low_pc,
    FORM_addr,
    AT_high_pc,
    FORM_data4,
    AT_stmt_list,
    FORM_sec_offset,
    0,
    0,
    FUNCTION,
    TAG_subprogram,
    1,
    AT_name,
    FORM_string,
    AT_decl_line,
    FORM_data1,
    AT_low_pc,
    FORM_addr,
    AT_high_pc,
    FORM_data4,
    0,
    0,
    ABSTRACT,
    TAG_subprogram,
    0,
    AT_name,
    FORM_string,
    AT_linkage_name,
    FORM_string,
    AT_decl_line,
    FORM_data1,
    0,
    0,
    INLINED,
    TAG_inlined_subroutine,
    1,
    AT_abstract_origin,
    FORM_ref4,
    AT_low_pc,
    FORM_addr,
    AT_high_pc,
    FORM_data4,
    AT_call_line,
    FORM_data1,
    0xb6,
    0x42,
    FORM_data1,
    0,
    0,
    BLOCK,
    TAG_lexical_block,
    1,
    0,
    0,
    TYPE,
    TAG_base_type,
    1,
    AT_sibling,
    FORM_ref4,
    0,
    0,
    DECLARATION,
    TAG_subprogram,
    0,
    AT_linkage_name,
    FORM_string,
    AT_decl_line,
    FORM_data1,
    0,
    0,
    OUT_OF_LINE,
    TAG_subprogram,
    0,
    AT_specification,
    FORM_ref4,
    AT_low_pc,
    FORM_addr,
    AT_high_pc,
    FORM_data4,
    0,
    0,
    HOLDER,
    TAG_enumeration_type,
    1,
    0,
    0,
    0,
};

static void put_string(struct br2_buf *b, const char *text)
{
    br2_buf_put(b, text, strlen(text) + 1);
}

static void put_function(struct br2_buf *b, const char *name, uint8_t line, uint64_t start,
                         uint32_t size)
{
    br2_buf_u8(b, FUNCTION);
    put_string(b, name);
    br2_buf_u8(b, line);
    br2_buf_le64(b, start);
    br2_buf_le32(b, size);
}

static void put_inlined(struct br2_buf *b, uint32_t origin, uint64_t start, uint32_t size,
                        uint8_t line, uint8_t discriminator)
{
    br2_buf_u8(b, INLINED);
    br2_buf_le32(b, origin);
    br2_buf_le64(b, start);
    br2_buf_le32(b, size);
    br2_buf_u8(b, line);
    br2_buf_u8(b, discriminator);
}

static void patch_le32(struct br2_buf *b, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        b->bytes[at + i] = (uint8_t)(value >> (8 * i));
    }
}

/* `sibling`: what is added to the right place of the end of the type DIE. */
static struct br2_buf make_info(int sibling)
{
    struct br2_buf b = {0};
    br2_buf_le32(&b, 0);
    br2_buf_put(&b, "\x04\x00\x00\x00\x00\x00\x08", 7); /* version, abbreviations, address size */
    br2_buf_u8(&b, UNIT);
    put_string(&b, "test compiler");
    br2_buf_le64(&b, 0x1000);
    br2_buf_le32(&b, 0x100);
    br2_buf_le32(&b, 0);
    uint32_t leaf = (uint32_t)b.size;
    br2_buf_u8(&b, ABSTRACT);
    put_string(&b, "leaf");
    put_string(&b, "_Z4leafv");
    br2_buf_u8(&b, 3);
    uint32_t declaration = (uint32_t)b.size;
    br2_buf_u8(&b, DECLARATION);
    put_string(&b, "_ZN1c1mEv");
    br2_buf_u8(&b, 77);
    br2_buf_u8(&b, HOLDER);
    br2_buf_u8(&b, TYPE);
    size_t reference = b.size;
    br2_buf_le32(&b, 0);
    br2_buf_u8(&b, 0); /* no children after all */
    patch_le32(&b, reference, (uint32_t)((int)b.size + sibling));
    br2_buf_u8(&b, 0);
    put_function(&b, "outer", 10, 0x1000, 0x40);
    br2_buf_u8(&b, BLOCK);
    put_inlined(&b, leaf, 0x1010, 0x20, 12, 5);
    put_inlined(&b, leaf, 0x1018, 0x08, 4, 0);
    br2_buf_put(&b, "\0\0\0\0", 4); /* inner, leaf, block, outer */
    put_function(&b, "thrown_away", 50, 0x0, 0x2000);
    br2_buf_u8(&b, 0);
    br2_buf_u8(&b, OUT_OF_LINE);
    br2_buf_le32(&b, declaration);
    br2_buf_le64(&b, 0x1080);
    br2_buf_le32(&b, 0x10);
    br2_buf_u8(&b, 0);
    patch_le32(&b, 0, (uint32_t)b.size - 4);
    return b;
}

static void put_address(struct br2_buf *b, uint64_t address)
{
    br2_buf_put(b, "\x00\x09\x02", 3);
    br2_buf_le64(b, address);
}

/* A row `distance` bytes on, with that line. */
static void put_row(struct br2_buf *b, unsigned distance, int lines, unsigned discriminator)
{
    br2_buf_u8(b, 2);
    br2_buf_uleb(b, distance);
    br2_buf_u8(b, 3);
    br2_buf_u8(b, (uint8_t)(lines & 0x7f));
    if (discriminator != 0) {
        br2_buf_put(b, "\x00\x02\x04", 3);
        br2_buf_u8(b, (uint8_t)discriminator);
    }
    br2_buf_u8(b, 1);
}

static void put_end(struct br2_buf *b, unsigned distance)
{
    br2_buf_u8(b, 2);
    br2_buf_uleb(b, distance);
    br2_buf_put(b, "\x00\x01\x01", 3);
}

static struct br2_buf make_lines(void)
{
    static const uint8_t header[] = {4, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13, 0,
                                     1, 1, 1, 1, 0, 0, 0, 1, 0, 0,    1,  0,  0};
    struct br2_buf b = {0};
    br2_buf_le32(&b, 0);
    br2_buf_put(&b, header, sizeof header);
    patch_le32(&b, 6, (uint32_t)b.size - 10);
    put_address(&b, 0); /* of what was thrown away: reaches over real code */
    put_row(&b, 0, 30, 0);
    put_row(&b, 0x1008, 30, 0);
    put_end(&b, 0x800);
    put_address(&b, 0x1000);
    put_row(&b, 0, 10, 0);    /* 0x1000 line 11 */
    put_row(&b, 4, 1, 0);     /* 0x1004 line 12, but the next row is at the same address */
    put_row(&b, 0, 1, 2);     /* 0x1004 line 13 discriminator 2 */
    put_row(&b, 0x10, -9, 0); /* 0x1014 line 4 */
    put_end(&b, 0x1c);        /* 0x1030; nothing from there on */
    patch_le32(&b, 0, (uint32_t)b.size - 4);
    return b;
}

static uint8_t nops[0x100];

static struct br2_debug *open_built(int sibling, const char *extra_symbol,
                                    struct br2_image **ret_image)
{
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf info = make_info(sibling);
    struct br2_buf lines = make_lines();
    struct br2_debug *debug;
    struct br2pgo_error err = {0};
    uint16_t text = (uint16_t)eb_text(&eb, ".text", 0x1000, nops, sizeof nops);
    eb_add(&eb, ".debug_abbrev", SHT_PROGBITS, 0, 0, abbreviations, sizeof abbreviations);
    eb_add(&eb, ".debug_info", SHT_PROGBITS, 0, 0, info.bytes, info.size);
    eb_add(&eb, ".debug_line", SHT_PROGBITS, 0, 0, lines.bytes, lines.size);
    br2_buf_done(&info);
    br2_buf_done(&lines);
    if (extra_symbol != NULL) {
        eb_symbol(&eb, extra_symbol, STB_LOCAL, STT_OBJECT, text, 0x1000, 1);
        eb_symtab(&eb, ".symtab", SHT_SYMTAB);
    }
    assert_int_equal(br2_image_open(eb_write(&eb), ret_image, &err), 0);
    if (br2_debug_open(*ret_image, NULL, NULL, &debug, &err) != 0) {
        fail_msg("%s", err.message);
    }
    unlink(eb.path);
    return debug;
}

static const struct br2_debug_function *function_at(struct br2_debug *debug, uint64_t address)
{
    const struct br2_debug_function *function;
    assert_int_equal(br2_debug_function_at(debug, address, &function, NULL), 0);
    return function;
}

static void test_scopes(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug = open_built(0, NULL, &image);
    const struct br2_debug_function *f = function_at(debug, 0x1000);
    assert_non_null(f);
    assert_ptr_equal(f, function_at(debug, 0x103f));
    assert_null(function_at(debug, 0x1040));
    assert_int_equal(f->scope_count, 3);
    assert_string_equal(f->scopes[0].name, "outer");
    assert_int_equal(f->scopes[0].decl_line, 10);
    assert_int_equal(f->scopes[0].parent, BR2_NO_SCOPE);
    assert_string_equal(f->scopes[1].name, "_Z4leafv");
    assert_string_equal(f->scopes[1].plain_name, "leaf");
    assert_int_equal(f->scopes[1].decl_line, 3);
    assert_int_equal(f->scopes[1].parent, 0);
    assert_int_equal(f->scopes[1].call_line, 12);
    assert_int_equal(f->scopes[1].call_discriminator, 5);
    assert_true(f->scopes[1].call_has_discriminator);
    assert_int_equal(f->scopes[2].parent, 1);
    assert_int_equal(f->entry, 0x1000);
    assert_int_equal(f->range_count, 1);
    assert_int_equal(f->ranges[0].end, 0x1040);
    assert_string_equal(f->producer, "test compiler");
    br2_debug_close(debug);
    br2_image_close(image);
}

static void test_locations(void **state)
{
    (void)state;
    static const struct br2_location expected[] = {
        {0x1000, 0x1004, 0, 11, 0, 1}, {0x1004, 0x1010, 0, 13, 2, 1}, {0x1010, 0x1014, 1, 13, 2, 1},
        {0x1014, 0x1018, 1, 4, 0, 1},  {0x1018, 0x1020, 2, 4, 0, 1},  {0x1020, 0x1030, 1, 4, 0, 1},
        {0x1030, 0x1040, 0, 0, 0, 0},
    };
    struct br2_image *image;
    struct br2_debug *debug = open_built(0, NULL, &image);
    const struct br2_debug_function *f = function_at(debug, 0x1010);
    assert_int_equal(f->location_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(f->locations[i].start, expected[i].start);
        assert_int_equal(f->locations[i].end, expected[i].end);
        assert_int_equal(f->locations[i].scope, expected[i].scope);
        assert_int_equal(f->locations[i].line, expected[i].line);
        assert_int_equal(f->locations[i].discriminator, expected[i].discriminator);
        assert_int_equal(f->locations[i].file, expected[i].file);
    }
    assert_ptr_equal(br2_debug_location(f, 0x1017), &f->locations[3]);
    assert_null(br2_debug_location(f, 0x1040));
    br2_debug_close(debug);
    br2_image_close(image);
}

static void test_specification(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug = open_built(0, NULL, &image);
    const struct br2_debug_function *f = function_at(debug, 0x1088);
    assert_non_null(f);
    assert_string_equal(f->scopes[0].name, "_ZN1c1mEv");
    assert_string_equal(f->scopes[0].plain_name, "");
    assert_int_equal(f->scopes[0].decl_line, 77);
    br2_debug_close(debug);
    br2_image_close(image);
}

static int collect(void *user, const char *name)
{
    snprintf((char *)user + strlen(user), 64 - strlen(user), "%s ", name);
    return 0;
}

/* The unit's DIEs behind a compression header of `type`. */
static struct br2_debug *open_compressed(uint32_t type, struct br2_image **ret_image,
                                         struct br2pgo_error *err)
{
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf info = make_info(0);
    Elf64_Chdr header = {.ch_type = type, .ch_size = info.size, .ch_addralign = 1};
    uint8_t bytes[1024];
    struct br2_debug *debug = NULL;
    memcpy(bytes, &header, sizeof header);
    size_t size = ZSTD_compress(bytes + sizeof header, sizeof bytes - sizeof header, info.bytes,
                                info.size, 3);
    br2_buf_done(&info);
    eb_text(&eb, ".text", 0x1000, nops, sizeof nops);
    eb_add(&eb, ".debug_abbrev", SHT_PROGBITS, 0, 0, abbreviations, sizeof abbreviations);
    eb_add(&eb, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, bytes, sizeof header + size);
    assert_int_equal(br2_image_open(eb_write(&eb), ret_image, err), 0);
    br2_debug_open(*ret_image, NULL, NULL, &debug, err);
    unlink(eb.path);
    return debug;
}

static void test_compressed(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2pgo_error err = {0};
    struct br2_debug *debug = open_compressed(2, &image, &err);
    assert_non_null(debug);
    const struct br2_debug_function *f = function_at(debug, 0x1000);
    assert_non_null(f);
    assert_string_equal(f->scopes[0].name, "outer");
    assert_false(br2_debug_quality(debug)->has_line_table);
    br2_debug_close(debug);
    br2_image_close(image);
    assert_null(open_compressed(9, &image, &err));
    assert_int_equal(err.status, BR2PGO_CORRUPT);
    br2_image_close(image);
}

static int stop(void *user, const char *name)
{
    (void)user;
    (void)name;
    return 42;
}

static void test_names(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug = open_built(0, NULL, &image);
    char names[64] = "";
    assert_int_equal(br2_debug_each_name(debug, collect, names, NULL), 0);
    assert_string_equal(names, "outer _ZN1c1mEv ");
    assert_int_equal(br2_debug_each_name(debug, stop, NULL, NULL), 42);
    br2_debug_close(debug);
    br2_image_close(image);
}

static void test_quality(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug = open_built(0, "__llvm_fs_discriminator__", &image);
    const struct br2_debug_quality *quality = br2_debug_quality(debug);
    assert_true(quality->has_units);
    assert_true(quality->has_line_table);
    assert_true(quality->fs_discriminators);
    assert_string_equal(quality->producer, "test compiler");
    assert_string_equal(br2_debug_path(debug), br2_image_path(image));
    br2_debug_close(debug);
    br2_image_close(image);
    debug = open_built(0, NULL, &image);
    assert_false(br2_debug_quality(debug)->fs_discriminators);
    br2_debug_close(debug);
    br2_image_close(image);
}

/* A sibling reference into the middle of a DIE is believed by libdw, one to the DIE itself was. */
static void test_broken_sibling(void **state)
{
    (void)state;
    static const int wrong[] = {-1, -6, 1, 1000000};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct br2_image *image;
        struct br2_debug *debug = open_built(wrong[i], NULL, &image);
        assert_null(function_at(debug, 0x1000));
        assert_null(function_at(debug, 0x1000));
        assert_int_equal(br2_debug_broken_units(debug), 1);
        br2_debug_close(debug);
        br2_image_close(image);
    }
}

static void test_without(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug;
    struct br2pgo_error err = {0};
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    eb_text(&eb, ".text", 0x1000, nops, sizeof nops);
    assert_int_equal(br2_image_open(eb_write(&eb), &image, NULL), 0);
    assert_int_equal(br2_debug_open(image, NULL, NULL, &debug, NULL), 0);
    assert_false(br2_debug_quality(debug)->has_units);
    assert_null(function_at(debug, 0x1000));
    br2_debug_close(debug);
    assert_int_equal(br2_debug_open(image, eb.path, NULL, &debug, &err), BR2PGO_USELESS);
    assert_non_null(strstr(err.message, "no debug information"));
    assert_int_equal(br2_debug_open(image, "/nonexistent/x", NULL, &debug, &err), BR2PGO_IO);
    unlink(eb.path);
    br2_image_close(image);
}

/* `units` units of `functions` functions each; the line table of each begins `step` bytes behind
 * that of the one before. */
static struct br2_buf make_units(unsigned units, unsigned functions, uint32_t step)
{
    struct br2_buf info = {0};
    for (uint32_t i = 0; i < units; i++) {
        size_t start = info.size;
        br2_buf_le32(&info, 0);
        br2_buf_put(&info, "\x04\x00\x00\x00\x00\x00\x08", 7);
        br2_buf_u8(&info, UNIT);
        put_string(&info, "c");
        br2_buf_le64(&info, 0x1000);
        br2_buf_le32(&info, 0x100);
        br2_buf_le32(&info, i * step);
        for (unsigned k = 0; k < functions; k++) {
            put_function(&info, "f", 1, 0x1000 + 4 * k, 4);
            br2_buf_u8(&info, 0);
        }
        br2_buf_u8(&info, 0);
        patch_le32(&info, start, (uint32_t)(info.size - start) - 4);
    }
    return info;
}

static struct br2_debug *open_units(struct br2_buf info, const struct br2_buf *lines,
                                    struct br2_image **ret_image)
{
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_debug *debug;
    eb_text(&eb, ".text", 0x1000, nops, sizeof nops);
    eb_add(&eb, ".debug_abbrev", SHT_PROGBITS, 0, 0, abbreviations, sizeof abbreviations);
    eb_add(&eb, ".debug_info", SHT_PROGBITS, 0, 0, info.bytes, info.size);
    eb_add(&eb, ".debug_line", SHT_PROGBITS, 0, 0, lines->bytes, lines->size);
    br2_buf_done(&info);
    assert_int_equal(br2_image_open(eb_write(&eb), ret_image, NULL), 0);
    assert_int_equal(br2_debug_open(*ret_image, NULL, NULL, &debug, NULL), 0);
    unlink(eb.path);
    return debug;
}

/* `count` headers of line tables that all reach to the end, then rows of no use. */
static struct br2_buf make_nested_lines(unsigned count, size_t *ret_header)
{
    static const uint8_t header[] = {4, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13, 0,
                                     1, 1, 1, 1, 0, 0, 0, 1, 0, 0,    1,  0,  0};
    struct br2_buf b = {0};
    *ret_header = 4 + sizeof header;
    for (unsigned i = 0; i < count; i++) {
        br2_buf_le32(&b, 0);
        br2_buf_put(&b, header, sizeof header);
        patch_le32(&b, i * *ret_header + 6, sizeof header - 6);
    }
    for (unsigned i = 0; i < 4000; i++) {
        br2_buf_u8(&b, 0x2f); /* one line and two bytes on */
    }
    for (unsigned i = 0; i < count; i++) {
        patch_le32(&b, i * *ret_header, (uint32_t)(b.size - i * *ret_header) - 4);
    }
    return b;
}

static size_t allocations_of_units(unsigned units, const struct br2_buf *lines)
{
    struct br2_image *image;
    br2_mem_fail_at(0);
    struct br2_debug *debug = open_units(make_units(units, 0, 0), lines, &image);
    size_t count = br2_mem_fail_at(0);
    assert_false(br2_debug_quality(debug)->has_line_table);
    assert_int_equal(br2_debug_broken_units(debug), 0);
    br2_debug_close(debug);
    br2_image_close(image);
    return count;
}

/* A table that many units have is read once: 4000 rows each would be a dozen allocations each. */
static void test_shared_lines(void **state)
{
    (void)state;
    size_t header;
    struct br2_buf lines = make_nested_lines(1, &header);
    size_t one = allocations_of_units(1, &lines);
    size_t many = allocations_of_units(101, &lines);
    assert_in_range(many, one, one + 50);
    br2_buf_done(&lines);
}

/* Tables inside each other are no more work than one. */
static void test_nested_lines(void **state)
{
    (void)state;
    size_t header;
    struct br2_buf lines = make_nested_lines(20, &header);
    struct br2_image *image;
    struct br2_debug *debug = open_units(make_units(20, 0, (uint32_t)header), &lines, &image);
    assert_int_equal(br2_debug_broken_units(debug), 19);
    br2_debug_close(debug);
    br2_image_close(image);
    br2_buf_done(&lines);
}

/* Running out of memory once leaves nothing behind that a second question would take for an
 * answer. */
static void test_asked_again(void **state)
{
    (void)state;
    int status = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (status != 0) {
        struct br2_image *image;
        struct br2_debug *debug = open_built(0, NULL, &image);
        const struct br2_debug_function *function;
        br2_mem_fail_at(++nth);
        status = br2_debug_function_at(debug, 0x1000, &function, NULL);
        br2_mem_fail_at(0);
        if (status != 0) {
            assert_int_equal(status, BR2PGO_NO_MEMORY);
            function = function_at(debug, 0x1000);
        }
        assert_non_null(function);
        assert_int_equal(function->scope_count, 3);
        assert_int_equal(function->location_count, 7);
        char names[64] = "";
        assert_int_equal(br2_debug_each_name(debug, collect, names, NULL), 0);
        assert_string_equal(names, "outer _ZN1c1mEv ");
        assert_int_equal(br2_debug_broken_units(debug), 0);
        br2_debug_close(debug);
        br2_image_close(image);
    }
    assert_in_range(nth, 6, 100);
}

static int count_name(void *user, const char *name)
{
    ++*(size_t *)user;
    assert_string_equal(name, "f");
    return 0;
}

/* The same where memory runs out when some functions of a unit are known. */
static void test_functions_asked_again(void **state)
{
    (void)state;
    int status = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (status != 0) {
        struct br2_image *image;
        struct br2_buf none = {0};
        struct br2_debug *debug = open_units(make_units(1, 40, 0), &none, &image);
        size_t count = 0;
        br2_mem_fail_at(++nth);
        status = br2_debug_each_name(debug, count_name, &count, NULL);
        br2_mem_fail_at(0);
        if (status != 0) {
            assert_int_equal(status, BR2PGO_NO_MEMORY);
            assert_int_equal(count, 0);
            assert_int_equal(br2_debug_each_name(debug, count_name, &count, NULL), 0);
        }
        assert_int_equal(count, 40);
        br2_debug_close(debug);
        br2_image_close(image);
    }
    assert_in_range(nth, 8, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),       cmocka_unit_test(test_locations),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_specification),
        cmocka_unit_test(test_quality),      cmocka_unit_test(test_broken_sibling),
        cmocka_unit_test(test_compressed),   cmocka_unit_test(test_without),
        cmocka_unit_test(test_shared_lines), cmocka_unit_test(test_nested_lines),
        cmocka_unit_test(test_asked_again),  cmocka_unit_test(test_functions_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
