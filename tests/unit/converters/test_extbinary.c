/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's extensible binary format: the layout LLVM writes, the layouts it may write, and lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "converters/llvm/extbinary.h"
#include "golden.h"
#include "support.h"

static const struct br2_format *const ext = &br2_format_llvm_extbinary;

static struct br2_buf encode(const char *text, struct br2_write_options options)
{
    struct br2_buf out = {0};
    struct br2pgo_error err = {0};
    struct br2_profile *profile = profile_of(text);
    if (options.symbol_list) {
        br2_strings_add(&profile->symbol_list, "zz", 2);
        br2_strings_add(&profile->symbol_list, "aa", 2);
    }
    if (br2_format_encode_profile(ext, profile, &options, &out, &err))
        fail_msg("%s", err.message);
    br2_profile_free(profile);
    return out;
}

/* Field 0 to 3 (type, flags, offset, size) of entry `index` of the section table. */
static uint64_t field(const struct br2_buf *file, size_t index, size_t number)
{
    return br2_load_le64(file->bytes + 18 + index * 32 + number * 8);
}

static void the_layout_is_llvms(void **state)
{
    (void)state;
    static const uint8_t records[] = {GOLDEN_MAIN, GOLDEN_FOO}, names[] = {GOLDEN_NAMES};
    static const uint8_t offsets[] = {2, 3, 0, 2, 0x31};
    static const uint64_t types[] = {1, 2, 6, 4, 32, 3, 5};
    static const uint64_t places[] = {242, 338, 360, 422, 361, 422, 427};
    static const uint64_t sizes[] = {96, 22, 1, 5, 61, 0, 0};
    struct br2_buf out = encode(SAMPLE_TEXT, (struct br2_write_options){0});
    assert_int_equal(out.size, 427);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(field(&out, i, 0), types[i]);
        assert_int_equal(field(&out, i, 1), 0);
        assert_int_equal(field(&out, i, 2), places[i]);
        assert_int_equal(field(&out, i, 3), sizes[i]);
    }
    assert_memory_equal(out.bytes + 338, names, sizeof names);
    assert_memory_equal(out.bytes + 361, records, sizeof records);
    assert_memory_equal(out.bytes + 422, offsets, sizeof offsets);
    br2_buf_done(&out);
}

static void options_set_flags_and_sections(void **state)
{
    (void)state;
    struct br2_buf out = encode(SAMPLE_TEXT, (struct br2_write_options){.md5 = true});
    static const uint8_t hash_of_bar[] = {0x37, 0xb5, 0x1d, 0x19, 0x4a, 0x75, 0x13, 0xe4};
    assert_true(field(&out, 1, 1) == UINT64_C(3) << 32);
    assert_memory_equal(out.bytes + 339, hash_of_bar, 8);
    br2_buf_done(&out);

    out = encode(SAMPLE_TEXT, (struct br2_write_options){.compress = true, .partial = true});
    assert_true(field(&out, 0, 1) == ((UINT64_C(1) << 32) | 1));
    for (size_t i = 1; i < 7; i++)
        assert_int_equal(field(&out, i, 1), 1);
    assert_int_equal(field(&out, 5, 3), 0); /* nothing stays nothing */
    assert_int_equal(out.bytes[244], 0x78); /* after two sizes, zlib's header */
    br2_buf_done(&out);

    out = encode(SAMPLE_TEXT, (struct br2_write_options){.symbol_list = true});
    assert_int_equal(field(&out, 5, 3), 6);
    assert_memory_equal(out.bytes + field(&out, 5, 2), "aa\0zz", 6);
    br2_buf_done(&out);

    out = encode("f.__uniq.1:1:1\n 1: 1\n", (struct br2_write_options){0});
    assert_true(field(&out, 1, 1) == UINT64_C(1) << 34);
    br2_buf_done(&out);
}

