/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing LLVM's extensible binary sample profile: magic, version, a table of sections, sections.
 */
#include "converters/llvm/extbinary.h"

#include <stdlib.h>
#include <string.h>

/* The table lists the sections in the order a reader needs them, the file has them in the order a
 * writer knows them: the function offset table comes after the records it points to. */
static const uint8_t table_order[] = {
    BR2_LLVM_SUMMARY, BR2_LLVM_NAMES,       BR2_LLVM_CONTEXT_NAMES, BR2_LLVM_OFFSETS,
    BR2_LLVM_RECORDS, BR2_LLVM_SYMBOL_LIST, BR2_LLVM_METADATA,
};
static const uint8_t file_order[] = {
    BR2_LLVM_SUMMARY,     BR2_LLVM_NAMES,   BR2_LLVM_CONTEXT_NAMES, BR2_LLVM_RECORDS,
    BR2_LLVM_SYMBOL_LIST, BR2_LLVM_OFFSETS, BR2_LLVM_METADATA,
};
#define SECTIONS (sizeof table_order)

struct ext_writer {
    const struct br2_profile *profile;
    const struct br2_write_options *options;
    struct br2_llvm_names names;
    const struct br2_function_profile **order; /* owned */
    uint64_t *offsets; /* owned: by place in `order`, from the start of the records */
    bool pre_inlined;
};

static bool any_should_be_inlined(const struct br2_function_profile *function)
{
    if (function->attributes & BR2_LLVM_SHOULD_BE_INLINED) {
        return true;
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        if (any_should_be_inlined(function->callsites[i].callee)) {
            return true;
        }
    }
    return false;
}

static bool write_md5(const struct ext_writer *w)
{
    return w->options->md5 || w->profile->md5_names;
}

static bool write_records(struct ext_writer *w, struct br2_buf *out)
{
    struct br2_llvm_writer writer = {.profile = w->profile, .names = &w->names, .out = out};
    bool written = true;
    for (size_t i = 0; written && i < w->profile->function_count; i++) {
        w->offsets[i] = out->size;
        written = br2_llvm_write_function(&writer, w->order[i]);
    }
    br2_free(writer.scratch.items);
    return written;
}

static void write_offsets(const struct ext_writer *w, struct br2_buf *out)
{
    br2_buf_uleb(out, w->profile->function_count);
    for (size_t i = 0; i < w->profile->function_count; i++) {
        br2_buf_uleb(out, w->names.places[w->order[i]->name]);
        br2_buf_uleb(out, w->offsets[i]);
    }
}

/* Function metadata: checksum and attributes, as far as the profile has any, and the same of the
 * inlinees. */
static void write_metadata(const struct ext_writer *w, const struct br2_function_profile *function,
                           struct br2_buf *out)
{
    br2_buf_uleb(out, w->names.places[function->name]);
    if (w->profile->has_checksums) {
        br2_buf_uleb(out, function->checksum);
    }
    if (w->pre_inlined) {
        br2_buf_uleb(out, function->attributes);
    }
    br2_buf_uleb(out, function->callsite_count);
    for (size_t i = 0; i < function->callsite_count; i++) {
        br2_buf_uleb(out, function->callsites[i].place.offset);
        br2_buf_uleb(out, function->callsites[i].place.discriminator);
        write_metadata(w, function->callsites[i].callee, out);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_symbol_list(const struct br2_profile *profile, struct br2_buf *out,
                             struct br2pgo_error *err)
{
    const struct br2_strings *list = &profile->symbol_list;
    const char **texts = br2_calloc(list->count, sizeof(*texts));
    if (!texts) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < list->count; i++) {
        texts[i] = br2_strings_get(list, (uint32_t)i, NULL);
    }
    qsort(texts, list->count, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < list->count; i++) {
        br2_buf_put(out, texts[i], strlen(texts[i]) + 1);
    }
    br2_free(texts);
    return BR2PGO_OK;
}

static int write_payload(struct ext_writer *w, uint8_t type, struct br2_buf *out,
                         struct br2pgo_error *err)
{
    switch (type) {
    case BR2_LLVM_SUMMARY:
        return br2_llvm_write_summary(w->profile, out, err);
    case BR2_LLVM_NAMES:
        if (!write_md5(w)) {
            return br2_llvm_names_write(&w->names, out, err);
        }
        br2_llvm_names_write_md5(&w->names, out);
        return BR2PGO_OK;
    case BR2_LLVM_CONTEXT_NAMES:
        br2_buf_uleb(out, 0);
        return BR2PGO_OK;
    case BR2_LLVM_RECORDS:
        return write_records(w, out) ? BR2PGO_OK : br2_fail_memory(err);
    case BR2_LLVM_SYMBOL_LIST:
        return w->options->symbol_list ? write_symbol_list(w->profile, out, err) : BR2PGO_OK;
    case BR2_LLVM_OFFSETS:
        write_offsets(w, out);
        return BR2PGO_OK;
    default: /* BR2_LLVM_METADATA */
        if (w->profile->has_checksums || w->pre_inlined) {
            for (size_t i = 0; i < w->profile->function_count; i++) {
                write_metadata(w, w->order[i], out);
            }
        }
        return BR2PGO_OK;
    }
}

static uint64_t section_flags(const struct ext_writer *w, uint8_t type)
{
    uint64_t flags = w->options->compress ? BR2_LLVM_FLAG_COMPRESSED : 0;
    switch (type) {
    case BR2_LLVM_SUMMARY:
        if (w->options->partial || w->profile->partial) {
            flags |= BR2_LLVM_SUMMARY_PARTIAL;
        }
        if (w->profile->fs_discriminators) {
            flags |= BR2_LLVM_SUMMARY_FS;
        }
        if (w->pre_inlined) {
            flags |= BR2_LLVM_SUMMARY_PRE_INLINED;
        }
        break;
    case BR2_LLVM_NAMES:
        if (write_md5(w)) {
            flags |= BR2_LLVM_NAMES_MD5 | BR2_LLVM_NAMES_FIXED;
        } else if (br2_llvm_names_have_uniq(&w->names)) {
            flags |= BR2_LLVM_NAMES_UNIQ;
        }
        break;
    case BR2_LLVM_METADATA:
        if (w->profile->has_checksums) {
            flags |= BR2_LLVM_METADATA_PROBES;
        }
        if (w->pre_inlined) {
            flags |= BR2_LLVM_METADATA_ATTRIBUTES;
        }
        break;
    default:
        break;
    }
    return flags;
}

struct section {
    uint64_t offset;
    uint64_t size;
};

/* Appends one section to `out`, whose first byte is the file's at `start`. */
static int write_section(struct ext_writer *w, uint8_t type, struct br2_buf *out, size_t start,
                         struct section *ret, struct br2pgo_error *err)
{
    struct br2_buf payload = {0};
    int status = write_payload(w, type, &payload, err);
    ret->offset = out->size - start;
    if (!status && payload.failed) {
        status = br2_fail_memory(err);
    }
    if (!status && w->options->compress) {
        status = br2_llvm_deflate(&payload, out, err);
    } else if (!status && payload.size > 0) {
        br2_buf_put(out, payload.bytes, payload.size);
    }
    ret->size = out->size - start - ret->offset;
    br2_buf_done(&payload);
    return status;
}

static void put_table(struct ext_writer *w, const struct section *by_type, struct br2_buf *out)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        br2_buf_le64(out, table_order[i]);
        br2_buf_le64(out, section_flags(w, table_order[i]));
        br2_buf_le64(out, by_type[table_order[i]].offset);
        br2_buf_le64(out, by_type[table_order[i]].size);
    }
}

