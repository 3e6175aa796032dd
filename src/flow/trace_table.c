/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/trace_table.h"

#include "base/hash.h"
#include "base/mem.h"

#define SLOTS_MIN 4096 /* a power of two */

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

static bool enlarge(struct br2_trace_table *table, size_t slot_count)
{
    struct br2_trace_table larger = {.slot_count = slot_count, .used = table->used};
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

bool br2_trace_table_reserve(struct br2_trace_table *table, size_t more)
{
    size_t wanted = table->slot_count != 0 ? table->slot_count : SLOTS_MIN;
    while (wanted / 2 < table->used + more) {
        wanted *= 2;
    }
    return wanted <= table->slot_count || enlarge(table, wanted);
}

bool br2_trace_table_add(struct br2_trace_table *table, const struct br2_trace *trace)
{
    if (table->used >= table->slot_count / 2 && !br2_trace_table_reserve(table, 1)) {
        return false;
    }
    struct br2_trace *slot = find(table, trace, hash_of(trace));
    if (slot->count == 0) {
        if (trace->count != 0) {
            *slot = *trace;
            table->used++;
        }
        return true;
    }
    slot->count += trace->count;
    slot->mispredicted += trace->mispredicted;
    slot->first_seen = trace->first_seen < slot->first_seen ? trace->first_seen : slot->first_seen;
    return true;
}

uint64_t br2_trace_table_count(const struct br2_trace_table *table, const struct br2_trace *trace)
{
    return table->used != 0 ? find(table, trace, hash_of(trace))->count : 0;
}

void br2_trace_table_done(struct br2_trace_table *table)
{
    br2_free(table->slots);
    *table = (struct br2_trace_table){0};
}
