/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/bolt_flow.h"

#include <string.h>

#include "base/mem.h"

/* Where llvm-bolt keeps the code that it has read, and what it could not move runs there. */
#define INPUT_TEXT ".bolt.org.text"

/* What a function of the image was in llvm-bolt's input. */
struct origin {
    const struct br2_bolt_fragment *fragment; /* NULL: it is where it was */
    bool known;
    bool ambiguous; /* not known, as another local function has its name */
};

struct translation {
    const struct br2_flow_graph *graph;
    const struct br2_bolt_table *table;
    const struct br2_symbol_names *symbols;
    struct br2_block_flow *flow;
    struct origin *origins; /* owned; per function */
    bool has_input_text;
    struct br2_block_edge *edges; /* owned; those of the flow, not yet translated */
    size_t edge_count;
};

/* Whether the code of a range that the table does not know is there because llvm-bolt made it. */
static bool is_new_code(const struct translation *t, const struct br2_code_range *range)
{
    struct br2_code_section section;
    return t->has_input_text && br2_image_section_at(t->graph->image, range->start, &section) &&
           strncmp(section.name, ".text", 5) == 0;
}

/*
 * Functions that were moved are in another order, so a local one is no longer the how manyth of its
 * name it was: it is known by its file, where it is the only one of its name there.
 */
static int name_local(struct translation *t, const struct br2_symbol_name *symbol,
                      struct br2_block_function *function, struct br2pgo_error *err)
{
    const char *file = symbol->file != NULL ? symbol->file : "";
    function->local = 1;
    function->file = br2_strings_add(&t->flow->names, file, strlen(file));
    return function->file != BR2_NO_STRING ? 0 : br2_fail_memory(err);
}

static int find_origin(struct translation *t, size_t number, struct br2pgo_error *err)
{
    const struct br2_code_range *range = t->graph->functions[number].range;
    struct br2_block_function *function = &t->flow->functions[number];
    struct origin *origin = &t->origins[number];
    origin->fragment = br2_bolt_fragment_at(t->table, range->start);
    if (origin->fragment == NULL && (range->plt || is_new_code(t, range))) {
        origin->known = range->plt;
        return 0;
    }
    uint64_t start = range->start;
    if (origin->fragment != NULL) {
        start = t->table->fragments[origin->fragment->parent].start;
        function->start = 0;
    }
    const struct br2_symbol_name *symbol = br2_symbol_names_at(t->symbols, start);
    if (symbol == NULL) {
        return 0;
    }
    origin->ambiguous = !symbol->alone;
    origin->known = symbol->alone;
    function->name = br2_strings_add(&t->flow->names, symbol->name, strlen(symbol->name));
    if (function->name == BR2_NO_STRING) {
        return br2_fail_memory(err);
    }
    function->local = 0;
    return symbol->local != 0 ? name_local(t, symbol, function, err) : 0;
}

static const struct origin *origin_of(const struct translation *t, uint32_t function)
{
    return function != BR2_OUTSIDE && t->origins[function].known ? &t->origins[function] : NULL;
}

static bool is_ambiguous(const struct translation *t, uint32_t function)
{
    return function != BR2_OUTSIDE && t->origins[function].ambiguous;
}

/* The source in the input: the branch, else the start of its block; false where there is none. */
static bool translate_source(const struct translation *t, const struct origin *origin,
                             uint64_t *address)
{
    if (origin == NULL || origin->fragment == NULL) {
        return true;
    }
    uint64_t output = *address - origin->fragment->start;
    const struct br2_bolt_place *place = br2_bolt_branch(t->table, origin->fragment, output);
    place = place != NULL ? place : br2_bolt_block(t->table, origin->fragment, output);
    *address = place != NULL ? place->input : 0;
    return place != NULL;
}

/* The block of the input that begins at a target; false where none does. */
static bool translate_target(const struct translation *t, const struct origin *origin,
                             uint64_t *address)
{
    if (origin == NULL || origin->fragment == NULL) {
        return true;
    }
    uint64_t output = *address - origin->fragment->start;
    const struct br2_bolt_place *place = br2_bolt_block(t->table, origin->fragment, output);
    *address = place != NULL ? place->input : 0;
    return place != NULL && place->output == output;
}

static int add_edge(struct translation *t, const struct br2_block_edge *edge,
                    struct br2pgo_error *err)
{
    struct br2_block_flow *flow = t->flow;
    if (!br2_grow(&flow->edges, &flow->edge_capacity, flow->edge_count, sizeof *flow->edges)) {
        return br2_fail_memory(err);
    }
    flow->edges[flow->edge_count++] = *edge;
    return 0;
}

