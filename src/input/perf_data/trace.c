/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What there is of an instruction trace. Its bytes are handed out where they are. */
#include "input/perf_data/perf_data.h"

#define INFO_HEAD     8 /* u32 type, 4 bytes of nothing */
#define AUXTRACE_BODY 40

struct pass {
    const struct br2_perf *perf;
    struct br2_perf_walk walk;
    br2_trace_sink sink;
    void *user;
};

int br2_perf_announce_trace(struct br2_perf *perf, const struct br2_perf_record *record,
                            struct br2pgo_error *err)
{
    struct br2_recording_info *info = &perf->input->info;
    if (record->size < INFO_HEAD || info->trace_words) {
        return 0;
    }
    size_t count = (record->size - INFO_HEAD) / sizeof(uint64_t);
    uint64_t *words = br2_arena_alloc(&perf->input->arena, (count + 1) * sizeof *words);
    if (!words) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = br2_perf_u64(perf, record->body + INFO_HEAD + i * sizeof *words);
    }
    info->trace_type = br2_perf_u32(perf, record->body);
    info->trace_words = words;
    info->trace_word_count = count;
    return 0;
}

/* AUXTRACE: u64 size, offset, reference; u32 index, tid, cpu, 4 bytes of nothing. */
static bool read_bytes(const struct pass *pass, const struct br2_perf_record *record,
                       struct br2_trace_event *ret)
{
    struct br2_cursor c = br2_cursor_make(record->body, record->size, pass->perf->big_endian);
    ret->kind = BR2_TRACE_BYTES;
    if (record->size != AUXTRACE_BODY || record->payload == NULL) {
        return false;
    }
    ret->size = br2_cursor_u64(&c);
    ret->offset = br2_cursor_u64(&c);
    br2_cursor_skip(&c, 8);
    ret->index = br2_cursor_u32(&c);
    ret->tid = (int32_t)br2_cursor_u32(&c);
    ret->cpu = (int32_t)br2_cursor_u32(&c);
    ret->bytes = record->payload;
    return !c.failed && ret->size != 0 && ret->size == record->payload_size;
}

/* The fields that all records end with; false: it is too short for them. */
static bool read_trailer(const struct pass *pass, const struct br2_perf_record *record,
                         struct br2_trace_event *ret, struct br2_cursor *ret_body)
{
    const struct br2_perf *perf = pass->perf;
    const struct br2_perf_layout *layout = br2_perf_trailer_of(perf, record);
    if (record->size < layout->trailer_size) {
        return false;
    }
    const uint8_t *end = record->body + record->size;
    ret->time = pass->walk.ordinal;
    if (perf->input->info.has_time) {
        ret->time = layout->trailer_time ? br2_perf_u64(perf, end - layout->trailer_time) : 0;
    }
    if (layout->trailer_tid) {
        ret->pid = (int32_t)br2_perf_u32(perf, end - layout->trailer_tid);
        ret->tid = (int32_t)br2_perf_u32(perf, end - layout->trailer_tid + 4);
    }
    if (layout->trailer_cpu) {
        ret->cpu = (int32_t)br2_perf_u32(perf, end - layout->trailer_cpu);
    }
    *ret_body = br2_cursor_make(record->body, (size_t)record->size - layout->trailer_size,
                                perf->big_endian);
    return true;
}

static bool read_beside(const struct pass *pass, const struct br2_perf_record *record,
                        struct br2_trace_event *ret)
{
    struct br2_cursor c;
    if (!read_trailer(pass, record, ret, &c)) {
        return false;
    }
    switch (record->type) {
    case BR2_PERF_AUX:
        ret->kind = BR2_TRACE_WINDOW;
        ret->offset = br2_cursor_u64(&c);
        ret->size = br2_cursor_u64(&c);
        ret->flags = br2_cursor_u64(&c);
        break;
    case BR2_PERF_ITRACE_START:
        ret->kind = BR2_TRACE_START;
        ret->pid = (int32_t)br2_cursor_u32(&c);
        ret->tid = (int32_t)br2_cursor_u32(&c);
        break;
    case BR2_PERF_AUX_OUTPUT_HW_ID:
        ret->kind = BR2_TRACE_ID;
        ret->id = br2_cursor_u64(&c);
        break;
    default: /* SWITCH, SWITCH_CPU_WIDE: the trailer says who */
        ret->kind = BR2_TRACE_SWITCH;
        ret->out = record->misc & BR2_MISC_SWITCH_OUT;
        break;
    }
    return !c.failed;
}

/* FORK: u32 pid, parent's pid, tid; COMM: u32 pid, tid. */
static bool read_thread(const struct pass *pass, const struct br2_perf_record *record,
                        struct br2_trace_event *ret)
{
    struct br2_cursor c = br2_cursor_make(record->body, record->size, pass->perf->big_endian);
    ret->kind = BR2_TRACE_THREAD;
    ret->pid = (int32_t)br2_cursor_u32(&c);
    if (record->type == BR2_PERF_FORK) {
        br2_cursor_skip(&c, 4);
    }
    ret->tid = (int32_t)br2_cursor_u32(&c);
    return !c.failed && ret->pid != ret->tid;
}

static bool read_event(const struct pass *pass, const struct br2_perf_record *record,
                       struct br2_trace_event *ret)
{
    *ret = (struct br2_trace_event){.pid = -1, .tid = -1, .cpu = -1};
    switch (record->type) {
    case BR2_PERF_AUXTRACE:
        return read_bytes(pass, record, ret);
    case BR2_PERF_AUX:
    case BR2_PERF_ITRACE_START:
    case BR2_PERF_SWITCH:
    case BR2_PERF_SWITCH_CPU_WIDE:
    case BR2_PERF_AUX_OUTPUT_HW_ID:
        return read_beside(pass, record, ret);
    case BR2_PERF_FORK:
    case BR2_PERF_COMM:
        return read_thread(pass, record, ret);
    default:
        return false;
    }
}

int br2_perf_read_trace(struct br2_input *input, br2_trace_sink sink, void *user,
                        struct br2pgo_error *err)
{
    struct pass pass = {.perf = input->state, .sink = sink, .user = user};
    struct br2_perf_record record;
    br2_perf_walk_start(&pass.walk, input->state, false);
    int more;
    while ((more = br2_perf_walk_next(&pass.walk, &record, err)) > 0) {
        struct br2_trace_event event;
        int rc = br2_perf_tick(&pass.walk, err);
        if (!rc && read_event(&pass, &record, &event)) {
            rc = sink(user, &event, err);
        }
        if (rc) {
            return rc;
        }
    }
    return more;
}
