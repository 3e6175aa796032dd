/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a recording to its traces, counted and folded. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "flow/counted.h"
#include "lib/conversion.h"
#include "lib/counters.h"
#include "lib/early.h"
#include "lib/trace.h"

/* PERF_SAMPLE_BRANCH_* of linux/perf_event.h */
#define BRANCH_ANY        (UINT64_C(1) << 3)
#define BRANCH_CALL_STACK (UINT64_C(1) << 11)
/* any_call, any_return, ind_call, cond, ind_jump, call: only some kinds of branches */
#define BRANCH_FILTERS                                                                             \
    (UINT64_C(1) << 4 | UINT64_C(1) << 5 | UINT64_C(1) << 6 | UINT64_C(1) << 10 |                  \
     UINT64_C(1) << 12 | UINT64_C(1) << 13)

#define THREADS_FROM_BYTES (8 * 1024 * 1024)
#define THREADS_AUTO_MAX   8 /* one that reads keeps no more busy */

void br2_recording_done(struct br2_recording *recording)
{
    br2_folded_done(&recording->folded);
    br2_spaces_free(recording->spaces);
    br2_input_close(recording->input);
    br2_free(recording->sources);
    if (recording->first_alike == NULL) {
        br2_free(recording->is_image);
    }
    br2_comms_done(&recording->chosen.comms);
    br2_free(recording->path);
}

const struct br2_spaces *br2_recording_spaces(const struct br2_recording *recording)
{
    return recording->first_alike != NULL ? recording->first_alike->spaces : recording->spaces;
}

const struct br2_dsos *br2_recording_dsos(const struct br2_recording *recording)
{
    struct br2_spaces *spaces =
        recording->first_alike != NULL ? recording->first_alike->spaces : recording->spaces;
    return br2_spaces_dsos(spaces);
}

static int refuse(const struct br2_recording *recording, struct br2pgo_error *err, const char *what,
                  const char *hint)
{
    br2_fail(err, BR2PGO_USELESS, "'%s': %s", recording->path, what);
    br2_hint(err, "%s", hint);
    return BR2PGO_USELESS;
}

static int refuse_without_branches(const struct br2_recording *recording,
                                   const struct br2_recording_info *info, struct br2pgo_error *err)
{
    if (info->has_trace && !br2_trace_is_decoded(info)) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s': no branch records, but a trace (%s) that br2pgo does "
                 "not decode",
                 recording->path, info->trace_kind != NULL ? info->trace_kind : "unknown kind");
        br2_hint(err,
                 "let perf synthesise branch records from it: perf inject "
                 "--itrace=i1000il64b -i '%s' -o injected.data",
                 recording->path);
        return BR2PGO_USELESS;
    }
    if (info->counted) {
        return refuse(recording, err, "no branch and no straight run is counted in it",
                      "plain samples say nothing of branches: record with perf record -b");
    }
    return refuse(recording, err, "no branch records",
                  "record with branch records: perf record -b, or -j any,u (needs Intel LBR, AMD "
                  "Zen 3 or later, or Arm BRBE; most virtual machines have none)");
}

/* Why an event's branch records cannot make a profile; NULL when they can. */
static int check_branch_mode(const struct br2_recording *recording,
                             const struct br2_event_info *event, struct br2pgo_error *err)
{
    if ((event->branch_sample_type & BRANCH_CALL_STACK) != 0) {
        return refuse(recording, err,
                      "the branch records are call stacks (perf record --call-graph lbr), not the "
                      "history of branches",
                      "record the history: perf record -b, or -j any,u");
    }
    if ((event->branch_sample_type & BRANCH_FILTERS) != 0 &&
        (event->branch_sample_type & BRANCH_ANY) == 0) {
        return refuse(recording, err,
                      "only some kinds of branches were recorded (perf record -j with a filter): "
                      "what ran between two records is unknown",
                      "record all taken branches: perf record -b, or -j any,u");
    }
    return 0;
}

static bool is_wanted(const struct br2pgo_conversion *conversion,
                      const struct br2_event_info *event)
{
    return conversion->options.event == NULL || strcmp(conversion->options.event, event->name) == 0;
}

