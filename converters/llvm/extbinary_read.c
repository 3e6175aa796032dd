/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading LLVM's extensible binary sample profile, as LLVM 14 to 19 write it: any layout of
 * sections, any of the name tables; sections of unknown types are skipped, as LLVM does. */
#include "converters/llvm/extbinary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

struct section {
    uint64_t type;
    uint64_t flags;
    uint64_t offset;
    uint64_t size;
};

/* A function offset table's entry. The table is what the compiler finds functions by, so it must
 * fit the records that follow. */
struct function_offset {
    uint32_t name;
    uint64_t offset;
};

struct ext_reader {
    struct br2_llvm_reader base;
    const uint8_t *bytes;
    size_t size;
    struct function_offset *offsets; /* owned, sorted by name */
    size_t offset_count;
    bool has_offsets;
    bool has_metadata;
};

static int compare_offsets(const void *a, const void *b)
{
    const struct function_offset *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int read_offsets(struct ext_reader *r, struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    uint64_t count = br2_cursor_uleb(c);
    if (c->failed || count > br2_cursor_left(c) / 2) {
        return br2_llvm_corrupt(&r->base, err, "there are more entries than fit");
    }
    br2_free(r->offsets);
    r->offset_count = 0;
    r->offsets = br2_realloc_array(NULL, count ? (size_t)count : 1, sizeof *r->offsets);
    if (!r->offsets) {
        return br2_fail_memory(err);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct function_offset *entry = &r->offsets[i];
        int status = br2_llvm_read_name(&r->base, &entry->name, err);
        if (status) {
            return status;
        }
        entry->offset = br2_cursor_uleb(c);
        if (c->failed) {
            return br2_llvm_corrupt(&r->base, err, "");
        }
    }
    r->offset_count = (size_t)count;
    r->has_offsets = true;
    qsort(r->offsets, r->offset_count, sizeof *r->offsets, compare_offsets);
    return BR2PGO_OK;
}

static int read_records(struct ext_reader *r, struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    size_t count = 0;
    while (br2_cursor_left(c) > 0) {
        struct function_offset key = {.offset = br2_cursor_offset(c)};
        int status = br2_llvm_read_function(&r->base, &key.name, err);
        if (status) {
            return status;
        }
        count++;
        if (!r->has_offsets) {
            continue;
        }
        const struct function_offset *entry =
            bsearch(&key, r->offsets, r->offset_count, sizeof key, compare_offsets);
        if (!entry || entry->offset != key.offset) {
            return br2_llvm_corrupt(&r->base, err,
                                    "the function offset table does not fit the functions");
        }
    }
    if (r->has_offsets && count != r->offset_count) {
        return br2_llvm_corrupt(&r->base, err,
                                "the function offset table does not fit the functions");
    }
    r->has_offsets = false; /* it was this section's */
    return BR2PGO_OK;
}

static int read_symbol_list(struct ext_reader *r, struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    r->base.profile->has_symbol_list = true;
    while (br2_cursor_left(c) > 0) {
        size_t length;
        const char *text = br2_cursor_string(c, &length);
        if (!text) {
            return br2_llvm_corrupt(&r->base, err, "");
        }
        if (br2_strings_add(&r->base.profile->symbol_list, text, length) == BR2_NO_STRING) {
            return br2_fail_memory(err);
        }
    }
    return BR2PGO_OK;
}

/* `function` is NULL where the records do not have it. */
static int read_function_metadata(struct ext_reader *r, uint64_t flags,
                                  struct br2_function_profile *function, unsigned depth,
                                  struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    uint64_t checksum = flags & BR2_LLVM_METADATA_PROBES ? br2_cursor_uleb(c) : 0;
    uint64_t attributes = flags & BR2_LLVM_METADATA_ATTRIBUTES ? br2_cursor_uleb(c) : 0;
    uint64_t callsites = br2_cursor_uleb(c);
    if (c->failed || callsites > br2_cursor_left(c) / 4) {
        return br2_llvm_corrupt(&r->base, err, "a function has more callsites than fit");
    }
    if (attributes > UINT32_MAX) {
        return br2_llvm_corrupt(&r->base, err, "attributes have more than 32 bits");
    }
    if (callsites > 0 && depth == BR2_PROFILE_DEPTH_MAX) {
        return br2_llvm_corrupt(&r->base, err, "inlined functions are nested too deep");
    }
    if (function) {
        function->checksum = checksum;
        function->attributes = (uint32_t)attributes;
    }
    for (uint64_t i = 0; i < callsites; i++) {
        struct br2_place place = {0};
        uint32_t name = 0;
        int status = br2_llvm_read_place(&r->base, &place, err);
        if (!status) {
            status = br2_llvm_read_name(&r->base, &name, err);
        }
        if (status) {
            return status;
        }
        struct br2_function_profile *callee =
            function ? br2_profile_find_inlinee(r->base.profile, function, place, name) : NULL;
        status = read_function_metadata(r, flags, callee, depth + 1, err);
        if (status) {
            return status;
        }
    }
    return BR2PGO_OK;
}

static int read_metadata(struct ext_reader *r, uint64_t flags, struct br2pgo_error *err)
{
    if (r->has_metadata) {
        return br2_llvm_corrupt(&r->base, err, "there is a second section of function metadata");
    }
    r->has_metadata = true;
    r->base.profile->has_checksums = (flags & BR2_LLVM_METADATA_PROBES) != 0;
    int status = br2_profile_finish(r->base.profile, err); /* to look inlinees up */
    while (!status && br2_cursor_left(&r->base.cursor) > 0) {
        uint32_t name = 0;
        status = br2_llvm_read_name(&r->base, &name, err);
        if (!status) {
            status =
                read_function_metadata(r, flags, br2_profile_find(r->base.profile, name), 0, err);
        }
    }
    return status;
}

static int refuse_contexts(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "this is a context-sensitive LLVM profile (CSSPGO)");
    br2_hint(err, "make it context-free with llvm-profdata merge --sample --extbinary "
                  "--convert-sample-profile-layout=flat");
    return BR2PGO_UNSUPPORTED;
}

