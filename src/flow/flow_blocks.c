/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The basic blocks of a function that ran, for who looks at what it did. */
#include "base/addresses.h"
#include "flow/blocks.h"
#include "flow/flow_graph.h"

size_t br2_flow_edges_from(const struct br2_flow_graph *graph, uint64_t from, size_t *ret_count)
{
    size_t low = 0;
    size_t high = graph->edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->edges[middle].from < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret_count = 0;
    while (low + *ret_count < graph->edge_count && graph->edges[low + *ret_count].from == from) {
        (*ret_count)++;
    }
    return low;
}

uint64_t br2_flow_count_led(const struct br2_flow_graph *graph, uint64_t address)
{
    size_t low = 0;
    size_t high = graph->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->runs[middle].start < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint64_t count = 0;
    for (; low < graph->run_count && graph->runs[low].start == address; low++) {
        count += graph->runs[low].count;
    }
    return count;
}

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
            size_t first = br2_flow_edges_from(graph, code->insns[i].address, &count);
            for (size_t k = first; ok && k < first + count; k++) {
                ok = graph->edges[k].to_function != number ||
                     br2_addresses_add(leaders, graph->edges[k].to);
            }
        }
    }
    return ok;
}

int br2_flow_blocks(const struct br2_flow_graph *graph, uint32_t function, struct br2_blocks *ret,
                    struct br2pgo_error *err)
{
    const struct br2_flow_function *of = &graph->functions[function];
    struct br2_addresses leaders = {0};
    bool ok = add_leaders(of, &leaders) && add_seen(graph, function, &leaders);
    br2_addresses_sort(&leaders);
    int rc = ok ? br2_blocks_at(&of->code, &leaders, ret, err) : br2_fail_memory(err);
    br2_addresses_done(&leaders);
    return rc;
}
