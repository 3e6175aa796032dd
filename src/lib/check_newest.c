/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The newest record of a sample is the branch at which the sampling counter ran over. Where samples
 * are taken at random it is spread like all records. A processor that is late by the same distance
 * each time takes it at some branches more often than they run. So does a period that beats with a
 * loop: each sample comes at the same place of a round, or nearly, although histories show that
 * each of its branches was followed by the next, round for round.
 */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "lib/check.h"

/* One branch follows another each time: in this share of the times that either was seen. */
#define EACH_TIME 0.9
/* Samples that such branches need before something is said of them. */
#define SAMPLES_MIN 50

/* A branch by where it starts. */
struct source {
    uint64_t from; /* link-time address */
    uint64_t all;
    uint64_t newest;
    uint64_t followed;  /* records whose next one in the history is known ... */
    uint64_t following; /* ... and that are such a next one */
    size_t group;       /* number of one that is executed as often: see `join` */
};

/* Branches, one right after the other in a history. */
struct step {
    uint64_t from;
    uint64_t next;
    uint64_t count;
};

struct sources {
    struct source *items; /* owned */
    size_t count;
    size_t capacity;
    struct step *steps; /* owned */
    size_t step_count;
    size_t step_capacity;
};

static bool add_step(struct sources *sources, const struct br2pgo_conversion *conversion,
                     const struct br2_recording *recording, const struct br2_trace *trace)
{
    uint64_t from = sources->items[sources->count - 1].from;
    uint64_t next;
    uint64_t folded = trace->to + trace->run - 1;
    if (trace->run == BR2_RUN_NONE || trace->run > BR2_RUN_LONGEST ||
        !br2_folded_address(conversion->image, recording->base, folded, &next)) {
        return true;
    }
    if (!br2_grow(&sources->steps, &sources->step_capacity, sources->step_count,
                  sizeof *sources->steps)) {
        return false;
    }
    sources->steps[sources->step_count++] = (struct step){from, next, trace->count};
    return true;
}

static bool add_trace(struct sources *sources, const struct br2pgo_conversion *conversion,
                      const struct br2_recording *recording, const struct br2_trace *trace)
{
    struct br2_image_pair pair = br2_folded_pair(&recording->folded, trace->space);
    size_t images = br2_recording_dsos(recording)->count;
    uint64_t from;
    if (trace->count == 0 || pair.from >= images || !recording->is_image[pair.from] ||
        !br2_folded_address(conversion->image, recording->base, trace->from, &from)) {
        return true;
    }
    if (!br2_grow(&sources->items, &sources->capacity, sources->count, sizeof *sources->items)) {
        return false;
    }
    bool newest = trace->run == BR2_RUN_NONE || trace->run == BR2_RUN_REPEATED;
    sources->items[sources->count++] = (struct source){
        .from = from,
        .all = trace->count,
        .newest = newest ? trace->count : 0,
    };
    return pair.to != pair.from || add_step(sources, conversion, recording, trace);
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
        if (kept != 0 && sources->items[kept - 1].from == item->from) {
            sources->items[kept - 1].all += item->all;
            sources->items[kept - 1].newest += item->newest;
        } else {
            sources->items[kept++] = *item;
        }
    }
    sources->count = kept;
}

/* Two distributions over the same branches. */
struct comparison {
    uint64_t all;
    uint64_t newest;
    double apart;  /* how far they are apart, 0 to 1, less what chance makes of it ... */
    double chance; /* ... which is this, on average */
    const struct source *worst; /* the newest record most beyond its share; NULL: none */
};

static struct comparison compare(const struct source *items, size_t count)
{
    struct comparison c = {0};
    double apart = 0;
    double chance = 0;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        c.all += items[i].all;
        c.newest += items[i].newest;
    }
    for (size_t i = 0; c.newest != 0 && i < count; i++) {
        double expected = (double)items[i].all / (double)c.all;
        double seen = (double)items[i].newest / (double)c.newest;
        apart += fabs(seen - expected) / 2;
        /* The mean distance of a binomial share from its own mean, of a normal one: sqrt(2/pi). */
        chance += sqrt(2 / M_PI * expected * (1 - expected) / (double)c.newest) / 2;
        if (seen - expected > most) {
            most = seen - expected;
            c.worst = &items[i];
        }
    }
    c.apart = apart > chance ? apart - chance : 0;
    c.chance = chance;
    return c;
}

static const char *function_at(const struct br2_flow_graph *graph, uint64_t address)
{
    uint32_t number = br2_flow_graph_function(graph, address);
    return number != BR2_NO_FUNCTION ? graph->functions[number].range->name : "no function";
}

static void set_bias(struct br2_check *check, const struct br2_flow_graph *graph,
                     const struct comparison *c)
{
    if (c->worst == NULL || c->apart == 0) {
        br2_check_set(check, BR2PGO_CHECK_NEWEST_BIAS, c->apart, "%s", "");
        return;
    }
    br2_check_set(check, BR2PGO_CHECK_NEWEST_BIAS, c->apart,
                  "the branch at 0x%llx in %.80s is it in %.1f%% of the samples, of all records it "
                  "has %.1f%%",
                  (unsigned long long)c->worst->from, function_at(graph, c->worst->from),
                  100 * (double)c->worst->newest / (double)c->newest,
                  100 * (double)c->worst->all / (double)c->all);
}

static struct source *find_source(const struct sources *sources, uint64_t from)
{
    struct source wanted = {.from = from};
    return bsearch(&wanted, sources->items, sources->count, sizeof wanted, compare_sources);
}

