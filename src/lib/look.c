/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report for people: what is wanted of it, and making it of a conversion that has run. */
#include <jansson.h>

#include "lib/conversion.h"
#include "lib/text.h"
#include "report/json.h"
#include "report/page.h"
#include "report/report.h"

static int refuse_all_images(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "a report is of one image, and all are asked for");
    br2_hint(err, "leave all_images out, and name the image where it is not the program");
    return BR2PGO_INVALID;
}

int br2pgo_want_report(struct br2pgo_conversion *conversion,
                       const struct br2pgo_report_options *options, struct br2pgo_error *err)
{
    struct br2pgo_report_options taken = BR2PGO_REPORT_OPTIONS_INIT;
    int rc = br2_check_not_run(conversion, err);
    if (rc == 0 && options != NULL) {
        rc = br2_check_size(options->size, sizeof taken, "struct br2pgo_report_options", err);
        taken = rc == 0 ? *options : taken;
    }
    rc = rc == 0 && conversion->options.all_images ? refuse_all_images(err) : rc;
    rc = rc != 0 ? rc : br2_report_check_sections(taken.sections, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_wanted_report wanted = {.any = true, .options = taken};
    wanted.options.sections = taken.sections != NULL ? br2_strdup(taken.sections) : NULL;
    wanted.options.function = taken.function != NULL ? br2_strdup(taken.function) : NULL;
    br2_wanted_report_done(&conversion->wanted);
    conversion->wanted = wanted;
    if ((taken.sections != NULL && wanted.options.sections == NULL) ||
        (taken.function != NULL && wanted.options.function == NULL)) {
        return br2_fail_memory(err);
    }
    return 0;
}

void br2_wanted_report_done(struct br2_wanted_report *wanted)
{
    br2_free((void *)(uintptr_t)wanted->options.sections);
    br2_free((void *)(uintptr_t)wanted->options.function);
    *wanted = (struct br2_wanted_report){0};
}

/* Source lines are taken where they are: a report can do without. */
static int open_debug(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (conversion->debug != NULL) {
        return 0;
    }
    return br2_find_debug(conversion, err);
}

static struct br2_report_input input_of(const struct br2pgo_conversion *conversion)
{
    struct br2_report_input input = {
        .graph = conversion->graph,
        .debug = br2_debug_quality(conversion->debug)->has_line_table ? conversion->debug : NULL,
        .sections = conversion->wanted.options.sections,
        .function = conversion->wanted.options.function,
        .top = conversion->wanted.options.top,
        .raw_names = conversion->wanted.options.raw_names != 0,
    };
    input.histories = &conversion->histories;
    double weighed = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        input.samples += recording->stats.samples;
        input.records += recording->stats.records;
        weighed += (double)recording->stats.records * (double)recording->factor;
    }
    input.evidence = weighed > 0 ? (double)input.records / weighed : 1;
    return input;
}

static json_t *image_json(const struct br2pgo_conversion *conversion)
{
    char id[2 * BR2_BUILD_ID_MAX + 1];
    br2_build_id_text(br2_image_build_id(conversion->image), id);
    json_t *object = json_object();
    json_object_set_new(object, "path", br2_json_string(br2_image_path(conversion->image)));
    json_object_set_new(object, "build_id", id[0] != '\0' ? json_string(id) : json_null());
    return br2_json_whole(object, 2);
}

#define MEMBERS 7

/* NULL, or an object with fewer MEMBERS, when memory runs out. */
static json_t *report_object(const struct br2pgo_conversion *conversion,
                             const struct br2_report_input *input, json_t *tables)
{
    bool predictions = conversion->graph->predictions_known;
    json_t *object = json_object();
    json_object_set_new(object, "schema_version", json_integer(1));
    json_object_set_new(object, "br2pgo", json_string(BR2PGO_VERSION));
    json_object_set_new(object, "image", image_json(conversion));
    json_object_set_new(object, "samples", br2_json_count(input->samples));
    json_object_set_new(object, "branch_records", br2_json_count(input->records));
    json_object_set_new(object, "predictions_known", json_boolean(predictions));
    json_object_set_new(object, "tables", tables);
    return object;
}

static void write_heading(const struct br2pgo_conversion *conversion,
                          const struct br2_report_input *input, struct br2_buf *out)
{
    br2_buf_printf(out, "%s: %llu samples with %llu branch records\n\n",
                   br2_image_path(conversion->image), (unsigned long long)input->samples,
                   (unsigned long long)input->records);
}

static int write_report(struct br2pgo_conversion *conversion, int form, struct br2_buf *out,
                        struct br2pgo_error *err)
{
    int rc = open_debug(conversion, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_report_input input = input_of(conversion);
    struct br2_report *report;
    rc = br2_report_make(&input, &report, err);
    if (rc != 0) {
        return rc;
    }
    json_t *object;
    switch (form) {
    case BR2PGO_REPORT_JSON:
        object = report_object(conversion, &input, br2_report_json(report, false));
        rc = br2_json_write(object, MEMBERS, out, err);
        break;
    case BR2PGO_REPORT_HTML:
        object = report_object(conversion, &input, br2_report_json(report, true));
        rc = br2_report_page(object, MEMBERS, out, err);
        break;
    case BR2PGO_REPORT_CSV:
        br2_report_csv(report, out);
        break;
    default:
        write_heading(conversion, &input, out);
        br2_report_text(report, form == BR2PGO_REPORT_COLOR, out);
        break;
    }
    br2_report_free(report);
    return rc;
}

int br2pgo_make_report(struct br2pgo_conversion *conversion, int form, char **ret,
                       struct br2pgo_error *err)
{
    struct br2_buf out = {0};
    *ret = NULL;
    if (!conversion->complete || !conversion->wanted.any) {
        br2_fail(err, BR2PGO_INVALID, "no report: the conversion has not run to its end with one");
        br2_hint(err, "call br2pgo_want_report, then br2pgo_run, and this when it has succeeded");
        return BR2PGO_INVALID;
    }
    if (form < BR2PGO_REPORT_TEXT || form > BR2PGO_REPORT_HTML) {
        br2_fail(err, BR2PGO_INVALID, "unknown form %d of a report", form);
        br2_hint(err, "it is one of enum br2pgo_report_form");
        return BR2PGO_INVALID;
    }
    int rc = write_report(conversion, form, &out, err);
    return br2_take_text(rc, &out, ret, err);
}
