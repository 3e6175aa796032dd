/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Feature sections: what the recorder wrote about itself and its machine. Each is optional, and a
 * damaged one is left out. */
#include "base/buf.h"
#include "input/perf_data/perf_data.h"

enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_CPUDESC = 8,
    FEATURE_CPUID = 9,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_DIR_FORMAT = 24,
    FEATURE_COMPRESSED = 27,
};

#define COMPRESSION_ZSTD  1
#define DIRECTORY_VERSION 1

/* u32 length with padding, then a string with its NUL somewhere in it. NULL when it is not one. */
static const char *string_of(struct br2_cursor *c, size_t *ret_length)
{
    uint32_t size = br2_cursor_u32(c);
    const uint8_t *bytes = br2_cursor_bytes(c, size);
    const uint8_t *end = bytes && size > 0 ? memchr(bytes, 0, size) : NULL;
    if (!end) {
        return NULL;
    }
    *ret_length = (size_t)(end - bytes);
    return (const char *)bytes;
}

static int read_string(struct br2_perf *perf, struct br2_cursor *c, const char **ret,
                       struct br2pgo_error *err)
{
    size_t length;
    const char *text = string_of(c, &length);
    if (!text || length == 0) {
        return 0;
    }
    *ret = br2_arena_strndup(&perf->input->arena, text, length);
    return *ret ? 0 : br2_fail_memory(err);
}

static int read_command_line(struct br2_perf *perf, struct br2_cursor *c, struct br2pgo_error *err)
{
    struct br2_buf line = {0};
    uint32_t count = br2_cursor_u32(c);
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        size_t length;
        const char *word = string_of(c, &length);
        if (!word) {
            break;
        }
        if (i > 0) {
            br2_buf_str(&line, " ");
        }
        if (length > 0) {
            br2_buf_put(&line, word, length);
        }
    }
    const char *text = NULL;
    if (!line.failed && line.size > 0) {
        text = br2_arena_strndup(&perf->input->arena, (const char *)line.bytes, line.size);
    }
    bool failed = line.failed || (line.size > 0 && !text);
    br2_buf_done(&line);
    if (failed) {
        return br2_fail_memory(err);
    }
    if (text) {
        perf->input->info.command_line = text;
    }
    return 0;
}

/* The attr that description number `index` speaks of: the one with its ids, or its number. */
static struct br2_perf_attr *described(struct br2_perf *perf, uint32_t index, const uint8_t *attr,
                                       const uint8_t *ids, uint32_t id_count)
{
    size_t found;
    for (uint32_t i = 0; i < id_count; i++) {
        if (br2_perf_ids_find(&perf->ids, br2_perf_u64(perf, ids + 8 * (size_t)i), &found)) {
            return &perf->attrs[found];
        }
    }
    if (index >= perf->attr_count) {
        return NULL;
    }
    struct br2_perf_attr *same = &perf->attrs[index];
    bool matches =
        same->type == br2_perf_u32(perf, attr) && same->config == br2_perf_u64(perf, attr + 8);
    return matches ? same : NULL;
}

/* u32 count, u32 attr size, then each: attr, u32 number of ids, name, ids. */
static int read_event_names(struct br2_perf *perf, struct br2_cursor *c, struct br2pgo_error *err)
{
    uint32_t count = br2_cursor_u32(c);
    uint32_t attr_size = br2_cursor_u32(c);
    if (attr_size < 64) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *attr_bytes = br2_cursor_bytes(c, attr_size);
        uint32_t id_count = br2_cursor_u32(c);
        size_t length = 0;
        const char *name = string_of(c, &length);
        if (!name || id_count > br2_cursor_left(c) / 8) {
            return 0;
        }
        const uint8_t *ids = br2_cursor_bytes(c, 8 * (size_t)id_count);
        struct br2_perf_attr *attr = described(perf, i, attr_bytes, ids, id_count);
        if (!attr || length == 0) {
            continue;
        }
        attr->name = br2_arena_strndup(&perf->input->arena, name, length);
        if (!attr->name) {
            return br2_fail_memory(err);
        }
        int rc = br2_perf_add_ids(perf, ids, id_count, (size_t)(attr - perf->attrs), err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* u32 version, type, level, ratio, size. */
static int check_compression(struct br2_cursor *c, struct br2pgo_error *err)
{
    br2_cursor_u32(c);
    uint32_t type = br2_cursor_u32(c);
    if (c->failed || type == 0 || type == COMPRESSION_ZSTD) {
        return 0;
    }
    br2_fail(err, BR2PGO_UNSUPPORTED, "the records are compressed by unknown method number %u",
             type);
    br2_hint(err, "record without -z/--compression-level, or with zstd");
    return BR2PGO_UNSUPPORTED;
}

/* u64 version. */
static int read_directory(struct br2_perf *perf, struct br2_cursor *c, struct br2pgo_error *err)
{
    uint64_t version = br2_cursor_u64(c);
    perf->in_parts = true;
    if (!c->failed && version > DIRECTORY_VERSION) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "a recording in several files of unknown version %llu",
                 (unsigned long long)version);
        br2_hint(err, "record without --threads");
        return BR2PGO_UNSUPPORTED;
    }
    return 0;
}

int br2_perf_read_feature(struct br2_perf *perf, uint64_t feature, const uint8_t *bytes,
                          size_t size, struct br2pgo_error *err)
{
    struct br2_recording_info *info = &perf->input->info;
    struct br2_cursor c = br2_cursor_make(bytes, size, perf->big_endian);
    switch (feature) {
    case FEATURE_BUILD_ID:
        return br2_perf_read_build_ids(perf, bytes, size, err);
    case FEATURE_HOSTNAME:
        return read_string(perf, &c, &info->hostname, err);
    case FEATURE_OSRELEASE:
        return read_string(perf, &c, &info->os_release, err);
    case FEATURE_VERSION:
        return read_string(perf, &c, &info->perf_version, err);
    case FEATURE_ARCH:
        return read_string(perf, &c, &info->arch, err);
    case FEATURE_CPUDESC:
        return read_string(perf, &c, &info->cpu_description, err);
    case FEATURE_CPUID:
        return read_string(perf, &c, &info->cpu_id, err);
    case FEATURE_CMDLINE:
        return read_command_line(perf, &c, err);
    case FEATURE_EVENT_DESC:
        return read_event_names(perf, &c, err);
    case FEATURE_DIR_FORMAT:
        return read_directory(perf, &c, err);
    case FEATURE_COMPRESSED:
        return check_compression(&c, err);
    default:
        return 0;
    }
}
