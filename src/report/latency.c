/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long straight runs take, and loops to go round once. */
#include <stdlib.h>

#include "report/report_private.h"
#include "report/statistics.h"

enum {
    RANK,
    SHARE,
    COUNT,
    MEAN,
    LEAST,
    MEDIAN,
    NINTH,
    MOST,
    MODES,
    START,
    END,
    FILE_NAME,
    LINE,
    FUNCTION,
    COLUMNS
};

#define LATENCY_COLUMNS(start, end)                                                                \
    {                                                                                              \
        [RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},                                           \
        [SHARE] = {"share", "of cycles", BR2_VALUE_SHARE, false},                                  \
        [COUNT] = {"count", "timed", BR2_VALUE_COUNT, false},                                      \
        [MEAN] = {"mean", "cycles", BR2_VALUE_NUMBER, false},                                      \
        [LEAST] = {"least", "cycles", BR2_VALUE_COUNT, false},                                     \
        [MEDIAN] = {"median", "cycles", BR2_VALUE_COUNT, false},                                   \
        [NINTH] = {"ninth_decile", "cycles", BR2_VALUE_COUNT, false},                              \
        [MOST] = {"most", "cycles", BR2_VALUE_COUNT, false},                                       \
        [MODES] = {"peaks", "cycles (share)", BR2_VALUE_TEXT, false},                              \
        [START] = {start, NULL, BR2_VALUE_ADDRESS, false},                                         \
        [END] = {end, NULL, BR2_VALUE_ADDRESS, false},                                             \
        [FILE_NAME] = {"file", NULL, BR2_VALUE_FILE, false},                                       \
        [LINE] = {"line", NULL, BR2_VALUE_LINE, false},                                            \
        [FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},                                    \
    }

static const struct br2_report_column run_columns[COLUMNS] = LATENCY_COLUMNS("start", "end");
static const struct br2_report_column loop_columns[COLUMNS] =
    LATENCY_COLUMNS("header", "branch_back");

static const struct br2_report_shape run_shape = {
    .name = "latency",
    .section = "latency",
    .title = "Straight runs by the cycles spent in them",
    .note = "A branch record's cycles are those since the record before it: they time the run from "
            "where that led to this branch. Above 511 they are known to 1 in 256.",
    .columns = run_columns,
    .column_count = COLUMNS,
};

static const struct br2_report_shape loop_shape = {
    .name = "loop_latency",
    .section = "latency",
    .title = "Loops by the cycles from one taken branch back to the next",
    .note = "With all that is called in between.",
    .columns = loop_columns,
    .column_count = COLUMNS,
};

enum {
    H_WHAT,
    H_START,
    H_END,
    H_CYCLES,
    H_COUNT,
    H_SHARE,
    H_FUNCTION,
    H_COLUMNS
};