static int read_summary(struct ext_reader *r, uint64_t flags, struct br2pgo_error *err)
{
    if (flags & BR2_LLVM_SUMMARY_CONTEXT) {
        return refuse_contexts(err);
    }
    if (flags & BR2_LLVM_SUMMARY_VTABLES) {
        return br2_fail(err, BR2PGO_UNSUPPORTED,
                        "this LLVM profile has vtable records, which are not supported");
    }
    r->base.profile->partial = (flags & BR2_LLVM_SUMMARY_PARTIAL) != 0;
    r->base.profile->fs_discriminators = (flags & BR2_LLVM_SUMMARY_FS) != 0;
    return br2_llvm_read_summary(&r->base, err);
}

static int read_name_table(struct ext_reader *r, uint64_t flags, struct br2pgo_error *err)
{
    if (!(flags & BR2_LLVM_NAMES_MD5)) {
        return br2_llvm_read_names(&r->base, err);
    }
    r->base.profile->md5_names = true;
    return br2_llvm_read_names_md5(&r->base, flags & BR2_LLVM_NAMES_FIXED, err);
}

/* Reads the section the cursor is at the start of. */
static int read_payload(struct ext_reader *r, const struct section *section,
                        struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    int status;
    switch (section->type) {
    case BR2_LLVM_SUMMARY:
        status = read_summary(r, section->flags, err);
        break;
    case BR2_LLVM_NAMES:
        status = read_name_table(r, section->flags, err);
        break;
    case BR2_LLVM_CONTEXT_NAMES:
        status = br2_cursor_uleb(c) == 0 ? BR2PGO_OK : refuse_contexts(err);
        break;
    case BR2_LLVM_OFFSETS:
        status = read_offsets(r, err);
        break;
    case BR2_LLVM_RECORDS:
        status = read_records(r, err);
        break;
    case BR2_LLVM_SYMBOL_LIST:
        status = read_symbol_list(r, err);
        break;
    default: /* BR2_LLVM_METADATA */
        status = read_metadata(r, section->flags, err);
        break;
    }
    if (!status && br2_cursor_left(c) > 0) {
        status = br2_llvm_corrupt(&r->base, err, "there are bytes left over");
    }
    return status;
}

