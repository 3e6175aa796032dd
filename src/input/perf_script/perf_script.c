/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf script's text as a kind of input: recognised, surveyed, opened, closed. */
#include "input/perf_script/perf_script.h"

#include "base/limits.h"

/* So many samples tell which fields are printed: perf prints the same for all of them. */
#define SURVEYED_SAMPLES 256

#define CURE                                                                                       \
    "print it so: perf script -F comm,pid,tid,time,event,ip,brstack --show-mmap-events "           \
    "--show-task-events, or give the perf.data file itself"

static bool is_ours(struct br2_span line)
{
    struct br2_span before, rest;
    return br2_script_find_stack(line) != NULL || br2_script_find_event(line, &before, &rest);
}

/* As brstacksym prints a record: no address, but what stands behind two of them. */
static bool has_symbols(struct br2_span line)
{
    static const char *const marks[] = {"/P/-/-/", "/M/-/-/", "/-/-/-/"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (memmem(line.at, br2_span_left(&line), marks[i], strlen(marks[i])) != NULL) {
            return true;
        }
    }
    return false;
}

/* As brstackinsn prints an instruction. */
static bool has_instructions(struct br2_span line)
{
    return memmem(line.at, br2_span_left(&line), "\tinsn: ", 7) != NULL;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    struct br2_span rest = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct br2_span line;
    size_t looked_at = 65536;
    if (br2_span_left(&rest) > looked_at) {
        rest.end = rest.at + looked_at;
    }
    if (memchr(rest.at, '\0', br2_span_left(&rest)) != NULL) {
        return false;
    }
    while (br2_span_take_line(&rest, &line)) {
        if (is_ours(line) || has_symbols(line) || has_instructions(line)) {
            return true;
        }
    }
    return false;
}

struct survey {
    uint64_t samples;
    uint64_t timed;
    uint64_t events;
    uint64_t timed_events;
    bool has_pid;
    bool lone_address; /* a number that stands alone is no pid */
    bool lone_pid;     /* it is one of those in `pids` */
    bool symbols;
    bool instructions;
    int32_t pids[BR2_SCRIPT_PIDS_MAX];
    size_t pid_count;
    struct br2_script_header pending; /* of a sample in several lines */
};

static bool knows_pid(const struct survey *survey, int32_t pid)
{
    for (size_t i = 0; i < survey->pid_count; i++) {
        if (survey->pids[i] == pid) {
            return true;
        }
    }
    return false;
}

static void survey_event(struct br2_script *script, struct survey *survey, struct br2_span before,
                         struct br2_span rest)
{
    struct br2_script_header header;
    struct br2_task_event event;
    struct br2_span name;
    br2_script_header(before, &header);
    if (br2_script_read_event(rest, &event, &name) != BR2_SCRIPT_TASK) {
        return;
    }
    script->mapped = script->mapped || event.kind == BR2_TASK_MMAP;
    survey->events++;
    survey->timed_events += header.has_time;
    if (survey->pid_count < BR2_SCRIPT_PIDS_MAX && !knows_pid(survey, event.pid)) {
        survey->pids[survey->pid_count++] = event.pid;
    }
}

static void survey_sample(struct survey *survey, const struct br2_script_header *header)
{
    survey->samples++;
    survey->timed += header->has_time;
    survey->has_pid = survey->has_pid || header->has_pid;
    if (header->has_lone) {
        survey->lone_address = survey->lone_address || !header->lone_fits_pid;
        survey->lone_pid = survey->lone_pid || knows_pid(survey, header->lone);
    }
}

static void survey_line(struct br2_script *script, struct survey *survey, struct br2_span line)
{
    struct br2_span before, rest;
    struct br2_script_header header;
    struct br2_build_id id;
    if (br2_script_is_remark(line) || br2_script_read_build_id(line, &id, &rest)) {
        return;
    }
    const char *stack = br2_script_find_stack(line);
    if (stack != NULL) {
        before = (struct br2_span){.at = line.at, .end = stack};
        br2_script_header(before, &header);
        bool empty = !header.has_time && !header.has_pid && !header.has_lone;
        survey_sample(survey, empty ? &survey->pending : &header);
        survey->pending = (struct br2_script_header){0};
    } else if (br2_script_find_event(line, &before, &rest)) {
        survey_event(script, survey, before, rest);
    } else {
        survey->symbols = survey->symbols || has_symbols(line);
        survey->instructions = survey->instructions || has_instructions(line);
        if (br2_script_header(line, &header) && (header.has_time || header.has_pid)) {
            survey->pending = header;
        }
    }
}

