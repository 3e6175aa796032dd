/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The words are described in tools/perf/util/cs-etm.h: a version, the number of processors with
 * the PMU's type above it, whether it is a snapshot; then for each processor a magic number, its
 * number, from version 1 on how many words follow, and these: registers.
 */
#include "trace/etm_info.h"

#include "base/mem.h"

#define WORDS_HEAD 3u
#define MAGIC_ETM4 UINT64_C(0x4040404040404040)
#define MAGIC_ETE  UINT64_C(0x5050505050505050)
#define MAGIC_ETM3 UINT64_C(0x3030303030303030)
#define ETM3_WORDS 4u
enum {
    CONFIGR,
    TRACEIDR,
    IDR0,
    IDR1,
    IDR2,
    IDR8,
    AUTHSTATUS,
    ETM4_WORDS,
    DEVARCH = ETM4_WORDS
};

/* An id in TRACEIDR with this bit is none: an AUX_OUTPUT_HW_ID record tells it. */
#define ID_UNUSED 0x80u

/* The decoder keeps so many branches until they are committed; processors have some hundreds. */
#define SPECULATION_MAX 65536u

static bool is_valid_id(uint32_t id)
{
    return id > 0 && id < 0x70;
}

/* AUX_OUTPUT_HW_ID: the trace-id, and, from minor version 1 on, of which sink it is. */
static uint8_t hw_id_trace(uint64_t value)
{
    return (uint8_t)(value & 0xff);
}

static uint32_t hw_id_sink(uint64_t value)
{
    return (uint32_t)(value >> 8);
}

static unsigned hw_id_minor(uint64_t value)
{
    return (unsigned)(value >> 56) & 15u;
}

/* Reads the entry at `*at`, and moves behind it. False: the words end, or make no sense. */
static bool read_unit(const struct br2_recording_info *info, size_t *at, struct br2_etm_unit *ret,
                      bool *ret_supported)
{
    const uint64_t *words = info->trace_words + *at;
    size_t left = info->trace_word_count - *at;
    size_t head = info->trace_words[0] == 0 ? 2 : 3;
    if (left < head) {
        return false;
    }
    uint64_t magic = words[0];
    uint64_t count = head == 3 ? words[2] : magic == MAGIC_ETM3 ? ETM3_WORDS : ETM4_WORDS;
    bool known = magic == MAGIC_ETM4 || magic == MAGIC_ETE;
    if ((!known && magic != MAGIC_ETM3) || count > left - head) {
        return false;
    }
    *at += head + (size_t)count;
    *ret_supported = known && count >= ETM4_WORDS && (magic == MAGIC_ETM4 || count > DEVARCH) &&
                     words[head + IDR8] <= SPECULATION_MAX && words[1] <= INT32_MAX;
    if (!*ret_supported) {
        return true;
    }
    const uint64_t *registers = words + head;
    uint32_t id = (uint32_t)registers[TRACEIDR];
    *ret = (struct br2_etm_unit){
        .cpu = (int32_t)words[1],
        .ete = magic == MAGIC_ETE,
        .id = (id & ID_UNUSED) == 0 && is_valid_id(id & 0x7f) ? id & 0x7f : 0,
        .configr = (uint32_t)registers[CONFIGR],
        .idr0 = (uint32_t)registers[IDR0],
        .idr1 = (uint32_t)registers[IDR1],
        .idr2 = (uint32_t)registers[IDR2],
        .idr8 = (uint32_t)registers[IDR8],
        .devarch = magic == MAGIC_ETE ? (uint32_t)registers[DEVARCH] : 0,
    };
    return true;
}

static struct br2_etm_unit *find(const struct br2_etm_info *info, int32_t cpu)
{
    for (size_t i = 0; i < info->count; i++) {
        if (info->units[i].cpu == cpu) {
            return &info->units[i];
        }
    }
    return NULL;
}

/* Where each sink counts its own, the one of the stream's processor; UINT32_MAX: all are one. */
static uint32_t sink_of(const struct br2_trace_job *job)
{
    const struct br2_trace_streams *streams = job->streams;
    for (size_t i = 0; i < streams->part_count; i++) {
        const struct br2_trace_event *event = &streams->parts[i];
        if (event->kind == BR2_TRACE_ID && hw_id_minor(event->id) != 0 &&
            (job->stream->cpu < 0 || event->cpu == job->stream->cpu)) {
            return hw_id_sink(event->id);
        }
    }
    return UINT32_MAX;
}

/* Ids that the hardware was given when the event began. */
static void take_ids(const struct br2_trace_job *job, const struct br2_etm_info *info)
{
    const struct br2_trace_streams *streams = job->streams;
    uint32_t sink = sink_of(job);
    for (size_t i = 0; i < streams->part_count; i++) {
        const struct br2_trace_event *event = &streams->parts[i];
        if (event->kind != BR2_TRACE_ID || !is_valid_id(hw_id_trace(event->id)) ||
            (sink != UINT32_MAX && hw_id_sink(event->id) != sink)) {
            continue;
        }
        struct br2_etm_unit *unit = find(info, event->cpu);
        if (unit != NULL) {
            unit->id = hw_id_trace(event->id);
        }
    }
}

int br2_etm_info_read(const struct br2_trace_job *job, struct br2_etm_info *ret,
                      struct br2pgo_error *err)
{
    const struct br2_recording_info *info = job->info;
    size_t capacity = 0;
    *ret = (struct br2_etm_info){0};
    uint64_t units = info->trace_word_count > WORDS_HEAD ? info->trace_words[1] & UINT32_MAX : 0;
    size_t at = WORDS_HEAD;
    for (uint64_t i = 0; i < units && at < info->trace_word_count; i++) {
        struct br2_etm_unit unit;
        bool supported = false;
        if (!read_unit(info, &at, &unit, &supported)) {
            break;
        }
        if (!supported) {
            continue;
        }
        if (!br2_grow(&ret->units, &capacity, ret->count, sizeof *ret->units)) {
            return br2_fail_memory(err);
        }
        ret->units[ret->count++] = unit;
    }
    take_ids(job, ret);
    return 0;
}

void br2_etm_info_done(struct br2_etm_info *info)
{
    br2_free(info->units);
    *info = (struct br2_etm_info){0};
}

const struct br2_etm_unit *br2_etm_info_find(const struct br2_etm_info *info, int32_t cpu)
{
    return find(info, cpu);
}
