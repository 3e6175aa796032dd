/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of a flow graph held against another build's. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "flow/flow_quality.h"
#include "flow/same_code.h"

struct candidate {
    const struct br2_code_range *range;
    bool has_shape; /* what has no name is looked at for each function without one: decoded once */
    uint64_t shape;
};

struct holder {
    const struct br2_flow_graph *graph;
    const struct br2_stale_builds *builds;
    const struct br2_image *other;
    struct br2_decoder *decoder;
    struct candidate *by_name; /* the other image's functions, sorted by name */
    size_t count;
    size_t named; /* functions that ran and have a name ... */
    size_t found; /* ... which the other image has, too */
};

/* FNV-1a: nobody gains by making two functions look alike. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* A target in the function by its distance from the start, else by the name of what is there. */
static uint64_t mix_target(uint64_t hash, const struct br2_image *image,
                           const struct br2_code *code, uint64_t target)
{
    if (target >= code->start && target < code->end) {
        uint64_t distance = target - code->start;
        return mix(hash, &distance, sizeof distance);
    }
    const struct br2_code_range *range = br2_image_range_at(image, target);
    return range != NULL ? mix(hash, range->name, strlen(range->name)) : hash;
}

static uint64_t shape_of(const struct br2_image *image, const struct br2_code *code)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < code->count; i++) {
        const struct br2_insn *insn = &code->insns[i];
        const uint8_t what[] = {insn->size, insn->kind, insn->compares};
        hash = mix(hash, what, sizeof what);
        if (insn->target != 0) {
            hash = mix_target(hash, image, code, insn->target);
        }
    }
    return hash;
}

static int compare_names(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;
    int order = strcmp(a->range->name, b->range->name);
    return order != 0 ? order : br2_compare_u64(a->range->start, b->range->start);
}

static int sort_names(struct holder *holder, struct br2pgo_error *err)
{
    const struct br2_code_range *ranges;
    holder->count = br2_image_ranges(holder->other, &ranges);
    holder->by_name = br2_calloc(holder->count + 1, sizeof *holder->by_name);
    if (holder->by_name == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < holder->count; i++) {
        holder->by_name[i].range = &ranges[i];
    }
    qsort(holder->by_name, holder->count, sizeof *holder->by_name, compare_names);
    return 0;
}