/* Zeros end a text: there may be any number of them behind it. */
static bool has_before_zeros(struct br2_span text, const char *words)
{
    size_t left = br2_span_left(&text);
    const char *zero = memchr(text.at, '\0', left);
    return memmem(text.at, zero != NULL ? (size_t)(zero - text.at) : left, words, strlen(words)) !=
           NULL;
}

static int look_around(struct br2_script *script, struct survey *survey, struct br2pgo_error *err)
{
    struct br2_lines lines;
    struct br2_span line;
    int more = 0;
    br2_lines_start(&lines, script->input);
    while (survey->samples < SURVEYED_SAMPLES && (more = br2_lines_next(&lines, &line, err)) > 0) {
        survey_line(script, survey, line);
    }
    if (more >= 0 && !script->mapped) { /* mappings come before samples; be sure all the same */
        static const char mapping[] = "PERF_RECORD_MMAP";
        script->mapped = has_before_zeros(lines.rest, mapping);
    }
    return more < 0 ? more : 0;
}

static int refuse_fields(const struct survey *survey, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED,
             survey->instructions
                 ? "text of perf script with branch stacks as instructions (brstackinsn), which is "
                   "not read: it leaves out what it cannot disassemble"
                 : "text of perf script with branch stacks as symbols (brstacksym), which is not "
                   "read: it leaves out the addresses");
    br2_hint(err, CURE);
    return BR2PGO_UNSUPPORTED;
}

static int survey_text(struct br2_script *script, struct br2pgo_error *err)
{
    struct br2_recording_info *info = &script->input->info;
    struct survey survey = {0};
    int rc = look_around(script, &survey, err);
    if (rc != 0) {
        return rc;
    }
    if (survey.samples == 0 && (survey.symbols || survey.instructions)) {
        return refuse_fields(&survey, err);
    }
    script->lone_is_pid = survey.lone_pid && !survey.lone_address;
    info->has_time =
        survey.timed != 0 && survey.timed == survey.samples && survey.timed_events == survey.events;
    info->no_pids = !survey.has_pid && !script->lone_is_pid;
    info->addressing = script->mapped ? BR2_ADDRESSES_RUNTIME : BR2_ADDRESSES_OF_FILE;
    if (!script->mapped) {
        info->no_pids = true;
    }
    return 0;
}

static int open_script(struct br2_input *input, struct br2pgo_error *err)
{
    struct br2_script *script = br2_calloc(1, sizeof *script);
    if (script == NULL) {
        return br2_fail_memory(err);
    }
    input->state = script;
    script->input = input;
    script->records = br2_alloc((size_t)BR2_SCRIPT_RECORDS_MAX * 24);
    input->info.events = br2_calloc(BR2_SCRIPT_EVENTS_MAX, sizeof *input->info.events);
    if (script->records == NULL || input->info.events == NULL) {
        return br2_fail_memory(err);
    }
    input->info.container = "text of perf script";
    input->info.text = true;
    input->total = input->file.size;
    return survey_text(script, err);
}

static void close_script(struct br2_input *input)
{
    struct br2_script *script = input->state;
    if (script == NULL) {
        return;
    }
    br2_strings_done(&script->events);
    br2_strings_done(&script->files);
    br2_free(script->mappings);
    br2_free(script->records);
    br2_free(input->info.events);
    br2_free(input->info.images);
    br2_free(script);
}

const struct br2_input_format br2_perf_script_format = {
    .name = "perf script",
    .probe = probe,
    .open = open_script,
    .read_tasks = br2_script_read_tasks,
    .read_samples = br2_script_read_samples,
    .close = close_script,
};
