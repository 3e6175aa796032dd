/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ways through functions that are taken in one go, and how they lie in memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/report_private.h"

enum {
    RANK,
    COUNT,
    SHARE,
    INSNS,
    BLOCKS,
    TAKEN,
    SAVED,
    SPREAD,
    START,
    END,
    FILE_NAME,
    LINE,
    FUNCTION,
    RUNS,
    COLUMNS
};

static const struct br2_report_column columns[COLUMNS] = {
    [RANK] = {"rank", NULL, BR2_VALUE_COUNT, false},
    [COUNT] = {"count", "times", BR2_VALUE_COUNT, false},
    [SHARE] = {"share", "of ways", BR2_VALUE_SHARE, false},
    [INSNS] = {"instructions", NULL, BR2_VALUE_COUNT, false},
    [BLOCKS] = {"blocks", NULL, BR2_VALUE_COUNT, false},
    [TAKEN] = {"taken", "branches", BR2_VALUE_COUNT, false},
    [SAVED] = {"saved_by_layout", "taken branches", BR2_VALUE_COUNT, false},
    [SPREAD] = {"spread", "bytes", BR2_VALUE_COUNT, false},
    [START] = {"start", NULL, BR2_VALUE_ADDRESS, true},
    [END] = {"end", NULL, BR2_VALUE_ADDRESS, true},
    [FILE_NAME] = {"file", NULL, BR2_VALUE_FILE, false},
    [LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [FUNCTION] = {"function", NULL, BR2_VALUE_TEXT, false},
    [RUNS] = {"straight_runs", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape shape = {
    .name = "paths",
    .section = "paths",
    .title = "Ways through functions by instructions executed on them",
    .note =
        "A way begins at the function's entry or where a branch back leads, and ends with the "
        "next branch back or the function. Calls on it are not followed. Were its straight runs "
        "laid out one behind the other, the branches between them would not be taken.",
    .columns = columns,
    .column_count = COLUMNS,
};

/* What a way comes to. */
struct sums {
    uint64_t insns;
    uint64_t blocks;
    uint64_t low; /* addresses */
    uint64_t high;
};

static void add_run(const struct br2_report_maker *maker, const struct br2_path *path,
                    uint64_t start, uint64_t end, struct sums *sums)
{
    const struct br2_code *code = &maker->graph->functions[path->function].code;
    const struct br2_blocks *blocks =
        &maker->input->histories->loops.functions[path->function].blocks;
    size_t first = br2_code_find(code, start);
    size_t last = br2_code_find(code, end);
    if (first == SIZE_MAX || last == SIZE_MAX || last < first) {
        return;
    }
    uint64_t behind = end + code->insns[last].size;
    sums->insns += last - first + 1;
    sums->blocks += blocks->block_of[last] - blocks->block_of[first] + 1;
    sums->low = start < sums->low ? start : sums->low;
    sums->high = behind > sums->high ? behind : sums->high;
}

/* Adds up the runs of a way, and lists them. */
static struct sums sum_up(const struct br2_report_maker *maker, const struct br2_path *path,
                          struct br2_buf *text)
{
    struct sums sums = {.low = UINT64_MAX};
    uint64_t start = path->start;
    for (uint32_t i = 0; i <= path->count; i++) {
        const struct br2_flow_edge *edge =
            i < path->count ? &maker->graph->edges[path->edges[i]] : NULL;
        uint64_t end = edge != NULL ? edge->from : path->end;
        add_run(maker, path, start, end, &sums);
        br2_buf_printf(text, "%s%" PRIx64 "-%" PRIx64, i != 0 ? " " : "", start, end);
        start = edge != NULL ? edge->to : 0;
    }
    br2_buf_u8(text, '\0');
    return sums;
}

static int add_path(struct br2_report_maker *maker, struct br2_report_table *table,
                    const struct br2_path *path, uint64_t count, struct br2pgo_error *err)
{
    struct br2_report_place place;
    int rc = br2_report_place(maker, path->start, &place, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_buf text = {0};
    struct sums sums = sum_up(maker, path, &text);
    struct br2_report_value *row = br2_report_row(maker, table, sums.insns * count);
    row[COUNT] = br2_value_count(count);
    row[SHARE] = br2_value_share(count, maker->input->histories->paths.all);
    row[INSNS] = br2_value_count(sums.insns);
    row[BLOCKS] = br2_value_count(sums.blocks);
    row[TAKEN] = br2_value_count(path->count);
    row[SAVED] = br2_value_count(path->count * count);
    row[SPREAD] = br2_value_count(sums.high > sums.low ? sums.high - sums.low : 0);
    row[START] = br2_value_count(path->start);
    row[END] = br2_value_count(path->end);
    row[FILE_NAME] = place.file;
    row[LINE] = place.line;
    row[FUNCTION] = br2_value_text(br2_report_name(maker, path->function));
    if (text.failed) {
        maker->report->failed = true;
    } else {
        row[RUNS] = br2_value_copy(maker, (const char *)text.bytes);
    }
    br2_buf_done(&text);
    return 0;
}

int br2_report_paths(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    if (maker->input->histories == NULL) {
        return 0;
    }
    const struct br2_paths *paths = &maker->input->histories->paths;
    struct br2_report_table *table = br2_report_begin(maker, &shape);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < paths->ways.count; i++) {
        struct br2_path path;
        br2_paths_get(paths, i, &path);
        if (maker->wanted[path.function]) {
            rc = add_path(maker, table, &path, paths->counts[i], err);
        }
    }
    br2_report_end(maker, table);
    return rc;
}
