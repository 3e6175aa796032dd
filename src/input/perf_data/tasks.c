/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* First pass: what processes did, and how much of everything there is. Bodies of samples are not
 * touched unless their event must be looked up. */
#include "input/perf_data/perf_data.h"

/* PROT_EXEC of the recording machine, and all of its kind; the same on all of them */
#define PROT_EXECUTE 4
#define PROT_ALL     7

struct pass {
    struct br2_perf *perf;
    struct br2_recording_info *info;
    struct br2_perf_walk walk;
    br2_task_sink sink;
    void *user;
    struct br2_early_samples *early; /* NULL: none are handed out */
    struct br2_perf_samples samples; /* for these */
};

/* The fields of a record's body before its trailer. */
struct fields {
    struct br2_cursor c;
    br2_time time;
};

const struct br2_perf_layout *br2_perf_trailer_of(const struct br2_perf *perf,
                                                  const struct br2_perf_record *record)
{
    const struct br2_perf_layout *first = &perf->attrs[0].layout;
    if (perf->same_trailers || perf->by != BR2_PERF_BY_ID || first->trailer_id == 0 ||
        record->size < first->trailer_id) {
        return first;
    }
    size_t attr;
    uint64_t id = br2_perf_u64(perf, record->body + record->size - first->trailer_id);
    return br2_perf_ids_find(&perf->ids, id, &attr) ? &perf->attrs[attr].layout : first;
}

static bool open_fields(const struct pass *pass, const struct br2_perf_record *record,
                        struct fields *ret)
{
    const struct br2_perf *perf = pass->perf;
    const struct br2_perf_layout *layout = br2_perf_trailer_of(perf, record);
    if (record->size < layout->trailer_size) {
        return false;
    }
    size_t size = (size_t)record->size - layout->trailer_size;
    ret->c = br2_cursor_make(record->body, size, perf->big_endian);
    ret->time = pass->walk.ordinal;
    if (pass->info->has_time) {
        ret->time = layout->trailer_time
                        ? br2_perf_u64(perf, record->body + record->size - layout->trailer_time)
                        : 0;
    }
    return true;
}

static int32_t read_pid(struct br2_cursor *c)
{
    return (int32_t)br2_cursor_u32(c);
}

/* The end of the variable part of MMAP2: who the file is, by inode or by build-id. */
static void read_identity(struct br2_cursor *c, uint16_t misc, struct br2_task_event *ret)
{
    if (!(misc & BR2_MISC_MMAP_BUILD_ID)) {
        ret->device_major = br2_cursor_u32(c);
        ret->device_minor = br2_cursor_u32(c);
        ret->inode = br2_cursor_u64(c);
        ret->inode_generation = br2_cursor_u64(c);
        return;
    }
    uint8_t size = br2_cursor_u8(c);
    br2_cursor_skip(c, 3);
    const uint8_t *bytes = br2_cursor_bytes(c, BR2_BUILD_ID_MAX);
    if (bytes && size <= BR2_BUILD_ID_MAX) {
        ret->build_id.size = size;
        memcpy(ret->build_id.bytes, bytes, size);
    }
}

/* Before Linux 3.16, and in the 3.10 of RHEL 7, MMAP2 had no protection and flags: then the name is
 * where the protection should be, whose bits are read, write and execute. */
static uint32_t read_protection(struct br2_cursor *c)
{
    struct br2_cursor ahead = *c;
    uint32_t protection = br2_cursor_u32(&ahead);
    if (!ahead.failed && protection > PROT_ALL) {
        return 0;
    }
    *c = ahead;
    br2_cursor_skip(c, 4); /* flags */
    return protection;
}

