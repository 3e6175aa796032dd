/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Event id -> attr: one look-up per sample when there are several events. */
#include "base/hash.h"
#include "input/perf_data/perf_data.h"

static size_t slot_of(const struct br2_perf_ids *ids, uint64_t id)
{
    /* Ids are small consecutive numbers, or whatever a file says they are. */
    uint64_t hash = id * ids->multiplier;
    return (size_t)(hash >> 32) & (ids->slot_count - 1);
}

/* The slot that holds `id`, or the free one where it belongs. */
static struct br2_perf_id *probe(const struct br2_perf_ids *ids, uint64_t id)
{
    size_t i = slot_of(ids, id);
    while (ids->slots[i].id != 0 && ids->slots[i].id != id) {
        i = (i + 1) & (ids->slot_count - 1);
    }
    return &ids->slots[i];
}

static bool enlarge(struct br2_perf_ids *ids)
{
    struct br2_perf_ids old = *ids;
    size_t slot_count = old.slot_count ? old.slot_count * 2 : 64;
    struct br2_perf_id *slots = br2_calloc(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    ids->slots = slots;
    ids->slot_count = slot_count;
    ids->multiplier = br2_hash_key()->words[0];
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].id != 0) {
            *probe(ids, old.slots[i].id) = old.slots[i];
        }
    }
    br2_free(old.slots);
    return true;
}

bool br2_perf_ids_add(struct br2_perf_ids *ids, uint64_t id, uint32_t attr)
{
    if (id == 0) {
        return true;
    }
    if (ids->count >= ids->slot_count / 2 && !enlarge(ids)) {
        return false;
    }
    struct br2_perf_id *slot = probe(ids, id);
    if (slot->id == 0) {
        *slot = (struct br2_perf_id){id, attr};
        ids->count++;
    }
    return true;
}

bool br2_perf_ids_find(const struct br2_perf_ids *ids, uint64_t id, size_t *ret_attr)
{
    if (ids->count == 0 || id == 0) {
        return false;
    }
    const struct br2_perf_id *slot = probe(ids, id);
    if (slot->id == 0) {
        return false;
    }
    *ret_attr = slot->attr;
    return true;
}

void br2_perf_ids_done(struct br2_perf_ids *ids)
{
    br2_free(ids->slots);
    *ids = (struct br2_perf_ids){0};
}
