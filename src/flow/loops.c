/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/limits.h"
#include "base/mem.h"

/* The ways between the blocks of the function at hand, backwards. */
struct ways {
    const struct br2_flow_graph *graph;
    const struct br2_flow_function *function;
    const struct br2_blocks *blocks;
    uint32_t *first;  /* per block, and one more: where its predecessors are */
    uint32_t *before; /* predecessors of all blocks */
    uint32_t *stack;
    bool *inside; /* of the loop at hand */
};

static void ways_done(struct ways *ways)
{
    br2_free(ways->first);
    br2_free(ways->before);
    br2_free(ways->stack);
    br2_free(ways->inside);
}

/* Calls `take` for each block that may follow a block. */
static void each_next(const struct ways *ways, uint32_t block,
                      void (*take)(void *user, uint32_t block, uint32_t next), void *user)
{
    const struct br2_code *code = &ways->function->code;
    const struct br2_insn *last = br2_block_last(ways->blocks, code, block);
    bool goes_on = last->kind != BR2_INSN_JUMP && last->kind != BR2_INSN_INDIRECT_JUMP &&
                   last->kind != BR2_INSN_RETURN && last->kind != BR2_INSN_STOP;
    if (goes_on && block + 1 < ways->blocks->count) {
        take(user, block, block + 1);
    }
    if (last->kind == BR2_INSN_COND || last->kind == BR2_INSN_JUMP) {
        size_t target = br2_code_find(code, last->target);
        if (target != SIZE_MAX) {
            take(user, block, ways->blocks->block_of[target]);
        }
    }
    if (last->kind == BR2_INSN_INDIRECT_JUMP) {
        size_t count;
        size_t first = br2_flow_edges_from(ways->graph, last->address, &count);
        for (size_t i = first; i < first + count; i++) {
            size_t target = br2_code_find(code, ways->graph->edges[i].to);
            if (target != SIZE_MAX) {
                take(user, block, ways->blocks->block_of[target]);
            }
        }
    }
}

static void count_way(void *user, uint32_t block, uint32_t next)
{
    struct ways *ways = user;
    (void)block;
    ways->first[next + 1]++;
}

static void add_way(void *user, uint32_t block, uint32_t next)
{
    struct ways *ways = user;
    ways->before[--ways->first[next + 1]] = block;
}

/* Predecessors, sorted into one array by counting first. */
static bool find_ways(struct ways *ways)
{
    size_t count = ways->blocks->count;
    ways->first = br2_calloc(count + 2, sizeof *ways->first);
    ways->stack = br2_calloc(count + 1, sizeof *ways->stack);
    ways->inside = br2_calloc(count + 1, sizeof *ways->inside);
    if (ways->first == NULL || ways->stack == NULL || ways->inside == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        each_next(ways, i, count_way, ways);
    }
    for (size_t i = 1; i <= count; i++) {
        ways->first[i] += ways->first[i - 1];
    }
    ways->first[count + 1] = ways->first[count];
    ways->before = br2_calloc((size_t)ways->first[count] + 1, sizeof *ways->before);
    if (ways->before == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        each_next(ways, i, add_way, ways);
    }
    /* Each entry has moved down to its block's first predecessor. */
    return true;
}

/* Where a block's predecessors end: find_ways leaves in first[block + 1] where they begin. */
static uint32_t end_of(const struct ways *ways, uint32_t block)
{
    return ways->first[block + 2];
}

static void enter(struct ways *ways, uint32_t block, uint32_t *depth, uint32_t *size)
{
    if (!ways->inside[block]) {
        ways->inside[block] = true;
        ways->stack[(*depth)++] = block;
        (*size)++;
    }
}

/* Marks the blocks of the loop; 0 where it is none: the way to the branch back need not pass the
 * header. */
static uint32_t mark(struct ways *ways, const struct br2_loop *loop)
{
    memset(ways->inside, 0, ways->blocks->count * sizeof *ways->inside);
    uint32_t depth = 0;
    uint32_t size = 1;
    ways->inside[loop->header_block] = true;
    const struct br2_code *code = &ways->function->code;
    for (uint32_t at = ways->first[loop->header_block + 1]; at < end_of(ways, loop->header_block);
         at++) {
        const struct br2_insn *last = br2_block_last(ways->blocks, code, ways->before[at]);
        if (last->address >= loop->header) {
            enter(ways, ways->before[at], &depth, &size);
        }
    }
    while (depth != 0) {
        uint32_t block = ways->stack[--depth];
        if (block == 0) {
            return 0; /* the function's entry */
        }
        for (uint32_t at = ways->first[block + 1]; at < end_of(ways, block); at++) {
            enter(ways, ways->before[at], &depth, &size);
        }
    }
    return size;
}