/* The blocks at one address that control falls through one after the other; all but the last are
 * empty. `edge` goes to the last one. */
static int add_empty_blocks(struct translation *t, const struct br2_bolt_fragment *fragment,
                            uint64_t to, struct br2_block_edge *edge, struct br2pgo_error *err)
{
    uint64_t output = to - fragment->start;
    int rc = 0;
    uint32_t last = (uint32_t)edge->to;
    for (size_t i = 0; rc == 0 && i < fragment->count; i++) {
        const struct br2_bolt_place *place = &t->table->places[fragment->first + i];
        if (place->output == output && !place->branch && place->input != last) {
            edge->to = place->input;
            rc = add_edge(t, edge, err);
            edge->from = place->input;
            edge->to = last;
        }
    }
    return rc;
}

/* Whether a fall-through is only from one part of a block to another. */
static bool is_within_block(const struct translation *t, const struct origin *origin,
                            const struct br2_block_edge *edge)
{
    if (!edge->fall_through || origin == NULL || origin->fragment == NULL) {
        return false;
    }
    uint64_t start = origin->fragment->start;
    const struct br2_bolt_place *from =
        br2_bolt_block(t->table, origin->fragment, edge->from - start);
    const struct br2_bolt_place *to = br2_bolt_block(t->table, origin->fragment, edge->to - start);
    return from != NULL && to != NULL && from->input == to->input;
}

static int translate_edge(struct translation *t, const struct br2_block_edge *edge,
                          struct br2pgo_error *err)
{
    uint64_t *verdicts = t->flow->verdicts;
    const struct origin *source = origin_of(t, edge->from_function);
    const struct origin *target = origin_of(t, edge->to_function);
    struct br2_block_edge moved = *edge;
    enum br2_block_verdict verdict = BR2_BLOCK_KEPT;
    moved.from_function = source != NULL ? edge->from_function : BR2_OUTSIDE;
    moved.to_function = target != NULL ? edge->to_function : BR2_OUTSIDE;
    if (source == NULL && target == NULL) {
        bool ambiguous = is_ambiguous(t, edge->from_function) || is_ambiguous(t, edge->to_function);
        verdict = ambiguous ? BR2_BLOCK_NO_NAME : BR2_BLOCK_NO_INPUT;
    } else if (is_within_block(t, source, edge) || !translate_source(t, source, &moved.from)) {
        verdict = BR2_BLOCK_NO_INPUT;
    } else if (!translate_target(t, target, &moved.to)) {
        /* Behind a call, from outside: a return, but from where is not known. */
        verdict = source == NULL ? BR2_BLOCK_RETURN : BR2_BLOCK_NO_INPUT;
    }
    if (verdict != BR2_BLOCK_KEPT) {
        verdicts[BR2_BLOCK_KEPT] -= edge->count;
        verdicts[verdict] += edge->count;
        return 0;
    }
    int rc = 0;
    if (moved.fall_through && source->fragment != NULL) {
        rc = add_empty_blocks(t, source->fragment, edge->to, &moved, err);
    }
    return rc != 0 ? rc : add_edge(t, &moved, err);
}

static int translate(struct translation *t, struct br2pgo_error *err)
{
    struct br2_block_flow *flow = t->flow;
    t->origins = br2_calloc(flow->function_count, sizeof *t->origins);
    int rc = t->origins != NULL ? 0 : br2_fail_memory(err);
    for (size_t i = 0; rc == 0 && i < flow->function_count; i++) {
        rc = find_origin(t, i, err);
    }
    for (size_t i = 0; rc == 0 && i < t->edge_count; i++) {
        rc = translate_edge(t, &t->edges[i], err);
    }
    return rc;
}

int br2_bolt_flow_translate(const struct br2_flow_graph *graph, const struct br2_bolt_table *table,
                            const struct br2_symbol_names *symbols, struct br2_block_flow *flow,
                            struct br2pgo_error *err)
{
    struct translation t = {
        .graph = graph,
        .table = table,
        .symbols = symbols,
        .flow = flow,
        .has_input_text = br2_image_has_section(graph->image, INPUT_TEXT),
        .edges = flow->edges,
        .edge_count = flow->edge_count,
    };
    flow->bolted = true;
    flow->edges = NULL;
    flow->edge_count = flow->edge_capacity = 0;
    int rc = translate(&t, err);
    br2_free(t.origins);
    br2_free(t.edges);
    return rc;
}
