/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A recording, whatever its bytes: both passes, address spaces, counting, folding. What is counted
 * never exceeds what was read. */
#ifndef BR2_TESTS_FUZZ_READING_H
#define BR2_TESTS_FUZZ_READING_H

#include "base/mem.h"
#include "flow/counted.h"
#include "flow/fold.h"
#include "fuzz.h"
#include "input/input.h"
#include "process/address_space.h"

struct reading {
    struct br2_spaces *spaces;
    struct br2_counting counting;
    struct br2_live_traces live;
    struct br2_folded folded;
    struct br2_counted_into counted;
    uint64_t records;
    bool repeats; /* a recorder counted: its numbers may be of any size */
};

static inline int take(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct reading *reading = user;
    (void)err;
    reading->records += sample->count;
    reading->repeats = reading->repeats || sample->repeats != 0;
    uint32_t view = br2_spaces_view(reading->spaces, sample->pid, sample->time);
    bool good = sample->repeats != 0 ? br2_count_repeats(&reading->counted, sample, view)
                                     : br2_count_sample(&reading->counting, sample, view);
    return good ? 0 : BR2PGO_NO_MEMORY;
}

static inline int take_counted(void *user, const struct br2_counted *counted,
                               struct br2pgo_error *err)
{
    struct reading *reading = user;
    (void)err;
    reading->repeats = true;
    uint32_t view = br2_spaces_view(reading->spaces, counted->pid, counted->time);
    return br2_count_counted(&reading->counted, counted, view) ? 0 : BR2PGO_NO_MEMORY;
}

static inline uint64_t folded_records(const struct br2_folded *folded)
{
    uint64_t records = 0;
    for (size_t i = 0; i < folded->traces.slot_count; i++) {
        const struct br2_trace *trace = &folded->traces.slots[i];
        records += trace->run == BR2_RUN_REPEATED ? 2 * trace->count : trace->count;
    }
    return records;
}

static inline void count(struct br2_input *input, struct reading *reading)
{
    const struct br2_recording_info *info = br2_input_info(input);
    bool *wanted = br2_calloc(info->event_count, sizeof *wanted);
    for (size_t i = 0; i < info->event_count; i++) {
        wanted[i] = true;
    }
    const struct br2_count_stats *stats = &reading->counting.stats;
    reading->counting.traces = &reading->live;
    reading->counted = (struct br2_counted_into){
        .folded = &reading->folded,
        .spaces = reading->spaces,
        .stats = &reading->counting.stats,
    };
    int rc = info->counted ? br2_input_read_counted(input, take_counted, reading, NULL)
                           : br2_input_read_samples(input, wanted, take, reading, NULL);
    if (rc == 0 && br2_fold(&reading->folded, reading->spaces, &reading->counting, NULL) == 0 &&
        !reading->repeats) {
        fuzz_require(stats->records == reading->records, "every record is counted");
        fuzz_require(folded_records(&reading->folded) + stats->wrong_path + stats->not_taken +
                             stats->empty + stats->stale ==
                         stats->records,
                     "traces and losses add up to the records");
    }
    br2_live_traces_done(&reading->counted.scratch);
    br2_free(wanted);
    br2_folded_done(&reading->folded);
}

static inline void fuzz_read(const char *path)
{
    struct br2_input *input;
    if (br2_input_open(path, &input, NULL) != 0) {
        return;
    }
    struct reading reading = {.spaces = br2_spaces_new()};
    if (br2_input_read_tasks(input, br2_spaces_add, reading.spaces, NULL) == 0 &&
        br2_spaces_finish(reading.spaces, NULL) == 0) {
        count(input, &reading);
    }
    br2_live_traces_done(&reading.live);
    br2_spaces_free(reading.spaces);
    br2_input_close(input);
}

#endif
