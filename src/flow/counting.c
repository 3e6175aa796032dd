/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/counting.h"

#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"

#define UPDATES_MAX (UINT64_C(1) << 30) /* an update adds at most 1 and 2 to halves of 32 bits */
#define ONE         (UINT64_C(1) << 32) /* in the counts of a trace */
#define FAR         16384               /* so many traces do not fit in a second-level cache */

/* Multiply-add hashing (Dietzfelbinger et al.): with odd multipliers that nobody outside knows, no
 * file can be made whose traces all meet in one slot. The product's highest bits are the good ones.
 */
static inline uint64_t mix(const struct br2_hash_key *key, uint64_t from, uint64_t to,
                           uint64_t next, uint64_t where)
{
    return from * key->words[0] + to * key->words[1] + next * key->words[2] + where;
}

/* A view's part of the hash. */
static uint64_t mix_where(const struct br2_hash_key *key, uint64_t where)
{
    return where * key->words[3];
}

static bool same_trace(const struct br2_live_trace *a, const struct br2_live_trace *b)
{
    return a->from == b->from && a->to == b->to && a->next == b->next && a->where == b->where;
}

/* The slot of the trace, or the free slot where it belongs. */
static uint32_t *find(const struct br2_live_traces *table, const struct br2_live_trace *trace,
                      uint64_t hash)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = (size_t)(hash >> (64 - table->bits));
    while (table->slots[at] != 0 && !same_trace(&table->traces[table->slots[at]], trace)) {
        at = (at + 1) & mask;
    }
    return &table->slots[at];
}

