/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conditions of loops. Of `while (c)` compilers make two tests, one before the loop and one at its
 * end. The condition was evaluated as often as both ran together, and only that leaves the loop its
 * exits: with the higher count alone all of it goes to the body, and the loop seems to have no end.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"
#include "profile/build_private.h"

int br2_build_note_branch(const struct builder *builder, struct source_function *function,
                          const struct br2_location *location, const struct br2_insn *insn,
                          uint64_t count)
{
    struct br2_place place =
        br2_build_place(builder, function, &function->debug->scopes[location->scope],
                        location->line, location->discriminator);
    /* Without discriminators, several conditions of a line are one place. */
    if (function->scheme != BR2_DISCRIMINATOR_LLVM || place.discriminator == 0) {
        return 0;
    }
    if (!br2_grow(&function->branches, &function->branch_capacity, function->branch_count,
                  sizeof *function->branches)) {
        return BR2PGO_NO_MEMORY;
    }
    function->branches[function->branch_count++] = (struct source_branch){
        .node = function->nodes[location->scope],
        .place = place,
        .address = insn->address,
        .target = insn->target,
        .count = count,
    };
    return 0;
}

static bool same_place(const struct source_branch *a, const struct source_branch *b)
{
    return a->node == b->node && br2_place_compare(a->place, b->place) == 0;
}

/* Within a place, the highest address first. */
static int compare_branches(const void *left, const void *right)
{
    const struct source_branch *a = left;
    const struct source_branch *b = right;
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    int order = br2_place_compare(a->place, b->place);
    return order != 0 ? order : br2_compare_u64(b->address, a->address);
}

/* What branches of one place say: each loop that one of them closes counts for itself, as its
 * busiest one, and the busiest outside of all loops for the test before them. 0: not a loop's. */
static uint64_t evaluations(const struct source_branch *branches, size_t count)
{
    uint64_t loops = 0; /* of those that are passed */
    uint64_t most = 0;  /* in the loop that begins at `start` */
    uint64_t before = 0;
    uint64_t start = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct source_branch *branch = &branches[i];
        bool closes = branch->target != 0 && branch->target <= branch->address;
        if (branch->address >= start) {
            most = closes && branch->count > most ? branch->count : most;
            start = closes && branch->target < start ? branch->target : start;
        } else if (closes) {
            loops = br2_add_saturated(loops, most);
            most = branch->count;
            start = branch->target;
        } else if (branch->count > before) {
            before = branch->count;
        }
    }
    loops = br2_add_saturated(loops, most);
    return loops != 0 ? br2_add_saturated(loops, before) : 0;
}

void br2_build_join_branches(struct source_function *function)
{
    if (function->branch_count == 0) {
        return;
    }
    qsort(function->branches, function->branch_count, sizeof *function->branches, compare_branches);
    size_t kept = 0;
    size_t end;
    for (size_t i = 0; i < function->branch_count; i = end) {
        end = i + 1;
        while (end < function->branch_count &&
               same_place(&function->branches[i], &function->branches[end])) {
            end++;
        }
        uint64_t count = evaluations(&function->branches[i], end - i);
        if (count != 0) {
            function->branches[kept] = function->branches[i];
            function->branches[kept++].count = count;
        }
    }
    function->branch_count = kept;
}
