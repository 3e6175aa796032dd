/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The two passes: events of processes, then samples. Times are those printed, where all lines have
 * one, else the order of lines, which perf script has sorted by time. */
#include "base/limits.h"
#include "input/perf_script/perf_script.h"

struct pass {
    struct br2_script *script;
    struct br2_lines lines;
    bool tasks;
    br2_task_sink task_sink;
    br2_sample_sink sample_sink;
    const bool *wanted;
    void *user;
    struct br2_script_header header; /* of the sample whose stack is to come */
    bool has_header;
    uint64_t repeats;
    br2_time last_time;
    uint64_t sum;
};

static br2_time time_of(struct pass *pass, const struct br2_script_header *header)
{
    if (!pass->script->input->info.has_time) {
        return pass->lines.number;
    }
    pass->last_time = header->has_time ? header->time : pass->last_time;
    return pass->last_time;
}

/* The number of the event of that name; the first pass finds them all. */
static int add_name(struct br2_script *script, bool tasks, struct br2_span name, size_t *ret,
                    struct br2pgo_error *err)
{
    struct br2_recording_info *info = &script->input->info;
    uint32_t known = (uint32_t)script->events.count;
    const char *given = name.at != NULL ? name.at : ""; /* a line that names no event */
    uint32_t number = br2_strings_add(&script->events, given, br2_span_left(&name));
    if (number == BR2_NO_STRING) {
        return br2_fail_memory(err);
    }
    if (number == BR2_SCRIPT_EVENTS_MAX) {
        br2_fail(err, BR2PGO_LIMIT, "more than %d events", BR2_SCRIPT_EVENTS_MAX);
        br2_hint(err, "is this what perf script printed? give the perf.data file itself");
        return BR2PGO_LIMIT;
    }
    if (number == known && !tasks) {
        br2_fail(err, BR2PGO_CORRUPT, "the text changed while it was read");
        br2_hint(err, "let it be written to its end first");
        return BR2PGO_CORRUPT;
    }
    if (number == known) {
        const char *text = br2_strings_get(&script->events, number, NULL);
        info->events[number] = (struct br2_event_info){.name = text[0] != '\0' ? text : "samples"};
        info->event_count = number + 1;
    }
    *ret = number;
    return 0;
}

/* A sample without a stack, which only the first pass counts. */
static int count_without_stack(struct pass *pass, struct br2pgo_error *err)
{
    size_t event = 0;
    if (!pass->tasks) {
        return 0;
    }
    int rc = add_name(pass->script, pass->tasks, pass->header.event, &event, err);
    if (rc == 0) {
        pass->script->input->info.events[event].samples++;
        pass->script->input->info.samples++;
    }
    return rc;
}

static int take_header(struct pass *pass, const struct br2_script_header *header,
                       struct br2pgo_error *err)
{
    int rc = pass->has_header ? count_without_stack(pass, err) : 0;
    pass->header = *header;
    pass->has_header = true;
    return rc;
}

static void set_ids(const struct pass *pass, struct br2_sample *sample)
{
    const struct br2_script_header *header = &pass->header;
    if (pass->script->input->info.no_pids) {
        sample->pid = 0;
    } else if (header->has_pid) {
        sample->pid = header->pid;
        sample->tid = header->tid;
    } else {
        bool lone = header->has_lone && header->lone_fits_pid && pass->script->lone_is_pid;
        sample->pid = sample->tid = lone ? header->lone : BR2_PID_KERNEL;
    }
}

/* A comm has at most 15 bytes; what is longer is cut. */
static const char *copy_comm(struct br2_script *script, struct br2_span comm)
{
    size_t length = br2_span_left(&comm);
    if (length == 0) {
        return NULL;
    }
    length = length < sizeof script->comm ? length : sizeof script->comm - 1;
    memcpy(script->comm, comm.at, length);
    script->comm[length] = '\0';
    return script->comm;
}

static int give_sample(struct pass *pass, struct br2_sample *sample, struct br2_span stack,
                       struct br2pgo_error *err)
{
    struct br2_script *script = pass->script;
    int rc;
    if (!br2_script_read_stack(script, stack, &sample->count, err, &rc)) {
        script->input->info.events[sample->event].malformed_samples += sample->repeats + 1;
        return rc;
    }
    rc = br2_lines_add(&pass->lines, &pass->sum, sample->repeats + 1, sample->count, err);
    if (rc != 0 || sample->count == 0) {
        return rc;
    }
    sample->records = script->records;
    return pass->sample_sink(pass->user, sample, err);
}

