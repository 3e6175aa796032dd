/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Second pass: the samples of some events. For a little-endian file on a little-endian machine
 * nothing is done per branch record: they are handed out where they are. */
#include "input/perf_data/perf_data.h"

#define RECORD       24
#define SCRATCH_SIZE ((size_t)64 * 1024) /* a record's size has 16 bits */

/* `width` bits of the flags of a big-endian machine, whose first field is at the top. */
static uint64_t field(uint64_t flags, unsigned low, unsigned width)
{
    return flags >> low & ((UINT64_C(1) << width) - 1);
}

/* The fields of struct perf_branch_entry from mispred to priv, and perf's own not_taken. */
static uint64_t flags_from_big_endian(uint64_t flags)
{
    return field(flags, 63, 1) |       /* mispred */
           field(flags, 62, 1) << 1 |  /* predicted */
           field(flags, 61, 1) << 2 |  /* in_tx */
           field(flags, 60, 1) << 3 |  /* abort */
           field(flags, 44, 16) << 4 | /* cycles */
           field(flags, 40, 4) << 20 | /* type */
           field(flags, 38, 2) << 24 | /* spec */
           field(flags, 34, 4) << 26 | /* new_type */
           field(flags, 31, 3) << 30 | /* priv */
           field(flags, 30, 1) << 33;  /* not_taken */
}

/* Puts the records into the scratch memory as this machine would have them. */
static const uint8_t *convert(const struct br2_perf *perf, const uint8_t *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = records + RECORD * i;
        uint64_t entry[3] = {br2_perf_u64(perf, from), br2_perf_u64(perf, from + 8),
                             br2_perf_u64(perf, from + 16)};
        if (perf->big_endian) {
            entry[2] = flags_from_big_endian(entry[2]);
        }
        memcpy(perf->scratch + RECORD * i, entry, sizeof entry);
    }
    return perf->scratch;
}

static void read_fields(const struct br2_perf_samples *samples, const struct br2_perf_attr *attr,
                        const uint8_t *body, uint64_t ordinal, struct br2_sample *ret)
{
    const struct br2_perf *perf = samples->perf;
    const struct br2_perf_layout *layout = &attr->layout;
    ret->time = samples->has_time ? br2_perf_u64(perf, body + layout->time) : ordinal;
    ret->pid = BR2_PID_KERNEL;
    ret->tid = BR2_PID_KERNEL;
    if (layout->tid != BR2_PERF_ABSENT) {
        ret->pid = (int32_t)br2_perf_u32(perf, body + layout->tid);
        ret->tid = (int32_t)br2_perf_u32(perf, body + layout->tid + 4);
    }
    ret->cpu =
        layout->cpu != BR2_PERF_ABSENT ? (int32_t)br2_perf_u32(perf, body + layout->cpu) : -1;
    ret->comm = NULL;
    ret->ip = layout->ip != BR2_PERF_ABSENT ? br2_perf_u64(perf, body + layout->ip) : 0;
    ret->period = layout->period != BR2_PERF_ABSENT ? br2_perf_u64(perf, body + layout->period)
                                                    : attr->period;
}

int br2_perf_read_sample(const struct br2_perf_samples *samples,
                         const struct br2_perf_record *record, const struct br2_perf_walk *walk,
                         struct br2pgo_error *err)
{
    const struct br2_perf *perf = samples->perf;
    struct br2_sample sample = {.repeats = 0};
    if (!br2_perf_sample_attr(perf, record, &sample.event) || !samples->wanted[sample.event]) {
        return 0;
    }
    const struct br2_perf_attr *attr = &perf->attrs[sample.event];
    if ((attr->sample_type & BR2_SAMPLE_BRANCH_STACK) == 0) {
        return 0;
    }
    if (!br2_perf_find_records(perf, attr, record, &sample.records, &sample.count)) {
        perf->input->info.events[sample.event].malformed_samples++;
        return 0;
    }
    if (sample.count == 0) {
        return 0;
    }
    read_fields(samples, attr, record->body, walk->ordinal, &sample);
    sample.lasting = !walk->inside && !perf->convert_records;
    if (perf->convert_records) {
        sample.records = convert(perf, sample.records, sample.count);
    }
    return samples->sink(samples->user, &sample, err);
}

static int read_all(const struct br2_perf_samples *samples, struct br2pgo_error *err)
{
    struct br2_perf_walk walk;
    struct br2_perf_record record;
    br2_perf_walk_start(&walk, samples->perf, false);
    int more;
    while ((more = br2_perf_walk_next(&walk, &record, err)) > 0) {
        int rc = br2_perf_tick(&walk, err);
        if (!rc && record.type == BR2_PERF_SAMPLE) {
            rc = br2_perf_read_sample(samples, &record, &walk, err);
        }
        if (rc) {
            return rc;
        }
    }
    return more;
}

int br2_perf_begin_samples(const struct br2_perf_samples *samples, struct br2pgo_error *err)
{
    struct br2_perf *perf = samples->perf;
    if (perf->convert_records && !perf->scratch) {
        perf->scratch = br2_alloc(SCRATCH_SIZE);
        if (!perf->scratch) {
            return br2_fail_memory(err);
        }
    }
    for (size_t i = 0; i < perf->attr_count; i++) {
        if (samples->wanted[i]) {
            perf->input->info.events[i].malformed_samples = 0;
        }
    }
    return 0;
}

/* Malformed samples are counted per event, so that reading one twice does not count it twice. */
static void account(struct br2_perf *perf)
{
    struct br2_recording_info *info = &perf->input->info;
    info->malformed_records = perf->malformed_tasks;
    for (size_t i = 0; i < info->event_count; i++) {
        info->malformed_records += info->events[i].malformed_samples;
    }
}

int br2_perf_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                          void *user, struct br2pgo_error *err)
{
    struct br2_perf *perf = input->state;
    struct br2_perf_samples samples = {
        .perf = perf,
        .wanted = wanted,
        .has_time = input->info.has_time,
        .sink = sink,
        .user = user,
    };
    int rc = br2_perf_begin_samples(&samples, err);
    rc = rc ? rc : read_all(&samples, err);
    account(perf);
    return rc;
}