static int refuse_event(const struct br2pgo_conversion *conversion,
                        const struct br2_recording *recording,
                        const struct br2_recording_info *info, struct br2pgo_error *err)
{
    struct br2_buf names = {0};
    for (size_t i = 0; i < info->event_count; i++) {
        br2_buf_printf(&names, "%s'%s'", i != 0 ? ", " : "", info->events[i].name);
    }
    br2_buf_u8(&names, '\0');
    br2_fail(err, BR2PGO_INVALID, "'%s' has no event '%s'", recording->path,
             conversion->options.event);
    if (info->event_count != 0) {
        br2_hint(err, "its events are %s", names.failed ? "many" : (const char *)names.bytes);
    } else {
        br2_hint(err, "it does not say of which event it is: leave --event out");
    }
    br2_buf_done(&names);
    return BR2PGO_INVALID;
}

/* Who sees how far a pass over a recording is. */
struct watching {
    const struct br2pgo_conversion *conversion;
    const struct br2_input *input;
    const char *phase;
};

static int watch(void *user, struct br2pgo_error *err)
{
    const struct watching *watching = user;
    uint64_t done, total;
    br2_input_progress(watching->input, &done, &total);
    return br2_progress(watching->conversion, watching->phase, done, total, err);
}

/* Where samples, and what was counted before, go. */
struct reading {
    const struct br2_selection *selection; /* NULL: every sample is used */
    struct br2_recording *recording;
    struct br2_counters *counters;
    struct br2_counted_into counted;
};

static int take_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct reading *reading = user;
    struct br2_recording *recording = reading->recording;
    if (reading->selection != NULL && !br2_chosen_takes(reading->selection, recording, sample)) {
        return 0;
    }
    if (sample->repeats == 0) {
        return br2_counters_take(reading->counters, sample, err);
    }
    uint32_t view = br2_spaces_view(recording->spaces, sample->pid, sample->time);
    return br2_count_repeats(&reading->counted, sample, view) ? 0 : br2_fail_memory(err);
}

static int take_counted(void *user, const struct br2_counted *counted, struct br2pgo_error *err)
{
    struct reading *reading = user;
    uint32_t view = br2_spaces_view(reading->recording->spaces, counted->pid, counted->time);
    return br2_count_counted(&reading->counted, counted, view) ? 0 : br2_fail_memory(err);
}

int br2_recording_count_sources(struct br2_recording *recording, struct br2pgo_error *err)
{
    size_t count = br2_spaces_dsos(recording->spaces)->count;
    br2_free(recording->sources);
    br2_free(recording->is_image);
    recording->sources = br2_calloc(count, sizeof *recording->sources);
    recording->is_image = br2_calloc(count, sizeof *recording->is_image);
    if (recording->sources == NULL || recording->is_image == NULL) {
        return br2_fail_memory(err);
    }
    const struct br2_trace_table *table = &recording->folded.traces;
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            struct br2_image_pair pair = br2_folded_pair(&recording->folded, table->slots[i].space);
            uint32_t dso = recording->stats.records != 0 ? pair.from : pair.to;
            if (dso < count) {
                /* A repeated newest record stands for two. */
                uint64_t each = table->slots[i].run == BR2_RUN_REPEATED ? 2 : 1;
                recording->sources[dso] += each * table->slots[i].count;
            }
        }
    }
    return 0;
}

/* How many threads count: as many as were asked for; else one for each processor, where there is so
 * much to read that it is worth starting them. */
static unsigned threads_for(const struct br2pgo_conversion *conversion,
                            const struct br2_input *input)
{
    uint64_t done, total;
    br2_input_progress(input, &done, &total);
    if (conversion->options.threads != 0) {
        return (unsigned)conversion->options.threads;
    }
    long processors = total >= THREADS_FROM_BYTES ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    return processors < 1                  ? 1
           : processors < THREADS_AUTO_MAX ? (unsigned)processors
                                           : THREADS_AUTO_MAX;
}

/* Which events are in use; free it. NULL when memory runs out. */
static bool *list_wanted(const struct br2pgo_conversion *conversion,
                         const struct br2_recording_info *info)
{
    bool *wanted = br2_calloc(info->event_count, sizeof *wanted);
    for (size_t i = 0; wanted != NULL && i < info->event_count; i++) {
        wanted[i] = is_wanted(conversion, &info->events[i]);
    }
    return wanted;
}

int br2_recording_reread(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                         br2_sample_sink sink, void *user, struct br2pgo_error *err)
{
    bool *wanted = list_wanted(conversion, br2_input_info(recording->input));
    if (wanted == NULL) {
        return br2_fail_memory(err);
    }
    struct watching watching = {conversion, recording->input, "following histories"};
    br2_input_set_tick(recording->input, watch, &watching);
    int rc = br2_input_read_samples(recording->input, wanted, sink, user, err);
    br2_input_set_tick(recording->input, NULL, NULL);
    br2_free(wanted);
    return rc;
}

