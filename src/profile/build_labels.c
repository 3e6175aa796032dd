/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For GCC up to 12: lines above the code at which an indirect jump arrives, such as the case of a
 * switch or the label of a computed goto. The label, and statements below it whose code went
 * elsewhere, have no code of their own, but GCC takes a block's count from any statement's line
 * (afdo_set_bb_count in auto-profile.cc, the highest). The line of the code says less: it may have
 * other blocks, and then has the least busy one's count. Edges do not make that good: a block is
 * raised where all edges on one side are known (afdo_propagate_edge), and GCC has one jump for all
 * labels.
 */
#include "profile/build_private.h"

/* So many lines above the code at a label are taken for the label's, at most. */
#define LABEL_LINES_MAX 32

/* The offset of the last line above `offset` that has code or a call that was inlined. What is
 * there has a record, also where it never ran; 0: the declaration. */
static uint32_t taken_above(const struct br2_function_profile *node, uint32_t offset)
{
    size_t low = 0;
    size_t high = node->sample_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->samples[middle].place.offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t above = low != 0 ? node->samples[low - 1].place.offset : 0;
    high = node->callsite_count;
    for (low = 0; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (node->callsites[middle].place.offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && node->callsites[low - 1].place.offset > above
               ? node->callsites[low - 1].place.offset
               : above;
}

/* Gives the lines above the code at `address` that code's count. */
static int add_label(struct builder *builder, uint64_t address, struct br2pgo_error *err)
{
    const struct br2_debug_function *debug;
    int rc = br2_debug_function_at(builder->debug, address, &debug, err);
    if (rc != 0 || debug == NULL) {
        return rc;
    }
    const struct source_function *function = br2_build_known(builder, debug);
    const struct br2_location *location = br2_debug_location(debug, address);
    if (function == NULL || location == NULL || function->nodes[location->scope] == NULL) {
        return 0;
    }
    struct br2_function_profile *node = function->nodes[location->scope];
    uint32_t decl_line = debug->scopes[location->scope].decl_line;
    /* The block's own count, not that of its line, which it may share with others. */
    uint64_t count = function->most[location - debug->locations];
    if (count == 0 || location->line <= decl_line || location->line - decl_line > INT16_MAX) {
        return 0;
    }
    uint32_t code = location->line - decl_line;
    uint32_t above = taken_above(node, code);
    uint32_t first = code - above > LABEL_LINES_MAX ? code - LABEL_LINES_MAX : above + 1;
    for (uint32_t offset = first; offset < code; offset++) {
        struct br2_body_sample *sample =
            br2_profile_sample(node, (struct br2_place){.offset = offset});
        if (sample == NULL) {
            return br2_fail_memory(err);
        }
        sample->count = count;
    }
    return 0;
}

int br2_build_labels(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < graph->edge_count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (edge->kind == BR2_EDGE_INDIRECT_JUMP && edge->to != 0 &&
            edge->from_function == edge->to_function) {
            rc = add_label(builder, edge->to, err);
        }
    }
    return rc;
}
