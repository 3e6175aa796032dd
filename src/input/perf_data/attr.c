/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf_event_attr: what each event of a recording asked for. */
#include "input/perf_data/perf_data.h"

/* Bit fields of a big-endian machine are laid out from the top bit of each byte. */
static uint64_t flags_of(const uint8_t bytes[8], bool big_endian)
{
    uint64_t flags = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t byte = bytes[i];
        if (big_endian) {
            uint64_t reversed = 0;
            for (unsigned bit = 0; bit < 8; bit++) {
                reversed |= (byte >> bit & 1) << (7 - bit);
            }
            byte = reversed;
        }
        flags |= byte << (8 * i);
    }
    return flags;
}

/* precise_ip is the two bits 15 and 16, the upper one first on a big-endian machine. */
static unsigned precise_of(uint64_t flags, bool big_endian)
{
    unsigned field = (unsigned)(flags >> 15) & 3;
    return big_endian ? (field >> 1 | field << 1) & 3 : field;
}

static uint64_t u64_at(struct br2_cursor c, size_t offset)
{
    if (offset > br2_cursor_left(&c) || br2_cursor_left(&c) - offset < 8) {
        return 0; /* an older, shorter attr */
    }
    br2_cursor_skip(&c, offset);
    return br2_cursor_u64(&c);
}

int br2_perf_add_attr(struct br2_perf *perf, const uint8_t *bytes, size_t size,
                      struct br2pgo_error *err)
{
    if (!br2_grow(&perf->attrs, &perf->attr_capacity, perf->attr_count, sizeof *perf->attrs)) {
        return br2_fail_memory(err);
    }
    uint32_t stated = br2_perf_u32(perf, bytes + 4); /* 0: the first version's 64 */
    if (stated == 0) {
        stated = 64;
    }
    if (stated < size) {
        size = stated;
    }
    struct br2_cursor c = br2_cursor_make(bytes, size, perf->big_endian);
    struct br2_perf_attr *attr = &perf->attrs[perf->attr_count++];
    *attr = (struct br2_perf_attr){
        .type = br2_perf_u32(perf, bytes),
        .config = u64_at(c, 8),
        .period = u64_at(c, 16),
        .sample_type = u64_at(c, 24),
        .read_format = u64_at(c, 32),
        .branch_sample_type = u64_at(c, 72),
        .regs_user = u64_at(c, 80),
        .regs_intr = u64_at(c, 96),
    };
    attr->flags = flags_of(bytes + 40, perf->big_endian);
    attr->precise = precise_of(attr->flags, perf->big_endian);
    br2_perf_layout_make(&attr->layout, attr);
    return 0;
}

int br2_perf_add_ids(struct br2_perf *perf, const uint8_t *bytes, size_t count, size_t attr,
                     struct br2pgo_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!br2_perf_ids_add(&perf->ids, br2_perf_u64(perf, bytes + 8 * i), (uint32_t)attr)) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

/* How a sample tells its event; needs the same place in all of them. */
static void choose_by(struct br2_perf *perf)
{
    const struct br2_perf_attr *first = &perf->attrs[0];
    bool same_id = first->layout.id != BR2_PERF_ABSENT;
    bool same_type = true;
    perf->same_trailers = true;
    for (size_t i = 1; i < perf->attr_count; i++) {
        const struct br2_perf_attr *attr = &perf->attrs[i];
        const struct br2_perf_layout *layout = &attr->layout;
        same_id = same_id && layout->id == first->layout.id;
        same_type = same_type && attr->sample_type == first->sample_type;
        perf->same_trailers = perf->same_trailers &&
                              layout->trailer_size == first->layout.trailer_size &&
                              layout->trailer_time == first->layout.trailer_time;
    }
    perf->id_offset = first->layout.id;
    if (perf->attr_count == 1) {
        perf->by = BR2_PERF_BY_FIRST;
    } else if (same_id) {
        perf->by = BR2_PERF_BY_ID;
    } else {
        perf->by =
            same_type && first->layout.id == BR2_PERF_ABSENT ? BR2_PERF_BY_FIRST : BR2_PERF_UNTOLD;
    }
}

/*
 * Time stamps are used when every sample with branches and every task record has one; mixing
 * times with file positions would order nothing. Records that the recorder itself made are first:
 * their time is 0.
 */
static bool has_time(const struct br2_perf *perf)
{
    const uint64_t tracking = BR2_ATTR_MMAP | BR2_ATTR_MMAP2 | BR2_ATTR_COMM | BR2_ATTR_TASK;
    bool tracked = false;
    for (size_t i = 0; i < perf->attr_count; i++) {
        const struct br2_perf_attr *attr = &perf->attrs[i];
        bool tracks = attr->flags & tracking;
        tracked = tracked || tracks;
        if ((tracks || (attr->sample_type & BR2_SAMPLE_BRANCH_STACK)) &&
            !(attr->sample_type & BR2_SAMPLE_TIME)) {
            return false;
        }
        if (tracks && !(attr->flags & BR2_ATTR_SAMPLE_ID_ALL)) {
            return false;
        }
    }
    const struct br2_perf_attr *first = &perf->attrs[0];
    return tracked ||
           ((first->flags & BR2_ATTR_SAMPLE_ID_ALL) && (first->sample_type & BR2_SAMPLE_TIME));
}

static int fill_event(struct br2_perf *perf, size_t i, struct br2pgo_error *err)
{
    struct br2_perf_attr *attr = &perf->attrs[i];
    if (!attr->name) {
        attr->name = br2_perf_event_name(&perf->input->arena, attr->type, attr->config);
    }
    if (!attr->name) {
        return br2_fail_memory(err);
    }
    perf->input->info.events[i] = (struct br2_event_info){
        .name = attr->name,
        .type = attr->type,
        .config = attr->config,
        .sample_type = attr->sample_type,
        .branch_sample_type = attr->branch_sample_type,
        .has_branch_stacks = attr->sample_type & BR2_SAMPLE_BRANCH_STACK,
        .exclude_kernel = attr->flags & BR2_ATTR_EXCLUDE_KERNEL,
        .exclude_user = attr->flags & BR2_ATTR_EXCLUDE_USER,
        .frequency = attr->flags & BR2_ATTR_FREQUENCY,
        .period_or_frequency = attr->period,
        .precise = attr->precise,
    };
    return 0;
}

int br2_perf_finish_attrs(struct br2_perf *perf, struct br2pgo_error *err)
{
    struct br2_recording_info *info = &perf->input->info;
    if (perf->attr_count == 0) {
        br2_fail(err, BR2PGO_CORRUPT, "the recording describes no event");
        br2_hint(err, "the file is damaged, or its recorder died at once: record again");
        return BR2PGO_CORRUPT;
    }
    choose_by(perf);
    info->has_time = has_time(perf);
    info->events = br2_arena_alloc(&perf->input->arena, perf->attr_count * sizeof *info->events);
    if (!info->events) {
        return br2_fail_memory(err);
    }
    info->event_count = perf->attr_count;
    for (size_t i = 0; i < perf->attr_count; i++) {
        int rc = fill_event(perf, i, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}