static int write_sections(struct ext_writer *w, struct br2_buf *out, struct br2pgo_error *err)
{
    struct section by_type[BR2_LLVM_RECORDS + 1] = {{0}};
    size_t start = out->size;
    br2_buf_put(out, br2_llvm_magic_extbinary, BR2_LLVM_MAGIC_SIZE);
    br2_buf_uleb(out, BR2_LLVM_VERSION);
    br2_buf_le64(out, SECTIONS);
    size_t table = out->size;
    put_table(w, by_type, out); /* room, filled below */
    for (size_t i = 0; i < SECTIONS; i++) {
        int status = write_section(w, file_order[i], out, start, &by_type[file_order[i]], err);
        if (status) {
            return status;
        }
    }
    struct br2_buf filled = {0};
    put_table(w, by_type, &filled);
    bool failed = out->failed || filled.failed;
    if (!failed) {
        memcpy(out->bytes + table, filled.bytes, filled.size);
    }
    br2_buf_done(&filled);
    return failed ? br2_fail_memory(err) : BR2PGO_OK;
}

static int write_profile(const struct br2_profile *profile, const struct br2_write_options *options,
                         struct br2_buf *out, struct br2pgo_error *err)
{
    static const struct br2_write_options defaults;
    struct ext_writer w = {.profile = profile, .options = options ? options : &defaults};
    int status = br2_llvm_names_init(&w.names, profile, err);
    w.order = br2_llvm_function_order(profile);
    w.offsets = br2_calloc(profile->function_count, sizeof *w.offsets);
    for (size_t i = 0; !w.pre_inlined && i < profile->function_count; i++) {
        w.pre_inlined = any_should_be_inlined(profile->functions[i]);
    }
    if (!status) {
        status = w.order && w.offsets ? write_sections(&w, out, err) : br2_fail_memory(err);
    }
    br2_llvm_names_done(&w.names);
    br2_free(w.order);
    br2_free(w.offsets);
    return status;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= BR2_LLVM_MAGIC_SIZE &&
           memcmp(bytes, br2_llvm_magic_extbinary, BR2_LLVM_MAGIC_SIZE) == 0;
}

const struct br2_format br2_format_llvm_extbinary = {
    .name = "llvm-extbinary",
    .suffixes = {".prof", ".afdo"},
    .description = "LLVM sample profile, extensible binary (clang -fprofile-sample-use)",
    .product = BR2_PRODUCT_PROFILE,
    .binary = true,
    .capabilities = BR2_CAN_COMPRESS | BR2_CAN_MD5 | BR2_CAN_SYMBOL_LIST | BR2_CAN_PARTIAL,
    .probe = probe,
    .write_profile = write_profile,
    .read_profile = br2_llvm_read_extbinary,
};