static void metadata_are_written_and_read(void **state)
{
    (void)state;
    static const char in[] = "main:9:1\n 1: 2\n 3: baz:3\n  1: 3\n  !CFGChecksum: 222\n"
                             "  !Attributes: 2\n !CFGChecksum: 111\n";
    static const uint8_t metadata[] = {1, 111, 0, 1, 3, 0, 0, 0xde, 0x01, 2, 0};
    struct br2_buf out = encode(in, (struct br2_write_options){0});
    assert_true(field(&out, 0, 1) == UINT64_C(1) << 36);
    assert_true(field(&out, 6, 1) == UINT64_C(3) << 32);
    assert_int_equal(field(&out, 6, 3), sizeof metadata);
    assert_memory_equal(out.bytes + field(&out, 6, 2), metadata, sizeof metadata);
    struct br2_profile *profile = br2_profile_new();
    assert_int_equal(ext->read_profile(out.bytes, out.size, profile, NULL), BR2PGO_OK);
    assert_true(profile->has_checksums);
    assert_int_equal(profile->functions[0]->checksum, 111);
    assert_int_equal(profile->functions[0]->callsites[0].callee->checksum, 222);
    assert_int_equal(profile->functions[0]->callsites[0].callee->attributes, 2);
    br2_profile_free(profile);
    br2_buf_done(&out);
}

/* A file made by hand: sections in the order they are put, one after the other. */
struct maker {
    struct br2_buf table;
    struct br2_buf payload;
    uint64_t count;
};

static void put(struct maker *m, uint64_t type, uint64_t flags, const void *bytes, size_t size)
{
    br2_buf_le64(&m->table, type);
    br2_buf_le64(&m->table, flags);
    br2_buf_le64(&m->table, m->payload.size); /* made absolute by finish */
    br2_buf_le64(&m->table, size);
    br2_buf_put(&m->payload, bytes, size);
    m->count++;
}

static struct br2_buf finish(struct maker *m)
{
    struct br2_buf out = {0};
    br2_buf_put(&out, br2_llvm_magic_extbinary, BR2_LLVM_MAGIC_SIZE);
    br2_buf_uleb(&out, BR2_LLVM_VERSION);
    br2_buf_le64(&out, m->count);
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < 4; k++) {
            uint64_t value = br2_load_le64(m->table.bytes + i * 32 + k * 8);
            br2_buf_le64(&out, k == 2 ? value + 18 + m->table.size : value);
        }
    br2_buf_put(&out, m->payload.bytes, m->payload.size);
    br2_buf_done(&m->table);
    br2_buf_done(&m->payload);
    return out;
}

static const uint8_t summary[] = {GOLDEN_SUMMARY}, names[] = {GOLDEN_NAMES},
                     main_record[] = {GOLDEN_MAIN}, foo_record[] = {GOLDEN_FOO};

/* With two sections of functions, each with its table, as LLVM's layout for ThinLTO has them, and
 * sections of the future between them. */
static void several_function_sections_are_read(void **state)
{
    (void)state;
    char text[256];
    static const uint8_t at_main[] = {1, 3, 0}, at_foo[] = {1, 2, 0};
    struct maker m = {0};
    put(&m, BR2_LLVM_SUMMARY, 0, summary, sizeof summary);
    put(&m, 77, 1, "not even compressed", 20);
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    put(&m, BR2_LLVM_OFFSETS, 0, at_main, sizeof at_main);
    put(&m, BR2_LLVM_RECORDS, 0, main_record, sizeof main_record);
    put(&m, BR2_LLVM_OFFSETS, 2, at_foo, sizeof at_foo);
    put(&m, BR2_LLVM_RECORDS, 2, foo_record, sizeof foo_record);
    put(&m, BR2_LLVM_SYMBOL_LIST, 0, "cold\0colder", 12);
    struct br2_buf file = finish(&m);
    struct br2_profile *profile = br2_profile_new(), *expected = profile_of(SAMPLE_TEXT);
    assert_int_equal(ext->read_profile(file.bytes, file.size, profile, NULL), BR2PGO_OK);
    assert_null(br2_profile_difference(expected, profile, text, sizeof text));
    assert_true(profile->has_symbol_list);
    assert_int_equal(profile->symbol_list.count, 2);
    assert_int_not_equal(br2_strings_find(&profile->symbol_list, "colder", 6), BR2_NO_STRING);
    br2_profile_free(profile);
    br2_profile_free(expected);
    br2_buf_done(&file);
}

