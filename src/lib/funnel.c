/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The funnel: how much came in, and where each loss was lost. */
#include "base/mem.h"
#include "lib/conversion.h"

#define STAGE_SAMPLES    "samples"
#define STAGE_RECORDS    "branch records"
#define STAGE_RUNS       "straight runs"
#define STAGE_EXECUTIONS "instructions"
#define STAGE_BLOCKS     "block edges"

static void add_row(struct br2pgo_conversion *conversion, const char *stage, const char *reason,
                    uint64_t count, uint64_t whole)
{
    if (!br2_grow(&conversion->funnel, &conversion->funnel_capacity, conversion->funnel_count,
                  sizeof *conversion->funnel)) {
        return; /* a table without a row is better than no profile */
    }
    conversion->funnel[conversion->funnel_count++] = (struct br2pgo_funnel_row){
        .stage = stage,
        .reason = reason,
        .count = count,
        .share = whole != 0 ? (double)count / (double)whole : 0,
    };
}

static void add_loss(struct br2pgo_conversion *conversion, const char *stage, const char *reason,
                     uint64_t count, uint64_t whole)
{
    if (count != 0) {
        add_row(conversion, stage, reason, count, whole);
    }
}

/* Whether no recording has samples: all give what somebody else has counted. */
static bool only_counted(const struct br2pgo_conversion *conversion)
{
    bool counted = conversion->recording_count != 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        counted = counted && recording->input != NULL && br2_input_info(recording->input)->counted;
    }
    return counted;
}

static void add_samples(struct br2pgo_conversion *conversion)
{
    uint64_t in = 0;
    uint64_t unknown = 0;
    uint64_t of_events = 0;
    uint64_t malformed = 0;
    uint64_t kept = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        if (recording->input != NULL) {
            const struct br2_recording_info *info = br2_input_info(recording->input);
            in += info->samples;
            unknown += info->unknown_event_samples;
            of_events += recording->event_samples;
            malformed += recording->malformed_samples;
            kept += recording->stats.samples;
        }
    }
    if (in == 0 && only_counted(conversion)) {
        return;
    }
    add_row(conversion, STAGE_SAMPLES, "in", in, in);
    add_loss(conversion, STAGE_SAMPLES, "of no known event", unknown, in);
    add_loss(conversion, STAGE_SAMPLES, "of other events", in - unknown - of_events, in);
    add_loss(conversion, STAGE_SAMPLES, "contradicting their size", malformed, in);
    add_loss(conversion, STAGE_SAMPLES, "without branch records", of_events - malformed - kept, in);
    add_row(conversion, STAGE_SAMPLES, "kept", kept, in);
}

static void add_records(struct br2pgo_conversion *conversion)
{
    uint64_t in = 0;
    uint64_t wrong_path = 0;
    uint64_t empty = 0;
    uint64_t stale = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_count_stats *stats = &conversion->recordings[i].stats;
        in += stats->records;
        wrong_path += stats->wrong_path;
        empty += stats->empty;
        stale += stats->stale;
    }
    add_row(conversion, STAGE_RECORDS, "in", in, in);
    add_loss(conversion, STAGE_RECORDS, "wrong path", wrong_path, in);
    add_loss(conversion, STAGE_RECORDS, "empty", empty, in);
    add_loss(conversion, STAGE_RECORDS, "older than an empty one", stale, in);
    if (conversion->graph == NULL) {
        add_row(conversion, STAGE_RECORDS, "kept", in - wrong_path - empty - stale, in);
        return;
    }
    const uint64_t *branches = conversion->graph->branches;
    for (size_t i = BR2_BRANCH_OTHER_IMAGE; i < BR2_BRANCH_VERDICTS; i++) {
        add_loss(conversion, STAGE_RECORDS, br2_branch_verdict_names[i], branches[i], in);
    }
    add_row(conversion, STAGE_RECORDS, "kept",
            branches[BR2_BRANCH_KEPT] + branches[BR2_BRANCH_ENTERS], in);
}

static void add_runs(struct br2pgo_conversion *conversion)
{
    const uint64_t *runs = conversion->graph->run_verdicts;
    uint64_t in = 0;
    for (size_t i = 0; i < BR2_RUN_VERDICTS; i++) {
        in += runs[i];
    }
    add_row(conversion, STAGE_RUNS, "in", in, in);
    for (size_t i = BR2_RUN_KEPT + 1; i < BR2_RUN_VERDICTS; i++) {
        add_loss(conversion, STAGE_RUNS, br2_run_verdict_names[i], runs[i], in);
    }
    add_row(conversion, STAGE_RUNS, "kept", runs[BR2_RUN_KEPT], in);
}

static void add_executions(struct br2pgo_conversion *conversion)
{
    const struct br2_build_stats *stats = &conversion->build_stats;
    uint64_t in = stats->executions;
    add_row(conversion, STAGE_EXECUTIONS, "in", in, in);
    add_loss(conversion, STAGE_EXECUTIONS, "function without debug information", stats->no_function,
             in);
    add_loss(conversion, STAGE_EXECUTIONS, "function without declaration line",
             stats->no_declaration, in);
    add_loss(conversion, STAGE_EXECUTIONS, "no source line", stats->no_line, in);
    add_row(conversion, STAGE_EXECUTIONS, "kept", stats->kept, in);
}

/* Branch records and fall-throughs, for formats in terms of basic blocks. */
static void add_blocks(struct br2pgo_conversion *conversion)
{
    const uint64_t *verdicts = conversion->block_flow.verdicts;
    uint64_t in = 0;
    for (size_t i = 0; i < BR2_BLOCK_VERDICTS; i++) {
        in += verdicts[i];
    }
    add_row(conversion, STAGE_BLOCKS, "in", in, in);
    for (size_t i = BR2_BLOCK_KEPT + 1; i < BR2_BLOCK_VERDICTS; i++) {
        add_loss(conversion, STAGE_BLOCKS, br2_block_verdict_names[i], verdicts[i], in);
    }
    add_row(conversion, STAGE_BLOCKS, "kept", verdicts[BR2_BLOCK_KEPT], in);
}

void br2_make_funnel(struct br2pgo_conversion *conversion)
{
    conversion->funnel_count = 0;
    add_samples(conversion);
    add_records(conversion);
    if (conversion->graph != NULL) {
        add_runs(conversion);
    }
    if (conversion->debug != NULL) {
        add_executions(conversion);
    }
    if (conversion->block_flow.edge_count != 0) {
        add_blocks(conversion);
    }
}

size_t br2pgo_funnel(const struct br2pgo_conversion *conversion,
                     const struct br2pgo_funnel_row **ret)
{
    *ret = conversion->funnel;
    return conversion->funnel_count;
}
