/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What histories counted, by what it is of. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"
#include "report/statistics.h"

static int compare_traces(const void *left, const void *right)
{
    const struct br2_trace *a = left;
    const struct br2_trace *b = right;
    int order = br2_compare_u64(a->from, b->from);
    order = order != 0 ? order : br2_compare_u64(a->run, b->run);
    return order != 0 ? order : br2_compare_u64(a->to, b->to);
}

int br2_report_count(const struct br2_trace_table *table, struct br2_report_counts *ret,
                     struct br2pgo_error *err)
{
    *ret = (struct br2_report_counts){0};
    ret->traces = br2_calloc(table->used + 1, sizeof *ret->traces);
    ret->points = br2_calloc(table->used + 1, sizeof *ret->points);
    if (ret->traces == NULL || ret->points == NULL) {
        br2_report_counts_done(ret);
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            ret->traces[ret->count++] = table->slots[i];
        }
    }
    qsort(ret->traces, ret->count, sizeof *ret->traces, compare_traces);
    for (size_t i = 0; i < ret->count; i++) {
        ret->points[i] = (struct br2_point){ret->traces[i].to, ret->traces[i].count};
    }
    return 0;
}

struct br2_point *br2_report_points(const struct br2_report_counts *counts, uint64_t of,
                                    uint32_t kind, size_t *ret_count)
{
    struct br2_trace wanted = {.from = of, .run = kind};
    size_t low = 0;
    size_t high = counts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_traces(&counts->traces[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t end = low;
    while (end < counts->count && counts->traces[end].from == of &&
           counts->traces[end].run == kind) {
        end++;
    }
    *ret_count = end - low;
    return &counts->points[low];
}

void br2_report_counts_done(struct br2_report_counts *counts)
{
    br2_free(counts->traces);
    br2_free(counts->points);
    *counts = (struct br2_report_counts){0};
}
