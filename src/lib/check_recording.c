/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The figures of a recording: what was lost, whether flow is kept, how it was sampled. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "flow/density.h"
#include "flow/flow_quality.h"
#include "lib/check.h"

#define PERCENT 100.0

static double share(uint64_t part, uint64_t whole)
{
    return whole != 0 ? (double)part / (double)whole : 0;
}

/* Every loss of the funnel but those that were asked for. */
static int list_losses(struct br2_check *check, const struct br2pgo_conversion *conversion,
                       struct br2pgo_error *err)
{
    check->losses = br2_calloc(conversion->funnel_count + 1, sizeof *check->losses);
    if (check->losses == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < conversion->funnel_count; i++) {
        const struct br2pgo_funnel_row *row = &conversion->funnel[i];
        if (strcmp(row->reason, "in") != 0 && strcmp(row->reason, "kept") != 0) {
            check->losses[check->loss_count++] =
                (struct br2_check_loss){row->stage, row->reason, row->share};
        }
    }
    return 0;
}

/* Of the records and runs that are of the image, those that its code contradicts. */
static void check_lost(struct br2_check *check, const struct br2_flow_graph *graph)
{
    const uint64_t *branches = graph->branches;
    const uint64_t *runs = graph->run_verdicts;
    uint64_t lost = branches[BR2_BRANCH_NO_CODE] + branches[BR2_BRANCH_NOT_A_BRANCH] +
                    branches[BR2_BRANCH_WRONG_TARGET] + branches[BR2_BRANCH_INTO_INSN];
    uint64_t records = lost + branches[BR2_BRANCH_KEPT];
    uint64_t lost_runs = 0;
    for (size_t i = BR2_RUN_OTHER_IMAGE + 1; i < BR2_RUN_VERDICTS; i++) {
        lost_runs += runs[i];
    }
    double of_records = share(lost, records);
    double of_runs = share(lost_runs, lost_runs + runs[BR2_RUN_KEPT]);
    br2_check_set(check, BR2PGO_CHECK_LOST, fmax(of_records, of_runs),
                  "%.2f%% of the branch records, %.2f%% of the straight runs", PERCENT * of_records,
                  PERCENT * of_runs);
}

static int check_flow(struct br2_check *check, const struct br2_flow_graph *graph,
                      struct br2pgo_error *err)
{
    struct br2_flow_balance balance;
    double density = 0;
    int rc = br2_flow_balance(graph, &balance, err);
    rc = rc != 0 ? rc : br2_flow_density(graph, BR2_HOT_CUTOFF, &density, err);
    if (rc != 0) {
        return rc;
    }
    if (balance.crossings != 0) {
        struct br2_check_figure *figure = br2_check_set(
            check, BR2PGO_CHECK_IMBALANCE, share(balance.imbalance, balance.crossings), "%s", "");
        if (balance.worst != BR2_NO_FUNCTION) {
            snprintf(figure->note, sizeof figure->note,
                     "most in %.120s, entered %llu times, left %llu",
                     graph->functions[balance.worst].range->name,
                     (unsigned long long)balance.worst_in, (unsigned long long)balance.worst_out);
        }
    }
    br2_check_set(check, BR2PGO_CHECK_BOLT_DENSITY, density, "%s", "");
    return 0;
}

static void check_lines(struct br2_check *check, const struct br2_build_stats *stats)
{
    if (stats->executions != 0) {
        /* What compilers give line 0 on purpose is no lack. */
        uint64_t unknown = stats->no_function + stats->assembly + stats->no_declaration;
        br2_check_set(check, BR2PGO_CHECK_UNATTRIBUTED, share(unknown, stats->executions), "%s",
                      "");
    }
}

/* Adds to a figure's note which function it comes from most. */
static void note_worst(struct br2_check_figure *figure, const struct br2_flow_graph *graph,
                       uint32_t worst, const char *what)
{
    size_t used = strlen(figure->note);
    if (worst != BR2_NO_FUNCTION) {
        snprintf(figure->note + used, sizeof figure->note - used, ", %.120s %s",
                 graph->functions[worst].range->name, what);
    }
}

static void set_stale(struct br2_check *check, const struct br2_flow_graph *graph,
                      const struct br2_flow_stale *stale)
{
    struct br2_check_figure *figure = br2_check_set(
        check, BR2PGO_CHECK_STALE, share(stale->changed + stale->missing, stale->executed),
        "%zu functions changed, %zu are gone", stale->changed_functions, stale->missing_functions);
    note_worst(figure, graph, stale->worst, "ran most");
    if (stale->operands_known) {
        figure = br2_check_set(check, BR2PGO_CHECK_STALE_OPERANDS,
                               share(stale->operands, stale->executed), "%zu functions",
                               stale->operands_functions);
        note_worst(figure, graph, stale->operands_worst, "ran most");
    }
    if (stale->lines_known) {
        figure =
            br2_check_set(check, BR2PGO_CHECK_STALE_LINES, share(stale->moved, stale->executed),
                          "%zu functions", stale->moved_functions);
        note_worst(figure, graph, stale->moved_worst, "has most of them");
    }
}

/* Lines are compared where the figures are in terms of lines. */
static int check_stale(struct br2_check *check, const struct br2pgo_conversion *conversion,
                       struct br2pgo_error *err)
{
    struct br2_image *other;
    struct br2_flow_stale stale;
    int rc = br2_image_open(check->options->against, &other, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_stale_builds builds = {.debug = conversion->debug, .other = other};
    if (builds.debug != NULL) {
        rc = br2_debug_open(other, NULL, conversion->options.sysroot, &builds.other_debug, err);
    }
    rc = rc != 0 ? rc : br2_flow_stale(conversion->graph, &builds, &stale, err);
    if (rc == 0) {
        set_stale(check, conversion->graph, &stale);
    }
    br2_debug_close(builds.other_debug);
    br2_image_close(other);
    return rc;
}

int br2_check_recording(struct br2_check *check, const struct br2pgo_conversion *conversion,
                        struct br2pgo_error *err)
{
    int rc = list_losses(check, conversion, err);
    rc = rc != 0 ? rc : check_flow(check, conversion->graph, err);
    rc = rc != 0 ? rc : br2_check_newest(check, conversion, err);
    if (rc == 0 && check->options->against != NULL) {
        rc = check_stale(check, conversion, err);
    }
    if (rc == 0) {
        check_lost(check, conversion->graph);
        check_lines(check, &conversion->build_stats);
    }
    return rc;
}
