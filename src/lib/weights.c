/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings that count more than others. */
#include "lib/conversion.h"

/* Sums of counts stay far below what the formats can hold. */
#define RECORDS_MAX (UINT64_C(1) << 62)

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void multiply(struct br2_trace_table *table, uint64_t factor)
{
    for (size_t i = 0; i < table->slot_count; i++) {
        table->slots[i].count *= factor;
        table->slots[i].mispredicted *= factor;
    }
}

static int weigh(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                 struct br2pgo_error *err)
{
    uint64_t records = recording->stats.records + recording->stats.lone_runs;
    uint64_t all;
    if (__builtin_mul_overflow(records, recording->factor, &all) ||
        __builtin_mul_overflow(all, conversion->recording_count, &all) || all > RECORDS_MAX) {
        br2_fail(err, BR2PGO_LIMIT, "'%s' times %llu, its part of the weights, is too much",
                 recording->path, (unsigned long long)recording->factor);
        br2_hint(err, "give weights with fewer digits");
        return BR2PGO_LIMIT;
    }
    multiply(&recording->folded.traces, recording->factor);
    multiply(&recording->folded.timings, recording->factor);
    br2_note(conversion, BR2PGO_NOTE_DETAIL, "every count of '%s' is multiplied by %llu",
             recording->path, (unsigned long long)recording->factor);
    return br2_recording_count_sources(recording, err);
}

int br2_weigh(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    uint64_t divisor = 0;
    int rc = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        divisor = greatest_divisor(conversion->recordings[i].weight, divisor);
    }
    for (size_t i = 0; rc == 0 && i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        recording->factor = recording->weight / divisor;
        if (recording->factor != 1) {
            rc = weigh(conversion, recording, err);
        }
    }
    return rc;
}
