/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A conversion as one JSON object. */
#include <jansson.h>

#include "lib/conversion.h"
#include "lib/text.h"
#include "report/json.h"

static json_t *inputs_json(const struct br2pgo_conversion *conversion)
{
    json_t *array = json_array();
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        json_t *object = json_object();
        json_object_set_new(object, "path", br2_json_string(recording->path));
        json_object_set_new(object, "samples", br2_json_count(recording->stats.samples));
        json_object_set_new(object, "branch_records", br2_json_count(recording->stats.records));
        json_object_set_new(object, "factor", br2_json_count(recording->factor));
        json_array_append_new(array, br2_json_whole(object, 4));
    }
    return br2_json_whole(array, conversion->recording_count);
}

static json_t *image_json(const struct br2pgo_conversion *conversion)
{
    if (conversion->image == NULL) {
        return json_null();
    }
    char id[2 * BR2_BUILD_ID_MAX + 1];
    br2_build_id_text(br2_image_build_id(conversion->image), id);
    json_t *object = json_object();
    json_object_set_new(object, "path", br2_json_string(br2_image_path(conversion->image)));
    json_object_set_new(object, "build_id", id[0] != '\0' ? json_string(id) : json_null());
    json_object_set_new(object, "chosen", json_boolean(conversion->image_chosen));
    return br2_json_whole(object, 3);
}

/* With all_images: what became of each. */
static json_t *images_json(const struct br2pgo_conversion *conversion)
{
    json_t *array = json_array();
    struct br2pgo_image_result image;
    for (size_t i = 0; br2pgo_image_result(conversion, i, &image) == 0; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "path", br2_json_string(image.path));
        json_object_set_new(object, "records", br2_json_count(image.records));
        json_object_set_new(object, "share", json_real(image.share));
        json_object_set_new(object, "output", br2_json_string(image.output));
        json_object_set_new(object, "reason", br2_json_string(image.reason));
        json_array_append_new(array, br2_json_whole(object, 5));
    }
    return br2_json_whole(array, conversion->part_count);
}

static json_t *outputs_json(const struct br2pgo_conversion *conversion)
{
    json_t *array = json_array();
    for (size_t i = 0; i < conversion->target_count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "path", br2_json_string(conversion->targets[i].path));
        json_object_set_new(object, "format", json_string(conversion->targets[i].format->name));
        json_array_append_new(array, br2_json_whole(object, 2));
    }
    return br2_json_whole(array, conversion->target_count);
}

static json_t *funnel_json(const struct br2pgo_conversion *conversion)
{
    json_t *array = json_array();
    for (size_t i = 0; i < conversion->funnel_count; i++) {
        const struct br2pgo_funnel_row *row = &conversion->funnel[i];
        json_t *object = json_object();
        json_object_set_new(object, "stage", json_string(row->stage));
        json_object_set_new(object, "reason", json_string(row->reason));
        json_object_set_new(object, "count", br2_json_count(row->count));
        json_object_set_new(object, "share", json_real(row->share));
        json_array_append_new(array, br2_json_whole(object, 4));
    }
    return br2_json_whole(array, conversion->funnel_count);
}

static json_t *notes_json(const struct br2pgo_conversion *conversion)
{
    json_t *array = json_array();
    for (size_t i = 0; i < conversion->note_count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "warning",
                            json_boolean(conversion->notes[i].kind == BR2PGO_NOTE_WARNING));
        json_object_set_new(object, "text", br2_json_string(conversion->notes[i].text));
        json_array_append_new(array, br2_json_whole(object, 2));
    }
    return br2_json_whole(array, conversion->note_count);
}

int br2pgo_report_json(const struct br2pgo_conversion *conversion, char **ret,
                       struct br2pgo_error *err)
{
    struct br2_buf out = {0};
    *ret = NULL;
    json_t *object = json_object();
    json_object_set_new(object, "schema_version", json_integer(1));
    json_object_set_new(object, "br2pgo", json_string(BR2PGO_VERSION));
    json_object_set_new(object, "inputs", inputs_json(conversion));
    json_object_set_new(object, "image", image_json(conversion));
    json_object_set_new(object, "images", images_json(conversion));
    json_object_set_new(object, "outputs", outputs_json(conversion));
    json_object_set_new(object, "functions", br2_json_count(conversion->build_stats.functions));
    json_object_set_new(object, "funnel", funnel_json(conversion));
    json_object_set_new(object, "notes", notes_json(conversion));
    int rc = br2_json_write(object, 9, &out, err);
    return br2_take_text(rc, &out, ret, err);
}