/* Numbers the slots anew, four or more for each trace. */
static bool grow_slots(struct br2_live_traces *table)
{
    unsigned bits = table->bits != 0 ? table->bits + 1 : 12;
    uint32_t *slots = br2_calloc((size_t)1 << bits, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    br2_free(table->slots);
    table->slots = slots;
    table->bits = bits;
    table->key = *br2_hash_key();
    const struct br2_hash_key *key = &table->key;
    for (size_t i = 1; i < table->used; i++) {
        const struct br2_live_trace *trace = &table->traces[i];
        uint64_t where = mix_where(key, trace->where);
        *find(table, trace, mix(key, trace->from, trace->to, trace->next, where)) = (uint32_t)i;
    }
    return true;
}

static bool grow_traces(struct br2_live_traces *table)
{
    size_t capacity = table->capacity != 0 ? table->capacity * 2 : 1024;
    struct br2_live_trace *traces =
        br2_realloc_array(table->traces, capacity, sizeof *table->traces);
    if (traces == NULL) {
        return false;
    }
    if (table->used == 0) {
        traces[table->used++] = (struct br2_live_trace){.where = UINT64_MAX};
    }
    table->traces = traces;
    table->capacity = capacity;
    return true;
}

static bool make_room(struct br2_live_traces *table, size_t more)
{
    while (table->used + more + 1 > table->capacity) {
        if (!grow_traces(table)) {
            return false;
        }
    }
    while (table->bits == 0 || table->used + more > (size_t)1 << (table->bits - 2)) {
        if (!grow_slots(table)) {
            return false;
        }
    }
    size_t quarter = (size_t)1 << (table->bits - 2);
    table->room = quarter < table->capacity - 1 ? quarter : table->capacity - 1;
    return true;
}

/* Makes sure that `more` new traces find room with at most a quarter of the slots used. */
static inline bool reserve(struct br2_live_traces *table, size_t more)
{
    return table->used + more <= table->room || make_room(table, more);
}

bool br2_live_traces_full(const struct br2_live_traces *table)
{
    return table->used > BR2_LIVE_TRACES_MAX || table->updates >= UPDATES_MAX;
}

uint32_t br2_run_between(uint64_t to, uint64_t end)
{
    /* A record with one side missing or in the other half of the address space is a barrier. */
    if (to == 0 || end == 0 || (to ^ end) >> 63 != 0) {
        return BR2_RUN_NONE;
    }
    uint64_t distance = end - to;
    return end < to || distance >= BR2_RUN_LONGEST ? BR2_RUN_IMPOSSIBLE : (uint32_t)distance + 1;
}

struct br2_trace br2_live_traces_get(const struct br2_live_traces *table, size_t number)
{
    const struct br2_live_trace *trace = &table->traces[number];
    return (struct br2_trace){
        .from = trace->from,
        .to = trace->to,
        .run = (trace->where & BR2_REPEATED) != 0 ? BR2_RUN_REPEATED
                                                  : br2_run_between(trace->to, trace->next),
        .space = (uint32_t)trace->where,
        .count = trace->counts >> 32,
        .mispredicted = (uint32_t)trace->counts,
        .first_seen = trace->first_seen,
    };
}

void br2_live_traces_set_views(struct br2_live_traces *table, const uint32_t *views)
{
    for (size_t i = 1; i < table->used; i++) {
        uint64_t where = table->traces[i].where;
        table->traces[i].where = (where & BR2_REPEATED) | views[(uint32_t)where];
    }
}

void br2_live_traces_clear(struct br2_live_traces *table)
{
    if (table->slots != NULL) {
        memset(table->slots, 0, ((size_t)1 << table->bits) * sizeof *table->slots);
    }
    table->used = table->traces != NULL;
    table->updates = 0;
}

void br2_live_traces_done(struct br2_live_traces *table)
{
    br2_free(table->traces);
    br2_free(table->slots);
    *table = (struct br2_live_traces){0};
}

#define RECORD sizeof(struct br2_branch_record)

/* Where records go. */
struct visit {
    struct br2_live_traces *table;
    struct br2_count_stats *stats;
    uint64_t where_hash;
    br2_time time;
    bool late; /* a later sample came before it */
    uint64_t where;
    const uint8_t *end; /* of the records */
};

static inline uint64_t load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline struct br2_branch_record record_at(const uint8_t *records, size_t index)
{
    const uint8_t *at = records + index * RECORD;
    return (struct br2_branch_record){load(at), load(at + 8), load(at + 16)};
}

static inline bool is_empty(const struct br2_branch_record *record)
{
    return (record->from | record->to) == 0;
}

/* The trace that is not where its hash says: further on, or new. There is room for it. Of two that
 * belong in one slot the more frequent gets it. */
static struct br2_live_trace *find_or_add(const struct visit *visit,
                                          const struct br2_live_trace *wanted)
{
    struct br2_live_traces *table = visit->table;
    uint64_t where = mix_where(&table->key, wanted->where);
    uint64_t hash = mix(&table->key, wanted->from, wanted->to, wanted->next, where);
    uint32_t *first = &table->slots[hash >> (64 - table->bits)];
    uint32_t *slot = find(table, wanted, hash);
    if (*slot == 0) {
        *slot = (uint32_t)table->used;
        table->traces[table->used++] = *wanted;
    }
    uint32_t number = *slot;
    if (table->traces[number].counts > table->traces[*first].counts) {
        *slot = *first;
        *first = number;
    }
    return &table->traces[number];
}

/* Sends for what counting these records will touch. Worth it when that is far away. */
static void prefetch(const struct visit *visit, const uint8_t *records, size_t count)
{
    const struct br2_live_traces *table = visit->table;
    unsigned shift = 64 - table->bits;
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        struct br2_branch_record record = record_at(records, i);
        uint64_t hash = mix(&table->key, record.from, record.to, next, visit->where_hash);
        __builtin_prefetch(&table->traces[table->slots[hash >> shift]], 1);
        next = record.from;
    }
}

static inline bool says_prediction(uint64_t flags)
{
    return (flags & (BR2_RECORD_MISPREDICTED | BR2_RECORD_PREDICTED)) != 0;
}

/* The hot loop: counts records, newest first, whose traces are where their hashes say; returns
 * where it stopped. `next` is the source of the record newer than the first. It calls nothing, so
 * that all it needs stays in registers. */
