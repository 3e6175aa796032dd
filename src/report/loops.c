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
    PER_ENTRY,
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
    [PER_ENTRY] = {"trips_per_entry", "trips", BR2_VALUE_NUMBER, false},
    [MEAN] = {"trips_mean", "of complete", BR2_VALUE_NUMBER, true},
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
        "A trip is a time that the header ran; where the loop begins with its test, the last is the "
        "test alone. Trips per entry are of the flow: how often the header ran for each time it "
        "was entered. The other trips are those of complete visits. A visit that the history begins or ends "
        "in is cut: no more trips are seen than a history has records, so that of loops with "
        "many trips only short visits are complete. An exit that falls through leaves no "
        "record.",
    .columns = columns,
    .column_count = COLUMNS,
};

enum {
    T_HEADER,
    T_TRIPS,
    T_COMPLETE,
    T_SHARE,
    T_CUT,
    T_AT_END,
    T_FUNCTION,
    T_COLUMNS
};

static const struct br2_report_column trip_columns[T_COLUMNS] = {
    [T_HEADER] = {"header", NULL, BR2_VALUE_ADDRESS, false},
    [T_TRIPS] = {"trips", "trips", BR2_VALUE_COUNT, false},
    [T_COMPLETE] = {"complete", "visits", BR2_VALUE_COUNT, false},
    [T_SHARE] = {"share", "of complete", BR2_VALUE_SHARE, false},
    [T_CUT] = {"cut", "visits", BR2_VALUE_COUNT, false},
    [T_AT_END] = {"cut_at_end", "visits", BR2_VALUE_COUNT, false},
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

/* A loop's visits of one kind. */
struct trips {
    const struct br2_point *points; /* of all loops' */
    size_t count;
    struct br2_distribution of;
};

struct loop_trips {
    struct trips kinds[BR2_TRIPS_ENTERED + 1];
};

static void describe(const struct br2_report_counts *counts, uint32_t loop, struct loop_trips *ret)
{
    for (uint32_t i = 0; i <= BR2_TRIPS_ENTERED; i++) {
        struct trips *kind = &ret->kinds[i];
        kind->points = br2_report_points(counts, loop, i, &kind->count);
        br2_describe(kind->points, kind->count, &kind->of);
    }
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

static void fill_trips(const struct loop_trips *trips, struct br2_report_value *row)
{
    const struct trips *complete = &trips->kinds[BR2_TRIPS_COMPLETE];
    const struct trips *cut = &trips->kinds[BR2_TRIPS_CUT];
    const struct trips *entered = &trips->kinds[BR2_TRIPS_ENTERED];
    row[COMPLETE] = br2_value_count(complete->of.count);
    row[CUT] = br2_value_count(cut->of.count + entered->of.count);
    if (complete->of.count != 0) {
        row[MEAN] = br2_value_number(complete->of.mean);
        row[LEAST] = br2_value_count(complete->of.least);
        row[MEDIAN] = br2_value_count(complete->of.median);
        row[MOST] = br2_value_count(complete->of.most);
        row[FREQUENT] = br2_value_count(complete->of.frequent);
        row[FREQUENT_SHARE] = br2_value_share(complete->of.frequent_count, complete->of.count);
    }
    if (cut->of.count + entered->of.count != 0) {
        row[LONGEST_CUT] =
            br2_value_count(cut->of.most > entered->of.most ? cut->of.most : entered->of.most);
    }
}

/* How many branches lead to each address. */
struct targets {
    struct br2_point *points; /* owned; sorted by address */
    size_t count;
};

static int compare_points(const void *left, const void *right)
{
    const struct br2_point *a = left;
    const struct br2_point *b = right;
    return br2_compare_u64(a->value, b->value);
}

static bool find_targets(const struct br2_flow_graph *graph, struct targets *ret)
{
    ret->points = br2_calloc(graph->edge_count + 1, sizeof *ret->points);
    if (ret->points == NULL) {
        return false;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        ret->points[i] = (struct br2_point){graph->edges[i].to, graph->edges[i].count};
    }
    qsort(ret->points, graph->edge_count, sizeof *ret->points, compare_points);
    for (size_t i = 0; i < graph->edge_count; i++) {
        bool same = ret->count != 0 && ret->points[ret->count - 1].value == ret->points[i].value;
        if (same) {
            ret->points[ret->count - 1].count += ret->points[i].count;
        } else {
            ret->points[ret->count++] = ret->points[i];
        }
    }
    return true;
}

static uint64_t count_edges_to(const struct targets *targets, uint64_t header)
{
    struct br2_point wanted = {.value = header};
    const struct br2_point *found =
        bsearch(&wanted, targets->points, targets->count, sizeof wanted, compare_points);
    return found != NULL ? found->count : 0;
}

/*
 * How often the header ran for each time that it was not reached from the loop itself. Unknown
 * where no entry was seen. No visit needs to be seen whole for it: runs are sampled alike wherever
 * they are in one.
 */
static struct br2_report_value trips_per_entry(const struct br2_report_maker *maker,
                                               const struct targets *targets, uint32_t number)
{
    const struct br2_loops *loops = &maker->input->histories->loops;
    const struct br2_loop *loop = &loops->loops[number];
    const struct br2_flow_function *function = &maker->graph->functions[loop->function];
    size_t insn = br2_code_find(&function->code, loop->header);
    uint64_t to = count_edges_to(targets, loop->header);
    uint64_t led = br2_flow_count_led(maker->graph, loop->header);
    uint64_t ran = insn != SIZE_MAX ? function->counts[insn] : 0;
    double back = to != 0 ? (double)led * ((double)loop->taken / (double)to) : 0;
    if (loop->turn_block != loop->header_block) { /* branches lead there from outside alone */
        back = (double)ran - (double)led;
    }
    double entries = (double)ran - back;
    return entries >= 0.5 ? br2_value_number((double)ran / entries) : (struct br2_report_value){0};
}

/* What loops are told from. */
struct evidence {
    struct br2_report_counts counts;
    struct targets targets;
};

static int add_loop(struct br2_report_maker *maker, struct br2_report_table *table,
                    const struct evidence *evidence, uint32_t number, struct br2pgo_error *err)
{
    const struct br2_histories *histories = maker->input->histories;
    const struct br2_loop *loop = &histories->loops.loops[number];
    const struct br2_loop_visits *visits = &histories->visits[number];
    struct br2_report_place place;
    int rc = br2_report_place(maker, loop->header, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct loop_trips trips;
    describe(&evidence->counts, number, &trips);
    struct br2_report_value *row = br2_report_row(maker, table, loop->taken);
    row[TAKEN] = br2_value_count(loop->taken);
    row[PER_ENTRY] = trips_per_entry(maker, &evidence->targets, number);
    fill_trips(&trips, row);
    row[EXITS] = br2_value_count(visits->exits);
    if (maker->graph->predictions_known) {
        row[EXIT_MISPREDICTED] = br2_value_count(visits->mispredicted);
        row[EXIT_RATE] = br2_value_share(visits->mispredicted, visits->exits);
    }
    row[DEPTH] = br2_value_count(nesting(&histories->loops, number));
    row[HEADER] = br2_value_count(loop->header);
    row[BACK] = br2_value_count(loop->back);
    row[ADVICE] = br2_value_text(advise(maker, visits, &trips.kinds[BR2_TRIPS_COMPLETE]));
    row[FILE_NAME] = place.file;
    row[LINE] = place.line;
    row[FUNCTION] = br2_value_text(br2_report_name(maker, loop->function));
    return 0;
}

/* The visits of one kind that had so many trips; `*at` moves behind them. */
static uint64_t take(const struct trips *kind, uint64_t trips, size_t *at)
{
    if (*at == kind->count || kind->points[*at].value != trips) {
        return 0;
    }
    return kind->points[(*at)++].count;
}

/* The least number of trips that is not taken yet; UINT64_MAX: none. */
static uint64_t next_trips(const struct loop_trips *trips, const size_t *at)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i <= BR2_TRIPS_ENTERED; i++) {
        const struct trips *kind = &trips->kinds[i];
        bool lower = at[i] < kind->count && kind->points[at[i]].value < next;
        next = lower ? kind->points[at[i]].value : next;
    }
    return next;
}

static void add_trips(struct br2_report_maker *maker, struct br2_report_table *table,
                      const struct br2_report_counts *counts, uint32_t number)
{
    const struct br2_loop *loop = &maker->input->histories->loops.loops[number];
    struct loop_trips trips;
    size_t at[BR2_TRIPS_ENTERED + 1] = {0};
    uint64_t next;
    describe(counts, number, &trips);
    while ((next = next_trips(&trips, at)) != UINT64_MAX) {
        uint64_t seen[BR2_TRIPS_ENTERED + 1];
        for (size_t i = 0; i <= BR2_TRIPS_ENTERED; i++) {
            seen[i] = take(&trips.kinds[i], next, &at[i]);
        }
        struct br2_report_value *row = br2_report_row(maker, table, loop->taken);
        row[T_HEADER] = br2_value_count(loop->header);
        row[T_TRIPS] = br2_value_count(next);
        row[T_COMPLETE] = br2_value_count(seen[BR2_TRIPS_COMPLETE]);
        row[T_SHARE] =
            br2_value_share(seen[BR2_TRIPS_COMPLETE], trips.kinds[BR2_TRIPS_COMPLETE].of.count);
        row[T_CUT] = br2_value_count(seen[BR2_TRIPS_CUT] + seen[BR2_TRIPS_ENTERED]);
        row[T_AT_END] = br2_value_count(seen[BR2_TRIPS_CUT]);
        row[T_FUNCTION] = br2_value_text(br2_report_name(maker, loop->function));
    }
}

int br2_report_loops(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    const struct br2_histories *histories = maker->input->histories;
    struct evidence evidence = {0};
    if (histories == NULL) {
        return 0;
    }
    int rc = br2_report_count(&histories->trips, &evidence.counts, err);
    rc = rc == 0 && !find_targets(maker->graph, &evidence.targets) ? br2_fail_memory(err) : rc;
    struct br2_report_table *table = br2_report_begin(maker, &shape);
    for (uint32_t i = 0; rc == 0 && i < histories->loops.count; i++) {
        if (maker->wanted[histories->loops.loops[i].function]) {
            rc = add_loop(maker, table, &evidence, i, err);
        }
    }
    br2_report_end(maker, table);
    table = br2_report_begin(maker, &trip_shape);
    for (uint32_t i = 0; rc == 0 && i < histories->loops.count; i++) {
        if (maker->wanted[histories->loops.loops[i].function]) {
            add_trips(maker, table, &evidence.counts, i);
        }
    }
    br2_report_end_grouped(maker, table);
    br2_report_counts_done(&evidence.counts);
    br2_free(evidence.targets.points);
    return rc;
}
