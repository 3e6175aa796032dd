/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "flow/block_ways.h"

/* The function at hand. */
struct finder {
    const struct br2_flow_graph *graph;
    const struct br2_flow_function *function;
    const struct br2_blocks *blocks;
    size_t first_edge; /* those that start in it */
    size_t end_edge;
    struct br2_block_ways ways;
    struct br2_dominators dominators;
    uint32_t *stack;
    bool *inside;  /* per block: in the loop at hand */
    bool *claimed; /* per edge from `first_edge` on: it is the turn of a loop */
};

static void finder_done(struct finder *f)
{
    br2_block_ways_done(&f->ways);
    br2_dominators_done(&f->dominators);
    br2_free(f->stack);
    br2_free(f->inside);
    br2_free(f->claimed);
}

static int finder_begin(struct finder *f, uint32_t function, struct br2pgo_error *err)
{
    int rc = br2_block_ways_find(f->graph, function, f->blocks, &f->ways, err);
    bool *ran = br2_calloc(f->blocks->count + 1, sizeof *ran);
    for (size_t i = 0; ran != NULL && i < f->blocks->count; i++) {
        ran[i] = f->function->counts[f->blocks->starts[i]] != 0;
    }
    rc = rc == 0 && ran == NULL ? br2_fail_memory(err) : rc;
    rc = rc != 0 ? rc : br2_dominators_find(&f->ways, ran, &f->dominators, err);
    br2_free(ran);
    if (rc != 0) {
        return rc;
    }
    f->stack = br2_calloc(f->blocks->count + 1, sizeof *f->stack);
    f->inside = br2_calloc(f->blocks->count + 1, sizeof *f->inside);
    f->claimed = br2_calloc(f->end_edge - f->first_edge + 1, sizeof *f->claimed);
    bool ok = f->stack != NULL && f->inside != NULL && f->claimed != NULL;
    return ok ? 0 : br2_fail_memory(err);
}

static void enter(struct finder *f, uint32_t block, uint32_t *depth, uint32_t *size)
{
    if (!f->inside[block]) {
        f->inside[block] = true;
        f->stack[(*depth)++] = block;
        (*size)++;
    }
}

/* The blocks that may come before one of the loop's and are in it: those that only ways through the
 * header reach. */
static void enter_before(struct finder *f, uint32_t header, uint32_t block, uint32_t *depth,
                         uint32_t *size)
{
    for (uint32_t at = f->ways.first_before[block]; at < f->ways.first_before[block + 1]; at++) {
        if (br2_dominates(&f->dominators, header, f->ways.before[at])) {
            enter(f, f->ways.before[at], depth, size);
        }
    }
}

/* Marks the blocks of the loop, and returns how many. */
static uint32_t mark(struct finder *f, uint32_t header)
{
    uint32_t depth = 0;
    uint32_t size = 1;
    memset(f->inside, 0, f->blocks->count * sizeof *f->inside);
    f->inside[header] = true;
    enter_before(f, header, header, &depth, &size);
    while (depth != 0) {
        enter_before(f, header, f->stack[--depth], &depth, &size);
    }
    return size;
}

/* Whether it is the header of a loop: one of the ways to it comes from where only ways through it
 * lead. */
static bool is_header(const struct finder *f, uint32_t block)
{
    for (uint32_t at = f->ways.first_before[block]; at < f->ways.first_before[block + 1]; at++) {
        if (br2_dominates(&f->dominators, block, f->ways.before[at])) {
            return true;
        }
    }
    return false;
}

/* How often it ran, more often first. */
static int compare_taken(const void *left, const void *right)
{
    const struct br2_loop *a = left;
    const struct br2_loop *b = right;
    int order = br2_compare_u64(b->taken, a->taken);
    return order != 0 ? order : br2_compare_u64(a->header, b->header);
}

