/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <jansson.h>

#include "base/mem.h"
#include "report/json.h"
#include "report/tally_report.h"

static json_t *place_json(const struct br2_tally *tally, const struct br2_tally_item *item)
{
    struct br2_buf text = {0};
    br2_tally_print_place(tally, item, &text);
    br2_buf_u8(&text, '\0');
    json_t *object = json_object();
    json_object_set_new(object, "place",
                        text.failed ? NULL : br2_json_string((const char *)text.bytes));
    json_object_set_new(object, "count", br2_json_count(item->count));
    br2_buf_done(&text);
    return br2_json_whole(object, 2);
}

static json_t *function_json(const struct br2_tally *tally,
                             const struct br2_tally_function *function)
{
    json_t *places = json_array();
    for (size_t i = 0; i < function->item_count; i++) {
        json_array_append_new(places, place_json(tally, &tally->items[function->first + i]));
    }
    json_t *object = json_object();
    json_object_set_new(object, "name", br2_json_string(br2_tally_name(tally, function->name)));
    json_object_set_new(object, "count", br2_json_count(function->sum));
    json_object_set_new(object, "share", br2_json_share(function->sum, tally->sum));
    json_object_set_new(object, "head", br2_json_count(function->head));
    json_object_set_new(object, "places", br2_json_whole(places, function->item_count));
    return br2_json_whole(object, 5);
}

int br2_tally_json(const struct br2_tally *tally, const char *path, const char *format,
                   struct br2_buf *out, struct br2pgo_error *err)
{
    const struct br2_tally_function **ranking = br2_tally_ranking(tally);
    if (ranking == NULL) {
        return br2_fail_memory(err);
    }
    json_t *functions = json_array();
    for (size_t i = 0; i < tally->function_count; i++) {
        json_array_append_new(functions, function_json(tally, ranking[i]));
    }
    br2_free(ranking);
    json_t *object = json_object();
    json_object_set_new(object, "version", json_integer(1));
    json_object_set_new(object, "path", br2_json_string(path));
    json_object_set_new(object, "format", br2_json_string(format));
    json_object_set_new(object, "count", br2_json_count(tally->sum));
    json_object_set_new(object, "functions", br2_json_whole(functions, tally->function_count));
    return br2_json_write(object, 5, out, err);
}
