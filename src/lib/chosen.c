/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The samples of one recording that a selection leaves. */
#include "base/mem.h"
#include "lib/conversion.h"

int br2_chosen_add_task(struct br2_recording *recording, const struct br2_selection *selection,
                        const struct br2_task_event *event, struct br2pgo_error *err)
{
    if (selection->comms == NULL) {
        return 0;
    }
    recording->chosen.comms.names = selection->comms;
    return br2_comms_add(&recording->chosen.comms, event, err);
}

struct extent {
    br2_time first;
    br2_time last;
};

static int widen(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct extent *extent = user;
    (void)err;
    extent->first = sample->time < extent->first ? sample->time : extent->first;
    extent->last = sample->time > extent->last ? sample->time : extent->last;
    return 0;
}

/* What a recording does not say, nothing can be chosen by. */
static int check_choice(const struct br2_selection *selection,
                        const struct br2_recording *recording, struct br2pgo_error *err)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    if (recording->counted && !info->counted) {
        br2_fail(err, BR2PGO_USELESS, "'%s' is a trace: there are no samples to choose from",
                 recording->path);
        br2_hint(err, "leave --pid, --comm, --cpu and --time out, or trace what is meant");
        return BR2PGO_USELESS;
    }
    if (info->counted) {
        br2_fail(err, BR2PGO_USELESS, "'%s' is made of counts: there are no samples to choose from",
                 recording->path);
        br2_hint(err, "leave --pid, --comm, --cpu and --time out, or give what it was made from");
        return BR2PGO_USELESS;
    }
    if (info->no_pids && selection->pids.count != 0) {
        br2_fail(err, BR2PGO_USELESS, "'%s' does not say of which process a sample is",
                 recording->path);
        br2_hint(err, "leave --pid out, or give the perf.data file itself");
        return BR2PGO_USELESS;
    }
    if (selection->times.count != 0 && !info->has_time) {
        br2_fail(err, BR2PGO_USELESS, "'%s' has no times: --time cannot choose among its samples",
                 recording->path);
        br2_hint(err, "leave --time out, or record again with times");
        return BR2PGO_USELESS;
    }
    return 0;
}

int br2_chosen_prepare(const struct br2_selection *selection, struct br2_recording *recording,
                       const bool *wanted, struct br2pgo_error *err)
{
    struct extent extent = {.first = UINT64_MAX};
    br2_comms_finish(&recording->chosen.comms);
    int rc = check_choice(selection, recording, err);
    if (rc != 0 || selection->times.count == 0) {
        return rc;
    }
    /* Parts are of the time from the first to the last sample with branch records, which are not
     * in order: it takes a pass of its own to know them. */
    if (selection->times_are_parts) {
        rc = br2_input_read_samples(recording->input, wanted, widen, &extent, err);
        if (rc != 0) {
            return rc;
        }
    }
    br2_selection_resolve(selection, extent.first, extent.last, &recording->chosen.times);
    return 0;
}

bool br2_chosen_takes(const struct br2_selection *selection, struct br2_recording *recording,
                      const struct br2_sample *sample)
{
    struct br2_chosen *chosen = &recording->chosen;
    enum br2_left_out reason =
        br2_selection_judge(selection, &chosen->times, &chosen->comms, sample);
    if (reason == BR2_LEFT_NOT) {
        return true;
    }
    uint64_t samples = sample->repeats + 1;
    chosen->left[reason] += samples;
    chosen->without_cpu += reason == BR2_LEFT_CPU && sample->cpu < 0 ? samples : 0;
    return false;
}

uint64_t br2_chosen_left(const struct br2_recording *recording)
{
    uint64_t left = 0;
    for (size_t i = 0; i < BR2_LEFT_REASONS; i++) {
        left += recording->chosen.left[i];
    }
    return left;
}

static int refuse_without_cpu(const struct br2_recording *recording, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_USELESS, "'%s' does not say on which processor a sample was taken",
             recording->path);
    br2_hint(err, "leave --cpu out, or record again with perf record --sample-cpu");
    return BR2PGO_USELESS;
}

static int refuse_all(const struct br2_recording *empty, struct br2pgo_error *err)
{
    const uint64_t *left = empty->chosen.left;
    enum br2_left_out most = BR2_LEFT_PID;
    for (size_t i = most; i < BR2_LEFT_REASONS; i++) {
        most = left[i] > left[most] ? (enum br2_left_out)i : most;
    }
    br2_fail(err, BR2PGO_USELESS, "no sample is left: %llu of %llu in '%s' are %s (%s)",
             (unsigned long long)left[most], (unsigned long long)br2_chosen_left(empty),
             empty->path, br2_left_out_names[most], br2_selection_option(most));
    br2_hint(err, "-v shows how many samples each option leaves out");
    return BR2PGO_USELESS;
}

int br2_chosen_check(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const struct br2_recording *empty = NULL;
    bool any = false;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        if (recording->chosen.without_cpu != 0) {
            return refuse_without_cpu(recording, err);
        }
        any = any || recording->stats.samples != 0;
        if (recording->stats.samples == 0 && br2_chosen_left(recording) != 0) {
            empty = recording;
        }
    }
    for (size_t i = 0; any && i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        if (recording->stats.samples == 0 && br2_chosen_left(recording) != 0) {
            br2_note(conversion, BR2PGO_NOTE_WARNING,
                     "'%s' has no sample that was asked for: it adds nothing", recording->path);
        }
    }
    return empty == NULL || any ? 0 : refuse_all(empty, err);
}