/* The first range of that name; `count` where there is none. */
static size_t find_name(const struct holder *holder, const char *name)
{
    size_t low = 0;
    size_t high = holder->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(holder->by_name[middle].range->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < holder->count && strcmp(holder->by_name[low].range->name, name) == 0;
    return found ? low : holder->count;
}

/* What a function of the same shape differs in. */
struct likeness {
    bool same_shape;
    bool same_operands;
    bool lines_known;
    size_t moved_insns;
    uint64_t moved; /* executed in those */
};

/* The debug information of a function; NULL where there is none. */
static int debug_of(struct br2_debug *debug, uint64_t address,
                    const struct br2_debug_function **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    return debug != NULL ? br2_debug_function_at(debug, address, ret, err) : 0;
}

static void compare_places(const struct br2_flow_function *function,
                           const struct br2_build_function sides[2], struct likeness *ret)
{
    ret->lines_known = sides[0].debug != NULL && sides[1].debug != NULL;
    for (size_t i = 0; ret->lines_known && i < function->code.count; i++) {
        if (!br2_same_place(&sides[0], &sides[1], i)) {
            ret->moved_insns++;
            ret->moved += function->counts[i];
        }
    }
}

/* Compares the function with one of its name and shape, of this code, in the other build. */
static int compare_code(const struct holder *holder, const struct br2_flow_function *function,
                        const struct br2_code *code, struct likeness *ret, struct br2pgo_error *err)
{
    *ret = (struct likeness){0};
    if (function->code.count != code->count) {
        return 0;
    }
    struct br2_build_function sides[2] = {
        {.image = holder->graph->image, .code = &function->code},
        {.image = holder->other, .code = code},
    };
    int rc = debug_of(holder->builds->debug, function->code.start, &sides[0].debug, err);
    rc = rc != 0 ? rc : debug_of(holder->builds->other_debug, code->start, &sides[1].debug, err);
    if (rc == 0) {
        ret->same_shape = true;
        ret->same_operands = !br2_compares_operands(br2_image_machine(holder->other)) ||
                             br2_same_code(holder->decoder, &sides[0], &sides[1]);
        compare_places(function, sides, ret);
    }
    return rc;
}

/* A function that ran, and its shape. */
struct ran {
    const struct br2_flow_function *function;
    uint64_t shape;
};

/* Compares it with one of its name. */
static int compare_candidate(const struct holder *holder, const struct ran *ran,
                             struct candidate *candidate, struct likeness *ret,
                             struct br2pgo_error *err)
{
    const struct br2_code_range *range = candidate->range;
    *ret = (struct likeness){0};
    if (candidate->has_shape && candidate->shape != ran->shape) {
        return 0;
    }
    struct br2_code code;
    int rc = br2_code_decode(holder->decoder, holder->other, range->start, range->end, &code, err);
    if (rc != 0) {
        return rc;
    }
    candidate->shape = shape_of(holder->other, &code);
    candidate->has_shape = true;
    if (candidate->shape == ran->shape) {
        rc = compare_code(holder, ran->function, &code, ret, err);
    }
    br2_code_done(&code);
    return rc;
}

static bool is_better(const struct likeness *a, const struct likeness *b)
{
    if (a->same_shape != b->same_shape) {
        return a->same_shape;
    }
    if (a->same_operands != b->same_operands) {
        return a->same_operands;
    }
    return a->moved_insns < b->moved_insns;
}

/* The most alike of the functions of that name, several where they are static. */
static int find_likest(const struct holder *holder, const struct br2_flow_function *function,
                       size_t at, struct likeness *ret, struct br2pgo_error *err)
{
    const char *name = holder->by_name[at].range->name;
    struct ran ran = {function, shape_of(holder->graph->image, &function->code)};
    bool same = false;
    *ret = (struct likeness){0};
    for (; !same && at < holder->count && strcmp(holder->by_name[at].range->name, name) == 0;
         at++) {
        struct likeness likeness;
        int rc = compare_candidate(holder, &ran, &holder->by_name[at], &likeness, err);
        if (rc != 0) {
            return rc;
        }
        if (is_better(&likeness, ret)) {
            *ret = likeness;
        }
        same = ret->same_shape && ret->same_operands && ret->moved_insns == 0;
    }
    return 0;
}

/* The most that one function has of each figure. */
struct most {
    uint64_t changed;
    uint64_t operands;
    uint64_t moved;
};

static void note_most(uint64_t executed, size_t number, uint64_t *most, uint32_t *worst)
{
    if (executed > *most) {
        *most = executed;
        *worst = (uint32_t)number;
    }
}

/* A function of the same shape. */
static void add_likeness(struct br2_flow_stale *ret, struct most *most, size_t number,
                         uint64_t executed, const struct likeness *likeness)
{
    ret->lines_known |= likeness->lines_known;
    if (!likeness->same_operands) {
        ret->operands += executed;
        ret->operands_functions++;
        note_most(executed, number, &most->operands, &ret->operands_worst);
    }
    if (likeness->moved_insns != 0) {
        ret->moved += likeness->moved;
        ret->moved_functions++;
        note_most(likeness->moved, number, &most->moved, &ret->moved_worst);
    }
}

static int hold_function(struct holder *holder, size_t number, struct most *most,
                         struct br2_flow_stale *ret, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = &holder->graph->functions[number];
    struct likeness likeness = {0};
    uint64_t executed = 0;
    for (size_t i = 0; i < function->code.count; i++) {
        executed += function->counts[i];
    }
    ret->executed += executed;
    size_t at = find_name(holder, function->range->name);
    bool named = function->range->name[0] != '\0' && !function->range->plt;
    holder->named += named;
    holder->found += named && at != holder->count;
    int rc = at != holder->count ? find_likest(holder, function, at, &likeness, err) : 0;
    if (rc != 0) {
        return rc;
    }
    if (likeness.same_shape) {
        add_likeness(ret, most, number, executed, &likeness);
        return 0;
    }
    bool missing = at == holder->count;
    ret->missing += missing ? executed : 0;
    ret->missing_functions += missing;
    ret->changed += missing ? 0 : executed;
    ret->changed_functions += !missing;
    note_most(executed, number, &most->changed, &ret->worst);
    return 0;
}

/* A build without symbols would be told as one whose functions are all gone. */
static int refuse_strange(const struct holder *holder, struct br2pgo_error *err)
{
    br2_fail(
        err, BR2PGO_INVALID,
        "'%s' has none of the %zu functions that ran: it has no symbols, or is another program",
        br2_image_path(holder->other), holder->named);
    br2_hint(err, "give a build of the same program, as it was before strip");
    return BR2PGO_INVALID;
}

int br2_flow_stale(const struct br2_flow_graph *graph, const struct br2_stale_builds *builds,
                   struct br2_flow_stale *ret, struct br2pgo_error *err)
{
    const struct br2_image *other = builds->other;
    struct holder holder = {.graph = graph, .builds = builds, .other = other};
    struct most most = {0};
    *ret = (struct br2_flow_stale){
        .worst = BR2_NO_FUNCTION,
        .operands_worst = BR2_NO_FUNCTION,
        .moved_worst = BR2_NO_FUNCTION,
        .operands_known = br2_compares_operands(br2_image_machine(other)),
    };
    if (br2_image_machine(other) != br2_image_machine(graph->image)) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is for another machine than what was recorded",
                 br2_image_path(other));
        br2_hint(err, "give a build of the same program for the same machine");
        return BR2PGO_INVALID;
    }
    int rc = br2_decoder_new(br2_image_machine(other), &holder.decoder, err);
    rc = rc != 0 ? rc : sort_names(&holder, err);
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = hold_function(&holder, i, &most, ret, err);
    }
    if (rc == 0 && holder.named != 0 && holder.found == 0) {
        rc = refuse_strange(&holder, err);
    }
    br2_free(holder.by_name);
    br2_decoder_free(holder.decoder);
    return rc;
}
