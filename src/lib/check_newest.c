/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The newest record of a sample is the branch at which the sampling counter ran over. Where samples
 * are taken at random it is spread like all records. A period that beats with a loop, or a
 * processor that is late by the same distance each time, takes it at some branches more often than
 * they run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "lib/check.h"

/* A branch by where it starts. */
struct source {
    uint64_t from; /* folded */
    uint64_t all;
    uint64_t newest;
};

struct sources {
    struct source *items; /* owned */
    size_t count;
    size_t capacity;
    uint64_t all;
    uint64_t newest;
};

static bool add_trace(struct sources *sources, const struct br2_recording *recording,
                      const struct br2_trace *trace)
{
    struct br2_image_pair pair = br2_folded_pair(&recording->folded, trace->space);
    size_t images = br2_recording_dsos(recording)->count;
    if (trace->count == 0 || pair.from >= images || !recording->is_image[pair.from]) {
        return true;
    }
    if (!br2_grow(&sources->items, &sources->capacity, sources->count, sizeof *sources->items)) {
        return false;
    }
    bool newest = trace->run == BR2_RUN_NONE || trace->run == BR2_RUN_REPEATED;
    sources->items[sources->count++] = (struct source){
        .from = trace->from,
        .all = trace->count,
        .newest = newest ? trace->count : 0,
    };
    return true;
}

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left;
    const struct source *b = right;
    return br2_compare_u64(a->from, b->from);
}

static void sum_sources(struct sources *sources)
{
    if (sources->count != 0) {
        qsort(sources->items, sources->count, sizeof *sources->items, compare_sources);
    }
    size_t kept = 0;
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *item = &sources->items[i];
        sources->all += item->all;
        sources->newest += item->newest;
        if (kept != 0 && sources->items[kept - 1].from == item->from) {
            sources->items[kept - 1].all += item->all;
            sources->items[kept - 1].newest += item->newest;
        } else {
            sources->items[kept++] = *item;
        }
    }
    sources->count = kept;
}

/* How far apart the two distributions are, 0 to 1, less what chance makes of so few samples; and
 * the branch that is the newest record most beyond its share. */
static double distance(const struct sources *sources, const struct source **ret_worst)
{
    double apart = 0;
    double chance = 0;
    double most = 0;
    *ret_worst = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *item = &sources->items[i];
        double expected = (double)item->all / (double)sources->all;
        double seen = (double)item->newest / (double)sources->newest;
        apart += fabs(seen - expected) / 2;
        /* The mean distance of a binomial share from its own mean, of a normal one: sqrt(2/pi). */
        chance += sqrt(2 / M_PI * expected * (1 - expected) / (double)sources->newest) / 2;
        if (seen - expected > most) {
            most = seen - expected;
            *ret_worst = item;
        }
    }
    return apart > chance ? apart - chance : 0;
}

static void set_figures(struct br2_check *check, const struct br2pgo_conversion *conversion,
                        const struct sources *sources)
{
    const struct source *worst;
    double apart = distance(sources, &worst);
    struct br2_check_figure *figure =
        br2_check_set(check, BR2PGO_CHECK_NEWEST_BIAS, apart, "%s", "");
    if (worst != NULL && apart != 0) {
        snprintf(figure->note, sizeof figure->note,
                 "the branch at file offset 0x%llx is it in %.1f%% of the samples, of all records "
                 "it has %.1f%%",
                 (unsigned long long)worst->from,
                 100 * (double)worst->newest / (double)sources->newest,
                 100 * (double)worst->all / (double)sources->all);
    }
    uint64_t repeated = conversion->graph->branches[BR2_BRANCH_REPEATED];
    br2_check_set(check, BR2PGO_CHECK_REPEATED, (double)repeated / (double)sources->newest, "%s",
                  "");
}

int br2_check_newest(struct br2_check *check, const struct br2pgo_conversion *conversion,
                     struct br2pgo_error *err)
{
    struct sources sources = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        const struct br2_trace_table *traces = &recording->folded.traces;
        /* What others have counted has no samples. */
        for (size_t k = 0; ok && recording->stats.samples != 0 && k < traces->slot_count; k++) {
            ok = add_trace(&sources, recording, &traces->slots[k]);
        }
    }
    sum_sources(&sources);
    if (ok && sources.newest != 0) {
        set_figures(check, conversion, &sources);
    }
    br2_free(sources.items);
    return ok ? 0 : br2_fail_memory(err);
}
