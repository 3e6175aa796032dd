/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/summary.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "record/perf_command.h"

/* With fewer samples than this a profile says little. */
#define FEW_SAMPLES 100

static uint64_t count_of(const json_t *object, const char *section, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(json_object_get(object, section), name));
    return value > 0 ? (uint64_t)value : 0;
}

static int take_images(const json_t *images, struct br2_summary *ret, struct br2pgo_error *err)
{
    for (size_t i = 0; i < json_array_size(images) && ret->image_count < BR2_SUMMARY_IMAGES; i++) {
        const json_t *image = json_array_get(images, i);
        const char *path = json_string_value(json_object_get(image, "path"));
        if (path == NULL || json_integer_value(json_object_get(image, "records")) == 0) {
            continue;
        }
        struct br2_summary_image *to = &ret->images[ret->image_count];
        to->share = json_number_value(json_object_get(image, "share"));
        to->path = br2_strdup(path);
        if (to->path == NULL) {
            return br2_fail_memory(err);
        }
        br2_make_printable(to->path, strlen(to->path));
        ret->image_count++;
    }
    return 0;
}

int br2_summary_read(const char *path, struct br2_summary *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_summary){0};
    char *text;
    int rc = br2pgo_inspect(path, 1, &text, err);
    if (rc != 0) {
        return rc;
    }
    json_t *object = json_loads(text, 0, NULL);
    br2pgo_free(text);
    if (object == NULL) {
        return br2_fail_memory(err);
    }
    const char *state = json_string_value(json_object_get(object, "state"));
    ret->whole = state != NULL && strcmp(state, "whole") == 0;
    ret->samples = count_of(object, "branches", "samples");
    ret->records = count_of(object, "branches", "records");
    json_int_t bytes = json_integer_value(json_object_get(object, "trace_bytes"));
    ret->trace_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    ret->lost = count_of(object, "losses", "lost_records");
    rc = take_images(json_object_get(object, "images"), ret, err);
    json_decref(object);
    return rc;
}

void br2_summary_done(struct br2_summary *summary)
{
    for (size_t i = 0; i < summary->image_count; i++) {
        br2_free(summary->images[i].path);
    }
    *summary = (struct br2_summary){0};
}

static bool is_library(const char *path)
{
    return strstr(br2_base_name(path), ".so") != NULL;
}

/* The busiest image that is neither a library nor the kernel: what a profile is wanted for. */
static const char *program_name(const struct br2_summary *summary)
{
    for (size_t i = 0; i < summary->image_count; i++) {
        const char *path = summary->images[i].path;
        if (path[0] == '/' && !is_library(path)) {
            return br2_base_name(path);
        }
    }
    return "program";
}

static void print_next(const struct br2_summary *summary, const char *path, bool all_images)
{
    struct br2_buf text = {0};
    br2_quote_word(&text, path);
    if (all_images || is_library(summary->images[0].path)) {
        br2_buf_str(&text, " --all-images -o %n.prof");
    } else {
        char *output = br2_format("%s.prof", program_name(summary));
        br2_buf_str(&text, " -o ");
        br2_quote_word(&text, output != NULL ? output : "program.prof");
        br2_free(output);
    }
    br2_buf_u8(&text, '\0');
    if (!text.failed) {
        fprintf(stderr, "br2pgo: next: br2pgo %s (for clang; .gcov for GCC, .fdata for BOLT)\n",
                (const char *)text.bytes);
    }
    br2_buf_done(&text);
}

/* Of a trace nothing is known before it is decoded with the program that ran. */
static void print_trace(const struct br2_summary *summary, const char *path)
{
    struct br2_buf text = {0};
    br2_quote_word(&text, path);
    br2_buf_u8(&text, '\0');
    fprintf(stderr, "br2pgo: wrote '%s': %llu bytes of an instruction trace\n", path,
            (unsigned long long)summary->trace_bytes);
    if (!text.failed) {
        fprintf(stderr,
                "br2pgo: next: br2pgo %s --binary PROGRAM -o PROGRAM.prof (for clang; .gcov for "
                "GCC, .fdata for BOLT)\n",
                (const char *)text.bytes);
    }
    br2_buf_done(&text);
}

void br2_summary_print(const struct br2_summary *summary, const char *path, bool all_images)
{
    if (summary->trace_bytes != 0) {
        print_trace(summary, path);
        return;
    }
    fprintf(stderr, "br2pgo: wrote '%s': %llu branch records in %llu samples\n", path,
            (unsigned long long)summary->records, (unsigned long long)summary->samples);
    for (size_t i = 0; i < summary->image_count; i++) {
        fprintf(stderr, "%14.2f%%  %s\n", 100 * summary->images[i].share, summary->images[i].path);
    }
    if (summary->lost != 0) {
        fprintf(stderr, "br2pgo: warning: %llu samples were lost; a larger --period loses fewer\n",
                (unsigned long long)summary->lost);
    }
    if (summary->samples < FEW_SAMPLES) {
        fprintf(stderr, "br2pgo: warning: few samples; run longer, or with a smaller --period\n");
    }
    if (summary->image_count != 0) {
        print_next(summary, path, all_images);
    }
}
