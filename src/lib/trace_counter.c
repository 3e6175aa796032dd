/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/trace_counter.h"

#include "base/hash.h"
#include "base/mem.h"

#define SLOT_BITS 15u /* steps of a program's hot code; 1.5 MiB, in a second-level cache */

struct br2_trace_count {
    uint64_t from;
    uint64_t to;
    uint64_t end;
    uint64_t count; /* 0: a free slot */
    uint32_t view;
};

int br2_trace_counter_begin(struct br2_trace_counter *counter, const struct br2_spaces *spaces,
                            struct br2pgo_error *err)
{
    *counter = (struct br2_trace_counter){.into = {.spaces = spaces}};
    counter->slots = br2_calloc((size_t)1 << SLOT_BITS, sizeof *counter->slots);
    return counter->slots != NULL ? 0 : br2_fail_memory(err);
}

static bool flush(struct br2_trace_counter *counter, struct br2_trace_count *slot)
{
    struct br2_counted counted = {
        .has_branch = slot->from != 0,
        .has_run = slot->end != 0,
        .resumed = true,
        .from = slot->from,
        .to = slot->to,
        .end = slot->end,
        .count = slot->count,
    };
    counter->into.folded = &counter->folded;
    counter->into.stats = &counter->stats;
    bool done = slot->count == 0 || br2_count_counted(&counter->into, &counted, slot->view);
    slot->count = 0;
    return done;
}

int br2_trace_counter_take(void *user, const struct br2_trace_step *step, struct br2pgo_error *err)
{
    struct br2_trace_counter *counter = user;
    const struct br2_hash_key *key = br2_hash_key();
    uint64_t hash = step->from * key->words[0] + step->to * key->words[1] +
                    step->end * key->words[2] + step->view * key->words[3];
    struct br2_trace_count *slot = &counter->slots[hash >> (64 - SLOT_BITS)];
    if (slot->from == step->from && slot->to == step->to && slot->end == step->end &&
        slot->view == step->view && slot->count != 0) {
        slot->count++;
        return 0;
    }
    if (!flush(counter, slot)) {
        return br2_fail_memory(err);
    }
    *slot = (struct br2_trace_count){step->from, step->to, step->end, 1, step->view};
    return 0;
}

int br2_trace_counter_finish(struct br2_trace_counter *counter, struct br2_folded *folded,
                             struct br2_count_stats *stats, struct br2pgo_error *err)
{
    for (size_t i = 0; i < (size_t)1 << SLOT_BITS; i++) {
        if (!flush(counter, &counter->slots[i])) {
            return br2_fail_memory(err);
        }
    }
    br2_count_stats_add(stats, &counter->stats, 1);
    return br2_folded_add(folded, &counter->folded) ? 0 : br2_fail_memory(err);
}

void br2_trace_counter_done(struct br2_trace_counter *counter)
{
    br2_folded_done(&counter->folded);
    br2_live_traces_done(&counter->into.scratch);
    br2_free(counter->slots);
}
