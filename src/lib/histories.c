/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For a report: reads the recordings once more, now that the graph is known, and follows each
 * history through it. Nothing else of a conversion waits for it.
 */
#include "flow/histories.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "lib/conversion.h"

#define CACHE_BITS 14

/* A record's branch as part of the graph, once it is known. */
struct known {
    uint64_t from; /* runtime addresses and the view that say which */
    uint64_t to;
    uint32_t view;
    bool used;
    bool outside;  /* both sides are in other images */
    uint32_t edge; /* BR2_NO_EDGE: outside, or the code contradicts it */
};

struct following {
    struct br2pgo_conversion *conversion;
    struct br2_recording *recording;
    struct br2_follower *follower;
    struct br2_turn turn;
    struct known *cache;    /* owned */
    struct br2_step *steps; /* owned */
    size_t capacity;
};

/* Whether a runtime address is in the image; `*ret` is the link-time address then, else 0. */
static bool locate(const struct following *following, uint32_t view, uint64_t address,
                   uint64_t *ret)
{
    const struct br2_recording *recording = following->recording;
    const struct br2_image *image = following->conversion->image;
    const struct br2_mapping *mapping =
        address != 0 ? br2_spaces_resolve(recording->spaces, view, address) : NULL;
    size_t size;
    *ret = 0;
    if (mapping == NULL || mapping->dso >= br2_spaces_dsos(recording->spaces)->count ||
        !recording->is_image[mapping->dso]) {
        return false;
    }
    uint64_t offset = address - mapping->start + mapping->file_offset;
    return br2_folded_address(image, recording->base, offset, ret) &&
           br2_image_code(image, *ret, &size) != NULL;
}

/* The conditional branch that AMD's address of a fused pair stands for. */
static uint64_t snap(const struct br2_flow_graph *graph, uint64_t from)
{
    uint32_t number = br2_flow_graph_function(graph, from);
    if (number == BR2_NO_FUNCTION) {
        return from;
    }
    const struct br2_code *code = &graph->functions[number].code;
    size_t insn = br2_code_find(code, from);
    bool fused = insn != SIZE_MAX && insn + 1 < code->count && code->insns[insn].compares != 0 &&
                 code->insns[insn + 1].kind == BR2_INSN_COND;
    return fused ? code->insns[insn + 1].address : from;
}

static void look_up(const struct following *following, struct known *known)
{
    const struct br2_flow_graph *graph = following->conversion->graph;
    uint64_t from;
    uint64_t to;
    bool from_in = locate(following, known->view, known->from, &from);
    bool to_in = locate(following, known->view, known->to, &to);
    known->used = true;
    known->outside = !from_in && !to_in;
    known->edge = BR2_NO_EDGE;
    if (from_in) {
        from = snap(graph, from);
    }
    if (!known->outside) {
        known->edge = br2_flow_edge_number(graph, from, to);
    }
}

static struct known find(const struct following *following, uint32_t view,
                         const struct br2_branch_record *record)
{
    const struct br2_hash_key *key = br2_hash_key();
    uint64_t hash = record->from * key->words[0] + record->to * key->words[1] + view;
    struct known *known = &following->cache[hash * key->words[2] >> (64 - CACHE_BITS)];
    if (!known->used || known->from != record->from || known->to != record->to ||
        known->view != view) {
        *known = (struct known){.from = record->from, .to = record->to, .view = view};
        look_up(following, known);
    }
    return *known;
}

/* What the records before say of how one may go on. */
struct before {
    uint32_t edge; /* the last one, BR2_NO_EDGE: nothing is known */
    bool outside;  /* records in other images came after it */
};

static bool joins(const struct br2_flow_graph *graph, const struct before *before, uint32_t edge)
{
    if (before->edge == BR2_NO_EDGE) {
        return false;
    }
    uint64_t start = graph->edges[before->edge].to;
    uint64_t end = graph->edges[edge].from;
    if (start == 0 || end == 0) {
        return start == end;
    }
    return !before->outside && br2_flow_has_run(graph, start, end);
}

/* The records that count: all before an empty one. */
static size_t count_whole(const struct br2_sample *sample)
{
    struct br2_branch_record record;
    size_t count = 0;
    while (count < sample->count) {
        br2_sample_record(sample, count, &record);
        if (record.from == 0 && record.to == 0) {
            break;
        }
        count++;
    }
    return count;
}