/* Reads the samples of all events in use, in one pass. */
static int count_samples(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                         struct br2pgo_error *err)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    bool *wanted = list_wanted(conversion, info);
    if (wanted == NULL) {
        return br2_fail_memory(err);
    }
    struct br2_count_stats stats = {0};
    struct reading reading = {
        .recording = recording,
        .counted = {.folded = &recording->folded, .spaces = recording->spaces, .stats = &stats},
    };
    int rc = br2_counters_new(recording->spaces, threads_for(conversion, recording->input),
                              &reading.counters, err);
    if (rc == 0 && conversion->wanted.any) {
        br2_counters_time(reading.counters);
    }
    struct watching watching = {conversion, recording->input, "reading"};
    br2_input_set_tick(recording->input, watch, &watching);
    if (rc == 0 && br2_selection_chooses(&conversion->selection)) {
        reading.selection = &conversion->selection;
        rc = br2_chosen_prepare(reading.selection, recording, wanted, err);
    }
    if (rc == 0 && br2_trace_is_used(info)) {
        unsigned threads = threads_for(conversion, recording->input);
        rc = br2_count_trace(conversion, recording, threads, &stats, err);
    } else if (rc == 0) {
        rc = info->counted
                 ? br2_input_read_counted(recording->input, take_counted, &reading, err)
                 : br2_input_read_samples(recording->input, wanted, take_sample, &reading, err);
    }
    br2_input_set_tick(recording->input, NULL, NULL);
    if (rc == 0) {
        rc = br2_counters_finish(reading.counters, &recording->folded, &recording->stats, err);
        br2_count_stats_add(&recording->stats, &stats, 1);
    }
    br2_counters_free(reading.counters);
    br2_live_traces_done(&reading.counted.scratch);
    br2_free(wanted);
    return rc;
}

int br2_recording_count(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                        struct br2pgo_error *err)
{
    int rc = recording->counted_early ? 0 : count_samples(conversion, recording, err);
    if (rc == 0 && conversion->options.ignore_kernel) {
        rc = br2_leave_out_kernel(recording, err);
    }
    return rc != 0 ? rc : br2_recording_count_sources(recording, err);
}

/* Samples of the events in use; where none of them has branch records, of all that were asked for.
 */
static uint64_t count_event_samples(const struct br2pgo_conversion *conversion,
                                    const struct br2_recording_info *info)
{
    uint64_t with_stacks = 0;
    uint64_t wanted = 0;
    for (size_t i = 0; i < info->event_count; i++) {
        const struct br2_event_info *event = &info->events[i];
        uint64_t samples = is_wanted(conversion, event) ? event->samples : 0;
        wanted += samples;
        with_stacks += event->has_branch_stacks ? samples : 0;
    }
    return with_stacks != 0 ? with_stacks : wanted;
}