/* LLVM 12 and 13 wrote hashes as LEB128. */
static void hashes_of_variable_length_are_read(void **state)
{
    (void)state;
    char text[256];
    struct br2_buf hashes = {0};
    static const char *const table[] = {"bar", "baz", "foo", "main", "qux"};
    br2_buf_uleb(&hashes, 5);
    for (size_t i = 0; i < 5; i++)
        br2_buf_uleb(&hashes, br2_llvm_guid(table[i], strlen(table[i])));
    struct maker m = {0};
    put(&m, BR2_LLVM_NAMES, BR2_LLVM_NAMES_MD5, hashes.bytes, hashes.size);
    put(&m, BR2_LLVM_RECORDS, 0, main_record, sizeof main_record);
    put(&m, BR2_LLVM_RECORDS, 0, foo_record, sizeof foo_record);
    struct br2_buf file = finish(&m);
    struct br2_profile *profile = br2_profile_new(), *expected = br2_profile_new();
    struct br2_profile *named = profile_of(SAMPLE_TEXT);
    assert_int_equal(br2_llvm_hash_names(expected, named, NULL), BR2PGO_OK);
    assert_int_equal(ext->read_profile(file.bytes, file.size, profile, NULL), BR2PGO_OK);
    assert_true(profile->md5_names);
    assert_null(br2_profile_difference(expected, profile, text, sizeof text));
    br2_profile_free(profile);
    br2_profile_free(expected);
    br2_profile_free(named);
    br2_buf_done(&hashes);
    br2_buf_done(&file);
}

static void hashes_stay_hashes(void **state)
{
    (void)state;
    struct br2_buf first = encode(SAMPLE_TEXT, (struct br2_write_options){.md5 = true});
    struct br2_profile *profile = br2_profile_new();
    struct br2_buf second = {0};
    struct br2_write_options no_options = {0};
    assert_int_equal(ext->read_profile(first.bytes, first.size, profile, NULL), BR2PGO_OK);
    assert_int_equal(br2_format_encode_profile(ext, profile, &no_options, &second, NULL),
                     BR2PGO_OK);
    assert_true(field(&second, 1, 1) == UINT64_C(3) << 32);
    br2_profile_free(profile);
    br2_buf_done(&first);
    br2_buf_done(&second);
}

static void expect(struct maker *m, int status, const char *message)
{
    struct br2_buf file = finish(m);
    if (read_fails(ext, file.bytes, file.size, message) != status)
        fail_msg("not refused: %s", message);
    br2_buf_done(&file);
    *m = (struct maker){0};
}

static void sections_that_lie_are_corrupt(void **state)
{
    (void)state;
    struct maker m = {0};
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    expect(&m, BR2PGO_CORRUPT, "second name table");
    put(&m, BR2_LLVM_NAMES, 0, "\1x\0y", 4);
    expect(&m, BR2PGO_CORRUPT, "bytes left over (offset 3 of the name table section)");
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    put(&m, BR2_LLVM_OFFSETS, 0, "\1\3\1", 3);
    put(&m, BR2_LLVM_RECORDS, 0, main_record, sizeof main_record);
    expect(&m, BR2PGO_CORRUPT, "offset table does not fit");
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    put(&m, BR2_LLVM_OFFSETS, 0, "\2\3\0\2\0", 5);
    put(&m, BR2_LLVM_RECORDS, 0, main_record, sizeof main_record);
    expect(&m, BR2PGO_CORRUPT, "offset table does not fit");
    put(&m, BR2_LLVM_NAMES, BR2_LLVM_NAMES_MD5 | BR2_LLVM_NAMES_FIXED, "\2abcdefgh", 9);
    expect(&m, BR2PGO_CORRUPT, "more hashes than fit");
    put(&m, BR2_LLVM_NAMES, 1, "\1\2xx", 4);
    expect(&m, BR2PGO_CORRUPT, "does not unpack");
    put(&m, BR2_LLVM_NAMES, 1, "\1\3xx", 4);
    expect(&m, BR2PGO_CORRUPT, "wrong size");
    put(&m, BR2_LLVM_NAMES, 1, "\xff\xff\xff\xff\x0f\2xx", 8);
    expect(&m, BR2PGO_CORRUPT, "cannot have the stated size");
    put(&m, BR2_LLVM_METADATA, 0, "", 1);
    expect(&m, BR2PGO_CORRUPT, "not in the name table");
    put(&m, BR2_LLVM_NAMES, 0, names, sizeof names);
    put(&m, BR2_LLVM_METADATA, BR2_LLVM_METADATA_PROBES, "\0\5\0", 3);
    put(&m, BR2_LLVM_METADATA, BR2_LLVM_METADATA_PROBES, "\0\5\0", 3);
    expect(&m, BR2PGO_CORRUPT, "second section of function metadata");
}