/* Larger ones first: a loop comes before those in it. */
static int compare_sizes(const void *left, const void *right)
{
    const struct br2_loop *a = left;
    const struct br2_loop *b = right;
    int order = br2_compare_u64(b->blocks, a->blocks);
    return order != 0 ? order : br2_compare_u64(a->header, b->header);
}

static int compare_sizes_up(const void *left, const void *right)
{
    return compare_sizes(right, left);
}

/* The headers that ran, the busiest where there are too many. */
static bool add_headers(struct br2_loops *loops, const struct finder *f, uint32_t function)
{
    size_t begin = loops->count;
    for (uint32_t i = 0; i < f->blocks->count; i++) {
        size_t insn = f->blocks->starts[i];
        if (f->function->counts[insn] == 0 || !is_header(f, i)) {
            continue;
        }
        if (!br2_grow(&loops->loops, &loops->capacity, loops->count, sizeof *loops->loops)) {
            return false;
        }
        loops->loops[loops->count++] = (struct br2_loop){
            .header = f->function->code.insns[insn].address,
            .taken = f->function->counts[insn],
            .function = function,
            .header_block = i,
            .parent = BR2_NO_LOOP,
        };
    }
    size_t count = loops->count - begin;
    if (count != 0) {
        qsort(loops->loops + begin, count, sizeof *loops->loops, compare_taken);
    }
    loops->count = begin + (count < BR2_LOOPS_MAX ? count : BR2_LOOPS_MAX);
    return true;
}

/* The block that an edge within the function leads to, where both ends are in the loop at hand;
 * UINT32_MAX: it is no branch of the loop. */
static uint32_t block_within(const struct finder *f, const struct br2_flow_edge *edge)
{
    bool jumps = edge->kind == BR2_EDGE_COND || edge->kind == BR2_EDGE_JUMP ||
                 edge->kind == BR2_EDGE_INDIRECT_JUMP;
    size_t from = jumps ? br2_code_find(&f->function->code, edge->from) : SIZE_MAX;
    size_t to = from != SIZE_MAX ? br2_code_find(&f->function->code, edge->to) : SIZE_MAX;
    bool within = to != SIZE_MAX && f->inside[f->blocks->block_of[from]] &&
                  f->inside[f->blocks->block_of[to]];
    return within ? f->blocks->block_of[to] : UINT32_MAX;
}

/* Adds up the branches that turn the loop at hand back: to its header, or, where only going on
 * leads there, to what comes before it; but for those that turn loops in it. */
static void add_turns(struct finder *f, struct br2_loop *loop, bool to_header)
{
    uint64_t most = 0;
    for (size_t i = f->first_edge; i < f->end_edge; i++) {
        const struct br2_flow_edge *edge = &f->graph->edges[i];
        bool *claimed = &f->claimed[i - f->first_edge];
        bool leads_back = to_header ? edge->to == loop->header : edge->to <= edge->from;
        uint32_t block = leads_back && !*claimed ? block_within(f, edge) : UINT32_MAX;
        if (block == UINT32_MAX) {
            continue;
        }
        *claimed = true;
        loop->taken += edge->count;
        loop->mispredicted += edge->mispredicted;
        if (edge->count > most) {
            most = edge->count;
            loop->back = edge->from;
            loop->turn_block = block;
        }
    }
}

/* How often the header was gone on to from the block before it, which is in the loop at hand, where
 * branches lead to it from outside alone. */
static uint64_t count_gone_on(const struct finder *f, const struct br2_loop *loop)
{
    uint64_t ran = f->function->counts[f->blocks->starts[loop->header_block]];
    uint64_t led = br2_flow_count_led(f->graph, loop->header);
    bool from_within = loop->header_block != 0 && f->inside[loop->header_block - 1];
    return from_within && ran > led ? ran - led : 0;
}

