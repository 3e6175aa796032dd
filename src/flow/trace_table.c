/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/trace_table.h"

#include <string.h>

#include "base/mem.h"

static uint64_t mix(uint64_t from, uint64_t to, uint64_t rest)
{
    /* Two odd multipliers (from the golden ratio and from MurmurHash3's finaliser); the high half
     * of a product depends on every bit below it. */
    uint64_t hash = (from ^ rest << 17) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32 ^ to) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

static uint64_t rest_of(const struct br2_trace *trace)
{
    return (uint64_t)trace->space << 32 | trace->run;
}

static uint64_t hash_of(const struct br2_trace *trace)
{
    return mix(trace->from, trace->to, rest_of(trace));
}

static bool same_trace(const struct br2_trace *a, const struct br2_trace *b)
{
    return a->from == b->from && a->to == b->to && a->run == b->run && a->space == b->space;
}

/* The slot of the trace, or the free slot where it belongs. */
static struct br2_trace *find(const struct br2_trace_table *table, const struct br2_trace *trace,
                              uint64_t hash)
{
    size_t mask = table->slot_count - 1;
    size_t at = (size_t)hash & mask;
    while (table->slots[at].count != 0 && !same_trace(&table->slots[at], trace)) {
        at = (at + 1) & mask;
    }
    return &table->slots[at];
}

static bool grow(struct br2_trace_table *table)
{
    struct br2_trace_table larger = {
        .slot_count = table->slot_count != 0 ? table->slot_count * 2 : 4096,
        .used = table->used,
    };
    larger.slots = br2_calloc(larger.slot_count, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            *find(&larger, &table->slots[i], hash_of(&table->slots[i])) = table->slots[i];
        }
    }
    br2_free(table->slots);
    *table = larger;
    return true;
}

/* Makes sure that `more` new traces find room with at most half of the slots used. */
static bool reserve(struct br2_trace_table *table, size_t more)
{
    while (table->used + more > table->slot_count / 2) {
        if (!grow(table)) {
            return false;
        }
    }
    return true;
}

static void update(struct br2_trace_table *table, const struct br2_trace *trace, uint64_t hash)
{
    struct br2_trace *slot = find(table, trace, hash);
    if (slot->count == 0) {
        slot->from = trace->from;
        slot->to = trace->to;
        slot->run = trace->run;
        slot->space = trace->space;
        table->used++;
    }
    slot->count += trace->count;
    slot->mispredicted += trace->mispredicted;
}

bool br2_trace_table_add(struct br2_trace_table *table, const struct br2_trace *trace)
{
    if (!reserve(table, 1)) {
        return false;
    }
    update(table, trace, hash_of(trace));
    return true;
}

void br2_trace_table_clear(struct br2_trace_table *table)
{
    if (table->slots != NULL) {
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    }
    table->used = 0;
}

void br2_trace_table_done(struct br2_trace_table *table)
{
    br2_free(table->slots);
    *table = (struct br2_trace_table){0};
}

/* As many records are prepared before the table is touched, so that its lines are on their way. */
#define BATCH 64

struct batch {
    struct br2_trace traces[BATCH];
    uint64_t hashes[BATCH];
    size_t count;
};

static void flush(struct br2_trace_table *table, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        update(table, &batch->traces[i], batch->hashes[i]);
    }
    batch->count = 0;
}

static void push(struct br2_trace_table *table, struct batch *batch, const struct br2_trace *trace)
{
    uint64_t hash = hash_of(trace);
    __builtin_prefetch(&table->slots[(size_t)hash & (table->slot_count - 1)], 1);
    batch->traces[batch->count] = *trace;
    batch->hashes[batch->count] = hash;
    if (++batch->count == BATCH) {
        flush(table, batch);
    }
}