static void section_tables_that_lie_are_corrupt(void **state)
{
    (void)state;
    struct br2_buf file = encode(SAMPLE_TEXT, (struct br2_write_options){0});
    static const struct {
        size_t at; /* a byte of the table to set to 0x7f */
        const char *message;
    } cases[] = {
        {10, "section table has more entries"}, {17, "section table has more entries"},
        {18 + 16 + 7, "larger than the file"}, /* offset, highest byte */
        {18 + 24 + 7, "larger than the file"}, /* size */
        {18 + 24 + 1, "larger than the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t old = file.bytes[cases[i].at];
        file.bytes[cases[i].at] = 0x7f;
        assert_int_equal(read_fails(ext, file.bytes, file.size, cases[i].message), BR2PGO_CORRUPT);
        file.bytes[cases[i].at] = old;
    }
    /* All of the file twice: sections may not be read more often than they are there. */
    struct maker m = {0};
    put(&m, 77, 0, names, sizeof names);
    put(&m, 77, 0, names, 0);
    struct br2_buf overlapping = finish(&m);
    overlapping.bytes[18 + 32 + 24] = sizeof names;
    overlapping.bytes[18 + 32 + 16] = overlapping.bytes[18 + 16];
    assert_int_equal(read_fails(ext, overlapping.bytes, overlapping.size, "larger than the file"),
                     BR2PGO_CORRUPT);
    br2_buf_done(&overlapping);
    br2_buf_done(&file);
}

static void other_kinds_of_profile_are_refused_by_name(void **state)
{
    (void)state;
    struct maker m = {0};
    put(&m, BR2_LLVM_SUMMARY, BR2_LLVM_SUMMARY_CONTEXT, summary, sizeof summary);
    expect(&m, BR2PGO_UNSUPPORTED, "context-sensitive");
    put(&m, BR2_LLVM_CONTEXT_NAMES, 0, "\1", 1);
    expect(&m, BR2PGO_UNSUPPORTED, "context-sensitive");
    put(&m, BR2_LLVM_SUMMARY, BR2_LLVM_SUMMARY_VTABLES, summary, sizeof summary);
    expect(&m, BR2PGO_UNSUPPORTED, "vtable");
}

static void flags_of_the_profile_survive(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    struct br2_profile *profile = profile_of(SAMPLE_TEXT), *again = br2_profile_new();
    profile->fs_discriminators = true;
    profile->partial = true;
    assert_int_equal(br2_format_encode_profile(ext, profile, NULL, &out, NULL), BR2PGO_OK);
    assert_int_equal(ext->read_profile(out.bytes, out.size, again, NULL), BR2PGO_OK);
    assert_true(again->fs_discriminators);
    assert_true(again->partial);
    br2_profile_free(profile);
    br2_profile_free(again);
    br2_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_llvms),
        cmocka_unit_test(options_set_flags_and_sections),
        cmocka_unit_test(metadata_are_written_and_read),
        cmocka_unit_test(several_function_sections_are_read),
        cmocka_unit_test(hashes_of_variable_length_are_read),
        cmocka_unit_test(hashes_stay_hashes),
        cmocka_unit_test(sections_that_lie_are_corrupt),
        cmocka_unit_test(section_tables_that_lie_are_corrupt),
        cmocka_unit_test(other_kinds_of_profile_are_refused_by_name),
        cmocka_unit_test(flags_of_the_profile_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
