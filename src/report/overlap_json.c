/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two profiles side by side, as JSON. */
#include <jansson.h>

#include "base/mem.h"
#include "report/json.h"
#include "report/overlap_report.h"

static json_t *side_json(const char *path, const char *format, const struct br2_tally *tally)
{
    json_t *object = json_object();
    json_object_set_new(object, "path", br2_json_string(path));
    json_object_set_new(object, "format", br2_json_string(format));
    json_object_set_new(object, "samples", br2_json_count(tally->sum));
    json_object_set_new(object, "functions", br2_json_count(tally->function_count));
    return br2_json_whole(object, 4);
}

static json_t *counts_json(const struct br2_overlap_counts *counts)
{
    size_t all = counts->both + counts->base_only + counts->test_only;
    json_t *object = json_object();
    json_object_set_new(object, "overlap", br2_json_share(counts->both, all));
    json_object_set_new(object, "both", br2_json_count(counts->both));
    json_object_set_new(object, "base_only", br2_json_count(counts->base_only));
    json_object_set_new(object, "test_only", br2_json_count(counts->test_only));
    return br2_json_whole(object, 4);
}

static json_t *function_json(const struct br2_overlap *overlap,
                             const struct br2_overlap_function *function)
{
    const struct br2_overlap_sums *sums = &function->sums;
    json_t *object = json_object();
    json_object_set_new(object, "name",
                        br2_json_string(br2_tally_name(overlap->base, function->name)));
    json_object_set_new(object, "base", br2_json_count(sums->base));
    json_object_set_new(object, "test", br2_json_count(sums->test));
    json_object_set_new(object, "base_share", json_real(function->base_share));
    json_object_set_new(object, "test_share", json_real(function->test_share));
    json_object_set_new(object, "similarity", json_real(function->similarity));
    json_object_set_new(object, "overlap", json_real(br2_overlap_share(sums)));
    json_object_set_new(object, "new", json_boolean(function->base == NULL));
    json_object_set_new(object, "vanished", json_boolean(function->test == NULL));
    return br2_json_whole(object, 9);
}

static json_t *functions_json(const struct br2_overlap_report *report)
{
    const struct br2_overlap *overlap = report->overlap;
    size_t count = overlap->list_count < report->top ? overlap->list_count : report->top;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array, function_json(overlap, &overlap->list[i]));
    }
    return br2_json_whole(array, count);
}

static json_t *place_json(const struct br2_overlap *overlap, const struct br2_overlap_place *place)
{
    struct br2_buf text = {0};
    br2_tally_print_place(overlap->base, place->item, &text);
    br2_buf_u8(&text, '\0');
    json_t *object = json_object();
    json_object_set_new(object, "place",
                        text.failed ? NULL : br2_json_string((const char *)text.bytes));
    json_object_set_new(object, "base", br2_json_count(place->base));
    json_object_set_new(object, "test", br2_json_count(place->test));
    json_object_set_new(object, "change", json_real(place->change));
    br2_buf_done(&text);
    return br2_json_whole(object, 4);
}

/* The one function, with its places. */
static json_t *detail_json(const struct br2_overlap_report *report,
                           const struct br2_overlap_function *function)
{
    struct br2_overlap_place *places;
    size_t count;
    if (br2_overlap_places(report->overlap, function, &places, &count, NULL) != 0) {
        return NULL;
    }
    size_t shown = count < report->top ? count : report->top;
    json_t *array = json_array();
    for (size_t i = 0; i < shown; i++) {
        json_array_append_new(array, place_json(report->overlap, &places[i]));
    }
    br2_free(places);
    json_t *object = function_json(report->overlap, function);
    json_object_set_new(object, "places", br2_json_whole(array, shown));
    return br2_json_whole(object, 10);
}

int br2_overlap_json(const struct br2_overlap_report *report, struct br2_buf *out,
                     struct br2pgo_error *err)
{
    const struct br2_overlap *overlap = report->overlap;
    const struct br2_overlap_sums *sums = &overlap->sums;
    const struct br2_overlap_function *function = NULL;
    if (report->function != NULL) {
        function = br2_overlap_find(overlap, report->function);
        if (function == NULL) {
            return br2_overlap_refuse(report, err);
        }
    }
    json_t *object = json_object();
    json_object_set_new(object, "version", json_integer(1));
    json_object_set_new(object, "base",
                        side_json(report->base_path, report->base_format, overlap->base));
    json_object_set_new(object, "test",
                        side_json(report->test_path, report->test_format, overlap->test));
    json_object_set_new(object, "similarity", json_real(overlap->similarity));
    json_object_set_new(object, "sample_overlap", json_real(br2_overlap_share(sums)));
    json_object_set_new(object, "share_overlap", json_real(overlap->shares));
    json_object_set_new(object, "base_only", br2_json_share(sums->base_only, sums->base));
    json_object_set_new(object, "test_only", br2_json_share(sums->test_only, sums->test));
    json_object_set_new(object, "functions_in", counts_json(&overlap->functions));
    json_object_set_new(object, "hot_functions_in", counts_json(&overlap->hot_functions));
    json_object_set_new(object, "hot_places_in", counts_json(&overlap->hot_places));
    json_object_set_new(object, "coverage", json_real(overlap->covered));
    json_object_set_new(object, function != NULL ? "function" : "functions",
                        function != NULL ? detail_json(report, function) : functions_json(report));
    return br2_json_write(object, 13, out, err);
}