static uint32_t run_between(uint64_t to, uint64_t next_from)
{
    /* A record with one side missing or in the other half of the address space is a barrier. */
    if (to == 0 || next_from == 0 || (to ^ next_from) >> 63 != 0) {
        return BR2_RUN_NONE;
    }
    uint64_t distance = next_from - to;
    return next_from < to || distance >= BR2_RUN_LONGEST ? BR2_RUN_IMPOSSIBLE
                                                         : (uint32_t)distance + 1;
}

static bool is_wrong_path(const struct br2_branch_record *record)
{
    return br2_record_spec(record->flags) == BR2_SPEC_WRONG_PATH;
}

/* Whether the two newest records are the same whole branch. */
static bool newest_repeats(const struct br2_sample *sample)
{
    if (sample->count < 2 || memcmp(sample->records, sample->records + 24, 16) != 0) {
        return false;
    }
    struct br2_branch_record newest, second;
    br2_sample_record(sample, 0, &newest);
    br2_sample_record(sample, 1, &second);
    return newest.from != 0 && newest.to != 0 && !is_wrong_path(&newest) && !is_wrong_path(&second);
}

/* Walks the records from the newest on: one push each. */
static void count_records(struct br2_counting *counting, const struct br2_sample *sample,
                          uint32_t space, struct batch *batch)
{
    struct br2_count_stats *stats = &counting->stats;
    bool repeated = newest_repeats(sample);
    stats->repeated += repeated;
    uint64_t newer_from = 0; /* 0: no run can reach it */
    for (size_t i = repeated; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        if (is_wrong_path(&record)) {
            stats->wrong_path++;
            continue;
        }
        if ((record.from | record.to) == 0) {
            stats->empty++;
            stats->stale += sample->count - i - 1;
            break;
        }
        struct br2_trace trace = {
            .from = record.from,
            .to = record.to,
            .run = run_between(record.to, newer_from),
            .space = space,
            .count = 1,
            .mispredicted = record.flags & BR2_RECORD_MISPREDICTED,
        };
        if (repeated && i == 1) {
            struct br2_branch_record newest;
            br2_sample_record(sample, 0, &newest);
            trace.run = BR2_RUN_REPEATED;
            trace.mispredicted += newest.flags & BR2_RECORD_MISPREDICTED;
        }
        stats->predictions +=
            (record.flags & (BR2_RECORD_MISPREDICTED | BR2_RECORD_PREDICTED)) != 0;
        push(counting->traces, batch, &trace);
        newer_from = record.from;
    }
}

/* The cycles of a record are those since the previous one: they time the run between the two. */
static void count_timings(struct br2_counting *counting, const struct br2_sample *sample,
                          uint32_t space, struct batch *batch)
{
    struct br2_branch_record newer = {0};
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        if (is_wrong_path(&record)) {
            continue;
        }
        if ((record.from | record.to) == 0) {
            break;
        }
        struct br2_trace timing = {
            .from = br2_record_cycles(newer.flags),
            .to = record.to,
            .run = run_between(record.to, newer.from),
            .space = space,
            .count = 1,
        };
        if (timing.from != 0 && timing.run != BR2_RUN_NONE && timing.run != BR2_RUN_IMPOSSIBLE) {
            counting->stats.cycles_known++;
            push(counting->timings, batch, &timing);
        }
        newer = record;
    }
}

bool br2_count_sample(struct br2_counting *counting, const struct br2_sample *sample,
                      uint32_t space)
{
    struct batch batch;
    batch.count = 0;
    if (!reserve(counting->traces, sample->count)) {
        return false;
    }
    counting->stats.samples++;
    counting->stats.records += sample->count;
    if (sample->count > counting->stats.depth) {
        counting->stats.depth = sample->count;
    }
    count_records(counting, sample, space, &batch);
    flush(counting->traces, &batch);
    if (counting->timings != NULL) {
        if (!reserve(counting->timings, sample->count)) {
            return false;
        }
        count_timings(counting, sample, space, &batch);
        flush(counting->timings, &batch);
    }
    return true;
}
