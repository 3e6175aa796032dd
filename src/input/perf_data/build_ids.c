/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The build-id table: u32 type, u16 misc, u16 size; s32 pid; u8 id[20], u8 id size, 3 bytes; name.
 * A table that makes no sense costs the table, never the recording.
 */
#include "input/perf_data/perf_data.h"

#define FIXED           36
#define FIXED_NO_PID    32
#define NAME_ALIGNMENT  64
#define OLD_KERNEL_NAME "nel.kallsyms]"

/* One record of the table, as far as it could be read. */
struct entry {
    uint16_t misc;
    const uint8_t *id; /* 20 bytes and their size */
    const char *name;
    size_t name_length;
};

static bool read_entry(const struct br2_perf *perf, const uint8_t *bytes, size_t size, size_t fixed,
                       struct entry *ret)
{
    if (size <= fixed) {
        return false;
    }
    const uint8_t *name = bytes + fixed;
    const uint8_t *end = memchr(name, 0, size - fixed);
    if (!end) {
        return false;
    }
    *ret = (struct entry){
        .misc = br2_perf_u16(perf, bytes + 4),
        .id = bytes + fixed - 24,
        .name = (const char *)name,
        .name_length = (size_t)(end - name),
    };
    return true;
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/* Before perf 5.11 there was no size: short ids (8 or 16 bytes) are filled with zeros to 20. */
static struct br2_build_id id_of(const struct entry *entry)
{
    struct br2_build_id id = {.size = BR2_BUILD_ID_MAX};
    memcpy(id.bytes, entry->id, BR2_BUILD_ID_MAX);
    uint8_t stated = entry->id[BR2_BUILD_ID_MAX];
    if ((entry->misc & BR2_MISC_BUILD_ID_SIZE) && stated <= BR2_BUILD_ID_MAX) {
        id.size = stated;
    } else if (all_zero(id.bytes, BR2_BUILD_ID_MAX)) {
        id.size = 0;
    } else if (all_zero(id.bytes + 8, 12)) {
        id.size = 8;
    } else if (all_zero(id.bytes + 16, 4)) {
        id.size = 16;
    }
    memset(id.bytes + id.size, 0, BR2_BUILD_ID_MAX - id.size);
    return id;
}

static int add_image(struct br2_perf *perf, const struct entry *entry, struct br2pgo_error *err)
{
    unsigned mode = entry->misc & BR2_MISC_CPUMODE;
    if (mode == BR2_MISC_GUEST_KERNEL || mode == BR2_MISC_GUEST_USER) {
        return 0; /* a virtual machine's image; its addresses are not in this recording's maps */
    }
    if (!br2_grow(&perf->images, &perf->image_capacity, perf->image_count, sizeof *perf->images)) {
        return br2_fail_memory(err);
    }
    const char *path = br2_arena_strndup(&perf->input->arena, entry->name, entry->name_length);
    if (!path) {
        return br2_fail_memory(err);
    }
    perf->images[perf->image_count++] = (struct br2_recorded_image){
        .path = path,
        .build_id = id_of(entry),
        .kernel = mode == BR2_MISC_KERNEL,
    };
    perf->input->info.images = perf->images;
    perf->input->info.image_count = perf->image_count;
    return 0;
}

/* How far the next record is. perf 6.12 wrote a size that leaves out the padding of the name to 64
 * bytes: then zeros follow where the next header should be. */
static size_t step(const struct br2_perf *perf, const uint8_t *bytes, size_t size, size_t fixed,
                   const struct entry *entry)
{
    size_t stated = br2_perf_u16(perf, bytes + 6);
    size_t name = entry->name_length + 1;
    size_t padded = fixed + (name + NAME_ALIGNMENT - 1) / NAME_ALIGNMENT * NAME_ALIGNMENT;
    bool header_follows =
        size - stated >= BR2_PERF_HEADER && br2_perf_u16(perf, bytes + stated + 6) >= fixed;
    if (!header_follows && size != stated && padded > stated && padded <= size) {
        return padded;
    }
    return stated;
}

static int read_table(struct br2_perf *perf, const uint8_t *bytes, size_t size, size_t fixed,
                      struct br2pgo_error *err)
{
    while (size >= fixed) {
        struct entry entry;
        size_t stated = br2_perf_u16(perf, bytes + 6);
        if (stated > size || !read_entry(perf, bytes, stated, fixed, &entry)) {
            break;
        }
        int rc = add_image(perf, &entry, err);
        if (rc) {
            return rc;
        }
        size_t used = step(perf, bytes, size, fixed, &entry);
        bytes += used;
        size -= used;
    }
    return 0;
}

/* Before 2.6.35 there was no pid: read with one, "[kernel.kallsyms]" loses its first four letters.
 */
static bool has_no_pid(const struct br2_perf *perf, const uint8_t *bytes, size_t size)
{
    while (size >= FIXED) {
        size_t stated = br2_perf_u16(perf, bytes + 6);
        struct entry entry;
        if (stated > size || !read_entry(perf, bytes, stated, FIXED, &entry)) {
            return false;
        }
        if (strcmp(entry.name, OLD_KERNEL_NAME) == 0) {
            return true;
        }
        bytes += stated;
        size -= stated;
    }
    return false;
}

int br2_perf_read_build_ids(struct br2_perf *perf, const uint8_t *bytes, size_t size,
                            struct br2pgo_error *err)
{
    size_t fixed = has_no_pid(perf, bytes, size) ? FIXED_NO_PID : FIXED;
    return read_table(perf, bytes, size, fixed, err);
}
