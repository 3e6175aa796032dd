/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where code jumps into the midst of another function: blocks begin there, also when the jump was
 * not seen. What lies before it in the code may end with no branch at all. Functions that never ran
 * are looked at only where they are parts of one that did: to read all code takes too long.
 */
#include <string.h>

#include "base/strings.h"
#include "flow/block_private.h"
#include "image/cold_parts.h"

/* Adds the targets of the code's direct jumps out of it. */
static int add_targets(const struct br2_code *code, struct br2_addresses *targets,
                       struct br2pgo_error *err)
{
    for (size_t i = 0; i < code->count; i++) {
        const struct br2_insn *insn = &code->insns[i];
        bool jumps = insn->kind == BR2_INSN_COND || insn->kind == BR2_INSN_JUMP;
        bool leaves = insn->target < code->start || insn->target >= code->end;
        if (jumps && leaves && !br2_addresses_add(targets, insn->target)) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

static int add_unseen(const struct br2_image *image, struct br2_decoder *decoder,
                      const struct br2_code_range *range, struct br2_addresses *targets,
                      struct br2pgo_error *err)
{
    struct br2_code code = {0};
    size_t size = 0;
    const uint8_t *bytes = br2_image_code(image, range->start, &size);
    if (bytes == NULL || size < range->end - range->start) {
        return 0; /* not in one segment: nothing that can run */
    }
    int rc = br2_code_decode(decoder, image, range->start, range->end, &code, err);
    rc = rc != 0 ? rc : add_targets(&code, targets, err);
    br2_code_done(&code);
    return rc;
}

/* The names of the graph's functions. */
static int add_names(const struct br2_flow_graph *graph, struct br2_strings *names,
                     struct br2pgo_error *err)
{
    for (size_t i = 0; i < graph->function_count; i++) {
        const char *name = graph->functions[i].range->name;
        if (br2_strings_add(names, name, strlen(name)) == BR2_NO_STRING) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

static int walk_ranges(const struct br2_flow_graph *graph, struct br2_decoder *decoder,
                       const struct br2_strings *names, struct br2_addresses *targets,
                       struct br2pgo_error *err)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(graph->image, &ranges);
    size_t seen = 0; /* the graph's functions are some of the ranges, in the same order */
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct br2_code_range *range = &ranges[i];
        size_t owner = br2_cold_part_owner(range);
        if (seen < graph->function_count && graph->functions[seen].range == range) {
            rc = add_targets(&graph->functions[seen].code, targets, err);
            seen++;
        } else if (owner != 0 && br2_strings_find(names, range->name, owner) != BR2_NO_STRING) {
            rc = add_unseen(graph->image, decoder, range, targets, err);
        }
    }
    return rc;
}

int br2_block_jumps_out(const struct br2_flow_graph *graph, struct br2_addresses *targets,
                        struct br2pgo_error *err)
{
    struct br2_strings names = {0};
    struct br2_decoder *decoder = NULL;
    int rc = add_names(graph, &names, err);
    rc = rc != 0 ? rc : br2_decoder_new(br2_image_machine(graph->image), &decoder, err);
    rc = rc != 0 ? rc : walk_ranges(graph, decoder, &names, targets, err);
    br2_decoder_free(decoder);
    br2_strings_done(&names);
    return rc;
}
