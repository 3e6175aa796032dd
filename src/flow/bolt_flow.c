/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/bolt_flow.h"

#include <string.h>

#include "base/addresses.h"
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
    /* Of the function in hand: */
    size_t parent;               /* its first fragment; SIZE_MAX: none yet */
    struct br2_addresses blocks; /* offsets in the input, also of those that were removed */
};

/* Whether the code of a range that the table does not know is llvm-bolt's own: among what it moved,
 * or a jump to that, left at a function's old place. */
static bool is_new_code(const struct translation *t, const struct br2_code_range *range)
{
    struct br2_code_section section;
    size_t length = strlen(range->name);
    bool left = length > 6 && strcmp(range->name + length - 6, ".org.0") == 0;
    return t->has_input_text && br2_image_section_at(t->graph->image, range->start, &section) &&
           (left || strncmp(section.name, ".text", 5) == 0);
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

/* Collects the blocks of the input's function that a fragment is of. */
static int begin_function(struct translation *t, const struct br2_bolt_fragment *fragment,
                          struct br2pgo_error *err)
{
    if (t->parent == fragment->parent) {
        return 0;
    }
    t->parent = fragment->parent;
    t->blocks.count = 0;
    bool ok = true;
    for (size_t at = t->parent; ok && at != SIZE_MAX; at = t->table->fragments[at].next) {
        const struct br2_bolt_fragment *part = &t->table->fragments[at];
        for (size_t i = 0; ok && i < part->count; i++) {
            const struct br2_bolt_place *place = &t->table->places[part->first + i];
            ok = place->branch || br2_addresses_add(&t->blocks, place->input);
        }
    }
    br2_addresses_sort(&t->blocks);
    return ok ? 0 : br2_fail_memory(err);
}

/* The start of the input's block that holds an offset, of the function in hand. */
static uint64_t block_of(const struct translation *t, uint64_t offset)
{
    const uint64_t *blocks = t->blocks.items;
    size_t at = br2_addresses_from(&t->blocks, offset + 1);
    return blocks != NULL && at != 0 ? blocks[at - 1] : 0;
}

/* A branch's source in the input. */
struct source {
    uint64_t offset; /* of the branch, or of its block where there was no branch */
    uint64_t before; /* of the block that went to that of `offset`, where llvm-bolt made one branch
                        of two; UINT64_MAX: none */
};

/*
 * Finds the source of an edge; false where the input has none. Where a conditional branch led to a
 * block with nothing but a tail call, llvm-bolt makes it a conditional tail call, which the table
 * says to have been the tail call.
 */
static bool find_source(const struct translation *t, const struct br2_bolt_fragment *fragment,
                        const struct br2_block_edge *edge, struct source *ret)
{
    uint64_t output = edge->from - fragment->start;
    const struct br2_bolt_place *block = br2_bolt_block(t->table, fragment, output);
    const struct br2_bolt_place *branch = br2_bolt_branch(t->table, fragment, output);
    if (block == NULL) {
        return false;
    }
    *ret = (struct source){.offset = block->input, .before = UINT64_MAX};
    if (branch != NULL && block_of(t, branch->input) == block->input) {
        ret->offset = branch->input;
    } else if (branch != NULL && !edge->fall_through) {
        ret->offset = branch->input;
        ret->before = block->input;
    }
    return true;
}

/* Whether a block of the input was nothing but padding before the next one, which is aligned. At
 * one address with that it may also have been a jump to it; compilers that align blocks make none.
 */
static bool is_padding(const struct translation *t, const struct br2_bolt_place *block)
{
    const uint64_t *blocks = t->blocks.items;
    size_t at = br2_addresses_from(&t->blocks, (uint64_t)block->input + 1);
    if (blocks == NULL || at == t->blocks.count || blocks[at] != block[1].input) {
        return false;
    }
    uint32_t next = block[1].input;
    uint32_t size = next - block->input;
    bool may_jump = size == 2 || size == 5;
    return size < 16 && next % (may_jump ? 16 : 8) == 0;
}

/*
 * Finds the block of the input that begins at a target. Of several at one address, all but the last
 * are empty: padding, to which nothing goes, or jumps to the next one. Then, which of them is meant
 * can only be told at the start of a function that is entered, and of what falls through
 * (add_empty_blocks).
 */
static enum br2_block_verdict find_target(const struct translation *t,
                                          const struct br2_block_edge *edge, uint64_t *ret)
{
    const struct origin *source = origin_of(t, edge->from_function);
    const struct origin *target = origin_of(t, edge->to_function);
    *ret = edge->to;
    if (target == NULL || target->fragment == NULL) {
        return BR2_BLOCK_KEPT;
    }
    const struct br2_bolt_fragment *fragment = target->fragment;
    uint64_t output = edge->to - fragment->start;
    const struct br2_bolt_place *place = br2_bolt_block(t->table, fragment, output);
    if (place == NULL || place->output != output) {
        /* Behind a call, from outside: a return, but from where is not known. */
        return source == NULL ? BR2_BLOCK_RETURN : BR2_BLOCK_NO_INPUT;
    }
    *ret = place->input;
    bool entered =
        source == NULL || source->fragment == NULL || source->fragment->parent != fragment->parent;
    if (entered && output == 0 && fragment == &t->table->fragments[fragment->parent]) {
        *ret = 0;
        return BR2_BLOCK_KEPT;
    }
    bool known = true;
    const struct br2_bolt_place *first = &t->table->places[fragment->first];
    while (known && place != first && !place[-1].branch && place[-1].output == output) {
        place--;
        known = edge->fall_through || (!entered && is_padding(t, place));
    }
    return known ? BR2_BLOCK_KEPT : BR2_BLOCK_EMPTY;
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
    const struct br2_bolt_place *first = &t->table->places[fragment->first];
    const struct br2_bolt_place *end = br2_bolt_block(t->table, fragment, output);
    const struct br2_bolt_place *place = end;
    int rc = 0;
    uint32_t last = (uint32_t)edge->to;
    while (place != NULL && place != first && place[-1].output == output) {
        place--;
    }
    for (; rc == 0 && place != end; place++) {
        if (!place->branch && place->input != last) {
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

/* What becomes of an edge; `ret_to`: its target in the input. */
static enum br2_block_verdict judge(const struct translation *t, const struct br2_block_edge *edge,
                                    uint64_t *ret_to)
{
    const struct origin *source = origin_of(t, edge->from_function);
    if (source == NULL && origin_of(t, edge->to_function) == NULL) {
        bool ambiguous = is_ambiguous(t, edge->from_function) || is_ambiguous(t, edge->to_function);
        return ambiguous ? BR2_BLOCK_NO_NAME : BR2_BLOCK_NO_INPUT;
    }
    return is_within_block(t, source, edge) ? BR2_BLOCK_NO_INPUT : find_target(t, edge, ret_to);
}

/* Adds an edge out of code that was moved; `moved` has the target, and the functions, already. */
static int add_moved(struct translation *t, const struct br2_block_edge *edge,
                     struct br2_block_edge *moved, enum br2_block_verdict *verdict,
                     struct br2pgo_error *err)
{
    const struct br2_bolt_fragment *fragment = t->origins[edge->from_function].fragment;
    struct source source;
    int rc = 0;
    if (!find_source(t, fragment, edge, &source)) {
        *verdict = BR2_BLOCK_NO_INPUT;
        return 0;
    }
    moved->from = source.offset;
    if (source.before != UINT64_MAX) {
        struct br2_block_edge first = *moved;
        first.from = source.before;
        first.to = block_of(t, source.offset);
        first.to_function = first.from_function;
        moved->mispredicted = 0;
        rc = add_edge(t, &first, err);
    }
    if (rc == 0 && moved->fall_through) {
        rc = add_empty_blocks(t, fragment, edge->to, moved, err);
    }
    return rc != 0 ? rc : add_edge(t, moved, err);
}

static int translate_edge(struct translation *t, const struct br2_block_edge *edge,
                          struct br2pgo_error *err)
{
    const struct origin *source = origin_of(t, edge->from_function);
    bool is_moved = source != NULL && source->fragment != NULL;
    int rc = is_moved ? begin_function(t, source->fragment, err) : 0;
    if (rc != 0) {
        return rc;
    }
    struct br2_block_edge moved = *edge;
    enum br2_block_verdict verdict = judge(t, edge, &moved.to);
    moved.from_function = source != NULL ? edge->from_function : BR2_OUTSIDE;
    if (origin_of(t, edge->to_function) == NULL) {
        moved.to_function = BR2_OUTSIDE;
    }
    if (verdict == BR2_BLOCK_KEPT) {
        rc = is_moved ? add_moved(t, edge, &moved, &verdict, err) : add_edge(t, &moved, err);
    }
    if (verdict != BR2_BLOCK_KEPT) {
        t->flow->verdicts[BR2_BLOCK_KEPT] -= edge->count;
        t->flow->verdicts[verdict] += edge->count;
    }
    return rc;
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
        .parent = SIZE_MAX,
    };
    flow->bolted = true;
    flow->edges = NULL;
    flow->edge_count = flow->edge_capacity = 0;
    int rc = translate(&t, err);
    br2_free(t.origins);
    br2_free(t.edges);
    br2_addresses_done(&t.blocks);
    return rc;
}
