/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's text format: what is accepted, what is refused and where, what cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support.h"

static const struct br2_format *const text = &br2_format_llvm_text;

static char *write_text(const struct br2_profile *profile)
{
    struct br2_buf out = {0};
    struct br2pgo_error err = {0};
    if (text->write_profile(profile, NULL, &out, &err))
        fail_msg("%s", err.message);
    br2_buf_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

static void becomes(const char *in, const char *expected)
{
    struct br2_profile *profile = profile_of(in);
    char *out = write_text(profile);
    assert_string_equal(out, expected);
    br2_free(out);
    br2_profile_free(profile);
}

static void what_is_written_is_in_llvms_order(void **state)
{
    (void)state;
    becomes(SAMPLE_TEXT, SAMPLE_TEXT);
    becomes("a:1:0\nc:5:1\nb:5:2\n 3: z:0\n 3: y:0\n 2.1: 1 r:1 q:1 s:2\n 2: 0\n",
            "b:5:2\n 2: 0\n 2.1: 1 s:2 q:1 r:1\n 3: y:0\n 3: z:0\nc:5:1\na:1:0\n");
}

static void comments_blank_lines_and_line_ends_do_not_matter(void **state)
{
    (void)state;
    becomes("# c\n\nf:1:2\r\n   \n  # c\n 1: 2 t:3\r\n 2: 4", "f:1:2\n 1: 2 t:3\n 2: 4\n");
}

static void repetitions_add_up(void **state)
{
    (void)state;
    becomes("f:1:2\n 1: 2 t:3\n 1: 3 t:4 u:1\n 2: g:5\n  1: 1\n 2: g:6\n  1: 2\nf:10:20\n 1: 1\n",
            "f:11:22\n 1: 6 t:7 u:1\n 2: g:11\n  1: 3\n");
    becomes("f:1:2\n 1: 2 t:3 t:9\n", "f:1:2\n 1: 2 t:9\n");
    becomes("f:18446744073709551615:1\n 1: 18446744073709551615\n 1: 1\nf:1:1\n",
            "f:18446744073709551615:2\n 1: 18446744073709551615\n");
}

static void names_may_contain_colons_and_spaces(void **state)
{
    (void)state;
    becomes("a::b (c):5:6\n 1: 7 x::y<int, 3> z:8 w:5:9\n 2: p::q:10\n",
            "a::b (c):5:6\n 1: 7 w:5:9 x::y<int, 3> z:8\n 2: p::q:10\n");
}

static void metadata_comes_last(void **state)
{
    (void)state;
    static const char in[] = "f:9:1\n 1: 2\n 2: g:3\n  1: 3\n  !CFGChecksum: 22\n"
                             "  !Attributes: 4\n !CFGChecksum: 11\n !Attributes: 2\n";
    becomes(in, in);
    becomes("f:1:1\n 1: 1\n !Flat\n", "f:1:1\n 1: 1\n");
    becomes("f:1:1\n 1: 1\n !CFGChecksum: 7\n !CFGChecksum: 0\n !Attributes: 2\n !Attributes: 0\n",
            "f:1:1\n 1: 1\n !CFGChecksum: 7\n");
}

static void lines_indented_too_deep_belong_to_the_innermost_function(void **state)
{
    (void)state;
    becomes("f:1:1\n   1: 1\n 2: g:1\n      3: 4\n", "f:1:1\n 1: 1\n 2: g:1\n  3: 4\n");
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {" 1: 1\n", "line 1: expected NAME:TOTAL:HEAD before"},
        {"f:1\n", "line 1: expected NAME:TOTAL:HEAD"},
        {":1:1\n", "line 1: expected NAME:TOTAL:HEAD"},
        {"f:1:x\n", "line 1: expected NAME:TOTAL:HEAD"},
        {"f:+1:1\n", "line 1: expected NAME:TOTAL:HEAD"},
        {"f:1:18446744073709551616\n", "line 1: expected NAME:TOTAL:HEAD"},
        {"# c\nf:1:1\n 1 1\n", "line 3: expected OFFSET"},
        {"f:1:1\n x: 1\n", "line 2: expected OFFSET"},
        {"f:1:1\n 65536: 1\n", "line 2: expected OFFSET"},
        {"f:1:1\n 65536.1: 1\n", "line 2: expected OFFSET"},
        {"f:1:1\n 1.4294967296: 1\n", "line 2: expected OFFSET"},
        {"f:1:1\n 1.: 1\n", "line 2: expected OFFSET"},
        {"f:1:1\n 1:1\n", "line 2: expected a space"},
        {"f:1:1\n 1: \n", "line 2: expected a space"},
        {"f:1:1\n 1:\n", "line 2: expected a space"},
        {"f:1:1\n 1:  1\n", "line 2: expected COUNT or CALLEE:TOTAL"},
        {"f:1:1\n 1: 1x\n", "line 2: expected a sample count"},
        {"f:1:1\n 1: 1 t\n", "line 2: expected call targets"},
        {"f:1:1\n 1: 1 :1\n", "line 2: expected call targets"},
        {"f:1:1\n 1: 1 t:x\n", "line 2: expected call targets"},
        {"f:1:1\n 1: 1 t:18446744073709551616\n", "line 2: expected call targets"},
        {"f:1:1\n 1: g\n", "line 2: expected COUNT or CALLEE:TOTAL"},
        {"f:1:1\n 1: :1\n", "line 2: expected COUNT or CALLEE:TOTAL"},
        {"f:1:1\n 1: g:\n", "line 2: expected COUNT or CALLEE:TOTAL"},
        {"f:1:1\n !Bogus: 1\n", "line 2: expected !CFGChecksum"},
        {"f:1:1\n !CFGChecksum: x\n", "line 2: expected !CFGChecksum"},
        {"f:1:1\n !Attributes: 4294967296\n", "line 2: expected !CFGChecksum"},
        {"f:1:1\n !Attributes: 1\n 1: 1\n", "line 3: a sample follows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (read_fails(text, cases[i].text, strlen(cases[i].text), cases[i].message) !=
            BR2PGO_CORRUPT)
            fail_msg("accepted: %s", cases[i].text);
    assert_int_equal(read_fails(text, "f:1:1\n 1: g\0:1\n", 15, "line 2: there is a NUL"),
                     BR2PGO_CORRUPT);
}

static void other_kinds_of_profile_are_refused_by_name(void **state)
{
    (void)state;
    static const char context[] = "[main:3 @ foo:2.1 @ bar]:1:1\n 1: 1\n";
    static const char vtables[] = "f:1:1\n 1: 1\n 1: <vtables> _ZTV1A:5 \n";
    assert_int_equal(read_fails(text, context, strlen(context), "context-sensitive"),
                     BR2PGO_UNSUPPORTED);
    assert_int_equal(read_fails(text, vtables, strlen(vtables), "line 3: this LLVM profile has v"),
                     BR2PGO_UNSUPPORTED);
}

/* f, and `depth` functions inlined in each other. */
static char *nested(size_t depth)
{
    struct br2_buf out = {0};
    br2_buf_str(&out, "f:1:1\n");
    for (size_t i = 1; i <= depth; i++)
        br2_buf_printf(&out, "%*s1: g:1\n", (int)i, "");
    br2_buf_u8(&out, 0);
    return (char *)out.bytes;
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char *most = nested(256), *more = nested(257);
    becomes(most, most);
    assert_int_equal(read_fails(text, more, strlen(more), "line 258: inlined functions are nested"),
                     BR2PGO_CORRUPT);
    br2_free(most);
    br2_free(more);
}

static void names_that_would_be_misread_are_not_written(void **state)
{
    (void)state;
    static const struct {
        const char *header, *inlinee, *target;
        int status;
    } cases[] = {
        {"f", "g", "t", BR2PGO_OK},
        {"5", "g", "5", BR2PGO_OK},
        {"a:b", ":g", "a:5", BR2PGO_OK},
        {"", "g", "t", BR2PGO_UNSUPPORTED},
        {" f", "g", "t", BR2PGO_UNSUPPORTED},
        {"#f", "g", "t", BR2PGO_UNSUPPORTED},
        {"[f]", "g", "t", BR2PGO_UNSUPPORTED},
        {"f\n", "g", "t", BR2PGO_UNSUPPORTED},
        {"f", "", "t", BR2PGO_UNSUPPORTED},
        {"f", "5", "t", BR2PGO_UNSUPPORTED},
        {"f", "<vtables> x", "t", BR2PGO_UNSUPPORTED},
        {"f", "g", "", BR2PGO_UNSUPPORTED},
        {"f", "g", ":t", BR2PGO_UNSUPPORTED},
        {"f", "g", " t", BR2PGO_UNSUPPORTED},
        {"f", "g", "a:5 b", BR2PGO_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct br2_profile *p = br2_profile_new();
        struct br2_buf out = {0};
        struct br2_place at = {1, 0};
        const char *const *names[] = {&cases[i].header, &cases[i].inlinee, &cases[i].target};
        uint32_t numbers[3];
        for (size_t k = 0; k < 3; k++)
            numbers[k] = br2_profile_name(p, *names[k], strlen(*names[k]));
        struct br2_function_profile *f = br2_profile_function(p, numbers[0]);
        br2_profile_inlinee(p, f, at, numbers[1])->total = 1;
        br2_profile_target(br2_profile_sample(f, at), numbers[2], 1);
        int status = br2_format_encode_profile(text, p, NULL, &out, NULL);
        if (status != cases[i].status)
            fail_msg("case %zu gives %d", i, status);
        br2_buf_done(&out);
        br2_profile_free(p);
    }
}

/* Quadratic parsers take minutes for these. */
static void long_lines_take_little_time(void **state)
{
    (void)state;
    struct br2_buf in = {0};
    br2_buf_str(&in, "f:1:1\n 1: 1 ");
    for (int i = 0; i < 400000; i++)
        br2_buf_str(&in, "x:");
    br2_buf_str(&in, "1\n 2: 1");
    for (int i = 0; i < 200000; i++)
        br2_buf_printf(&in, " t%d:1", i % 1000);
    br2_buf_str(&in, "\n");
    struct br2_profile *p = br2_profile_new();
    assert_int_equal(text->read_profile(in.bytes, in.size, p, NULL), BR2PGO_OK);
    assert_int_equal(p->functions[0]->samples[0].target_count, 1);
    assert_int_equal(p->functions[0]->samples[1].target_count, 1000);
    br2_profile_free(p);
    br2_buf_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_in_llvms_order),
        cmocka_unit_test(comments_blank_lines_and_line_ends_do_not_matter),
        cmocka_unit_test(repetitions_add_up),
        cmocka_unit_test(names_may_contain_colons_and_spaces),
        cmocka_unit_test(metadata_comes_last),
        cmocka_unit_test(lines_indented_too_deep_belong_to_the_innermost_function),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(other_kinds_of_profile_are_refused_by_name),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(names_that_would_be_misread_are_not_written),
        cmocka_unit_test(long_lines_take_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
