/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* GCC's profiles: bytes put together by hand from the layout of gcc/auto-profile.cc, whose version
 * 1 is what create_gcov 0.19 writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "converters/gcc/gcc.h"
#include "support.h"

#define TEXT "cb1:270:270\n 0: 270\nmain:304:1\n 1: 1\n 5.3: 300 work:300\n 2: atoi:3\n  65535: 3\n"

#define WORD_NAMES                                                                                 \
    "000000aa 0e000000 05000000 01000000 00000000"                                                 \
    "02000000 61746f69 00000000 01000000 63623100"                                                 \
    "02000000 6d61696e 00000000 02000000 776f726b 00000000"
#define BYTE_NAMES                                                                                 \
    "000000aa 0e000000 05000000 01000000 00 05000000 61746f6900 04000000 63623100"                 \
    "05000000 6d61696e00 05000000 776f726b00"
/* Name 2 at place 0, no callsites. */
#define CB1 "02000000 01000000 00000000 00000000 00000000 0e01000000000000"
/* Name 3, two places: +1 and +5.3 with a target of kind 7, name 4; a callsite of name 1 at +2, with
 * a place at -1. */
#define MAIN                                                                                       \
    "03000000 02000000 01000000 00000100 00000000 0100000000000000"                                \
    "03000500 01000000 2c01000000000000 07000000 0400000000000000 2c01000000000000"                \
    "00000200 01000000 01000000 00000000 0000ffff 00000000 0300000000000000"
#define FUNCTIONS "000000ac 24000000 02000000 0e01000000000000" CB1 "0100000000000000" MAIN
#define MODULES   "000000ae 01000000 00000000"
#define SETS      "000000af 80010000"

#define NO_FILE "ffffffff"
/* total 574, maximum 300, maximal head 270, 4 counts, 2 functions, 16 lines of 574 * 1 % ... */
#define SUMMARY                                                                                    \
    "000000a8 3e02000000000000 2c01000000000000 0e01000000000000 0400000000000000"                 \
    "0200000000000000 1000000000000000" L("10270000") L("a0860100") L("400d0300") L("e0930400")    \
        L("801a0600") L("20a10700") M("c0270900") M("60ae0a00") M("00350c00") M("a0bb0d00")        \
            M("f07e0e00") M("301b0f00") N("583e0f00") N("dc410f00") N("36420f00") N("3f420f00")
#define L(cutoff) cutoff "2c01000000000000 0100000000000000"
#define M(cutoff) cutoff "0e01000000000000 0200000000000000"
#define N(cutoff) cutoff "0300000000000000 0300000000000000"

/* The bytes of a hexadecimal text. */
static size_t bytes_of(const char *text, uint8_t *ret)
{
    size_t size = 0;
    for (const char *at = text; *at != '\0';) {
        if (*at == ' ') {
            at++;
            continue;
        }
        char digits[3] = {at[0], at[1], '\0'};
        char *end;
        ret[size++] = (uint8_t)strtoul(digits, &end, 16);
        assert_ptr_equal(end, digits + 2);
        at += 2;
    }
    return size;
}

static void write_version(const struct br2_profile *profile, unsigned version, struct br2_buf *out)
{
    struct br2pgo_error err = {0};
    struct br2_write_options options = {.gcov_version = version};
    if (br2_format_encode_profile(&br2_format_gcov, profile, &options, out, &err))
        fail_msg("%s", err.message);
}

static void assert_bytes(const struct br2_buf *out, const char *text, size_t more)
{
    static uint8_t wanted[4096];
    size_t size = bytes_of(text, wanted);
    assert_int_equal(out->size, size + more);
    for (size_t i = 0; i < size; i++) {
        if (out->bytes[i] != wanted[i])
            fail_msg("byte %zu is %02x, not %02x", i, out->bytes[i], wanted[i]);
    }
}

/* The working set's line `index`, in the last 1536 bytes. */
static void assert_set(const struct br2_buf *out, size_t index, unsigned count, unsigned least)
{
    const uint8_t *at = out->bytes + out->size - 1536 + 12 * index;
    assert_int_equal(at[0], count);
    assert_int_equal(at[4] | at[5] << 8, least);
}