/* Refuses what cannot become a profile before it is counted. */
static int check_events(const struct br2pgo_conversion *conversion,
                        const struct br2_recording *recording, struct br2pgo_error *err)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    if ((info->counted || br2_trace_is_used(info)) && conversion->options.event == NULL) {
        return 0;
    }
    bool named = false;
    bool useful = false;
    for (size_t i = 0; i < info->event_count; i++) {
        const struct br2_event_info *event = &info->events[i];
        if (!is_wanted(conversion, event)) {
            continue;
        }
        named = true;
        if (event->has_branch_stacks && event->samples != 0) {
            useful = true;
            int rc = check_branch_mode(recording, event, err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    if (!named && conversion->options.event != NULL) {
        return refuse_event(conversion, recording, info, err);
    }
    if (br2_trace_is_used(info)) {
        return refuse(recording, err, "its branches are in a trace, which is no event's samples",
                      "leave --event out");
    }
    return useful ? 0 : refuse_without_branches(recording, info, err);
}

/* Beside the first output, where there must be room anyway; NULL: somewhere else. */
static char *spool_folder(const struct br2pgo_conversion *conversion)
{
    for (size_t i = 0; i < conversion->target_count; i++) {
        const char *path = conversion->targets[i].path;
        const char *slash = strrchr(path, '/');
        if (strcmp(path, "-") != 0 && strncmp(path, "/dev/", 5) != 0) {
            return slash != NULL ? br2_format("%.*s", (int)(slash + 1 - path), path)
                                 : br2_strdup(".");
        }
    }
    return NULL;
}

struct task_user {
    const struct br2_selection *selection;
    struct br2_recording *recording;
    struct br2_early *early; /* NULL: nothing is counted yet */
};

static int take_task(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    const struct task_user *following = user;
    int rc = br2_chosen_add_task(following->recording, following->selection, event, err);
    if (following->early != NULL) {
        br2_early_add_task(following->early, event);
    }
    return rc != 0 ? rc : br2_spaces_add(following->recording->spaces, event, err);
}

/* What is asked of a recording also when its input is closed. */
static void keep_info(struct br2_recording *recording)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    recording->samples = info->samples;
    recording->unknown_event_samples = info->unknown_event_samples;
    recording->counted = info->counted || br2_trace_is_used(info);
    recording->of_file = info->addressing == BR2_ADDRESSES_OF_FILE;
}

static int open_input(const struct br2pgo_conversion *conversion, struct br2_recording *recording,
                      struct br2pgo_error *err)
{
    char *folder = spool_folder(conversion);
    int rc = br2_input_open_spooling(recording->path, folder, &recording->input, err);
    br2_free(folder);
    if (rc != 0) {
        return rc;
    }
    recording->spaces = br2_spaces_new();
    return recording->spaces != NULL ? 0 : br2_fail_memory(err);
}

/* Follows the address spaces of a recording that is open. `early`, if it is not NULL, is told, and
 * `samples` go where it says. */
static int follow_spaces(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                         struct br2_early *early, struct br2_early_samples *samples,
                         struct br2pgo_error *err)
{
    struct watching watching = {conversion, recording->input, "scanning"};
    br2_input_set_tick(recording->input, watch, &watching);
    struct task_user following = {&conversion->selection, recording, early};
    int rc = early != NULL
                 ? br2_input_read_tasks_early(recording->input, take_task, &following, samples, err)
                 : br2_input_read_tasks(recording->input, take_task, &following, err);
    br2_input_set_tick(recording->input, NULL, NULL);
    keep_info(recording);
    if (rc == 0) {
        br2_note_damage(conversion, recording);
        rc = br2_spaces_finish(recording->spaces, err);
    }
    if (rc == BR2PGO_LIMIT) {
        br2_prefix(err, "'%s'", recording->path);
    }
    if (rc == 0) {
        const struct br2_recording_info *info = br2_input_info(recording->input);
        rc = br2_dsos_apply_table(br2_spaces_dsos(recording->spaces), info->images,
                                  info->image_count, err);
    }
    return rc;
}

int br2_recording_open(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                       struct br2pgo_error *err)
{
    int rc = open_input(conversion, recording, err);
    return rc != 0 ? rc : follow_spaces(conversion, recording, NULL, NULL, err);
}

/* Opens a recording and, where its samples are compressed and all of them count, counts them in the
 * same pass, if that can be. */
static int open_and_count(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                          struct br2pgo_error *err)
{
    if (br2_selection_chooses(&conversion->selection) || conversion->wanted.any) {
        return br2_recording_open(conversion, recording, err);
    }
    int rc = open_input(conversion, recording, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_early *early = br2_early_new(threads_for(conversion, recording->input));
    bool *wanted = list_wanted(conversion, br2_input_info(recording->input));
    struct br2_early_samples samples = {.wanted = wanted, .sink = br2_early_take, .user = early};
    rc = early == NULL || wanted == NULL
             ? br2_fail_memory(err)
             : follow_spaces(conversion, recording, early, &samples, err);
    if (rc == 0 && samples.all && !br2_trace_is_used(br2_input_info(recording->input))) {
        rc = br2_early_finish(early, recording->spaces, &recording->folded, &recording->stats, err);
        recording->counted_early = rc == 0;
        rc = rc < 0 ? rc : 0;
    }
    br2_free(wanted);
    br2_early_free(early);
    return rc;
}

int br2_recording_read(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                       struct br2pgo_error *err)
{
    int rc = open_and_count(conversion, recording, err);
    if (rc == 0) {
        recording->event_samples =
            count_event_samples(conversion, br2_input_info(recording->input));
        rc = check_events(conversion, recording, err);
    }
    if (rc == 0) {
        rc = br2_recording_count(conversion, recording, err);
        br2_note_malformed(conversion, recording);
    }
    if (rc == 0 && recording->stats.records == 0 && recording->stats.lone_runs == 0 &&
        br2_chosen_left(recording) == 0) {
        rc = refuse_without_branches(recording, br2_input_info(recording->input), err);
    }
    return rc;
}