static const struct br2_report_column histogram_columns[H_COLUMNS] = {
    [H_WHAT] = {"of", NULL, BR2_VALUE_TEXT, false},
    [H_START] = {"start", NULL, BR2_VALUE_ADDRESS, false},
    [H_END] = {"end", NULL, BR2_VALUE_ADDRESS, false},
    [H_CYCLES] = {"cycles", "cycles", BR2_VALUE_COUNT, false},
    [H_COUNT] = {"count", "timed", BR2_VALUE_COUNT, false},
    [H_SHARE] = {"share", NULL, BR2_VALUE_SHARE, false},
    [H_FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape histogram_shape = {
    .name = "cycle_histograms",
    .section = "latency",
    .title = "How often which number of cycles was seen",
    .columns = histogram_columns,
    .column_count = H_COLUMNS,
    .detail = true,
};

/* What is timed: a run, or a loop. */
struct timed {
    uint64_t start;
    uint64_t end;
    uint32_t function;
    const struct br2_point *points;
    size_t count;
    const char *what;
};

/* "2 (84.8 %), 32 (15.2 %)" */
static struct br2_report_value modes_text(struct br2_report_maker *maker,
                                          const struct br2_distribution *of)
{
    struct br2_buf text = {0};
    for (size_t i = 0; i < of->mode_count; i++) {
        br2_buf_printf(&text, "%s%llu (", i != 0 ? ", " : "",
                       (unsigned long long)of->modes[i].value);
        br2_report_decimals(&text, 100 * (double)of->modes[i].count / (double)of->count, 1);
        br2_buf_str(&text, "%)");
    }
    br2_buf_u8(&text, '\0');
    struct br2_report_value value = {0};
    if (text.failed) {
        maker->report->failed = true;
    } else {
        value = br2_value_copy(maker, (const char *)text.bytes);
    }
    br2_buf_done(&text);
    return value;
}

static uint64_t cycles_of(const struct timed *timed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < timed->count; i++) {
        sum += timed->points[i].value * timed->points[i].count;
    }
    return sum;
}

static int add_timed(struct br2_report_maker *maker, struct br2_report_table *table,
                     const struct timed *timed, uint64_t all, struct br2pgo_error *err)
{
    struct br2_report_place place;
    int rc = br2_report_place(maker, timed->start, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_distribution of;
    br2_describe(timed->points, timed->count, &of);
    uint64_t cycles = cycles_of(timed);
    struct br2_report_value *row = br2_report_row(maker, table, cycles);
    row[SHARE] = br2_value_share(cycles, all);
    row[COUNT] = br2_value_count(of.count);
    row[MEAN] = br2_value_number(of.mean);
    row[LEAST] = br2_value_count(of.least);
    row[MEDIAN] = br2_value_count(of.median);
    row[NINTH] = br2_value_count(of.ninth);
    row[MOST] = br2_value_count(of.most);
    row[MODES] = modes_text(maker, &of);
    row[START] = br2_value_count(timed->start);
    row[END] = br2_value_count(timed->end);
    row[FILE_NAME] = place.file;
    row[LINE] = place.line;
    row[FUNCTION] = br2_value_text(br2_report_name(maker, timed->function));
    return 0;
}

static void add_histogram(struct br2_report_maker *maker, struct br2_report_table *table,
                          const struct timed *timed)
{
    uint64_t all = 0;
    for (size_t i = 0; i < timed->count; i++) {
        all += timed->points[i].count;
    }
    uint64_t cycles = cycles_of(timed);
    for (size_t i = 0; i < timed->count; i++) {
        struct br2_report_value *row = br2_report_row(maker, table, cycles);
        row[H_WHAT] = br2_value_text(timed->what);
        row[H_START] = br2_value_count(timed->start);
        row[H_END] = br2_value_count(timed->end);
        row[H_CYCLES] = br2_value_count(timed->points[i].value);
        row[H_COUNT] = br2_value_count(timed->points[i].count);
        row[H_SHARE] = br2_value_share(timed->points[i].count, all);
        row[H_FUNCTION] = br2_value_text(br2_report_name(maker, timed->function));
    }
}

/* All that is timed and wanted; the points are in one array. */
struct timings {
    struct timed *runs; /* owned */
    size_t run_count;
    struct timed *loops; /* owned */
    size_t loop_count;
    struct br2_point *points; /* owned; of runs */
    struct br2_report_counts counts;
    uint64_t cycles; /* of all runs */
};

static bool find_runs(const struct br2_report_maker *maker, struct timings *ret)
{
    const struct br2_flow_graph *graph = maker->graph;
    ret->runs = br2_calloc(graph->timing_count + 1, sizeof *ret->runs);
    ret->points = br2_calloc(graph->timing_count + 1, sizeof *ret->points);
    if (ret->runs == NULL || ret->points == NULL) {
        return false;
    }
    for (size_t i = 0; i < graph->timing_count; i++) {
        const struct br2_flow_timing *timing = &graph->timings[i];
        bool same = i != 0 && graph->timings[i - 1].start == timing->start &&
                    graph->timings[i - 1].end == timing->end;
        ret->points[i] = (struct br2_point){timing->cycles, timing->count};
        ret->cycles += timing->cycles * timing->count;
        uint32_t function = br2_flow_graph_function(graph, timing->start);
        if (!br2_report_wants(maker, function)) {
            continue;
        }
        if (!same) {
            ret->runs[ret->run_count++] = (struct timed){.start = timing->start,
                                                         .end = timing->end,
                                                         .function = function,
                                                         .points = &ret->points[i],
                                                         .what = "run"};
        }
        ret->runs[ret->run_count - 1].count++;
    }
    return true;
}

static int find_loops(const struct br2_report_maker *maker, struct timings *ret,
                      struct br2pgo_error *err)
{
    const struct br2_histories *histories = maker->input->histories;
    if (histories == NULL) {
        return 0;
    }
    int rc = br2_report_count(&histories->iterations, &ret->counts, err);
    ret->loops = br2_calloc(histories->loops.count + 1, sizeof *ret->loops);
    if (rc == 0 && ret->loops == NULL) {
        rc = br2_fail_memory(err);
    }
    for (uint32_t i = 0; rc == 0 && i < histories->loops.count; i++) {
        const struct br2_loop *loop = &histories->loops.loops[i];
        struct timed timed = {loop->header, loop->back, loop->function, NULL, 0, "loop"};
        timed.points = br2_report_points(&ret->counts, i, 0, &timed.count);
        if (timed.count != 0 && maker->wanted[loop->function]) {
            ret->loops[ret->loop_count++] = timed;
        }
    }
    return rc;
}

static int add_tables(struct br2_report_maker *maker, const struct timings *timings,
                      struct br2pgo_error *err)
{
    int rc = 0;
    struct br2_report_table *table = br2_report_begin(maker, &run_shape);
    for (size_t i = 0; rc == 0 && i < timings->run_count; i++) {
        rc = add_timed(maker, table, &timings->runs[i], timings->cycles, err);
    }
    br2_report_end(maker, table);
    table = br2_report_begin(maker, &loop_shape);
    for (size_t i = 0; rc == 0 && i < timings->loop_count; i++) {
        rc = add_timed(maker, table, &timings->loops[i], timings->cycles, err);
    }
    br2_report_end(maker, table);
    table = br2_report_begin(maker, &histogram_shape);
    for (size_t i = 0; rc == 0 && i < timings->run_count; i++) {
        add_histogram(maker, table, &timings->runs[i]);
    }
    for (size_t i = 0; rc == 0 && i < timings->loop_count; i++) {
        add_histogram(maker, table, &timings->loops[i]);
    }
    br2_report_end_grouped(maker, table);
    return rc;
}

int br2_report_latency(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    struct timings timings = {0};
    int rc = find_runs(maker, &timings) ? 0 : br2_fail_memory(err);
    rc = rc != 0 ? rc : find_loops(maker, &timings, err);
    rc = rc != 0 ? rc : add_tables(maker, &timings, err);
    br2_free(timings.runs);
    br2_free(timings.loops);
    br2_free(timings.points);
    br2_report_counts_done(&timings.counts);
    return rc;
}
