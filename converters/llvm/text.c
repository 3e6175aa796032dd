/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing LLVM's text sample profile. */
#include "converters/llvm/text.h"

#include <inttypes.h>
#include <string.h>

struct text_writer {
    const struct br2_profile *profile;
    struct br2_llvm_targets scratch;
    struct br2_buf *out;
    bool to_look_at;
    struct br2pgo_error *err;
};

enum name_role {
    NAME_HEADER,
    NAME_INLINEE,
    NAME_TARGET,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A reader ends a call target at ":number" before a space, so a name may not contain that. */
static bool contains_count(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ':') {
            continue;
        }
        size_t end = i + 1;
        while (end < length && is_digit(text[end])) {
            end++;
        }
        if (end > i + 1 && end < length && text[end] == ' ') {
            return true;
        }
    }
    return false;
}

/* Whether a reader finds this name again where it is to be written. */
static bool name_fits(const char *text, size_t length, enum name_role role)
{
    if (length == 0 || memchr(text, '\n', length) || memchr(text, '\0', length)) {
        return false;
    }
    switch (role) {
    case NAME_HEADER:
        return text[0] != ' ' && text[0] != '#' && text[0] != '[';
    case NAME_INLINEE:
        return !is_digit(text[0]) &&
               strncmp(text, BR2_LLVM_VTABLE_PREFIX, sizeof BR2_LLVM_VTABLE_PREFIX - 1) != 0;
    default: /* NAME_TARGET */
        return text[0] != ' ' && text[0] != ':' && !contains_count(text, length);
    }
}

static int put_name(struct text_writer *w, uint32_t name, enum name_role role)
{
    size_t length;
    const char *text = br2_strings_get(&w->profile->names, name, &length);
    if (name_fits(text, length, role) || (w->to_look_at && w->profile->md5_names)) {
        br2_buf_put(w->out, text, length);
        return BR2PGO_OK;
    }
    br2_fail(w->err, BR2PGO_UNSUPPORTED, "llvm-text cannot hold the function name '%s'", text);
    br2_hint(w->err, "write llvm-extbinary");
    return BR2PGO_UNSUPPORTED;
}

static void put_place(struct text_writer *w, size_t indent, struct br2_place place)
{
    for (size_t i = 0; i < indent; i++) {
        br2_buf_u8(w->out, ' ');
    }
    br2_buf_printf(w->out, "%" PRIu32, place.offset);
    if (place.discriminator != 0) {
        br2_buf_printf(w->out, ".%" PRIu32, place.discriminator);
    }
    br2_buf_str(w->out, ": ");
}

static int put_sample(struct text_writer *w, size_t indent, const struct br2_body_sample *sample)
{
    const struct br2_call_target *targets = br2_llvm_target_order(w->profile, sample, &w->scratch);
    if (!targets) {
        return br2_fail_memory(w->err);
    }
    put_place(w, indent, sample->place);
    br2_buf_printf(w->out, "%" PRIu64, sample->count);
    for (size_t i = 0; i < sample->target_count; i++) {
        br2_buf_u8(w->out, ' ');
        int status = put_name(w, targets[i].name, NAME_TARGET);
        if (status) {
            return status;
        }
        br2_buf_printf(w->out, ":%" PRIu64, targets[i].count);
    }
    br2_buf_u8(w->out, '\n');
    return BR2PGO_OK;
}

static void put_metadata(struct text_writer *w, size_t indent,
                         const struct br2_function_profile *function)
{
    if (w->profile->has_checksums) {
        br2_buf_printf(w->out, "%*s!CFGChecksum: %" PRIu64 "\n", (int)indent, "",
                       function->checksum);
    }
    if (function->attributes != 0) {
        br2_buf_printf(w->out, "%*s!Attributes: %" PRIu32 "\n", (int)indent, "",
                       function->attributes);
    }
}

/* What follows a function's first line, `indent` spaces in. */
static int put_body(struct text_writer *w, size_t indent,
                    const struct br2_function_profile *function)
{
    for (size_t i = 0; i < function->sample_count; i++) {
        int status = put_sample(w, indent, &function->samples[i]);
        if (status) {
            return status;
        }
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        const struct br2_function_profile *callee = function->callsites[i].callee;
        put_place(w, indent, function->callsites[i].place);
        int status = put_name(w, callee->name, NAME_INLINEE);
        if (status) {
            return status;
        }
        br2_buf_printf(w->out, ":%" PRIu64 "\n", callee->total);
        status = put_body(w, indent + 1, callee);
        if (status) {
            return status;
        }
    }
    put_metadata(w, indent, function);
    return BR2PGO_OK;
}

static int write_profile(const struct br2_profile *profile, const struct br2_write_options *options,
                         struct br2_buf *out, struct br2pgo_error *err)
{
    struct text_writer w = {.profile = profile, .out = out, .err = err};
    w.to_look_at = options != NULL && options->to_look_at;
    if (profile->md5_names && !w.to_look_at) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "llvm-text cannot hold MD5 hashes instead of names");
        br2_hint(err, "write llvm-extbinary");
        return BR2PGO_UNSUPPORTED;
    }
    const struct br2_function_profile **order = br2_llvm_function_order(profile);
    if (!order) {
        return br2_fail_memory(err);
    }
    int status = BR2PGO_OK;
    for (size_t i = 0; !status && i < profile->function_count; i++) {
        status = put_name(&w, order[i]->name, NAME_HEADER);
        if (status) {
            break;
        }
        br2_buf_printf(out, ":%" PRIu64 ":%" PRIu64 "\n", order[i]->total, order[i]->head);
        status = put_body(&w, 1, order[i]);
    }
    br2_free(w.scratch.items);
    br2_free(order);
    if (!status && out->failed) {
        status = br2_fail_memory(err);
    }
    return status;
}

const struct br2_format br2_format_llvm_text = {
    .name = "llvm-text",
    .suffixes = {".textprof"},
    .description = "LLVM sample profile as text (clang -fprofile-sample-use)",
    .product = BR2_PRODUCT_PROFILE,
    .probe = br2_llvm_probe_text,
    .write_profile = write_profile,
    .read_profile = br2_llvm_read_text,
};