static void versions_1_and_2_are_as_gcc_reads_them(void **state)
{
    (void)state;
    struct br2_profile *profile = profile_of(TEXT);
    struct br2_buf out = {0};
    write_version(profile, 1, &out);
    assert_bytes(&out, "61646367 01000000 00000000" WORD_NAMES FUNCTIONS MODULES SETS, 1536);
    /* 574 counts in 128 parts: 67 * 574 / 128 is 300, the largest count; 127 * 574 / 128 is 569. */
    assert_set(&out, 0, 1, 300);
    assert_set(&out, 66, 1, 300);
    assert_set(&out, 67, 2, 270);
    assert_set(&out, 126, 2, 270);
    assert_set(&out, 127, 4, 1);
    br2_buf_u8(&out, 0);
    assert_int_equal(read_fails(&br2_format_gcov, out.bytes, out.size, "something unknown follows"),
                     BR2PGO_CORRUPT);
    br2_buf_done(&out);
    static const unsigned versions[] = {0, 2};
    for (size_t i = 0; i < 2; i++) {
        struct br2_buf second = {0};
        write_version(profile, versions[i], &second);
        assert_bytes(&second, "61646367 02000000 00000000" BYTE_NAMES FUNCTIONS MODULES SETS, 1536);
        br2_buf_done(&second);
    }
    br2_profile_free(profile);
}

static void version_3_has_summary_files_and_times(void **state)
{
    (void)state;
    struct br2_profile *profile = profile_of(TEXT);
    const char *files[][2] = {{"work", "b.c"}, {"cb1", "/s/a.c"}, {"main", "b.c"}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t name = br2_profile_name(profile, files[i][0], strlen(files[i][0]));
        assert_true(br2_profile_set_file(profile, name, files[i][1], strlen(files[i][1])));
    }
    profile->functions[0]->first_seen = 0x1234;
    struct br2_buf out = {0};
    write_version(profile, 3, &out);
    assert_bytes(&out,
                 "61646367 03000000 00000000" SUMMARY "000000aa 0e000000"
                 "02000000 07000000 2f732f612e6300 04000000 622e6300 05000000 01000000 00" NO_FILE
                 "05000000 61746f6900" NO_FILE "04000000 63623100 00000000"
                 "05000000 6d61696e00 01000000 05000000 776f726b00 01000000"
                 "000000ac 24000000 02000000 0e01000000000000 3412000000000000" CB1
                 "0100000000000000 0000000000000000" MAIN MODULES,
                 0);
    struct br2_profile *read = br2_profile_new();
    assert_int_equal(br2_format_gcov.read_profile(out.bytes, out.size, read, NULL), 0);
    size_t length;
    uint32_t name = br2_profile_name(read, "main", 4);
    assert_string_equal(br2_profile_file(read, name, &length), "b.c");
    assert_null(br2_profile_file(read, br2_profile_name(read, "atoi", 4), &length));
    assert_int_equal(br2_profile_find(read, br2_profile_name(read, "cb1", 3))->first_seen, 0x1234);
    assert_int_equal(br2_profile_find(read, name)->first_seen, 0);
    assert_int_equal(br2_profile_find(read, name)->total, 304);
    br2_profile_free(read);
    br2_profile_free(profile);
    br2_buf_done(&out);
}

/* Reads a hexadecimal text; NULL where that fails, with the message in `err`. */
static struct br2_profile *read_hex(const char *text, struct br2pgo_error *err)
{
    uint8_t scratch[8192];
    size_t size = bytes_of(text, scratch);
    uint8_t *exact = br2_alloc(size); /* so that a sanitizer sees reads past its end */
    memcpy(exact, scratch, size);
    struct br2_profile *profile = br2_profile_new();
    assert_true(br2_format_gcov.probe(exact, size));
    int status = br2_format_gcov.read_profile(exact, size, profile, err);
    br2_free(exact);
    if (status != 0) {
        assert_int_equal(status, err->status);
        br2_profile_free(profile);
        return NULL;
    }
    return profile;
}

/* create_gcov 0.19 writes words under every version, by default that of Google's GCC. */
static void encodings_are_told_apart(void **state)
{
    (void)state;
    static const char *const files[] = {
        "61646367 01000000 00000000" WORD_NAMES FUNCTIONS MODULES,
        "61646367 02000000 00000000" WORD_NAMES FUNCTIONS MODULES,
        "61646367 2a373034 00000000" WORD_NAMES FUNCTIONS MODULES,
        "61646367 2a373034 01020304" BYTE_NAMES FUNCTIONS MODULES,
        "61646367 02000000 00000000" BYTE_NAMES FUNCTIONS MODULES,
    };
    struct br2_profile *wanted = profile_of(TEXT);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct br2pgo_error err = {0};
        char text[256];
        struct br2_profile *read = read_hex(files[i], &err);
        if (read == NULL)
            fail_msg("file %zu: %s", i, err.message);
        assert_null(br2_profile_difference(wanted, read, text, sizeof text));
        br2_profile_free(read);
    }
    br2_profile_free(wanted);
}

