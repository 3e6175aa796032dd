/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops and how often they go round. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"
#include "report/statistics.h"

/* From these shares on, by the lower end of the interval, a loop's trips are called constant, and
 * its exit mispredicted. */
#define CONSTANT_MIN     0.9
#define MISPREDICTED_MIN 0.3

enum {
    RANK,
    TAKEN,
    COMPLETE,
    CUT,
    MEAN,
    LEAST,
    MEDIAN,
    MOST,
    FREQUENT,
    FREQUENT_SHARE,
    LONGEST_CUT,
    EXITS,
    EXIT_MISPREDICTED,
    EXIT_RATE,
    DEPTH,
    HEADER,
    BACK,
    ADVICE,
    FILE_NAME,
    LINE,
    FUNCTION,
    COLUMNS
};

static const struct br2_report_column columns[COLUMNS] = {
    [RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [TAKEN] = {"taken_back", "records", BR2_VALUE_COUNT, false},
    [COMPLETE] = {"complete", "visits", BR2_VALUE_COUNT, false},
    [CUT] = {"cut", "visits", BR2_VALUE_COUNT, false},
    [MEAN] = {"trips_mean", "trips", BR2_VALUE_NUMBER, false},
    [LEAST] = {"trips_least", "trips", BR2_VALUE_COUNT, true},
    [MEDIAN] = {"trips_median", "trips", BR2_VALUE_COUNT, false},
    [MOST] = {"trips_most", "trips", BR2_VALUE_COUNT, false},
    [FREQUENT] = {"trips_frequent", "trips", BR2_VALUE_COUNT, false},
    [FREQUENT_SHARE] = {"frequent_share", "of complete", BR2_VALUE_SHARE, false},
    [LONGEST_CUT] = {"longest_cut", "trips", BR2_VALUE_COUNT, false},
    [EXITS] = {"taken_exits", "records", BR2_VALUE_COUNT, false},
    [EXIT_MISPREDICTED] = {"exits_mispredicted", "records", BR2_VALUE_COUNT, true},
    [EXIT_RATE] = {"exit_mispredict_rate", "of taken exits", BR2_VALUE_SHARE, false},
    [DEPTH] = {"depth", NULL, BR2_VALUE_COUNT, false},
    [HEADER] = {"header", NULL, BR2_VALUE_ADDRESS, false},
    [BACK] = {"branch_back", NULL, BR2_VALUE_ADDRESS, true},
    [ADVICE] = {"advice", NULL, BR2_VALUE_TEXT, false},
    [FILE_NAME] = {"file", NULL, BR2_VALUE_FILE, false},
    [LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape shape = {
    .name = "loops",
    .section = "loops",
    .title = "Loops by how often they went back",
    .note =
        "Trips are those of complete visits. A visit that the history begins or ends in is cut: "
        "no more trips are seen than a history has records, so that of loops with many trips "
        "the longest visits are missing. An exit that falls through leaves no record.",
    .columns = columns,
    .column_count = COLUMNS,
};

enum {
    T_HEADER,
    T_TRIPS,
    T_COMPLETE,
    T_SHARE,
    T_CUT,
    T_FUNCTION,
    T_COLUMNS
};

static const struct br2_report_column trip_columns[T_COLUMNS] = {
    [T_HEADER] = {"header", NULL, BR2_VALUE_ADDRESS, false},
    [T_TRIPS] = {"trips", "trips", BR2_VALUE_COUNT, false},
    [T_COMPLETE] = {"complete", "visits", BR2_VALUE_COUNT, false},
    [T_SHARE] = {"share", "of complete", BR2_VALUE_SHARE, false},
    [T_CUT] = {"cut", "visits", BR2_VALUE_COUNT, false},
    [T_FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape trip_shape = {
    .name = "trip_counts",
    .section = "loops",
    .title = "How many visits to a loop had how many trips",
    .note = "Of a cut visit, the trips that were seen.",
    .columns = trip_columns,
    .column_count = T_COLUMNS,
    .detail = true,
};

/* A loop's visits of one kind: complete, or cut. */
struct trips {
    struct br2_point *points; /* of all loops' */
    size_t count;
    struct br2_distribution of;
};

static void describe(const struct br2_report_counts *counts, uint32_t loop, enum br2_trips kind,
                     struct trips *ret)
{
    ret->points = br2_report_points(counts, loop, (uint32_t)kind, &ret->count);
    br2_describe(ret->points, ret->count, &ret->of);
}

static uint64_t nesting(const struct br2_loops *loops, uint32_t loop)
{
    uint64_t depth = 1;
    while (loops->loops[loop].parent != BR2_NO_LOOP) {
        loop = loops->loops[loop].parent;
        depth++;
    }
    return depth;
}

static const char *advise(struct br2_report_maker *maker, const struct br2_loop_visits *visits,
                          const struct trips *complete)
{
    struct br2_report_value interval[2] = {0};
    if (maker->graph->predictions_known) {
        br2_report_interval(maker, visits->mispredicted, visits->exits, interval);
    }
    if (interval[0].known && interval[0].is.number >= MISPREDICTED_MIN) {
        return "exit mispredicted";
    }
    br2_report_interval(maker, complete->of.frequent_count, complete->of.count, interval);
    bool constant = complete->of.count != 0 && interval[0].is.number >= CONSTANT_MIN;
    return constant ? "constant trips" : NULL;
}

static void fill_trips(const struct trips *complete, const struct trips *cut,
                       struct br2_report_value *row)
{
    row[COMPLETE] = br2_value_count(complete->of.count);
    row[CUT] = br2_value_count(cut->of.count);
    if (complete->of.count != 0) {
        row[MEAN] = br2_value_number(complete->of.mean);
        row[LEAST] = br2_value_count(complete->of.least);
        row[MEDIAN] = br2_value_count(complete->of.median);
        row[MOST] = br2_value_count(complete->of.most);
        row[FREQUENT] = br2_value_count(complete->of.frequent);
        row[FREQUENT_SHARE] = br2_value_share(complete->of.frequent_count, complete->of.count);
    }
    if (cut->of.count != 0) {
        row[LONGEST_CUT] = br2_value_count(cut->of.most);
    }
}

static int add_loop(struct br2_report_maker *maker, struct br2_report_table *table,
                    const struct br2_report_counts *counts, uint32_t number,
                    struct br2pgo_error *err)
{
    const struct br2_histories *histories = maker->input->histories;
    const struct br2_loop *loop = &histories->loops.loops[number];
    const struct br2_loop_visits *visits = &histories->visits[number];
    struct br2_report_place place;
    int rc = br2_report_place(maker, loop->header, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct trips complete;
    struct trips cut;
    describe(counts, number, BR2_TRIPS_COMPLETE, &complete);
    describe(counts, number, BR2_TRIPS_CUT, &cut);
    struct br2_report_value *row = br2_report_row(maker, table, loop->taken);
    row[TAKEN] = br2_value_count(loop->taken);
    fill_trips(&complete, &cut, row);
    row[EXITS] = br2_value_count(visits->exits);
    if (maker->graph->predictions_known) {
        row[EXIT_MISPREDICTED] = br2_value_count(visits->mispredicted);
        row[EXIT_RATE] = br2_value_share(visits->mispredicted, visits->exits);
    }
    row[DEPTH] = br2_value_count(nesting(&histories->loops, number));
    row[HEADER] = br2_value_count(loop->header);
    row[BACK] = br2_value_count(loop->back);
    row[ADVICE] = br2_value_text(advise(maker, visits, &complete));
    row[FILE_NAME] = place.file;
    row[LINE] = place.line;
    row[FUNCTION] = br2_value_text(br2_report_name(maker, loop->function));
    return 0;
}

/* Trips of both kinds, in order. */
static void add_trips(struct br2_report_maker *maker, struct br2_report_table *table,
                      const struct br2_report_counts *counts, uint32_t number)
{
    const struct br2_loop *loop = &maker->input->histories->loops.loops[number];
    struct trips complete;
    struct trips cut;
    describe(counts, number, BR2_TRIPS_COMPLETE, &complete);
    describe(counts, number, BR2_TRIPS_CUT, &cut);
    size_t a = 0;
    size_t b = 0;
    while (a < complete.count || b < cut.count) {
        bool first = b == cut.count ||
                     (a < complete.count && complete.points[a].value <= cut.points[b].value);
        uint64_t trips = first ? complete.points[a].value : cut.points[b].value;
        bool both = first && b < cut.count && cut.points[b].value == trips;
        struct br2_report_value *row = br2_report_row(maker, table, loop->taken);
        row[T_HEADER] = br2_value_count(loop->header);
        row[T_TRIPS] = br2_value_count(trips);
        uint64_t seen = first ? complete.points[a].count : 0;
        row[T_COMPLETE] = br2_value_count(seen);
        row[T_SHARE] = br2_value_share(seen, complete.of.count);
        row[T_CUT] = br2_value_count(both || !first ? cut.points[b].count : 0);
        row[T_FUNCTION] = br2_value_text(br2_report_name(maker, loop->function));
        a += first;
        b += both || !first;
    }
}

int br2_report_loops(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    const struct br2_histories *histories = maker->input->histories;
    struct br2_report_counts counts;
    if (histories == NULL) {
        return 0;
    }
    int rc = br2_report_count(&histories->trips, &counts, err);
    struct br2_report_table *table = br2_report_begin(maker, &shape);
    for (uint32_t i = 0; rc == 0 && i < histories->loops.count; i++) {
        if (maker->wanted[histories->loops.loops[i].function]) {
            rc = add_loop(maker, table, &counts, i, err);
        }
    }
    br2_report_end(maker, table);
    table = br2_report_begin(maker, &trip_shape);
    for (uint32_t i = 0; rc == 0 && i < histories->loops.count; i++) {
        if (maker->wanted[histories->loops.loops[i].function]) {
            add_trips(maker, table, &counts, i);
        }
    }
    br2_report_end_grouped(maker, table);
    br2_report_counts_done(&counts);
    return rc;
}
