/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The blocks and source lines of a function. */
#include <stdlib.h>

#include "base/addresses.h"
#include "base/compare.h"
#include "report/report_private.h"

static bool ends_block(const struct br2_insn *insn)
{
    switch (insn->kind) {
    case BR2_INSN_COND:
    case BR2_INSN_JUMP:
    case BR2_INSN_INDIRECT_JUMP:
    case BR2_INSN_RETURN:
    case BR2_INSN_STOP:
        return true;
    default:
        return false;
    }
}

static bool add_leaders(const struct br2_flow_function *function, struct br2_addresses *leaders)
{
    const struct br2_code *code = &function->code;
    bool ok = true;
    for (size_t i = 0; ok && i < code->count; i++) {
        const struct br2_insn *insn = &code->insns[i];
        bool jumps = insn->kind == BR2_INSN_COND || insn->kind == BR2_INSN_JUMP;
        if (jumps && insn->target >= code->start && insn->target < code->end) {
            ok = br2_addresses_add(leaders, insn->target);
        }
        if (ok && ends_block(insn)) {
            ok = br2_addresses_add(leaders, insn->address + insn->size);
        }
    }
    return ok;
}

/* Targets of indirect jumps, which only the records tell. A return is none: it goes on in the
 * caller's block. */
static bool add_seen(const struct br2_flow_graph *graph, uint32_t number,
                     struct br2_addresses *leaders)
{
    const struct br2_code *code = &graph->functions[number].code;
    bool ok = true;
    for (size_t i = 0; ok && i < code->count; i++) {
        if (code->insns[i].kind == BR2_INSN_INDIRECT_JUMP) {
            size_t count;
            size_t first = br2_report_edges_from(graph, code->insns[i].address, &count);
            for (size_t k = first; ok && k < first + count; k++) {
                ok = graph->edges[k].to_function != number ||
                     br2_addresses_add(leaders, graph->edges[k].to);
            }
        }
    }
    return ok;
}

int br2_report_blocks(const struct br2_report_maker *maker, uint32_t function,
                      struct br2_blocks *ret, struct br2pgo_error *err)
{
    const struct br2_flow_function *of = &maker->graph->functions[function];
    struct br2_addresses leaders = {0};
    bool ok = add_leaders(of, &leaders) && add_seen(maker->graph, function, &leaders);
    br2_addresses_sort(&leaders);
    int rc = ok ? br2_blocks_at(&of->code, &leaders, ret, err) : br2_fail_memory(err);
    br2_addresses_done(&leaders);
    return rc;
}

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
    int rc = br2_report_blocks(maker, function, &blocks, err);
    for (size_t i = 0; rc == 0 && i < blocks.count; i++) {
        const struct br2_flow_function *of = &maker->graph->functions[function];
        counts[0] += br2_report_block_count(of, &blocks, i) != 0;
        counts[1]++;
    }
    br2_blocks_done(&blocks);
    return rc;
}

static bool any_ran(const struct br2_flow_function *function, uint64_t start, uint64_t end)
{
    bool ran = false;
    for (size_t i = 0; !ran && i < function->code.count; i++) {
        uint64_t address = function->code.insns[i].address;
        ran = address >= start && address < end && function->counts[i] != 0;
    }
    return ran;
}

/* A line of one scope: the same number in an inlined function is another line. */
struct line {
    uint64_t key;
    bool ran;
};

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    int order = br2_compare_u64(a->key, b->key);
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
            uint64_t key = (uint64_t)location->scope << 32 | location->line;
            lines[count++] = (struct line){key, any_ran(of, location->start, location->end)};
        }
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || lines[i].key != lines[i - 1].key) {
            counts[0] += lines[i].ran;
            counts[1]++;
        }
    }
    br2_free(lines);
    return 0;
}