static size_t group_of(struct source *items, size_t number)
{
    while (items[number].group != number) {
        items[number].group = items[items[number].group].group;
        number = items[number].group;
    }
    return number;
}

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left;
    const struct step *b = right;
    int order = br2_compare_u64(a->from, b->from);
    return order != 0 ? order : br2_compare_u64(a->next, b->next);
}

static void sum_steps(struct sources *sources)
{
    size_t kept = 0;
    if (sources->step_count != 0) {
        qsort(sources->steps, sources->step_count, sizeof *sources->steps, compare_steps);
    }
    for (size_t i = 0; i < sources->step_count; i++) {
        if (kept != 0 && compare_steps(&sources->steps[kept - 1], &sources->steps[i]) == 0) {
            sources->steps[kept - 1].count += sources->steps[i].count;
        } else {
            sources->steps[kept++] = sources->steps[i];
        }
    }
    sources->step_count = kept;
}

/* Puts branches that follow one another each time into one group: all of it ran as often. */
static void join(struct sources *sources)
{
    struct source *items = sources->items;
    for (size_t i = 0; i < sources->count; i++) {
        items[i].group = i;
    }
    sum_steps(sources);
    for (size_t i = 0; i < sources->step_count; i++) {
        struct source *from = find_source(sources, sources->steps[i].from);
        struct source *next = find_source(sources, sources->steps[i].next);
        if (from != NULL && next != NULL) {
            from->followed += sources->steps[i].count;
            next->following += sources->steps[i].count;
        }
    }
    for (size_t i = 0; i < sources->step_count; i++) {
        struct source *from = find_source(sources, sources->steps[i].from);
        struct source *next = find_source(sources, sources->steps[i].next);
        double count = (double)sources->steps[i].count;
        if (from != NULL && next != NULL && count >= EACH_TIME * (double)from->followed &&
            count >= EACH_TIME * (double)next->following) {
            size_t a = group_of(items, (size_t)(from - items));
            size_t b = group_of(items, (size_t)(next - items));
            items[a < b ? b : a].group = a < b ? a : b;
        }
    }
    for (size_t i = 0; i < sources->count; i++) {
        items[i].group = group_of(items, i);
    }
}

static int compare_groups(const void *left, const void *right)
{
    const struct source *a = left;
    const struct source *b = right;
    int order = br2_compare_u64(a->group, b->group);
    return order != 0 ? order : br2_compare_u64(a->from, b->from);
}

/* Samples at the wrong one of branches that ran as often. */
struct beat {
    double misplaced;    /* in all groups */
    double most;         /* in the one that has most ... */
    struct comparison c; /* ... of its branches */
    const struct source *first;
    size_t branches;
};

static void add_group(struct beat *beat, const struct source *items, size_t count)
{
    struct comparison c = compare(items, count);
    double misplaced = c.apart * (double)c.newest;
    /* Of many groups some are far apart by chance: three times its mean is hardly ever. */
    if (count < 2 || c.newest < SAMPLES_MIN || c.apart < 2 * c.chance) {
        return;
    }
    beat->misplaced += misplaced;
    if (misplaced > beat->most) {
        beat->most = misplaced;
        beat->c = c;
        beat->first = items;
        beat->branches = count;
    }
}

static void set_beat(struct br2_check *check, const struct br2_flow_graph *graph,
                     const struct beat *beat, uint64_t samples)
{
    double share = beat->misplaced / (double)samples;
    if (beat->first == NULL || beat->c.worst == NULL) {
        br2_check_set(check, BR2PGO_CHECK_BEAT, share, "%s", "");
        return;
    }
    br2_check_set(check, BR2PGO_CHECK_BEAT, share,
                  "of %zu branches that follow one another each time, from 0x%llx in %.80s on, the "
                  "one at 0x%llx has %.1f%% of %llu samples",
                  beat->branches, (unsigned long long)beat->first->from,
                  function_at(graph, beat->first->from), (unsigned long long)beat->c.worst->from,
                  100 * (double)beat->c.worst->newest / (double)beat->c.newest,
                  (unsigned long long)beat->c.newest);
}

static void check_beat(struct br2_check *check, const struct br2_flow_graph *graph,
                       struct sources *sources, uint64_t samples)
{
    struct beat beat = {0};
    join(sources);
    qsort(sources->items, sources->count, sizeof *sources->items, compare_groups);
    for (size_t i = 0, end; i < sources->count; i = end) {
        end = i + 1;
        while (end < sources->count && sources->items[end].group == sources->items[i].group) {
            end++;
        }
        add_group(&beat, sources->items + i, end - i);
    }
    set_beat(check, graph, &beat, samples);
}

static void set_figures(struct br2_check *check, const struct br2pgo_conversion *conversion,
                        struct sources *sources)
{
    struct comparison c = compare(sources->items, sources->count);
    if (c.newest == 0) {
        return;
    }
    uint64_t repeated = conversion->graph->branches[BR2_BRANCH_REPEATED];
    set_bias(check, conversion->graph, &c);
    br2_check_set(check, BR2PGO_CHECK_REPEATED, (double)repeated / (double)c.newest, "%s", "");
    check_beat(check, conversion->graph, sources, c.newest);
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
            ok = add_trace(&sources, conversion, recording, &traces->slots[k]);
        }
    }
    sum_sources(&sources);
    if (ok) {
        set_figures(check, conversion, &sources);
    }
    br2_free(sources.items);
    br2_free(sources.steps);
    return ok ? 0 : br2_fail_memory(err);
}
