/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings that count more than others. */
#include "base/limits.h"
#include "base/number.h"
#include "lib/conversion.h"

static void multiply(struct br2_trace_table *table, uint64_t factor)
{
    for (size_t i = 0; i < table->slot_count; i++) {
        table->slots[i].count *= factor;
        table->slots[i].mispredicted *= factor;
    }
}

/* Whether what all recordings come to, weighted, can be counted. */
static int check_sum(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        uint64_t records = recording->stats.records + recording->stats.lone_runs;
        uint64_t samples = recording->samples;
        uint64_t weighted;
        if (__builtin_mul_overflow(records > samples ? records : samples, recording->factor,
                                   &weighted) ||
            weighted > BR2_RECORDS_MAX - sum) {
            br2_fail(err, BR2PGO_LIMIT,
                     "the records up to those of '%s', each recording's times its part of the "
                     "weights (here %llu), are more than 2^62",
                     recording->path, (unsigned long long)recording->factor);
            br2_hint(err, "leave recordings out, or give weights with fewer digits");
            return BR2PGO_LIMIT;
        }
        sum += weighted;
    }
    return 0;
}

static void weigh(struct br2pgo_conversion *conversion, struct br2_recording *recording)
{
    size_t images = br2_recording_dsos(recording)->count;
    multiply(&recording->folded.traces, recording->factor);
    multiply(&recording->folded.timings, recording->factor);
    br2_note(conversion, BR2PGO_NOTE_DETAIL, "every count of '%s' is multiplied by %llu",
             recording->path, (unsigned long long)recording->factor);
    for (size_t i = 0; i < images; i++) {
        recording->sources[i] *= recording->factor;
    }
}

int br2_weigh(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    uint64_t divisor = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        divisor = br2_greatest_divisor(conversion->recordings[i].weight, divisor);
    }
    for (size_t i = 0; i < conversion->recording_count; i++) {
        conversion->recordings[i].factor = conversion->recordings[i].weight / divisor;
    }
    int rc = check_sum(conversion, err);
    for (size_t i = 0; rc == 0 && i < conversion->recording_count; i++) {
        if (conversion->recordings[i].factor != 1) {
            weigh(conversion, &conversion->recordings[i]);
        }
    }
    return rc;
}