/* What create_gcov writes when it understood nothing: nothing, in the same form. */
static void an_empty_profile_is_read_but_not_written(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    struct br2_buf out = {0};
    struct br2_profile *read = read_hex("61646367 01000000 00000000 000000aa 03000000 01000000"
                                        "01000000 00000000 000000ac 01000000 00000000" MODULES,
                                        &err);
    assert_non_null(read);
    assert_int_equal(read->function_count, 0);
    assert_int_equal(br2_format_encode_profile(&br2_format_gcov, read, NULL, &out, &err),
                     BR2PGO_USELESS);
    assert_int_equal(out.size, 0);
    br2_profile_free(read);
}

#define NAMES_2 "61646367 02000000 00000000 000000aa 00000000 02000000 01000000 00 02000000 6600"
#define ONE     NAMES_2 "000000ac 00000000 01000000 0100000000000000"

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *message;
    } cases[] = {
        {"61646367 02000000 0000", BR2PGO_CORRUPT, "it ends too early"},
        {"61646367 04000000 00000000", BR2PGO_UNSUPPORTED, "version 0x4"},
        {"61646367 2a323242 00000000", BR2PGO_UNSUPPORTED, "version 0x4232322a"}, /* a .gcda file */
        {"61646367 02000000 00000000 000000ab", BR2PGO_CORRUPT, "there is no table of names"},
        {"61646367 03000000 00000000 000000aa", BR2PGO_CORRUPT, "there is no summary"},
        {"61646367 03000000 00000000 000000a8 00000000000000000000000000000000000000000000000000"
         "000000000000000000000000000000 0100000000000000 00",
         BR2PGO_CORRUPT, "more lines than fit"},
        {"61646367 02000000 00000000 000000aa 00000000 01000000 00000000 000000ac", BR2PGO_CORRUPT,
         "the table of names cannot be read"}, /* a string of size 0 */
        {"61646367 02000000 00000000 000000aa 00000000 ffffffff 01000000 00", BR2PGO_CORRUPT,
         "the table of names cannot be read"},
        {NAMES_2 "000000ac 00000000 01000000", BR2PGO_CORRUPT, "more functions than fit"},
        {ONE "00000000 00000000 00000000", BR2PGO_CORRUPT, "a name is not in the table"},
        {ONE "02000000 00000000 00000000", BR2PGO_CORRUPT, "a name is not in the table"},
        {ONE "01000000 01000000 00000000 00000000 00000000 01000000", BR2PGO_CORRUPT,
         "more places than fit"},
        {ONE "01000000 00000000 01000000 00000000", BR2PGO_CORRUPT, "more inlined functions"},
        {ONE "01000000 01000000 00000000 00000000 02000000 0100000000000000" MODULES,
         BR2PGO_CORRUPT, "more call targets than fit"},
        {ONE "01000000 01000000 00000000 00000000 01000000 0100000000000000"
             "06000000 0100000000000000 0100000000000000",
         BR2PGO_CORRUPT, "unknown kind"},
        {ONE "01000000 01000000 00000000 00000000 01000000 0100000000000000"
             "07000000 0100000001000000 0100000000000000",
         BR2PGO_CORRUPT, "a name is not in the table"},
        {ONE "01000000 00000000 00000000", BR2PGO_CORRUPT, "it ends too early"},
        {ONE "01000000 00000000 00000000 000000af 00000000 00000000", BR2PGO_CORRUPT,
         "no table of modules"},
        {ONE "01000000 00000000 00000000 000000ae 01000000 01000000", BR2PGO_UNSUPPORTED, "LIPO"},
        {ONE "01000000 00000000 00000000" MODULES "00", BR2PGO_CORRUPT, "ends too early"},
        {ONE "01000000 00000000 00000000" MODULES SETS "00", BR2PGO_CORRUPT, "ends too early"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct br2pgo_error err = {0};
        assert_null(read_hex(cases[i].text, &err));
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].message, err.message);
        assert_int_equal(err.status, cases[i].status);
    }
    static const uint8_t big_endian[12] = {'g', 'c', 'd', 'a'};
    assert_false(br2_format_gcov.probe(big_endian, sizeof big_endian));
    assert_int_equal(
        read_fails(&br2_format_gcov, big_endian, sizeof big_endian, "a big-endian machine"),
        BR2PGO_UNSUPPORTED);
}

