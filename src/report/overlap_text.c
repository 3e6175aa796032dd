/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two profiles side by side, for people. */
#include <inttypes.h>

#include "base/mem.h"
#include "report/overlap_report.h"

#define PERCENT 100.0

static double part(size_t some, size_t all)
{
    return all != 0 ? PERCENT * (double)some / (double)all : 0;
}

static void put_sides(const struct br2_overlap_report *report, struct br2_buf *out)
{
    const struct br2_overlap *overlap = report->overlap;
    br2_buf_printf(out, "base: %s (%s): %" PRIu64 " samples, %zu functions\n", report->base_path,
                   report->base_format, overlap->sums.base, overlap->base->function_count);
    br2_buf_printf(out, "test: %s (%s): %" PRIu64 " samples, %zu functions\n\n", report->test_path,
                   report->test_format, overlap->sums.test, overlap->test->function_count);
}

static void put_counts(const char *name, const struct br2_overlap_counts *counts,
                       struct br2_buf *out)
{
    size_t all = counts->both + counts->base_only + counts->test_only;
    br2_buf_printf(out, "%-22s %8.3f%%  %zu in both, %zu only in base, %zu only in test\n", name,
                   part(counts->both, all), counts->both, counts->base_only, counts->test_only);
}

static void put_whole(const struct br2_overlap *overlap, struct br2_buf *out)
{
    const struct br2_overlap_sums *sums = &overlap->sums;
    double base_only = PERCENT * (double)sums->base_only / (double)sums->base;
    double test_only = PERCENT * (double)sums->test_only / (double)sums->test;
    br2_buf_printf(out, "%-22s %8.3f%%\n", "similarity", PERCENT * overlap->similarity);
    br2_buf_printf(out, "%-22s %8.3f%%  %.3f%% of base's only there, %.3f%% of test's\n",
                   "overlap of samples", PERCENT * br2_overlap_share(sums), base_only, test_only);
    br2_buf_printf(out, "%-22s %8.3f%%  as if both had the same number of samples\n",
                   "overlap of shares", PERCENT * overlap->shares);
    put_counts("overlap of functions", &overlap->functions, out);
    put_counts("  of hot functions", &overlap->hot_functions, out);
    put_counts("  of hot places", &overlap->hot_places, out);
    br2_buf_printf(out, "%-22s %8.3f%%  of base's samples are at places that test has too\n",
                   "coverage", PERCENT * overlap->covered);
}

static const char *note_of(const struct br2_overlap_function *function)
{
    if (function->base == NULL) {
        return "  new";
    }
    return function->test == NULL ? "  vanished" : "";
}

static void put_function(const struct br2_overlap *overlap,
                         const struct br2_overlap_function *function, struct br2_buf *out)
{
    br2_buf_printf(out, "%7.2f%% %7.2f%% %+8.2f %9.2f%%  %s%s\n", PERCENT * function->base_share,
                   PERCENT * function->test_share,
                   PERCENT * (function->test_share - function->base_share),
                   PERCENT * function->similarity, br2_tally_name(overlap->base, function->name),
                   note_of(function));
}

static void put_functions(const struct br2_overlap_report *report, struct br2_buf *out)
{
    const struct br2_overlap *overlap = report->overlap;
    br2_buf_printf(out, "\n%8s %8s %8s %10s  %s\n", "base", "test", "change", "similarity",
                   "function");
    for (size_t i = 0; i < overlap->list_count && i < report->top; i++) {
        put_function(overlap, &overlap->list[i], out);
    }
    if (overlap->list_count > report->top) {
        br2_buf_printf(out, "%zu more changed less\n", overlap->list_count - report->top);
    }
}

int br2_overlap_refuse(const struct br2_overlap_report *report, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_USELESS, "neither '%s' nor '%s' has a function '%s'", report->base_path,
             report->test_path, report->function);
    br2_hint(err, "names are those of symbols: without --function they are printed");
    return BR2PGO_USELESS;
}

static int put_places(const struct br2_overlap_report *report, struct br2_buf *out,
                      struct br2pgo_error *err)
{
    const struct br2_overlap *overlap = report->overlap;
    const struct br2_overlap_function *function = br2_overlap_find(overlap, report->function);
    if (function == NULL) {
        return br2_overlap_refuse(report, err);
    }
    struct br2_overlap_place *places;
    size_t count;
    int rc = br2_overlap_places(overlap, function, &places, &count, err);
    if (rc != 0) {
        return rc;
    }
    br2_buf_printf(out, "%8s %8s %8s %10s  %s\n", "base", "test", "change", "similarity",
                   "function");
    put_function(overlap, function, out);
    br2_buf_printf(out, "\n%8s %14s %14s  %s\n", "change", "base", "test", "place");
    for (size_t i = 0; i < count && i < report->top; i++) {
        br2_buf_printf(out, "%+8.2f %14" PRIu64 " %14" PRIu64 "  ", PERCENT * places[i].change,
                       places[i].base, places[i].test);
        br2_tally_print_place(overlap->base, places[i].item, out);
        br2_buf_u8(out, '\n');
    }
    if (count > report->top) {
        br2_buf_printf(out, "%zu more changed less\n", count - report->top);
    }
    br2_free(places);
    return 0;
}

int br2_overlap_text(const struct br2_overlap_report *report, struct br2_buf *out,
                     struct br2pgo_error *err)
{
    put_sides(report, out);
    if (report->function != NULL) {
        return put_places(report, out, err);
    }
    put_whole(report->overlap, out);
    put_functions(report, out);
    return 0;
}
