/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <jansson.h>

#include "base/mem.h"
#include "report/inspect_private.h"
#include "report/json.h"

static json_t *event_json(const struct br2_event_info *event)
{
    char mode[256];
    json_t *object = json_object();
    json_object_set_new(object, "name", br2_json_string(event->name));
    json_object_set_new(object, "samples", br2_json_count(event->samples));
    json_object_set_new(object, event->frequency ? "frequency" : "period",
                        br2_json_count(event->period_or_frequency));
    json_object_set_new(object, "branch_records", json_boolean(event->has_branch_stacks));
    br2_branch_mode_text(event->branch_sample_type, mode, sizeof mode);
    json_object_set_new(object, "branch_mode",
                        event->has_branch_stacks ? json_string(mode) : json_null());
    json_object_set_new(object, "exclude_kernel", json_boolean(event->exclude_kernel));
    json_object_set_new(object, "exclude_user", json_boolean(event->exclude_user));
    return br2_json_whole(object, 7);
}

static json_t *events_json(const struct br2_recording_info *info)
{
    json_t *array = json_array();
    for (size_t i = 0; i < info->event_count; i++) {
        json_array_append_new(array, event_json(&info->events[i]));
    }
    return br2_json_whole(array, info->event_count);
}

static json_t *image_json(const struct br2_inspected_image *image, uint64_t records)
{
    char id[2 * BR2_BUILD_ID_MAX + 1];
    br2_build_id_text(&image->dso->build_id, id);
    json_t *object = json_object();
    json_object_set_new(object, "path", br2_json_string(image->dso->path));
    json_object_set_new(object, "build_id", id[0] != '\0' ? json_string(id) : json_null());
    json_object_set_new(object, "deleted", json_boolean(image->dso->deleted));
    json_object_set_new(object, "records", br2_json_count(image->records));
    json_object_set_new(object, "share", br2_json_share(image->records, records));
    return br2_json_whole(object, 5);
}

static json_t *images_json(const struct br2_inspection *inspection)
{
    struct br2_inspected_image *images;
    size_t count;
    if (br2_inspect_order(inspection, &images, &count) != 0) {
        return NULL;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array, image_json(&images[i], inspection->stats->records));
    }
    br2_free(images);
    return br2_json_whole(array, count);
}

static json_t *losses_json(const struct br2_recording_info *info)
{
    json_t *object = json_object();
    json_object_set_new(object, "lost_records", br2_json_count(info->lost_records));
    json_object_set_new(object, "unknown_event_samples",
                        br2_json_count(info->unknown_event_samples));
    json_object_set_new(object, "malformed_records", br2_json_count(info->malformed_records));
    json_object_set_new(object, "unknown_records", br2_json_count(info->unknown_records));
    json_object_set_new(object, "throttled", br2_json_count(info->throttled));
    json_object_set_new(object, "bytes_lost", br2_json_count(info->bytes_lost));
    return br2_json_whole(object, 6);
}

static json_t *branches_json(const struct br2_inspection *inspection)
{
    const struct br2_count_stats *stats = inspection->stats;
    json_t *object = json_object();
    json_object_set_new(object, "samples", br2_json_count(stats->samples));
    json_object_set_new(object, "records", br2_json_count(stats->records));
    json_object_set_new(object, "depth", br2_json_count(stats->depth));
    json_object_set_new(object, "with_prediction", br2_json_count(stats->predictions));
    json_object_set_new(object, "wrong_path", br2_json_count(stats->wrong_path));
    json_object_set_new(object, "not_taken", br2_json_count(stats->not_taken));
    json_object_set_new(object, "empty", br2_json_count(stats->empty));
    json_object_set_new(object, "stale", br2_json_count(stats->stale));
    json_object_set_new(object, "unmapped", br2_json_count(br2_inspect_unmapped(inspection)));
    return br2_json_whole(object, 9);
}

int br2_inspect_json(const struct br2_inspection *inspection, struct br2_buf *out,
                     struct br2pgo_error *err)
{
    const struct br2_recording_info *info = inspection->info;
    json_t *object = json_object();
    json_object_set_new(object, "schema_version", json_integer(1));
    json_object_set_new(object, "file", br2_json_string(inspection->path));
    json_object_set_new(object, "container", br2_json_string(info->container));
    json_object_set_new(object, "big_endian", json_boolean(info->big_endian));
    json_object_set_new(object, "compressed", json_boolean(info->compressed));
    json_object_set_new(object, "state", json_string(br2_truncation_text(info->truncation)));
    json_object_set_new(object, "recorder", br2_json_string(info->perf_version));
    json_object_set_new(object, "command", br2_json_string(info->command_line));
    json_object_set_new(object, "machine", br2_json_string(info->arch));
    json_object_set_new(object, "processor", br2_json_string(info->cpu_description));
    json_object_set_new(object, "kernel", br2_json_string(info->os_release));
    const char *trace = info->trace_kind != NULL ? info->trace_kind : "unknown";
    json_object_set_new(object, "trace", info->has_trace ? br2_json_string(trace) : json_null());
    size_t members = 16;
    if (inspection->trace_streams != 0) {
        json_object_set_new(object, "trace_streams", br2_json_count(inspection->trace_streams));
        json_object_set_new(object, "trace_bytes", br2_json_count(inspection->trace_bytes));
        json_object_set_new(object, "trace_gaps", br2_json_count(inspection->trace_gaps));
        members += 3;
    }
    json_object_set_new(object, "events", events_json(info));
    json_object_set_new(object, "branches", branches_json(inspection));
    json_object_set_new(object, "losses", losses_json(info));
    json_object_set_new(object, "images", images_json(inspection));
    return br2_json_write(object, members, out, err);
}
