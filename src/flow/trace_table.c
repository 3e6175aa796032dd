/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/trace_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Multiply-add hashing (Dietzfelbinger et al.): with multipliers that nobody outside knows, no file
 * can be made whose traces all meet in one slot. The product's high half is the good one. */
static inline uint64_t mix(const struct br2_hash_key *key, uint64_t from, uint64_t to,
                           uint64_t rest)
{
    uint64_t sum = from * key->words[0] + to * key->words[1] + rest * key->words[2];
    sum = (sum ^ sum >> 32) * key->words[3];
    return sum >> 32;
}

static uint64_t rest_of(const struct br2_trace *trace)
{
    return (uint64_t)trace->space << 32 | trace->run;
}

static uint64_t hash_of(const struct br2_trace *trace)
{
    return mix(br2_hash_key(), trace->from, trace->to, rest_of(trace));
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

/* Adds to the trace's slot, which is free or its own. */
static void update(struct br2_trace_table *table, const struct br2_trace *trace, uint64_t hash)
{
    struct br2_trace *slot = find(table, trace, hash);
    if (slot->count == 0) {
        *slot = *trace;
        table->used++;
        return;
    }
    slot->count += trace->count;
    slot->mispredicted += trace->mispredicted;
    slot->first_seen = trace->first_seen < slot->first_seen ? trace->first_seen : slot->first_seen;
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

/* One record, on its way into the table. */
struct pending {
    uint64_t from;
    uint64_t to;
    uint32_t run;
    uint32_t mispredicted;
    uint64_t hash;
};

struct batch {
    struct br2_trace_table *table;
    const struct br2_hash_key *key;
    uint32_t space;
    br2_time time;
    size_t count;
    struct pending items[BATCH];
};

static void flush(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct pending *item = &batch->items[i];
        struct br2_trace trace = {
            .from = item->from,
            .to = item->to,
            .run = item->run,
            .space = batch->space,
            .count = 1,
            .mispredicted = item->mispredicted,
            .first_seen = batch->time,
        };
        update(batch->table, &trace, item->hash);
    }
    batch->count = 0;
}

static inline void push(struct batch *batch, uint64_t from, uint64_t to, uint32_t run,
                        uint32_t mispredicted)
{
    if (batch->count == BATCH) {
        flush(batch);
    }
    uint64_t hash = mix(batch->key, from, to, (uint64_t)batch->space << 32 | run);
    __builtin_prefetch(&batch->table->slots[(size_t)hash & (batch->table->slot_count - 1)], 1);
    batch->items[batch->count++] = (struct pending){
        .from = from, .to = to, .run = run, .mispredicted = mispredicted, .hash = hash};
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

static bool says_prediction(const struct br2_branch_record *record)
{
    return (record->flags & (BR2_RECORD_MISPREDICTED | BR2_RECORD_PREDICTED)) != 0;
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
static void count_records(struct br2_count_stats *stats, const struct br2_sample *sample,
                          struct batch *batch)
{
    struct br2_branch_record record;
    uint64_t predictions = 0;
    uint32_t newest_mispredicted = 0;
    bool repeated = newest_repeats(sample);
    if (repeated) {
        stats->repeated++;
        br2_sample_record(sample, 0, &record);
        predictions += says_prediction(&record);
        newest_mispredicted = (uint32_t)(record.flags & BR2_RECORD_MISPREDICTED);
    }
    uint64_t newer_from = 0; /* 0: no run can reach it */
    for (size_t i = repeated; i < sample->count; i++) {
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
        uint32_t run = run_between(record.to, newer_from);
        uint32_t mispredicted = (uint32_t)(record.flags & BR2_RECORD_MISPREDICTED);
        if (repeated && i == 1) { /* stands for the newest too */
            run = BR2_RUN_REPEATED;
            mispredicted += newest_mispredicted;
        }
        predictions += says_prediction(&record);
        push(batch, record.from, record.to, run, mispredicted);
        newer_from = record.from;
    }
    stats->predictions += predictions;
    flush(batch);
}

/* The cycles of a record are those since the previous one: they time the run between the two. */
static void count_timings(struct br2_count_stats *stats, const struct br2_sample *sample,
                          struct batch *batch)
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
        unsigned cycles = br2_record_cycles(newer.flags);
        uint32_t run = run_between(record.to, newer.from);
        if (cycles != 0 && run != BR2_RUN_NONE && run != BR2_RUN_IMPOSSIBLE) {
            stats->cycles_known++;
            push(batch, cycles, record.to, run, 0);
        }
        newer = record;
    }
    flush(batch);
}

bool br2_count_sample(struct br2_counting *counting, const struct br2_sample *sample,
                      uint32_t space)
{
    struct br2_count_stats *stats = &counting->stats;
    struct batch batch;
    batch.table = counting->traces;
    batch.key = br2_hash_key();
    batch.space = space;
    batch.time = sample->time;
    batch.count = 0;
    if (!reserve(counting->traces, sample->count)) {
        return false;
    }
    if (stats->samples++ == 0 || sample->time < stats->first_time) {
        stats->first_time = sample->time;
    }
    stats->records += sample->count;
    stats->depth = sample->count > stats->depth ? sample->count : stats->depth;
    count_records(stats, sample, &batch);
    if (counting->timings != NULL) {
        batch.table = counting->timings;
        if (!reserve(counting->timings, sample->count)) {
            return false;
        }
        count_timings(stats, sample, &batch);
    }
    return true;
}
