/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing pre-aggregated addresses, and the format's table of operations. */
#include "converters/bolt/preagg.h"

#include <inttypes.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"

/* The first BOLT that reads traces. */
#define BOLT_WITH_TRACES 21

static void write_run(struct br2_buf *out, char kind, const struct br2_block_run *run,
                      uint64_t count)
{
    if (count != 0) {
        br2_buf_printf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", kind, run->start, run->end,
                       count);
    }
}

static void write_traces(const struct br2_block_flow *flow, struct br2_buf *out)
{
    for (size_t i = 0; i < flow->trace_count; i++) {
        const struct br2_block_trace *trace = &flow->traces[i];
        br2_buf_printf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
                       trace->returns ? 'R' : 'T', trace->from, trace->to, trace->end,
                       trace->count);
    }
}

/* How much of the edge is in traces; `*at` is the first trace that is not before it. */
static uint64_t count_in_traces(const struct br2_block_flow *flow,
                                const struct br2_block_edge *edge, size_t *at)
{
    uint64_t count = 0;
    for (; *at < flow->trace_count; (*at)++) {
        const struct br2_block_trace *trace = &flow->traces[*at];
        if (trace->from > edge->from || (trace->from == edge->from && trace->to > edge->to)) {
            break;
        }
        bool same = trace->from == edge->from && trace->to == edge->to && !trace->returns;
        count += same ? trace->count : 0;
    }
    return count;
}

static void write_edges(const struct br2_block_flow *flow, bool traces, struct br2_buf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < flow->edge_count; i++) {
        const struct br2_block_edge *edge = &flow->edges[i];
        if (edge->fall_through) { /* BOLT finds those in the runs */
            continue;
        }
        uint64_t count = edge->count - (traces ? count_in_traces(flow, edge, &at) : 0);
        if (!traces || count != 0 || edge->mispredicted != 0) {
            br2_buf_printf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", edge->from,
                           edge->to, count, edge->mispredicted);
        }
    }
}

static size_t find_run(const struct br2_block_flow *flow, const struct br2_block_trace *trace)
{
    size_t low = 0;
    size_t high = flow->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_block_run *run = &flow->runs[middle];
        if (run->start < trace->to || (run->start == trace->to && run->end < trace->end)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* How much of each run is in traces: `ret[run][resumed]`. */
static void count_runs_in_traces(const struct br2_block_flow *flow, uint64_t (*ret)[2])
{
    for (size_t i = 0; i < flow->trace_count; i++) {
        size_t run = find_run(flow, &flow->traces[i]);
        if (run < flow->run_count) {
            ret[run][flow->traces[i].resumed] += flow->traces[i].count;
        }
    }
}

static int write_flow(const struct br2_block_flow *flow, const struct br2_write_options *options,
                      struct br2_buf *out, struct br2pgo_error *err)
{
    bool traces = options->bolt_version >= BOLT_WITH_TRACES;
    uint64_t(*in_traces)[2] = br2_calloc(flow->run_count, sizeof *in_traces);
    if (in_traces == NULL) {
        return br2_fail_memory(err);
    }
    if (traces) {
        write_traces(flow, out);
        count_runs_in_traces(flow, in_traces);
    }
    write_edges(flow, traces, out);
    for (size_t i = 0; i < flow->run_count; i++) {
        const struct br2_block_run *run = &flow->runs[i];
        write_run(out, 'F', run, run->count - run->resumed - in_traces[i][0]);
        write_run(out, 'f', run, run->resumed - in_traces[i][1]);
    }
    br2_free(in_traces);
    return out->failed ? br2_fail_memory(err) : 0;
}

const struct br2_format br2_format_bolt_preagg = {
    .name = "bolt-preagg",
    .suffixes = {".preagg"},
    .description = "pre-aggregated addresses for llvm-bolt -p --pa",
    .product = BR2_PRODUCT_FLOW,
    .capabilities = BR2_CAN_BOLT_VERSION,
    .runs = true,
    .probe = br2_preagg_probe,
    .write_flow = write_flow,
    .check_flow = br2_preagg_check,
};
