/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the converters' tests share. Include after <cmocka.h>. */
#ifndef BR2_TESTS_CONVERTERS_SUPPORT_H
#define BR2_TESTS_CONVERTERS_SUPPORT_H

#include <string.h>

#include "converters/converter.h"
#include "converters/llvm/llvm.h"

/* The profile of a text; the test fails where it is malformed. */
static inline struct br2_profile *profile_of(const char *text)
{
    struct br2pgo_error err = {0};
    struct br2_profile *profile = br2_profile_new();
    if (br2_format_llvm_text.read_profile((const uint8_t *)text, strlen(text), profile, &err))
        fail_msg("%s", err.message);
    return profile;
}

/* Reads `bytes` in `format`; the message must contain `message`. Returns the status. */
static inline int read_fails(const struct br2_format *format, const void *bytes, size_t size,
                             const char *message)
{
    struct br2pgo_error err = {0};
    struct br2_profile *profile = br2_profile_new();
    int status = format->read_profile(bytes, size, profile, &err);
    br2_profile_free(profile);
    if (status && !strstr(err.message, message))
        fail_msg("'%s' is not in '%s'", message, err.message);
    if (status)
        assert_int_equal(err.status, status);
    return status;
}

/* The profile that the annotated bytes of golden.h hold. */
#define SAMPLE_TEXT                                                                                \
    "main:1000:7\n 1: 100\n 2.3: 300 foo:200 bar:90\n 3: baz:250\n  1: 120\n  2.1: 130 qux:130\n"  \
    "  4: qux:1\n   1: 1\nfoo:200:200\n 0: 200\n"

#endif
