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
        counted = counted && recording->counted;
    }
    return counted;
}

/* What the recordings say of their samples, weighted. */
struct sample_counts {
    uint64_t in;
    uint64_t unknown;
    uint64_t of_events;
    uint64_t malformed;
    uint64_t left[BR2_LEFT_REASONS];
    uint64_t all_left;
    uint64_t kept;
};

static void sum_samples(const struct br2_recording *recording, struct sample_counts *sum)
{
    uint64_t factor = recording->factor;
    sum->in += factor * recording->samples;
    sum->unknown += factor * recording->unknown_event_samples;
    sum->of_events += factor * recording->event_samples;
    sum->malformed += factor * recording->malformed_samples;
    sum->kept += factor * recording->stats.samples;
    for (size_t i = 0; i < BR2_LEFT_REASONS; i++) {
        sum->left[i] += factor * recording->chosen.left[i];
        sum->all_left += factor * recording->chosen.left[i];
    }
}

static void add_samples(struct br2pgo_conversion *conversion)
{
    struct sample_counts sum = {0};
    for (size_t i = 0; i < conversion->recording_count; i++) {
        sum_samples(&conversion->recordings[i], &sum);
    }
    uint64_t in = sum.in;
    if (in == 0 && only_counted(conversion)) {
        return;
    }
    add_row(conversion, STAGE_SAMPLES, "in", in, in);
    add_loss(conversion, STAGE_SAMPLES, "of no known event", sum.unknown, in);
    add_loss(conversion, STAGE_SAMPLES, "of other events", in - sum.unknown - sum.of_events, in);
    add_loss(conversion, STAGE_SAMPLES, "damaged", sum.malformed, in);
    add_loss(conversion, STAGE_SAMPLES, "without branch records",
             sum.of_events - sum.malformed - sum.all_left - sum.kept, in);
    for (size_t i = BR2_LEFT_NOT + 1; i < BR2_LEFT_REASONS; i++) {
        add_loss(conversion, STAGE_SAMPLES, br2_left_out_names[i], sum.left[i], in);
    }
    add_row(conversion, STAGE_SAMPLES, "kept", sum.kept, in);
}

static void add_records(struct br2pgo_conversion *conversion)
{
    uint64_t in = 0;
    uint64_t wrong_path = 0;
    uint64_t not_taken = 0;
    uint64_t empty = 0;
    uint64_t stale = 0;
    uint64_t kernel = 0;
    uint64_t rare = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        const struct br2_count_stats *stats = &recording->stats;
        in += recording->factor * stats->records;
        wrong_path += recording->factor * stats->wrong_path;
        not_taken += recording->factor * stats->not_taken;
        empty += recording->factor * stats->empty;
        stale += recording->factor * stats->stale;
        kernel += recording->factor * recording->kernel_records;
        rare += recording->factor * recording->rare_records;
    }
    add_row(conversion, STAGE_RECORDS, "in", in, in);
    add_loss(conversion, STAGE_RECORDS, "wrong path", wrong_path, in);
    add_loss(conversion, STAGE_RECORDS, "of branches that were not taken", not_taken, in);
    add_loss(conversion, STAGE_RECORDS, "empty", empty, in);
    add_loss(conversion, STAGE_RECORDS, "older than an empty one", stale, in);
    add_loss(conversion, STAGE_RECORDS, "with a side in the kernel", kernel, in);
    add_loss(conversion, STAGE_RECORDS, "of branches seen too rarely", rare, in);
    if (conversion->graph == NULL) {
        add_row(conversion, STAGE_RECORDS, "kept",
                in - wrong_path - not_taken - empty - stale - kernel - rare, in);
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
    add_loss(conversion, STAGE_EXECUTIONS, "function in assembly language", stats->assembly, in);
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
