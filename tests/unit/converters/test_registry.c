/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Formats by name, suffix and content; outputs that are checked before they are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "converters/bolt/bolt.h"
#include "converters/table/table.h"
#include "golden.h"
#include "support.h"

static void every_format_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; br2_formats[i]; i++) {
        const struct br2_format *format = br2_formats[i];
        assert_ptr_equal(br2_format_by_name(format->name), format);
        assert_non_null(format->description);
        assert_non_null(format->probe);
        if (format->product == BR2_PRODUCT_PROFILE) {
            assert_non_null(format->write_profile);
            assert_non_null(format->read_profile);
        } else if (format->product == BR2_PRODUCT_EDGES) {
            assert_non_null(format->write_edges);
            assert_non_null(format->read_edges);
        } else if (format->product == BR2_PRODUCT_RANGES) {
            assert_non_null(format->write_ranges);
            assert_non_null(format->check_ranges);
        } else {
            assert_non_null(format->write_flow);
            assert_non_null(format->check_flow);
        }
        for (size_t k = 0; format->suffixes[k]; k++) {
            assert_int_equal(format->suffixes[k][0], '.');
            assert_ptr_equal(br2_format_by_suffix(format->suffixes[k]), format);
        }
    }
    assert_null(br2_format_by_name("llvm"));
}

static void suffixes_decide(void **state)
{
    (void)state;
    assert_ptr_equal(br2_format_by_suffix("a/b.prof"), &br2_format_llvm_extbinary);
    assert_ptr_equal(br2_format_by_suffix("b.textprof"), &br2_format_llvm_text);
    assert_ptr_equal(br2_format_by_suffix("b.binprof"), &br2_format_llvm_binary);
    assert_ptr_equal(br2_format_by_suffix("x.prof.edges.csv"), &br2_format_edges_csv);
    assert_ptr_equal(br2_format_by_suffix("x.edges.json"), &br2_format_edges_json);
    assert_ptr_equal(br2_format_by_suffix("app.fdata"), &br2_format_fdata);
    assert_ptr_equal(br2_format_by_suffix("app.preagg"), &br2_format_bolt_preagg);
    assert_ptr_equal(br2_format_by_suffix("app.unsymbolized"), &br2_format_unsymbolized);
    assert_null(br2_format_by_suffix("prof"));
    assert_null(br2_format_by_suffix("a.prof/b"));
    assert_null(br2_format_by_suffix(""));
}

static const struct br2_format *by_text(const char *text)
{
    return br2_format_by_content((const uint8_t *)text, strlen(text));
}

static void content_decides(void **state)
{
    (void)state;
    assert_ptr_equal(br2_format_by_content(golden_binary, sizeof golden_binary),
                     &br2_format_llvm_binary);
    assert_ptr_equal(by_text("\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53"), &br2_format_llvm_extbinary);
    assert_ptr_equal(by_text("# c\n\nf:1:1\n"), &br2_format_llvm_text);
    assert_ptr_equal(by_text("{\"version\":1,\"edges\":[]}"), &br2_format_edges_json);
    assert_ptr_equal(by_text("image,function,from,to,kind,count,mispredicted,probability\n"),
                     &br2_format_edges_csv);
    assert_ptr_equal(by_text("1 main 1a 1 f 0 0 7\n"), &br2_format_fdata);
    assert_ptr_equal(by_text("no_lbr cycles:u:\n1 main 1a 7\n"), &br2_format_fdata);
    assert_null(by_text("1 main 1a 1 f 0 0\n"));
    assert_ptr_equal(by_text("B 0 9347 69 0\n"), &br2_format_bolt_preagg);
    assert_ptr_equal(by_text("f 10 20 3\nx"), &br2_format_bolt_preagg);
    assert_null(by_text("F 10 20 3 4\n"));
    assert_null(by_text("B 10 20 3\n"));
    assert_null(by_text(""));
    assert_null(by_text("{\"version\":1}"));
    assert_null(by_text("hello: world\n"));
    assert_null(br2_format_by_content(NULL, 0));
}

/* A writer that forgets a count. */
static int write_less(const struct br2_profile *profile, const struct br2_write_options *options,
                      struct br2_buf *out, struct br2pgo_error *err)
{
    int status = br2_format_llvm_text.write_profile(profile, options, out, err);
    uint8_t *digit = memmem(out->bytes, out->size, "120", 3);
    if (digit)
        *digit = '2';
    return status;
}

static int write_garbage(const struct br2_profile *profile, const struct br2_write_options *options,
                         struct br2_buf *out, struct br2pgo_error *err)
{
    (void)profile;
    (void)options;
    (void)err;
    br2_buf_str(out, "garbage");
    return BR2PGO_OK;
}

static void a_wrong_output_is_found_out(void **state)
{
    (void)state;
    struct br2_format wrong = br2_format_llvm_text;
    struct br2_profile *profile = profile_of(SAMPLE_TEXT);
    struct br2pgo_error err = {0};
    struct br2_buf out = {0};
    wrong.write_profile = write_less;
    assert_int_equal(br2_format_encode_profile(&wrong, profile, NULL, &out, &err), BR2PGO_INTERNAL);
    assert_non_null(strstr(err.message, "a body count of 'baz' is 120 in one and 220"));
    br2_buf_done(&out);
    out = (struct br2_buf){0};
    wrong.write_profile = write_garbage;
    assert_int_equal(br2_format_encode_profile(&wrong, profile, NULL, &out, &err), BR2PGO_INTERNAL);
    assert_non_null(strstr(err.message, "cannot be read back"));
    br2_buf_done(&out);
    br2_profile_free(profile);
}