/* Whether the newest record repeats the one before and nothing can have run between the two: then
 * the processor logged it twice. */
static bool is_repeated(const struct following *following, const struct br2_sample *sample,
                        uint32_t edge)
{
    const struct br2_flow_graph *graph = following->conversion->graph;
    return sample->count > 1 && memcmp(sample->records, sample->records + 24, 16) == 0 &&
           edge != BR2_NO_EDGE &&
           !br2_flow_has_run(graph, graph->edges[edge].to, graph->edges[edge].from);
}

/* The sample's history as steps, oldest first; returns how many. */
static size_t make_steps(const struct following *following, const struct br2_sample *sample,
                         uint32_t view)
{
    struct before before = {.edge = BR2_NO_EDGE};
    size_t count = 0;
    uint32_t passed = 0; /* cycles of records that are no branches taken, since the last that is */
    for (size_t i = count_whole(sample); i-- > 0;) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        uint32_t cycles = br2_record_cycles(record.flags);
        if (!br2_record_is_taken(record.flags)) {
            passed += cycles;
            continue;
        }
        struct known known = find(following, view, &record);
        if (i == 0 && is_repeated(following, sample, known.edge)) {
            break;
        }
        following->steps[count++] = (struct br2_step){
            .edge = known.edge,
            .cycles = cycles != 0 ? passed + cycles : 0,
            .joined = known.edge != BR2_NO_EDGE &&
                      joins(following->conversion->graph, &before, known.edge),
            .mispredicted = (record.flags & BR2_RECORD_MISPREDICTED) != 0,
        };
        passed = 0;
        if (known.outside) {
            before.outside = true;
        } else {
            before = (struct before){.edge = known.edge};
        }
    }
    return count;
}

static int take_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct following *following = user;
    struct br2_recording *recording = following->recording;
    const struct br2_selection *selection = &following->conversion->selection;
    if (br2_selection_chooses(selection) && !br2_chosen_takes(selection, recording, sample)) {
        return 0;
    }
    if (sample->count > following->capacity) {
        struct br2_step *steps =
            br2_realloc_array(following->steps, sample->count, sizeof *following->steps);
        if (steps == NULL) {
            return br2_fail_memory(err);
        }
        following->steps = steps;
        following->capacity = sample->count;
    }
    uint32_t view =
        br2_spaces_view_again(recording->spaces, &following->turn, sample->pid, sample->time);
    size_t count = make_steps(following, sample, view);
    uint64_t times = (sample->repeats + 1) * recording->factor;
    return br2_history_follow(following->follower, following->steps, count, times)
               ? 0
               : br2_fail_memory(err);
}

/* One recording. What it counts of samples that are not chosen has been counted before. */
static int follow(struct following *following, struct br2_recording *recording,
                  struct br2pgo_error *err)
{
    if (recording->counted || !br2_recording_contributes(recording)) {
        return 0;
    }
    struct br2_chosen chosen = recording->chosen;
    following->recording = recording;
    following->turn = (struct br2_turn){0};
    memset(following->cache, 0, sizeof *following->cache << CACHE_BITS);
    int rc = br2_recording_reread(following->conversion, recording, take_sample, following, err);
    memcpy(recording->chosen.left, chosen.left, sizeof chosen.left);
    recording->chosen.without_cpu = chosen.without_cpu;
    return rc;
}

int br2_follow_histories(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct br2_histories *histories = &conversion->histories;
    int rc = br2_histories_begin(conversion->graph, histories, err);
    if (rc != 0) {
        return rc;
    }
    struct following following = {.conversion = conversion};
    following.cache = br2_calloc((size_t)1 << CACHE_BITS, sizeof *following.cache);
    following.follower = br2_follower_new(conversion->graph, histories);
    if (following.cache == NULL || following.follower == NULL) {
        rc = br2_fail_memory(err);
    }
    for (size_t i = 0; rc == 0 && i < conversion->recording_count; i++) {
        rc = follow(&following, &conversion->recordings[i], err);
    }
    if (rc == 0 && histories->followed == 0) {
        br2_note(conversion, BR2PGO_NOTE_CHOICE,
                 "there are no histories in what was read, only counts: how often loops go round, "
                 "and ways through functions, are not known");
    }
    br2_follower_free(following.follower);
    br2_free(following.cache);
    br2_free(following.steps);
    return rc;
}