/* Headers of the function, from the edges that lead back in it. */
static int compare_headers(const void *left, const void *right)
{
    const struct br2_loop *a = left;
    const struct br2_loop *b = right;
    int order = br2_compare_u64(a->header, b->header);
    return order != 0 ? order : br2_compare_u64(b->taken, a->taken);
}

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

static bool leads_back(const struct br2_flow_edge *edge)
{
    bool jumps = edge->kind == BR2_EDGE_COND || edge->kind == BR2_EDGE_JUMP ||
                 edge->kind == BR2_EDGE_INDIRECT_JUMP;
    return jumps && edge->from != 0 && edge->to != 0 && edge->to <= edge->from &&
           edge->from_function == edge->to_function;
}

/* Adds up branches back to one header; returns how many headers. */
static size_t merge_headers(struct br2_loop *loops, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && loops[kept - 1].header == loops[i].header) {
            loops[kept - 1].taken += loops[i].taken;
            loops[kept - 1].mispredicted += loops[i].mispredicted;
        } else {
            loops[kept++] = loops[i];
        }
    }
    return kept;
}

/* The loops that may be, of the edges [first, end), which are the function's. */
static bool add_headers(struct br2_loops *loops, const struct ways *ways, uint32_t function,
                        size_t first, size_t end)
{
    size_t begin = loops->count;
    for (size_t i = first; i < end; i++) {
        const struct br2_flow_edge *edge = &ways->graph->edges[i];
        size_t target = br2_code_find(&ways->function->code, edge->to);
        if (!leads_back(edge) || target == SIZE_MAX) {
            continue;
        }
        if (!br2_grow(&loops->loops, &loops->capacity, loops->count, sizeof *loops->loops)) {
            return false;
        }
        loops->loops[loops->count++] = (struct br2_loop){
            .header = edge->to,
            .back = edge->from,
            .taken = edge->count,
            .mispredicted = edge->mispredicted,
            .function = function,
            .header_block = ways->blocks->block_of[target],
            .parent = BR2_NO_LOOP,
        };
    }
    size_t count = loops->count - begin;
    if (count != 0) {
        struct br2_loop *own = loops->loops + begin;
        qsort(own, count, sizeof *own, compare_headers);
        count = merge_headers(own, count);
        qsort(own, count, sizeof *own, compare_taken);
    }
    loops->count = begin + (count < BR2_LOOPS_MAX ? count : BR2_LOOPS_MAX);
    return true;
}

/* Leaves out what is no loop, and puts each block into its innermost one. */
static void nest(struct br2_loops *loops, struct ways *ways, uint32_t *loop_of, size_t begin)
{
    size_t kept = begin;
    for (size_t i = begin; i < loops->count; i++) {
        loops->loops[i].blocks = mark(ways, &loops->loops[i]);
        if (loops->loops[i].blocks != 0) {
            loops->loops[kept++] = loops->loops[i];
        }
    }
    loops->count = kept;
    if (kept != begin) {
        qsort(loops->loops + begin, kept - begin, sizeof *loops->loops, compare_sizes);
    }
    for (size_t i = begin; i < kept; i++) {
        struct br2_loop *loop = &loops->loops[i];
        loop->parent = loop_of[loop->header_block];
        mark(ways, loop);
        for (size_t k = 0; k < ways->blocks->count; k++) {
            loop_of[k] = ways->inside[k] ? (uint32_t)i : loop_of[k];
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
    struct ways ways = {graph, &graph->functions[number], &function->blocks, NULL, NULL, NULL,
                        NULL};
    size_t first = *edge;
    while (*edge < graph->edge_count && graph->edges[*edge].from_function == number) {
        ++*edge;
    }
    function->loop_of = br2_calloc(function->blocks.count + 1, sizeof *function->loop_of);
    size_t begin = loops->count;
    bool ok = function->loop_of != NULL && find_ways(&ways) &&
              add_headers(loops, &ways, number, first, *edge);
    for (size_t i = 0; ok && i < function->blocks.count; i++) {
        function->loop_of[i] = BR2_NO_LOOP;
    }
    if (ok) {
        nest(loops, &ways, function->loop_of, begin);
    }
    ways_done(&ways);
    return ok ? 0 : br2_fail_memory(err);
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
