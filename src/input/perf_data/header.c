/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The header of a perf.data file and what it points to. */
#include <inttypes.h>

#include "input/perf_data/perf_data.h"

#define HEADER_SIZE     104
#define OLD_HEADER_SIZE 72 /* without the feature bits */
#define ATTR_MIN        64
#define SECTION_SIZE    16 /* u64 offset, u64 size */

#define FEATURE_BUILD_ID_BIT (UINT64_C(1) << 2)
#define FEATURE_HOSTNAME_BIT (UINT64_C(1) << 3)

struct section {
    uint64_t offset;
    uint64_t size;
};

struct header {
    uint64_t attr_size; /* of one entry: the attr and the section of its ids */
    struct section attrs;
    struct section data;
    uint64_t features[4];
};

static struct section read_section(struct br2_cursor *c)
{
    struct section section;
    section.offset = br2_cursor_u64(c);
    section.size = br2_cursor_u64(c);
    return section;
}

/* The section's bytes, cut at the end of the file. */
static const uint8_t *clip(const struct br2_perf *perf, struct section section, size_t *ret_size)
{
    const struct br2_file *file = &perf->input->file;
    if (section.offset > file->size) {
        section.offset = file->size;
    }
    size_t left = file->size - (size_t)section.offset;
    *ret_size = section.size < left ? (size_t)section.size : left;
    return file->bytes + section.offset;
}

/*
 * The bits were written as unsigned longs of the recording machine, so on a 32-bit big-endian one
 * their halves come the other way round. The host name, which everybody writes, tells.
 */
static void read_feature_bits(const struct br2_perf *perf, struct br2_cursor *c, struct header *ret)
{
    for (size_t i = 0; i < 4; i++) {
        ret->features[i] = br2_cursor_u64(c);
    }
    if (!perf->big_endian || (ret->features[0] & FEATURE_HOSTNAME_BIT)) {
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        ret->features[i] = ret->features[i] << 32 | ret->features[i] >> 32;
    }
    if (ret->features[0] & FEATURE_HOSTNAME_BIT) {
        return;
    }
    ret->features[0] = FEATURE_BUILD_ID_BIT;
    ret->features[1] = ret->features[2] = ret->features[3] = 0;
}

static int read_header(struct br2_perf *perf, struct header *ret, struct br2pgo_error *err)
{
    const struct br2_file *file = &perf->input->file;
    struct br2_cursor c = br2_cursor_make(file->bytes, file->size, perf->big_endian);
    br2_cursor_skip(&c, 8);
    uint64_t size = br2_cursor_u64(&c);
    *ret = (struct header){0};
    ret->attr_size = br2_cursor_u64(&c);
    ret->attrs = read_section(&c);
    ret->data = read_section(&c);
    read_section(&c); /* event types: unused since perf 3.5 */
    if (c.failed || (size != OLD_HEADER_SIZE && size < HEADER_SIZE)) {
        br2_fail(err, BR2PGO_CORRUPT,
                 "the header is damaged: its size is %" PRIu64 ", the file's %zu", size,
                 file->size);
        br2_hint(err, "the file is damaged or cut off: copy or record it again");
        return BR2PGO_CORRUPT;
    }
    if (size >= HEADER_SIZE) {
        read_feature_bits(perf, &c, ret);
    }
    if (ret->attr_size < ATTR_MIN + SECTION_SIZE) {
        br2_fail(err, BR2PGO_CORRUPT,
                 "the header is damaged: an event description has %" PRIu64 " bytes",
                 ret->attr_size);
        br2_hint(err, "the file is damaged: copy or record it again");
        return BR2PGO_CORRUPT;
    }
    return 0;
}

static int read_ids(struct br2_perf *perf, const uint8_t *entry_end, size_t attr, size_t *budget,
                    struct br2pgo_error *err)
{
    struct section section = {br2_perf_u64(perf, entry_end - 16),
                              br2_perf_u64(perf, entry_end - 8)};
    size_t size;
    const uint8_t *ids = clip(perf, section, &size);
    if (size > *budget) {
        br2_fail(err, BR2PGO_CORRUPT, "the event descriptions share their event ids");
        br2_hint(err, "the file is damaged: copy or record it again");
        return BR2PGO_CORRUPT;
    }
    *budget -= size;
    return br2_perf_add_ids(perf, ids, size / 8, attr, err);
}

static int read_attrs(struct br2_perf *perf, const struct header *header, struct br2pgo_error *err)
{
    size_t size;
    const uint8_t *bytes = clip(perf, header->attrs, &size);
    size_t budget = perf->input->file.size; /* no id is in the file twice */
    if (header->attr_size > size) {
        return 0;
    }
    size_t stride = (size_t)header->attr_size;
    for (; size >= stride; size -= stride, bytes += stride) {
        size_t number = perf->attr_count;
        int rc = br2_perf_add_attr(perf, bytes, stride - SECTION_SIZE, err);
        if (!rc) {
            rc = read_ids(perf, bytes + stride, number, &budget, err);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static void place_data(struct br2_perf *perf, const struct header *header)
{
    struct section data = header->data;
    perf->truncation = BR2_WHOLE;
    if (data.size == 0) { /* it is filled in when the recording is closed */
        data.size = UINT64_MAX;
        perf->truncation = BR2_UNCLOSED;
    }
    size_t size;
    perf->data = clip(perf, data, &size);
    perf->data_end = perf->data + size;
    if (perf->truncation == BR2_UNCLOSED) {
        return;
    }
    perf->data_claimed = data.size;
    if (data.size > size) {
        perf->truncation = BR2_TRUNCATED;
    }
}

/* The table of sections is behind the data: one entry for each bit that is set. */
static int read_features(struct br2_perf *perf, const struct header *header,
                         struct br2pgo_error *err)
{
    if (perf->truncation != BR2_WHOLE) {
        return 0; /* it was never written, or is cut off */
    }
    const struct br2_file *file = &perf->input->file;
    size_t left = (size_t)(file->bytes + file->size - perf->data_end);
    struct br2_cursor c = br2_cursor_make(perf->data_end, left, perf->big_endian);
    for (unsigned feature = 0; feature < 256; feature++) {
        if (!(header->features[feature / 64] >> (feature % 64) & 1)) {
            continue;
        }
        struct section section = read_section(&c);
        if (c.failed) {
            return 0;
        }
        size_t size;
        const uint8_t *bytes = clip(perf, section, &size);
        int rc = br2_perf_read_feature(perf, feature, bytes, size, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

int br2_perf_open_file(struct br2_perf *perf, struct br2pgo_error *err)
{
    struct header header;
    int rc = read_header(perf, &header, err);
    if (!rc) {
        rc = read_attrs(perf, &header, err);
    }
    if (rc) {
        return rc;
    }
    place_data(perf, &header);
    return read_features(perf, &header, err);
}
