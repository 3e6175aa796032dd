/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of a flow graph held against another build's. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/flow_quality.h"

struct holder {
    const struct br2_flow_graph *graph;
    const struct br2_image *other;
    struct br2_decoder *decoder;
    const struct br2_code_range **by_name; /* the other image's, sorted by name */
    size_t count;
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
    const struct br2_code_range *a = *(const struct br2_code_range *const *)left;
    const struct br2_code_range *b = *(const struct br2_code_range *const *)right;
    return strcmp(a->name, b->name);
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
        holder->by_name[i] = &ranges[i];
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
        if (strcmp(holder->by_name[middle]->name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < holder->count && strcmp(holder->by_name[low]->name, name) == 0;
    return found ? low : holder->count;
}

/* Whether one of the functions of that name, several where they are static, has the same shape. */
static int has_shape(const struct holder *holder, size_t at, uint64_t shape, bool *ret,
                     struct br2pgo_error *err)
{
    const char *name = holder->by_name[at]->name;
    *ret = false;
    for (; !*ret && at < holder->count && strcmp(holder->by_name[at]->name, name) == 0; at++) {
        const struct br2_code_range *range = holder->by_name[at];
        struct br2_code code;
        int rc =
            br2_code_decode(holder->decoder, holder->other, range->start, range->end, &code, err);
        if (rc != 0) {
            return rc;
        }
        *ret = shape_of(holder->other, &code) == shape;
        br2_code_done(&code);
    }
    return 0;
}

static int hold_function(const struct holder *holder, size_t number, uint64_t *most,
                         struct br2_flow_stale *ret, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = &holder->graph->functions[number];
    uint64_t executed = 0;
    for (size_t i = 0; i < function->code.count; i++) {
        executed += function->counts[i];
    }
    ret->executed += executed;
    bool same = false;
    size_t at = find_name(holder, function->range->name);
    if (at == holder->count) {
        ret->missing += executed;
        ret->missing_functions++;
    } else {
        uint64_t shape = shape_of(holder->graph->image, &function->code);
        int rc = has_shape(holder, at, shape, &same, err);
        if (rc != 0) {
            return rc;
        }
        ret->changed += same ? 0 : executed;
        ret->changed_functions += !same;
    }
    if (!same && executed > *most) {
        *most = executed;
        ret->worst = (uint32_t)number;
    }
    return 0;
}

int br2_flow_stale(const struct br2_flow_graph *graph, const struct br2_image *other,
                   struct br2_flow_stale *ret, struct br2pgo_error *err)
{
    struct holder holder = {.graph = graph, .other = other};
    uint64_t most = 0;
    *ret = (struct br2_flow_stale){.worst = BR2_NO_FUNCTION};
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
    br2_free(holder.by_name);
    br2_decoder_free(holder.decoder);
    return rc;
}
