/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/fold.h"

#include <string.h>

/* Room for so many traces is made at once, before the first: more of them, of many processes, may
 * come to few. */
#define ROOM_MAX 32768

struct place_in_file {
    const struct br2_mapping *mapping; /* NULL where there is none */
    uint32_t dso;
    uint64_t offset;
};

static const struct br2_mapping *resolve(struct br2_fold_last *last,
                                         const struct br2_spaces *spaces, uint32_t view,
                                         uint64_t address)
{
    if (br2_is_kernel_address(address)) { /* in a view of its own */
        return br2_spaces_resolve(spaces, view, address);
    }
    const struct br2_mapping *known = last->mapping;
    if (known != NULL && last->spaces == spaces && last->view == view && address >= known->start &&
        address < known->end) {
        return known;
    }
    last->spaces = spaces;
    last->view = view;
    last->mapping = br2_spaces_resolve(spaces, view, address);
    return last->mapping;
}

static struct place_in_file locate(struct br2_folded *folded, const struct br2_spaces *spaces,
                                   uint32_t view, uint64_t address)
{
    struct place_in_file place = {.dso = BR2_DSO_MISSING};
    if (address == 0) {
        return place;
    }
    place.mapping = resolve(&folded->last, spaces, view, address);
    if (place.mapping == NULL) {
        place.dso = br2_is_kernel_address(address) ? BR2_DSO_KERNEL : BR2_DSO_UNMAPPED;
        return place;
    }
    place.dso = place.mapping->dso;
    place.offset = address - place.mapping->start + place.mapping->file_offset;
    return place;
}

/* The run as it is inside the file: it must not leave the mapping it starts in. */
static uint32_t fold_run(const struct br2_trace *trace, const struct place_in_file *to)
{
    if (trace->run == BR2_RUN_NONE || trace->run > BR2_RUN_LONGEST) {
        return trace->run;
    }
    if (to->mapping == NULL) {
        return BR2_RUN_SPLIT;
    }
    uint64_t left = to->mapping->end - trace->to; /* at least 1 */
    return trace->run - 1 < left ? trace->run : BR2_RUN_SPLIT;
}

static uint32_t pair_number(struct br2_folded *folded, uint32_t from, uint32_t to)
{
    struct br2_fold_last *last = &folded->last;
    if (!last->has_pair || last->pair.from != from || last->pair.to != to) {
        struct br2_image_pair pair = {.from = from, .to = to};
        last->pair = pair;
        last->pair_number = br2_strings_add(&folded->pairs, (const char *)&pair, sizeof pair);
        last->has_pair = last->pair_number != BR2_NO_STRING;
    }
    return last->pair_number;
}

struct br2_image_pair br2_folded_pair(const struct br2_folded *folded, uint32_t number)
{
    struct br2_image_pair pair;
    memcpy(&pair, br2_strings_get(&folded->pairs, number, NULL), sizeof pair);
    return pair;
}

static uint32_t origin_of(uint32_t marks)
{
    if ((marks & BR2_SPACE_ANY_ORIGIN) != 0) {
        return BR2_DSO_RUN_ANY;
    }
    return (marks & BR2_SPACE_RESUMED) != 0 ? BR2_DSO_RUN_RESUMED : BR2_DSO_RUN_ONLY;
}

bool br2_fold_trace(struct br2_folded *folded, const struct br2_spaces *spaces,
                    const struct br2_trace *trace)
{
    uint32_t marks = BR2_SPACE_RUN_ONLY | BR2_SPACE_RESUMED | BR2_SPACE_ANY_ORIGIN;
    uint32_t view = trace->space & ~marks;
    struct place_in_file from = locate(folded, spaces, view, trace->from);
    struct place_in_file to = locate(folded, spaces, view, trace->to);
    if ((trace->space & BR2_SPACE_RUN_ONLY) != 0) {
        from.dso = origin_of(trace->space);
    }
    struct br2_trace folded_trace = *trace;
    folded_trace.from = from.offset;
    folded_trace.to = to.offset;
    folded_trace.run = fold_run(trace, &to);
    folded_trace.space = pair_number(folded, from.dso, to.dso);
    return folded_trace.space != BR2_NO_STRING &&
           br2_trace_table_add(&folded->traces, &folded_trace);
}

static bool fold_timing(struct br2_folded *folded, const struct br2_spaces *spaces,
                        const struct br2_trace *timing)
{
    struct place_in_file to = locate(folded, spaces, timing->space, timing->to);
    struct br2_trace folded_timing = *timing;
    folded_timing.to = to.offset;
    folded_timing.run = fold_run(timing, &to);
    folded_timing.space = pair_number(folded, to.dso, to.dso);
    return folded_timing.space != BR2_NO_STRING &&
           br2_trace_table_add(&folded->timings, &folded_timing);
}

static bool make_room(struct br2_trace_table *table, const struct br2_live_traces *live)
{
    size_t more = live->used < ROOM_MAX ? live->used : ROOM_MAX;
    return more == 0 || table->used != 0 || br2_trace_table_reserve(table, more);
}

static bool fold_table(struct br2_folded *folded, const struct br2_spaces *spaces,
                       struct br2_live_traces *table,
                       bool (*fold_one)(struct br2_folded *, const struct br2_spaces *,
                                        const struct br2_trace *))
{
    for (size_t i = 1; i < table->used; i++) {
        struct br2_trace trace = br2_live_traces_get(table, i);
        if (!fold_one(folded, spaces, &trace)) {
            return false;
        }
    }
    br2_live_traces_clear(table);
    return true;
}

int br2_fold(struct br2_folded *folded, const struct br2_spaces *spaces,
             struct br2_counting *counting, struct br2pgo_error *err)
{
    if (!make_room(&folded->traces, counting->traces) ||
        !fold_table(folded, spaces, counting->traces, br2_fold_trace)) {
        return br2_fail_memory(err);
    }
    if (counting->timings != NULL && !fold_table(folded, spaces, counting->timings, fold_timing)) {
        return br2_fail_memory(err);
    }
    return 0;
}

static bool add_table(struct br2_folded *into, struct br2_trace_table *table,
                      const struct br2_folded *from, const struct br2_trace_table *more)
{
    for (size_t i = 0; i < more->slot_count; i++) {
        if (more->slots[i].count != 0) {
            struct br2_trace trace = more->slots[i];
            struct br2_image_pair pair = br2_folded_pair(from, trace.space);
            trace.space = pair_number(into, pair.from, pair.to);
            if (trace.space == BR2_NO_STRING || !br2_trace_table_add(table, &trace)) {
                return false;
            }
        }
    }
    return true;
}

bool br2_folded_add(struct br2_folded *into, struct br2_folded *from)
{
    if (into->pairs.count == 0) { /* there is nothing to add to */
        struct br2_folded nothing = *into;
        *into = *from;
        *from = nothing;
        into->last = (struct br2_fold_last){0}; /* of spaces that may go with `from` */
        return true;
    }
    return add_table(into, &into->traces, from, &from->traces) &&
           add_table(into, &into->timings, from, &from->timings);
}

void br2_folded_done(struct br2_folded *folded)
{
    br2_trace_table_done(&folded->traces);
    br2_trace_table_done(&folded->timings);
    br2_strings_done(&folded->pairs);
}