/* A function in a function in a function ... `depth` times. */
static void nest(struct br2_buf *out, unsigned depth)
{
    static uint8_t bytes[256];
    br2_buf_put(out, bytes, bytes_of(ONE, bytes));
    for (unsigned i = 0; i < depth; i++) {
        br2_buf_put(out, bytes, bytes_of("01000000 00000000 01000000 00000100", bytes));
    }
    br2_buf_put(out, bytes, bytes_of("01000000 00000000 00000000" MODULES, bytes));
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    for (unsigned depth = 256; depth <= 257; depth++) {
        struct br2_buf file = {0};
        nest(&file, depth);
        int status = read_fails(&br2_format_gcov, file.bytes, file.size, "nested too deep");
        assert_int_equal(status, depth == 256 ? BR2PGO_OK : BR2PGO_CORRUPT);
        br2_buf_done(&file);
    }
}

/* Functions and places that stand there twice are one, with the sum. */
static void repetitions_add_up(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    char text[256];
    struct br2_profile *read =
        read_hex(NAMES_2 "000000ac 00000000 02000000 0100000000000000"
                         "01000000 02000000 00000000 00000100 00000000 0500000000000000"
                         "00000100 00000000 0600000000000000 0200000000000000"
                         "01000000 01000000 00000000 00000200 00000000 0700000000000000" MODULES,
                 &err);
    struct br2_profile *wanted = profile_of("f:18:3\n 1: 11\n 2: 7\n");
    assert_non_null(read);
    assert_null(br2_profile_difference(wanted, read, text, sizeof text));
    assert_int_equal(br2_profile_find(read, br2_profile_name(read, "f", 1))->total, 18);
    br2_profile_free(wanted);
    br2_profile_free(read);
}

static void what_it_cannot_hold_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"f:1:1\n 1.65536: 1\n", "more than 16 bits"},
        {"f:1:1\n 1: 0\n 2.65536: g:1\n  1: 1\n", "more than 16 bits"},
        {"f:1:1\n 1: 1\n !CFGChecksum: 7\n", "checksums"},
    };
    struct br2_write_options options = {0};
    struct br2pgo_error err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct br2_buf out = {0};
        struct br2_profile *profile = profile_of(cases[i].text);
        assert_int_equal(br2_format_encode_profile(&br2_format_gcov, profile, &options, &out, &err),
                         BR2PGO_UNSUPPORTED);
        assert_non_null(strstr(err.message, cases[i].message));
        br2_profile_free(profile);
        br2_buf_done(&out);
    }
    struct br2_profile *profile = profile_of("f:1:1\n 1.65535: 1\n");
    struct br2_buf out = {0};
    assert_int_equal(br2_format_encode_profile(&br2_format_gcov, profile, &options, &out, &err), 0);
    options.gcov_version = 4;
    assert_int_equal(br2_format_encode_profile(&br2_format_gcov, profile, &options, &out, &err),
                     BR2PGO_INVALID);
    options.gcov_version = 2;
    profile->md5_names = true;
    assert_int_equal(br2_format_encode_profile(&br2_format_gcov, profile, &options, &out, &err),
                     BR2PGO_UNSUPPORTED);
    profile->md5_names = false;
    profile->fs_discriminators = true;
    assert_int_equal(br2_format_encode_profile(&br2_format_gcov, profile, &options, &out, &err),
                     BR2PGO_UNSUPPORTED);
    br2_buf_done(&out);
    br2_profile_free(profile);
    /* Names that GCC would not find, or take for the empty one. */
    static const char *const names[] = {"", "a\0b"};
    for (size_t i = 0; i < 2; i++) {
        struct br2_buf none = {0};
        struct br2_profile *named = br2_profile_new();
        br2_profile_function(named, br2_profile_name(named, names[i], i * 3))->head = 1;
        assert_int_equal(br2_format_encode_profile(&br2_format_gcov, named, NULL, &none, &err),
                         BR2PGO_UNSUPPORTED);
        assert_non_null(strstr(err.message, "NUL byte"));
        br2_buf_done(&none);
        br2_profile_free(named);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_1_and_2_are_as_gcc_reads_them),
        cmocka_unit_test(version_3_has_summary_files_and_times),
        cmocka_unit_test(encodings_are_told_apart),
        cmocka_unit_test(an_empty_profile_is_read_but_not_written),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(repetitions_add_up),
        cmocka_unit_test(what_it_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