/* Writers that forget a flag, and that list another name. */
static int write_without_flag(const struct br2_profile *profile,
                              const struct br2_write_options *options, struct br2_buf *out,
                              struct br2pgo_error *err)
{
    struct br2_profile copy = *profile;
    copy.fs_discriminators = false;
    return br2_format_llvm_extbinary.write_profile(&copy, options, out, err);
}

static int write_other_list(const struct br2_profile *profile,
                            const struct br2_write_options *options, struct br2_buf *out,
                            struct br2pgo_error *err)
{
    struct br2_profile copy = *profile;
    copy.symbol_list = (struct br2_strings){0};
    br2_strings_add(&copy.symbol_list, "gold", 4);
    int status = br2_format_llvm_extbinary.write_profile(&copy, options, out, err);
    br2_strings_done(&copy.symbol_list);
    return status;
}

static void a_wrong_detail_is_found_out(void **state)
{
    (void)state;
    struct br2_format wrong = br2_format_llvm_extbinary;
    struct br2_profile *profile = profile_of(SAMPLE_TEXT);
    struct br2_write_options options = {.symbol_list = true};
    struct br2pgo_error err = {0};
    struct br2_buf out = {0};
    br2_strings_add(&profile->symbol_list, "cold", 4);
    profile->fs_discriminators = true;
    assert_int_equal(br2_format_encode_profile(&wrong, profile, &options, &out, &err), BR2PGO_OK);
    br2_buf_done(&out);
    out = (struct br2_buf){0};
    wrong.write_profile = write_without_flag;
    assert_int_equal(br2_format_encode_profile(&wrong, profile, &options, &out, &err),
                     BR2PGO_INTERNAL);
    assert_non_null(strstr(err.message, "the mark of flow-sensitive discriminators"));
    br2_buf_done(&out);
    out = (struct br2_buf){0};
    wrong.write_profile = write_other_list;
    assert_int_equal(br2_format_encode_profile(&wrong, profile, &options, &out, &err),
                     BR2PGO_INTERNAL);
    assert_non_null(strstr(err.message, "the symbol list"));
    br2_buf_done(&out);
    br2_profile_free(profile);
}

/* A writer that does not hear what it is asked for. */
static int write_plain(const struct br2_profile *profile, const struct br2_write_options *options,
                       struct br2_buf *out, struct br2pgo_error *err)
{
    (void)options;
    return br2_format_llvm_extbinary.write_profile(profile, NULL, out, err);
}

static void an_option_that_is_ignored_is_found_out(void **state)
{
    (void)state;
    static const struct {
        struct br2_write_options options;
        int status;
        const char *message;
    } cases[] = {
        {{.symbol_list = true}, BR2PGO_INTERNAL, "the symbol list"},
        {{.partial = true}, BR2PGO_INTERNAL, "the mark of a partial profile"},
        {{.md5 = true}, BR2PGO_INTERNAL, "MD5"},
        {{.compress = true}, BR2PGO_OK, ""}, /* says the same */
    };
    struct br2_format deaf = br2_format_llvm_extbinary;
    deaf.write_profile = write_plain;
    struct br2_profile *profile = profile_of(SAMPLE_TEXT);
    br2_strings_add(&profile->symbol_list, "cold", 4);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct br2pgo_error err = {0};
        struct br2_buf out = {0};
        assert_int_equal(br2_format_encode_profile(&deaf, profile, &cases[i].options, &out, &err),
                         cases[i].status);
        assert_non_null(strstr(err.message, cases[i].message));
        br2_buf_done(&out);
    }
    br2_profile_free(profile);
}

static void output_is_appended(void **state)
{
    (void)state;
    struct br2_profile *profile = profile_of(SAMPLE_TEXT);
    for (size_t i = 0; br2_formats[i]; i++) {
        struct br2_buf out = {0}, alone = {0};
        if (br2_formats[i]->product != BR2_PRODUCT_PROFILE)
            continue;
        br2_buf_str(&out, "before");
        assert_int_equal(br2_format_encode_profile(br2_formats[i], profile, NULL, &out, NULL), 0);
        assert_int_equal(br2_format_encode_profile(br2_formats[i], profile, NULL, &alone, NULL), 0);
        assert_int_equal(out.size, alone.size + 6);
        assert_memory_equal(out.bytes + 6, alone.bytes, alone.size);
        br2_buf_done(&out);
        br2_buf_done(&alone);
    }
    br2_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_complete),
        cmocka_unit_test(suffixes_decide),
        cmocka_unit_test(content_decides),
        cmocka_unit_test(a_wrong_output_is_found_out),
        cmocka_unit_test(a_wrong_detail_is_found_out),
        cmocka_unit_test(an_option_that_is_ignored_is_found_out),
        cmocka_unit_test(output_is_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
