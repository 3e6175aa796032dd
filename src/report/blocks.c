/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The blocks and source lines of a function. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"

uint64_t br2_report_block_count(const struct br2_flow_function *function,
                                const struct br2_blocks *blocks, size_t block)
{
    size_t end = block + 1 < blocks->count ? blocks->starts[block + 1] : function->code.count;
    uint64_t most = 0;
    for (size_t i = blocks->starts[block]; i < end; i++) {
        most = function->counts[i] > most ? function->counts[i] : most;
    }
    return most;
}

int br2_report_count_blocks(const struct br2_report_maker *maker, uint32_t function,
                            uint64_t counts[2], struct br2pgo_error *err)
{
    struct br2_blocks blocks = {0};
    int rc = br2_flow_blocks(maker->graph, function, &blocks, err);
    for (size_t i = 0; rc == 0 && i < blocks.count; i++) {
        const struct br2_flow_function *of = &maker->graph->functions[function];
        counts[0] += br2_report_block_count(of, &blocks, i) != 0;
        counts[1]++;
    }
    br2_blocks_done(&blocks);
    return rc;
}

/* Whether an instruction of [start, end) ran. */
static bool any_ran(const struct br2_flow_function *function, uint64_t start, uint64_t end)
{
    const struct br2_code *code = &function->code;
    size_t low = 0;
    size_t high = code->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->insns[middle].address < start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool ran = false;
    for (; !ran && low < code->count && code->insns[low].address < end; low++) {
        ran = function->counts[low] != 0;
    }
    return ran;
}

/* A line of a file in one scope: the same in an inlined function is another line. */
struct line {
    uint32_t scope;
    uint32_t file;
    uint32_t number;
    bool ran;
};

static int compare_places(const struct line *a, const struct line *b)
{
    int order = br2_compare_u64(a->scope, b->scope);
    order = order != 0 ? order : br2_compare_u64(a->file, b->file);
    return order != 0 ? order : br2_compare_u64(a->number, b->number);
}

/* Of one line, what ran comes first. */
static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    int order = compare_places(a, b);
    return order != 0 ? order : (int)b->ran - (int)a->ran;
}

int br2_report_count_lines(const struct br2_report_maker *maker, uint32_t function,
                           uint64_t counts[2], struct br2pgo_error *err)
{
    const struct br2_flow_function *of = &maker->graph->functions[function];
    const struct br2_debug_function *debug = NULL;
    int rc = maker->input->debug != NULL
                 ? br2_debug_function_at(maker->input->debug, of->range->start, &debug, err)
                 : 0;
    if (rc != 0 || debug == NULL) {
        return rc;
    }
    struct line *lines = br2_calloc(debug->location_count + 1, sizeof *lines);
    if (lines == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < debug->location_count; i++) {
        const struct br2_location *location = &debug->locations[i];
        bool inside = location->start < of->range->end && location->end > of->range->start;
        if (location->line != 0 && inside) {
            lines[count++] = (struct line){location->scope, location->file, location->line,
                                           any_ran(of, location->start, location->end)};
        }
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_places(&lines[i], &lines[i - 1]) != 0) {
            counts[0] += lines[i].ran;
            counts[1]++;
        }
    }
    br2_free(lines);
    return 0;
}