static int read_sample(struct pass *pass, struct br2_span stack, struct br2pgo_error *err)
{
    struct br2_script *script = pass->script;
    struct br2_recording_info *info = &script->input->info;
    struct br2_sample sample = {.time = time_of(pass, &pass->header), .repeats = pass->repeats};
    int rc = add_name(script, pass->tasks, pass->header.event, &sample.event, err);
    if (rc != 0) {
        return rc;
    }
    if (pass->tasks) {
        uint64_t *samples = &info->events[sample.event].samples;
        info->events[sample.event].has_branch_stacks = true;
        rc = br2_lines_add(&pass->lines, &info->samples, pass->repeats + 1, 1, err);
        *samples += rc == 0 ? pass->repeats + 1 : 0;
        if (rc == 0 && !script->mapped) { /* which files there are */
            br2_script_read_stack(script, stack, &sample.count, err, &rc);
        }
    } else if (pass->wanted[sample.event]) {
        set_ids(pass, &sample);
        sample.cpu = pass->header.cpu;
        sample.comm = copy_comm(script, pass->header.comm);
        rc = give_sample(pass, &sample, stack, err);
    }
    pass->has_header = false;
    pass->header = (struct br2_script_header){.cpu = -1};
    pass->repeats = 0;
    return rc;
}

/* Of a recording without pids every process is number 0, and no process comes or goes: what has
 * been mapped stays. */
static bool forget_pid(struct br2_task_event *event)
{
    if (event->kind != BR2_TASK_MMAP) {
        return false;
    }
    event->pid = event->kernel ? event->pid : 0;
    return true;
}

static bool conflicts(const struct br2_script_mapping *a, const struct br2_script_mapping *b)
{
    bool same =
        a->name_hash == b->name_hash && a->start - a->file_offset == b->start - b->file_offset;
    return a->pid != b->pid && a->start < b->end && b->start < a->end && !same;
}