static inline __attribute__((always_inline)) const uint8_t *
count_found(const struct visit *visit, const uint8_t *at, uint64_t next, bool late)
{
    struct br2_live_trace *traces = visit->table->traces;
    const uint32_t *slots = visit->table->slots;
    const struct br2_hash_key key = visit->table->key;
    const uint64_t where = visit->where;
    const uint64_t where_hash = visit->where_hash;
    const unsigned shift = 64 - visit->table->bits;
    const uint8_t *end = visit->end;
    uint64_t predictions = 0;
    for (; at != end; at += RECORD) {
        struct br2_branch_record record = record_at(at, 0);
        uint64_t hash = mix(&key, record.from, record.to, next, where_hash);
        struct br2_live_trace *trace = &traces[slots[hash >> shift]];
        bool found = trace->from == record.from && trace->to == record.to && trace->next == next &&
                     trace->where == where && br2_record_is_taken(record.flags);
        if (__builtin_expect(!found, 0)) {
            break;
        }
        trace->counts += ONE + (record.flags & BR2_RECORD_MISPREDICTED);
        if (late && visit->time < trace->first_seen) {
            trace->first_seen = visit->time;
        }
        predictions += says_prediction(record.flags);
        next = record.from;
    }
    visit->stats->predictions += predictions;
    return at;
}

/* Samples in order of time, as most are, need no look at when a trace was first seen. */
static __attribute__((noinline)) const uint8_t *count_found_late(const struct visit *visit,
                                                                 const uint8_t *at, uint64_t next)
{
    return count_found(visit, at, next, true);
}

static __attribute__((noinline)) const uint8_t *
count_found_in_order(const struct visit *visit, const uint8_t *at, uint64_t next)
{
    return count_found(visit, at, next, false);
}

/* Counts a record, wherever its trace is. */
static void count_record(const struct visit *visit, const struct br2_branch_record *record,
                         uint64_t next)
{
    struct br2_live_trace wanted = {
        .from = record->from,
        .to = record->to,
        .next = next,
        .first_seen = visit->time,
        .where = visit->where,
    };
    struct br2_live_trace *trace = find_or_add(visit, &wanted);
    trace->counts += ONE + (record->flags & BR2_RECORD_MISPREDICTED);
    trace->first_seen = visit->time < trace->first_seen ? visit->time : trace->first_seen;
    visit->stats->predictions += says_prediction(record->flags);
}

/* Counts the two newest records, which are the same. */
static void count_repeated(const struct visit *visit, const uint8_t *records)
{
    struct br2_branch_record newest = record_at(records, 0);
    struct br2_branch_record second = record_at(records, 1);
    struct br2_live_trace wanted = {
        .from = newest.from,
        .to = newest.to,
        .first_seen = visit->time,
        .where = visit->where | BR2_REPEATED,
    };
    struct br2_live_trace *trace = find_or_add(visit, &wanted);
    trace->counts +=
        ONE + (newest.flags & BR2_RECORD_MISPREDICTED) + (second.flags & BR2_RECORD_MISPREDICTED);
    trace->first_seen = visit->time < trace->first_seen ? visit->time : trace->first_seen;
    visit->stats->repeated++;
    visit->stats->predictions += says_prediction(newest.flags);
    visit->stats->predictions += says_prediction(second.flags);
}

/* Whether the two newest records are the same whole branch. */
static bool newest_repeats(const struct br2_sample *sample)
{
    if (sample->count < 2 || memcmp(sample->records, sample->records + RECORD, 16) != 0) {
        return false;
    }
    struct br2_branch_record newest = record_at(sample->records, 0);
    struct br2_branch_record second = record_at(sample->records, 1);
    return newest.from != 0 && newest.to != 0 && br2_record_is_taken(newest.flags) &&
           br2_record_is_taken(second.flags);
}

/* Counts a history but for its records on a wrong path, those of branches that were not taken, and
 * all from an empty one on. */