static bool read_mmap(const struct br2_perf_record *record, struct br2_cursor *c,
                      struct br2_task_event *ret)
{
    ret->kind = BR2_TASK_MMAP;
    ret->pid = read_pid(c);
    br2_cursor_skip(c, 4); /* tid */
    ret->address = br2_cursor_u64(c);
    ret->length = br2_cursor_u64(c);
    ret->file_offset = br2_cursor_u64(c);
    ret->kernel = (record->misc & BR2_MISC_CPUMODE) == BR2_MISC_KERNEL;
    ret->data = record->misc & BR2_MISC_MMAP_DATA;
    if (record->type == BR2_PERF_MMAP2) {
        read_identity(c, record->misc, ret);
        uint32_t protection = read_protection(c);
        /* 0 is not "no access": recorders leave it so for the kernel. */
        if (protection != 0 && !(protection & PROT_EXECUTE)) {
            ret->data = true;
        }
    }
    size_t length;
    ret->name = br2_cursor_string(c, &length);
    return ret->name != NULL;
}

static bool read_comm(const struct br2_perf_record *record, struct br2_cursor *c,
                      struct br2_task_event *ret, bool *ret_thread)
{
    ret->kind = BR2_TASK_COMM;
    ret->pid = read_pid(c);
    *ret_thread = read_pid(c) != ret->pid; /* a thread's own name says nothing of its process */
    ret->exec = record->misc & BR2_MISC_COMM_EXEC;
    size_t length;
    ret->name = br2_cursor_string(c, &length);
    return ret->name != NULL;
}

/* FORK and EXIT: pid, parent pid, tid, parent tid. */
static bool read_life(const struct br2_perf_record *record, struct br2_cursor *c,
                      struct br2_task_event *ret, bool *ret_thread)
{
    ret->pid = read_pid(c);
    int32_t parent = read_pid(c);
    int32_t tid = read_pid(c);
    if (record->type == BR2_PERF_EXIT) {
        ret->kind = BR2_TASK_EXIT;
        *ret_thread = tid != ret->pid;
    } else {
        ret->kind = BR2_TASK_FORK;
        ret->parent = parent;
        /* perf sets FORK_EXEC on forks it made up for processes that ran already: their maps
         * are all reported, none is inherited. */
        *ret_thread = parent == ret->pid || (record->misc & BR2_MISC_FORK_EXEC);
    }
    return !c->failed;
}

/* A virtual machine's processes have their own pids and addresses: they would only mix. */
static bool is_guest(const struct br2_perf_record *record)
{
    unsigned mode = record->misc & BR2_MISC_CPUMODE;
    return mode == BR2_MISC_GUEST_KERNEL || mode == BR2_MISC_GUEST_USER;
}

static int task_record(struct pass *pass, const struct br2_perf_record *record,
                       struct br2pgo_error *err)
{
    struct br2_task_event event = {0};
    struct fields fields;
    bool unwanted = false;
    bool good = open_fields(pass, record, &fields);
    if (good) {
        event.time = fields.time;
        if (record->type == BR2_PERF_COMM) {
            good = read_comm(record, &fields.c, &event, &unwanted);
        } else if (record->type == BR2_PERF_FORK || record->type == BR2_PERF_EXIT) {
            good = read_life(record, &fields.c, &event, &unwanted);
        } else {
            good = read_mmap(record, &fields.c, &event);
        }
    }
    if (!good) {
        pass->perf->malformed_tasks++;
        return 0;
    }
    if (unwanted || is_guest(record)) {
        return 0;
    }
    return pass->sink(pass->user, &event, err);
}

/* LOST: u64 event id, u64 number; LOST_SAMPLES: u64 number. */
static void lost_record(struct pass *pass, const struct br2_perf_record *record)
{
    size_t at = record->type == BR2_PERF_LOST ? 8 : 0;
    if (record->size < at + 8) {
        pass->perf->malformed_tasks++;
    } else {
        pass->info->lost_records += br2_perf_u64(pass->perf, record->body + at);
    }
}

static void count_sample(struct pass *pass, const struct br2_perf_record *record)
{
    size_t attr;
    pass->info->samples++;
    if (br2_perf_sample_attr(pass->perf, record, &attr)) {
        pass->info->events[attr].samples++;
    } else {
        pass->info->unknown_event_samples++;
    }
}