static uint64_t hash_name(struct br2_span name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; name.at < name.end; name.at++) {
        hash = (hash ^ (unsigned char)*name.at) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Remembers the mapping; counts it where another process has another file there. */
static int compare_mapping(struct br2_script *script, const struct br2_task_event *event,
                           struct br2_span name, struct br2pgo_error *err)
{
    struct br2_script_mapping mapping = {.pid = event->pid,
                                         .start = event->address,
                                         .file_offset = event->file_offset,
                                         .name_hash = hash_name(name)};
    bool file = br2_span_is(&name, '/') && !br2_span_begins(&name, "//");
    if (event->kernel || event->data || !file ||
        __builtin_add_overflow(event->address, event->length, &mapping.end) ||
        script->mapping_count == BR2_SCRIPT_MAPPINGS_MAX) {
        return 0;
    }
    for (size_t i = 0; i < script->mapping_count; i++) {
        if (conflicts(&script->mappings[i], &mapping)) {
            script->input->info.mixed_mappings++;
            break;
        }
    }
    if (!br2_grow(&script->mappings, &script->mapping_capacity, script->mapping_count,
                  sizeof *script->mappings)) {
        return br2_fail_memory(err);
    }
    script->mappings[script->mapping_count++] = mapping;
    return 0;
}

static int give_task(struct pass *pass, struct br2_task_event *event, struct br2_span name,
                     struct br2pgo_error *err)
{
    const struct br2_recording_info *info = &pass->script->input->info;
    bool synthesised = event->kind == BR2_TASK_FORK && info->has_time && event->time == 0;
    if (synthesised) {
        return 0; /* of a process that ran already: its mappings are all reported */
    }
    if (info->no_pids) {
        int rc = event->kind == BR2_TASK_MMAP ? compare_mapping(pass->script, event, name, err) : 0;
        if (rc != 0 || !forget_pid(event)) {
            return rc;
        }
    }
    char *text = br2_strndup(name.at, br2_span_left(&name));
    if (text == NULL) {
        return br2_fail_memory(err);
    }
    event->name = text;
    int rc = pass->task_sink(pass->user, event, err);
    br2_free(text);
    return rc;
}

static int read_event(struct pass *pass, struct br2_span before, struct br2_span rest,
                      struct br2pgo_error *err)
{
    struct br2_recording_info *info = &pass->script->input->info;
    struct br2_script_header header;
    struct br2_task_event event;
    struct br2_span name;
    if (!pass->tasks) {
        return 0;
    }
    enum br2_script_line kind = br2_script_read_event(rest, &event, &name);
    br2_script_header(before, &header);
    event.time = time_of(pass, &header);
    if (kind == BR2_SCRIPT_TASK) {
        return give_task(pass, &event, name, err);
    }
    info->lost_records += kind == BR2_SCRIPT_LOST ? event.length : 0;
    info->malformed_records += kind == BR2_SCRIPT_DAMAGED;
    return 0;
}

/* A count stands alone on its line, without blanks around it; a pid has one behind it. */
static bool is_count(const struct pass *pass, struct br2_span line, uint64_t *ret)
{
    bool blank_behind = line.end < pass->lines.rest.end && br2_is_blank(*line.end);
    return !blank_behind && br2_span_take_decimal(&line, ret) && line.at == line.end && *ret != 0;
}

static int read_line(struct pass *pass, struct br2_span line, struct br2pgo_error *err)
{
    struct br2_span before, rest;
    struct br2_script_header header;
    struct br2_build_id id;
    uint64_t count;
    if (line.at == line.end || br2_script_is_remark(line)) {
        return 0;
    }
    if (br2_script_read_build_id(line, &id, &rest)) {
        return pass->tasks ? br2_script_add_build_id(pass->script, &id, rest, err) : 0;
    }
    const char *stack = br2_script_find_stack(line);
    if (stack != NULL) {
        before = (struct br2_span){.at = line.at, .end = stack};
        br2_script_header(before, &header);
        if (header.has_time || header.has_pid || header.has_lone || header.event.at != NULL ||
            !pass->has_header) {
            int rc = take_header(pass, &header, err);
            if (rc != 0) {
                return rc;
            }
        }
        return read_sample(pass, (struct br2_span){.at = stack, .end = line.end}, err);
    }
    if (br2_script_find_event(line, &before, &rest)) {
        return read_event(pass, before, rest, err);
    }
    if (is_count(pass, line, &count)) {
        pass->repeats = count - 1;
        return 0;
    }
    /* A line of a call chain has neither a time nor an event. */
    if (br2_script_header(line, &header) &&
        (header.has_time || header.event.at != NULL || (header.has_pid && *line.at != '\t'))) {
        return take_header(pass, &header, err);
    }
    return 0;
}

static int read_all(struct pass *pass, struct br2pgo_error *err)
{
    struct br2_input *input = pass->script->input;
    struct br2_span line;
    int more;
    int rc = 0;
    br2_lines_start(&pass->lines, input);
    while (rc == 0 && (more = br2_lines_next(&pass->lines, &line, err)) != 0) {
        rc = more < 0 ? more : read_line(pass, line, err);
    }
    if (rc == 0 && pass->has_header) {
        rc = count_without_stack(pass, err);
    }
    return rc;
}

static void reset_counts(struct br2_script *script)
{
    struct br2_recording_info *info = &script->input->info;
    for (size_t i = 0; i < info->event_count; i++) {
        info->events[i].samples = info->events[i].malformed_samples = 0;
    }
    info->samples = info->lost_records = info->malformed_records = info->mixed_mappings = 0;
    script->mapping_count = 0;
    info->image_count = script->image_bytes = 0;
}

/* Where no line tells of mappings, the files that addresses named. */
static int map_files(struct pass *pass, struct br2pgo_error *err)
{
    struct br2_script *script = pass->script;
    struct br2_text_file file = {.name = ""};
    int rc = 0;
    if (script->unnamed) {
        rc = br2_text_map_file(&file, pass->task_sink, pass->user, err);
    }
    for (size_t i = 0; rc == 0 && i < script->files.count; i++) {
        size_t length;
        const char *text = br2_strings_get(&script->files, (uint32_t)i, &length);
        file = (struct br2_text_file){.number = (uint32_t)i + 1, .name = text};
        if (length == sizeof file.build_id && text[0] > 0 && text[0] <= BR2_BUILD_ID_MAX) {
            memcpy(&file.build_id, text, sizeof file.build_id);
            file.name = "";
        }
        rc = br2_text_map_file(&file, pass->task_sink, pass->user, err);
    }
    return rc;
}

int br2_script_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                          struct br2pgo_error *err)
{
    struct br2_script *script = input->state;
    struct pass pass = {
        .script = script, .tasks = true, .task_sink = sink, .user = user, .header.cpu = -1};
    reset_counts(script);
    int rc = read_all(&pass, err);
    if (rc == 0 && !script->mapped) {
        rc = map_files(&pass, err);
    }
    input->info.records = pass.lines.number;
    input->info.bytes_read = input->file.size;
    return rc;
}

int br2_script_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                            void *user, struct br2pgo_error *err)
{
    struct br2_script *script = input->state;
    struct pass pass = {
        .script = script, .sample_sink = sink, .wanted = wanted, .user = user, .header.cpu = -1};
    for (size_t i = 0; i < input->info.event_count; i++) {
        input->info.events[i].malformed_samples =
            wanted[i] ? 0 : input->info.events[i].malformed_samples;
    }
    return read_all(&pass, err);
}