static void count_history(const struct visit *visit, const struct br2_sample *sample)
{
    const uint8_t *at = sample->records;
    uint64_t next = 0;
    if (newest_repeats(sample)) {
        count_repeated(visit, at);
        at += 2 * RECORD;
        next = load(at - RECORD);
    }
    while (at != visit->end) {
        const uint8_t *start = at;
        at =
            visit->late ? count_found_late(visit, at, next) : count_found_in_order(visit, at, next);
        next = at != start ? load(at - RECORD) : next;
        if (at == visit->end) {
            return;
        }
        struct br2_branch_record record = record_at(at, 0);
        at += RECORD;
        if (is_empty(&record)) {
            visit->stats->empty++;
            visit->stats->stale += (size_t)(visit->end - at) / RECORD;
            return;
        }
        if (br2_record_is_wrong_path(record.flags)) {
            visit->stats->wrong_path++;
        } else if (!br2_record_is_taken(record.flags)) {
            visit->stats->not_taken++;
        } else {
            count_record(visit, &record, next);
            next = record.from;
        }
    }
}

uint32_t br2_cycles_kept(uint64_t cycles)
{
    unsigned shift = 0;
    cycles = cycles < UINT32_MAX ? cycles : UINT32_MAX;
    while (cycles >> shift >= 512) {
        shift++;
    }
    return (uint32_t)(cycles >> shift << shift);
}

/* The cycles of a record are those since the previous one: they time the run between the two. */
static void count_timings(const struct visit *visit, const struct br2_sample *sample)
{
    struct br2_branch_record newer = {0};
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record = record_at(sample->records, i);
        if (!br2_record_is_taken(record.flags)) {
            continue;
        }
        if (is_empty(&record)) {
            break;
        }
        unsigned cycles = br2_record_cycles(newer.flags);
        uint32_t run = br2_run_between(record.to, newer.from);
        if (cycles != 0 && run != BR2_RUN_NONE && run != BR2_RUN_IMPOSSIBLE) {
            struct br2_live_trace wanted = {
                .from = br2_cycles_kept(cycles),
                .to = record.to,
                .next = newer.from,
                .first_seen = visit->time,
                .where = visit->where,
            };
            visit->stats->cycles_known++;
            find_or_add(visit, &wanted)->counts += ONE;
        }
        newer = record;
    }
}

bool br2_count_sample(struct br2_counting *counting, const struct br2_sample *sample,
                      uint32_t space)
{
    struct br2_count_stats *stats = &counting->stats;
    if (!reserve(counting->traces, sample->count) ||
        (counting->timings != NULL && !reserve(counting->timings, sample->count))) {
        return false;
    }
    struct visit visit = {
        .table = counting->traces,
        .stats = stats,
        .where_hash = mix_where(&counting->traces->key, space),
        .time = sample->time,
        .late = sample->time < counting->traces->latest,
        .where = space,
        .end = sample->records + sample->count * RECORD,
    };
    if (!visit.late) {
        counting->traces->latest = sample->time;
    }
    if (stats->samples++ == 0 || sample->time < stats->first_time) {
        stats->first_time = sample->time;
    }
    stats->records += sample->count;
    stats->depth = sample->count > stats->depth ? sample->count : stats->depth;
    if (counting->traces->used > FAR) {
        prefetch(&visit, sample->records, sample->count);
    }
    counting->traces->updates += sample->count;
    count_history(&visit, sample);
    if (counting->timings != NULL) {
        visit.table = counting->timings;
        visit.table->updates += sample->count;
        count_timings(&visit, sample);
    }
    return true;
}

void br2_count_stats_add(struct br2_count_stats *sum, const struct br2_count_stats *more,
                         uint64_t times)
{
    if (more->samples != 0 && (sum->samples == 0 || more->first_time < sum->first_time)) {
        sum->first_time = more->first_time;
    }
    sum->samples += more->samples * times;
    sum->records += more->records * times;
    sum->depth = more->depth > sum->depth ? more->depth : sum->depth;
    sum->wrong_path += more->wrong_path * times;
    sum->not_taken += more->not_taken * times;
    sum->empty += more->empty * times;
    sum->stale += more->stale * times;
    sum->repeated += more->repeated * times;
    sum->predictions += more->predictions * times;
    sum->cycles_known += more->cycles_known * times;
    sum->lone_runs += more->lone_runs * times;
}
