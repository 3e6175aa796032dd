/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Damaged files and missing memory, for every format of profiles: an error or a profile that can be
 * written and read again, never anything else. Meant to run under sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support.h"

#define RICH_TEXT                                                                                  \
    SAMPLE_TEXT                                                                                    \
    "a::b <c>:70:3\n 0: 3\n 7.12: 0 x:1 y:2\n 65535: 9\n 9: i:5\n  1: 5 x:5\n  2: j:4\n   1: 4\n"  \
    "   !Attributes: 2\n  !Attributes: 1\n 9: k:0\n"

static const struct {
    const char *format;
    struct br2_write_options options;
} kinds[] = {
    {"llvm-text", {0}},
    {"llvm-binary", {0}},
    {"llvm-extbinary", {0}},
    {"llvm-extbinary", {.md5 = true, .symbol_list = true, .partial = true}},
    {"llvm-extbinary", {.compress = true}},
    {"gcov", {.gcov_version = 1}},
    {"gcov", {.gcov_version = 2}},
    {"gcov", {.gcov_version = 3}},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static struct br2_profile *rich_profile(void)
{
    struct br2_profile *profile = profile_of(RICH_TEXT);
    br2_strings_add(&profile->symbol_list, "cold", 4);
    br2_strings_add(&profile->symbol_list, "colder", 6);
    if (!br2_profile_set_file(profile, 1, "a.c", 3) || !br2_profile_set_file(profile, 3, "b.c", 3))
        fail_msg("no memory");
    return profile;
}

static void encode(size_t kind, struct br2_buf *out)
{
    struct br2pgo_error err = {0};
    struct br2_profile *profile = rich_profile();
    if (br2_format_encode_profile(br2_format_by_name(kinds[kind].format), profile,
                                  &kinds[kind].options, out, &err))
        fail_msg("%s", err.message);
    br2_profile_free(profile);
}

/* Reads damaged bytes; what is accepted must survive another round. */
static bool accepted(const struct br2_format *format, const uint8_t *bytes, size_t size)
{
    struct br2pgo_error err = {0};
    struct br2_buf again = {0};
    struct br2_write_options no_options = {0};
    struct br2_profile *profile = br2_profile_new();
    int status = format->read_profile(bytes, size, profile, &err);
    if (status == BR2PGO_OK) {
        int encoded = br2_format_encode_profile(format, profile, &no_options, &again, &err);
        if (encoded != BR2PGO_OK && encoded != BR2PGO_UNSUPPORTED)
            fail_msg("%s", err.message);
    } else if (status != BR2PGO_CORRUPT && status != BR2PGO_UNSUPPORTED && status != BR2PGO_LIMIT) {
        fail_msg("status %d: %s", status, err.message);
    } else {
        assert_int_equal(err.status, status);
        assert_int_not_equal(err.message[0], '\0');
    }
    br2_buf_done(&again);
    br2_profile_free(profile);
    return status == BR2PGO_OK;
}

/* A fixed sequence of numbers. */
static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static void damage_is_noticed_or_harmless(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct br2_format *format = br2_format_by_name(kinds[kind].format);
        struct br2_buf file = {0};
        encode(kind, &file);
        uint8_t *copy = br2_alloc(file.size);
        size_t survived = 0;
        for (int round = 0; round < 3000; round++) {
            memcpy(copy, file.bytes, file.size);
            for (uint32_t changes = 1 + next_random(&seed) % 3; changes > 0; changes--) {
                uint8_t *at = &copy[next_random(&seed) % file.size];
                uint8_t flipped = (uint8_t)(*at ^ (1u << next_random(&seed) % 8));
                uint8_t other = (uint8_t)next_random(&seed);
                *at = next_random(&seed) % 2 ? other : flipped;
            }
            survived += accepted(format, copy, file.size);
        }
        assert_in_range(survived, kinds[kind].options.compress ? 1 : 50, 2900);
        br2_free(copy);
        br2_buf_done(&file);
    }
}

static void truncation_is_noticed_or_harmless(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct br2_format *format = br2_format_by_name(kinds[kind].format);
        struct br2_buf file = {0};
        encode(kind, &file);
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *copy = br2_alloc(size); /* so that a sanitizer sees reads past its end */
            memcpy(copy, file.bytes, size);
            bool whole = accepted(format, copy, size);
            if (strcmp(format->name, "llvm-extbinary") == 0)
                assert_false(whole);
            br2_free(copy);
        }
        br2_buf_done(&file);
    }
}

static void readers_report_missing_memory(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct br2_format *format = br2_format_by_name(kinds[kind].format);
        struct br2_buf file = {0};
        encode(kind, &file);
        size_t failures = 0;
        for (int status = BR2PGO_NO_MEMORY; status != BR2PGO_OK;) {
            struct br2pgo_error err = {0};
            struct br2_profile *profile = br2_profile_new();
            br2_mem_fail_at(++failures);
            status = format->read_profile(file.bytes, file.size, profile, &err);
            br2_mem_fail_at(0);
            if (status != BR2PGO_OK && status != BR2PGO_NO_MEMORY)
                fail_msg("%s, allocation %zu: status %d: %s", format->name, failures, status,
                         err.message);
            br2_profile_free(profile);
        }
        assert_in_range(failures, 10, 1000);
        br2_buf_done(&file);
    }
}

static void writers_report_missing_memory(void **state)
{
    (void)state;
    struct br2_profile *profile = rich_profile();
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct br2_format *format = br2_format_by_name(kinds[kind].format);
        size_t failures = 0;
        for (int status = BR2PGO_NO_MEMORY; status != BR2PGO_OK;) {
            struct br2pgo_error err = {0};
            struct br2_buf out = {0};
            br2_mem_fail_at(++failures);
            status = br2_format_encode_profile(format, profile, &kinds[kind].options, &out, &err);
            br2_mem_fail_at(0);
            if (status != BR2PGO_OK && status != BR2PGO_NO_MEMORY)
                fail_msg("%s, allocation %zu: status %d: %s", format->name, failures, status,
                         err.message);
            br2_buf_done(&out);
        }
        assert_in_range(failures, 10, 1000);
    }
    br2_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_noticed_or_harmless),
        cmocka_unit_test(truncation_is_noticed_or_harmless),
        cmocka_unit_test(readers_report_missing_memory),
        cmocka_unit_test(writers_report_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
