/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list of formats. */
#include <string.h>

#include "converters/bolt/bolt.h"
#include "converters/converter.h"
#include "converters/gcc/gcc.h"
#include "converters/llvm/llvm.h"
#include "converters/table/table.h"

/* By content the first whose probe agrees is taken: magic numbers before text. */
const struct br2_format *const br2_formats[] = {
    &br2_format_llvm_extbinary, &br2_format_llvm_binary,
    &br2_format_gcov,           &br2_format_edges_csv,
    &br2_format_edges_json,     &br2_format_fdata,
    &br2_format_bolt_preagg,    &br2_format_unsymbolized,
    &br2_format_llvm_text,      NULL,
};

const struct br2_format *br2_format_by_name(const char *name)
{
    for (size_t i = 0; br2_formats[i]; i++) {
        if (strcmp(br2_formats[i]->name, name) == 0) {
            return br2_formats[i];
        }
    }
    return NULL;
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t path_length = strlen(path), length = strlen(suffix);
    return path_length >= length && strcmp(path + path_length - length, suffix) == 0;
}

const struct br2_format *br2_format_by_suffix(const char *path)
{
    const struct br2_format *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; br2_formats[i]; i++) {
        for (const char *const *suffix = br2_formats[i]->suffixes; *suffix; suffix++) {
            if (strlen(*suffix) > best_length && ends_with(path, *suffix)) {
                best = br2_formats[i];
                best_length = strlen(*suffix);
            }
        }
    }
    return best;
}

const struct br2_format *br2_format_by_content(const uint8_t *bytes, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    for (size_t i = 0; br2_formats[i]; i++) {
        if (br2_formats[i]->probe(bytes, size)) {
            return br2_formats[i];
        }
    }
    return NULL;
}

static int fail_read_back(const struct br2_format *format, const char *why,
                          struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INTERNAL, "the %s output does not say what went into it: %s", format->name,
             why);
    br2_hint(err, "please report this as a fault in br2pgo; nothing was written");
    return BR2PGO_INTERNAL;
}

/* What `profile` must read back as, where the options change it: a copy with hashes. */
static int expected_profile(const struct br2_profile *profile,
                            const struct br2_write_options *options, struct br2_profile **ret,
                            struct br2pgo_error *err)
{
    *ret = NULL;
    if (!options || !options->md5 || profile->md5_names) {
        return BR2PGO_OK;
    }
    *ret = br2_profile_new();
    return *ret ? br2_llvm_hash_names(*ret, profile, err) : br2_fail_memory(err);
}

/* Whether both hold the same strings, in any order. */
static bool same_strings(const struct br2_strings *a, const struct br2_strings *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        size_t length;
        const char *text = br2_strings_get(a, (uint32_t)i, &length);
        if (br2_strings_find(b, text, length) == BR2_NO_STRING) {
            return false;
        }
    }
    return true;
}

/* The first difference in what was asked for, or NULL. */
static const char *find_difference(const struct br2_format *format,
                                   const struct br2_profile *written,
                                   const struct br2_write_options *options,
                                   const struct br2_profile *read, char *text, size_t size)
{
    if (options && options->symbol_list && format->capabilities & BR2_CAN_SYMBOL_LIST &&
        !same_strings(&written->symbol_list, &read->symbol_list)) {
        return "the symbol list";
    }
    /* The formats that have a place for one mark have one for the other. */
    if (format->capabilities & BR2_CAN_PARTIAL) {
        if (read->partial != (written->partial || (options && options->partial))) {
            return "the mark of a partial profile";
        }
        if (read->fs_discriminators != written->fs_discriminators) {
            return "the mark of flow-sensitive discriminators";
        }
    }
    return br2_profile_difference(written, read, text, size);
}

/* What a writer appended; never NULL, also where that is nothing. */
static const uint8_t *written_since(const struct br2_buf *out, size_t start)
{
    return out->bytes != NULL ? out->bytes + start : (const uint8_t *)"";
}

int br2_format_encode_profile(const struct br2_format *format, const struct br2_profile *profile,
                              const struct br2_write_options *options, struct br2_buf *out,
                              struct br2pgo_error *err)
{
    size_t start = out->size;
    char text[512];
    const char *difference = NULL;
    struct br2_profile *hashed = NULL;
    struct br2_profile *read = NULL;
    int status = format->write_profile(profile, options, out, err);
    if (status) {
        return status;
    }
    if (out->failed) {
        return br2_fail_memory(err);
    }
    status = expected_profile(profile, format->capabilities & BR2_CAN_MD5 ? options : NULL, &hashed,
                              err);
    if (status) {
        goto out;
    }
    read = br2_profile_new();
    if (!read) {
        status = br2_fail_memory(err);
        goto out;
    }
    status = format->read_profile(written_since(out, start), out->size - start, read, err);
    if (status == BR2PGO_NO_MEMORY) {
        goto out;
    }
    if (status) {
        difference = "it cannot be read back";
    } else {
        difference =
            find_difference(format, hashed ? hashed : profile, options, read, text, sizeof text);
    }
    if (difference) {
        status = fail_read_back(format, difference, err);
    }
out:
    br2_profile_free(hashed);
    br2_profile_free(read);
    return status;
}

int br2_format_encode_edges(const struct br2_format *format, const struct br2_edge_table *table,
                            struct br2_buf *out, struct br2pgo_error *err)
{
    size_t start = out->size;
    char text[512];
    struct br2_edge_table read = {0};
    int status = format->write_edges(table, out, err);
    if (status) {
        return status;
    }
    if (out->failed) {
        return br2_fail_memory(err);
    }
    status = format->read_edges(written_since(out, start), out->size - start, &read, err);
    if (status && status != BR2PGO_NO_MEMORY) {
        status = fail_read_back(format, "it cannot be read back", err);
    }
    if (!status) {
        const char *difference = br2_edge_table_difference(table, &read, text, sizeof text);
        if (difference) {
            status = fail_read_back(format, difference, err);
        }
    }
    br2_edge_table_done(&read);
    return status;
}

int br2_format_encode_flow(const struct br2_format *format, const struct br2_block_flow *flow,
                           const struct br2_write_options *options, struct br2_buf *out,
                           struct br2pgo_error *err)
{
    size_t start = out->size;
    char text[512];
    int status = format->write_flow(flow, options, out, err);
    if (status) {
        return status;
    }
    if (out->failed) {
        return br2_fail_memory(err);
    }
    status = format->check_flow(written_since(out, start), out->size - start, flow, text,
                                sizeof text, err);
    if (status && status != BR2PGO_NO_MEMORY) {
        return fail_read_back(format, "it cannot be read back", err);
    }
    return status || text[0] == '\0' ? status : fail_read_back(format, text, err);
}

int br2_format_encode_ranges(const struct br2_format *format, const struct br2_range_table *table,
                             struct br2_buf *out, struct br2pgo_error *err)
{
    size_t start = out->size;
    char text[64];
    int status = format->write_ranges(table, out, err);
    if (status == 0 && out->failed) {
        status = br2_fail_memory(err);
    }
    if (status == 0) {
        status = format->check_ranges(written_since(out, start), out->size - start, table, text,
                                      sizeof text);
        status = status != 0 || text[0] == '\0' ? status : fail_read_back(format, text, err);
    }
    return status;
}

const char *br2_format_rules(const struct br2_format *format)
{
    return format->gcc_rules ? "GCC" : "LLVM";
}
