/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's raw binary format: golden bytes, and bytes that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "support.h"

static const struct br2_format *const binary = &br2_format_llvm_binary;

static void the_bytes_are_llvms(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    struct br2_profile *profile = profile_of(SAMPLE_TEXT);
    assert_int_equal(sizeof golden_binary, 189);
    assert_int_equal(br2_format_encode_profile(binary, profile, NULL, &out, NULL), BR2PGO_OK);
    assert_int_equal(out.size, sizeof golden_binary);
    assert_memory_equal(out.bytes, golden_binary, sizeof golden_binary);
    br2_buf_done(&out);
    br2_profile_free(profile);
}

static void the_bytes_are_read(void **state)
{
    (void)state;
    char text[256];
    struct br2_profile *expected = profile_of(SAMPLE_TEXT);
    struct br2_profile *profile = br2_profile_new();
    assert_int_equal(binary->read_profile(golden_binary, sizeof golden_binary, profile, NULL),
                     BR2PGO_OK);
    assert_null(br2_profile_difference(expected, profile, text, sizeof text));
    br2_profile_free(expected);
    br2_profile_free(profile);
}

static void every_truncation_inside_a_record_is_corrupt(void **state)
{
    (void)state;
    static const uint8_t foo[] = {GOLDEN_FOO};
    size_t end_of_main = sizeof golden_binary - sizeof foo;
    static const uint8_t records[] = {GOLDEN_MAIN, GOLDEN_FOO};
    size_t start_of_main = sizeof golden_binary - sizeof records;
    for (size_t size = 0; size < sizeof golden_binary; size++) {
        int status = read_fails(binary, golden_binary, size, "of the file)");
        bool whole = size == start_of_main || size == end_of_main;
        assert_int_equal(status, whole ? BR2PGO_OK : BR2PGO_CORRUPT);
    }
}

#define LITTLE_SUMMARY 0, 0, 0, 0, 0, 0
#define LITTLE         GOLDEN_MAGIC, LITTLE_SUMMARY, 1, 'f', 0
#define HUGE_NUMBER    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01

static void numbers_that_lie_are_corrupt(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[48];
        size_t size;
        const char *message;
    } cases[] = {
#define CASE(message, ...) {{__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), message}
        CASE("summary has more entries", GOLDEN_MAGIC, 0, 0, 0, 0, 0, HUGE_NUMBER),
        CASE("more names than fit", GOLDEN_MAGIC, LITTLE_SUMMARY, HUGE_NUMBER),
        CASE("ends too early", GOLDEN_MAGIC, LITTLE_SUMMARY, 2, 'f', 0, 'g'),
        CASE("not in the name table", LITTLE, 0, 1, 0, 0, 0),
        CASE("not in the name table", LITTLE, 0, HUGE_NUMBER, 0, 0, 0),
        CASE("more samples than fit", LITTLE, 0, 0, 0, HUGE_NUMBER, 0, 0),
        CASE("larger than 65535", LITTLE, 0, 0, 0, 1, 0x80, 0x80, 4, 0, 0, 0, 0),
        CASE("more than 32 bits", LITTLE, 0, 0, 0, 1, 0, HUGE_NUMBER, 0, 0, 0),
        CASE("more call targets than fit", LITTLE, 0, 0, 0, 1, 0, 0, 0, HUGE_NUMBER, 0),
        CASE("not in the name table", LITTLE, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 0),
        CASE("more callsites than fit", LITTLE, 0, 0, 0, 0, HUGE_NUMBER, 0, 0, 0, 0, 0, 0),
        CASE("ends too early", LITTLE, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
             0x02, 0, 0),
        CASE("ends too early", 0xff, 0xe5, 0xd0),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (read_fails(binary, cases[i].bytes, cases[i].size, cases[i].message) != BR2PGO_CORRUPT)
            fail_msg("case %zu was accepted", i);
}

static void other_versions_and_kinds_are_refused_by_name(void **state)
{
    (void)state;
    static const uint8_t version[] = {0xff, 0xe5, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53, 0x69};
    static const uint8_t compact[] = {0x82, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53, 0x67};
    assert_int_equal(read_fails(binary, version, sizeof version, "version 105"),
                     BR2PGO_UNSUPPORTED);
    assert_int_equal(read_fails(binary, compact, sizeof compact, "compact binary"),
                     BR2PGO_UNSUPPORTED);
    assert_ptr_equal(br2_format_by_content(compact, sizeof compact), binary);
}

/* A record of `depth` functions inlined in each other. */
static void put_nested(struct br2_buf *out, size_t depth)
{
    static const uint8_t head[] = {LITTLE, 0}, body[] = {0, 0, 0}, callsite[] = {1, 0, 0};
    br2_buf_put(out, head, sizeof head);
    for (size_t i = 0; i < depth; i++) {
        br2_buf_put(out, body, sizeof body);
        br2_buf_put(out, callsite, sizeof callsite);
    }
    br2_buf_put(out, body, sizeof body);
    br2_buf_u8(out, 0);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    struct br2_buf most = {0}, more = {0};
    put_nested(&most, 256);
    put_nested(&more, 257);
    assert_int_equal(read_fails(binary, most.bytes, most.size, ""), BR2PGO_OK);
    assert_int_equal(read_fails(binary, more.bytes, more.size, "nested too deep"), BR2PGO_CORRUPT);
    br2_buf_done(&most);
    br2_buf_done(&more);
}

static void repeated_records_take_little_time(void **state)
{
    (void)state;
    struct br2_buf in = {0};
    static const uint8_t head[] = {LITTLE};
    br2_buf_put(&in, head, sizeof head);
    for (uint32_t i = 0; i < 200000; i++) {
        const uint8_t record[] = {1, 0, 1, 1};
        br2_buf_put(&in, record, sizeof record);
        br2_buf_uleb(&in, 65535 - i % 65536);
        br2_buf_uleb(&in, i / 65536);
        br2_buf_put(&in, (const uint8_t[]){1, 0, 0}, 3);
    }
    struct br2_profile *profile = br2_profile_new();
    assert_int_equal(binary->read_profile(in.bytes, in.size, profile, NULL), BR2PGO_OK);
    assert_int_equal(profile->function_count, 1);
    assert_int_equal(profile->functions[0]->total, 200000);
    assert_int_equal(profile->functions[0]->sample_count, 200000);
    br2_profile_free(profile);
    br2_buf_done(&in);
}

static void what_it_cannot_hold_is_not_written(void **state)
{
    (void)state;
    struct br2_buf out = {0};
    struct br2pgo_error err = {0};
    struct br2_profile *probes = profile_of("f:1:1\n 1: 1\n !CFGChecksum: 5\n");
    struct br2_profile *hashes = br2_profile_new();
    assert_int_equal(br2_llvm_hash_names(hashes, probes, NULL), BR2PGO_OK);
    hashes->has_checksums = false;
    assert_int_equal(binary->write_profile(probes, NULL, &out, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.message, "checksums"));
    assert_int_equal(binary->write_profile(hashes, NULL, &out, &err), BR2PGO_UNSUPPORTED);
    assert_non_null(strstr(err.message, "MD5"));
    br2_profile_free(probes);
    br2_profile_free(hashes);
    br2_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_llvms),
        cmocka_unit_test(the_bytes_are_read),
        cmocka_unit_test(every_truncation_inside_a_record_is_corrupt),
        cmocka_unit_test(numbers_that_lie_are_corrupt),
        cmocka_unit_test(other_versions_and_kinds_are_refused_by_name),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(repeated_records_take_little_time),
        cmocka_unit_test(what_it_cannot_hold_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