/* What turned the loops back, inner loops first; what was never turned is left out. */
static void find_turns(struct br2_loops *loops, struct finder *f, size_t begin)
{
    size_t kept = begin;
    for (size_t i = begin; i < loops->count; i++) {
        loops->loops[i].blocks = mark(f, loops->loops[i].header_block);
    }
    if (loops->count != begin) {
        qsort(loops->loops + begin, loops->count - begin, sizeof *loops->loops, compare_sizes_up);
    }
    for (size_t i = begin; i < loops->count; i++) {
        struct br2_loop *loop = &loops->loops[i];
        mark(f, loop->header_block);
        loop->taken = 0;
        add_turns(f, loop, true);
        if (loop->taken == 0) {
            add_turns(f, loop, false);
            loop->taken = loop->taken != 0 ? count_gone_on(f, loop) : 0;
        }
        if (loop->taken != 0) {
            loops->loops[kept++] = *loop;
        }
    }
    loops->count = kept;
}

/* Puts each block into its innermost loop. */
static void nest(struct br2_loops *loops, struct finder *f, uint32_t *loop_of, size_t begin)
{
    if (loops->count != begin) {
        qsort(loops->loops + begin, loops->count - begin, sizeof *loops->loops, compare_sizes);
    }
    for (size_t i = begin; i < loops->count; i++) {
        struct br2_loop *loop = &loops->loops[i];
        loop->parent = loop_of[loop->header_block];
        mark(f, loop->header_block);
        for (size_t k = 0; k < f->blocks->count; k++) {
            loop_of[k] = f->inside[k] ? (uint32_t)i : loop_of[k];
        }
    }
}

static int find_in(struct br2_loops *loops, const struct br2_flow_graph *graph, uint32_t number,
                   size_t *edge, struct br2pgo_error *err)
{
    struct br2_function_loops *function = &loops->functions[number];
    int rc = br2_flow_blocks(graph, number, &function->blocks, err);
    if (rc != 0) {
        return rc;
    }
    struct finder f = {.graph = graph,
                       .function = &graph->functions[number],
                       .blocks = &function->blocks,
                       .first_edge = *edge};
    while (*edge < graph->edge_count && graph->edges[*edge].from_function == number) {
        ++*edge;
    }
    f.end_edge = *edge;
    function->loop_of = br2_calloc(function->blocks.count + 1, sizeof *function->loop_of);
    size_t begin = loops->count;
    rc = function->loop_of != NULL ? finder_begin(&f, number, err) : br2_fail_memory(err);
    if (rc == 0 && !add_headers(loops, &f, number)) {
        rc = br2_fail_memory(err);
    }
    for (size_t i = 0; rc == 0 && i < function->blocks.count; i++) {
        function->loop_of[i] = BR2_NO_LOOP;
    }
    if (rc == 0) {
        find_turns(loops, &f, begin);
        nest(loops, &f, function->loop_of, begin);
    }
    finder_done(&f);
    return rc;
}

int br2_loops_find(const struct br2_flow_graph *graph, struct br2_loops *ret,
                   struct br2pgo_error *err)
{
    *ret = (struct br2_loops){0};
    ret->functions = br2_calloc(graph->function_count + 1, sizeof *ret->functions);
    if (ret->functions == NULL) {
        return br2_fail_memory(err);
    }
    ret->function_count = graph->function_count;
    size_t edge = 0;
    while (edge < graph->edge_count && graph->edges[edge].from == 0) {
        edge++;
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = find_in(ret, graph, i, &edge, err);
    }
    return rc;
}

void br2_loops_done(struct br2_loops *loops)
{
    for (size_t i = 0; i < loops->function_count; i++) {
        br2_blocks_done(&loops->functions[i].blocks);
        br2_free(loops->functions[i].loop_of);
    }
    br2_free(loops->functions);
    br2_free(loops->loops);
    *loops = (struct br2_loops){0};
}

bool br2_loop_has(const struct br2_loops *loops, uint32_t loop, uint32_t block)
{
    uint32_t at = loops->functions[loops->loops[loop].function].loop_of[block];
    while (at != BR2_NO_LOOP && at != loop) {
        at = loops->loops[at].parent;
    }
    return at == loop;
}