/* Samples that are not compressed cost little to be read once more. */
static int early_sample(struct pass *pass, const struct br2_perf_record *record,
                        struct br2pgo_error *err)
{
    if (!pass->walk.inside) {
        pass->early->all = false;
    }
    return pass->early->all ? br2_perf_read_sample(&pass->samples, record, &pass->walk, err) : 0;
}

static int read_record(struct pass *pass, const struct br2_perf_record *record,
                       struct br2pgo_error *err)
{
    struct br2_recording_info *info = pass->info;
    switch (record->type) {
    case BR2_PERF_SAMPLE:
        count_sample(pass, record);
        return pass->early ? early_sample(pass, record, err) : 0;
    case BR2_PERF_MMAP:
    case BR2_PERF_MMAP2:
    case BR2_PERF_COMM:
    case BR2_PERF_FORK:
    case BR2_PERF_EXIT:
        return task_record(pass, record, err);
    case BR2_PERF_LOST:
    case BR2_PERF_LOST_SAMPLES:
        lost_record(pass, record);
        return 0;
    case BR2_PERF_THROTTLE:
        info->throttled++;
        return 0;
    case BR2_PERF_AUXTRACE_INFO:
        return br2_perf_announce_trace(pass->perf, record, err);
    case BR2_PERF_AUXTRACE:
        info->has_trace = true;
        return 0;
    case BR2_PERF_COMPRESSED:
    case BR2_PERF_COMPRESSED2:
        info->compressed = true;
        return 0;
    default:
        if (!br2_perf_known_record(record->type)) {
            info->unknown_records++;
        }
        return 0;
    }
}

static void reset_counts(struct br2_perf *perf)
{
    struct br2_recording_info *info = &perf->input->info;
    info->records = info->samples = 0;
    info->unknown_records = info->unknown_event_samples = info->malformed_records = 0;
    info->lost_records = info->throttled = 0;
    info->compressed = info->has_trace = false;
    info->trace_kind = NULL;
    info->trace_type = 0;
    info->trace_words = NULL;
    info->trace_word_count = 0;
    perf->malformed_tasks = 0;
    for (size_t i = 0; i < perf->attr_count; i++) {
        info->events[i].samples = 0;
        info->events[i].malformed_samples = 0;
    }
}

static int begin_early(struct pass *pass, struct br2pgo_error *err)
{
    struct br2_early_samples *early = pass->perf->input->early;
    if (!early) {
        return 0;
    }
    early->all = true;
    pass->early = early;
    pass->samples = (struct br2_perf_samples){
        .perf = pass->perf,
        .wanted = early->wanted,
        .has_time = pass->info->has_time,
        .sink = early->sink,
        .user = early->user,
    };
    return br2_perf_begin_samples(&pass->samples, err);
}

static int read_records(struct pass *pass, struct br2pgo_error *err)
{
    struct br2_perf_record record;
    int more;
    while ((more = br2_perf_walk_next(&pass->walk, &record, err)) > 0) {
        int rc = br2_perf_tick(&pass->walk, err);
        if (!rc) {
            rc = read_record(pass, &record, err);
        }
        if (rc) {
            return rc;
        }
    }
    return more;
}

int br2_perf_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                        struct br2pgo_error *err)
{
    struct br2_perf *perf = input->state;
    struct pass pass = {.perf = perf, .info = &input->info, .sink = sink, .user = user};
    reset_counts(perf);
    int rc = begin_early(&pass, err);
    if (rc) {
        return rc;
    }
    br2_perf_walk_start(&pass.walk, perf, false);
    rc = read_records(&pass, err);
    if (rc) {
        return rc;
    }
    struct br2_recording_info *info = pass.info;
    info->records = pass.walk.ordinal;
    info->malformed_records = perf->malformed_tasks;
    if (info->has_trace) {
        info->trace_kind = br2_perf_trace_name(info->trace_type);
    }
    br2_perf_walk_account(&pass.walk, info);
    return 0;
}