/* What to call a section; NULL for an unknown type. */
static const char *section_name(uint64_t type)
{
    switch (type) {
    case BR2_LLVM_SUMMARY:
        return "the summary section";
    case BR2_LLVM_NAMES:
        return "the name table section";
    case BR2_LLVM_SYMBOL_LIST:
        return "the symbol list section";
    case BR2_LLVM_OFFSETS:
        return "the function offset section";
    case BR2_LLVM_METADATA:
        return "the function metadata section";
    case BR2_LLVM_CONTEXT_NAMES:
        return "the context name table section";
    case BR2_LLVM_RECORDS:
        return "the function profile section";
    default:
        return NULL;
    }
}

static int read_section(struct ext_reader *r, const struct section *section,
                        struct br2pgo_error *err)
{
    const char *name = section_name(section->type);
    if (!name || section->size == 0) {
        return BR2PGO_OK;
    }
    r->base.where = name;
    r->base.cursor =
        br2_cursor_make(r->bytes + (size_t)section->offset, (size_t)section->size, false);
    if (!(section->flags & BR2_LLVM_FLAG_COMPRESSED)) {
        return read_payload(r, section, err);
    }
    uint8_t *unpacked;
    size_t size;
    int status = br2_llvm_inflate(&r->base, &unpacked, &size, err);
    if (status) {
        return status;
    }
    r->base.cursor = br2_cursor_make(unpacked, size, false);
    status = read_payload(r, section, err);
    br2_free(unpacked);
    return status;
}

static int read_table(struct ext_reader *r, struct section **ret, size_t *ret_count,
                      struct br2pgo_error *err)
{
    struct br2_cursor *c = &r->base.cursor;
    uint64_t count = br2_cursor_u64(c);
    if (c->failed || count > br2_cursor_left(c) / sizeof(struct section)) {
        return br2_llvm_corrupt(&r->base, err, "the section table has more entries than fit");
    }
    struct section *sections = br2_calloc((size_t)count, sizeof *sections);
    if (!sections) {
        return br2_fail_memory(err);
    }
    *ret = sections;
    *ret_count = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        sections[i].type = br2_cursor_u64(c);
        sections[i].flags = br2_cursor_u64(c);
        sections[i].offset = br2_cursor_u64(c);
        sections[i].size = br2_cursor_u64(c);
    }
    /* Sections do not overlap, so all of them together are no larger than what is left. */
    uint64_t room = br2_cursor_left(c);
    for (size_t i = 0; i < count; i++) {
        if (sections[i].offset > r->size || sections[i].size > r->size - sections[i].offset ||
            sections[i].size > room) {
            return br2_llvm_corrupt(&r->base, err, "a section is larger than the file");
        }
        room -= sections[i].size;
    }
    return BR2PGO_OK;
}

int br2_llvm_read_extbinary(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                            struct br2pgo_error *err)
{
    struct ext_reader r = {.bytes = bytes, .size = size};
    struct section *sections = NULL;
    size_t count = 0;
    r.base.profile = profile;
    r.base.where = "the file";
    r.base.cursor = br2_cursor_make(bytes, size, false);
    int status = br2_llvm_read_magic(&r.base, br2_llvm_magic_extbinary, err);
    if (!status) {
        status = read_table(&r, &sections, &count, err);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = read_section(&r, &sections[i], err);
    }
    br2_free(sections);
    br2_free(r.offsets);
    br2_llvm_reader_done(&r.base);
    return status ? status : br2_profile_finish(profile, err);
}
