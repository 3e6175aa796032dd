/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/all_images.h"

#include <string.h>

#include "base/mem.h"

void br2_image_parts_done(struct br2pgo_conversion *conversion)
{
    for (size_t i = 0; i < conversion->part_count; i++) {
        br2pgo_close(conversion->parts[i].conversion);
        br2_free(conversion->parts[i].path);
        br2_free(conversion->parts[i].reason);
    }
    br2_free(conversion->parts);
}

int br2_check_patterns(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (conversion->image_path != NULL || conversion->options.debug_binary != NULL) {
        br2_fail(err, BR2PGO_INVALID, "all images are asked for, and one is named");
        br2_hint(err, "leave --binary and --debug-binary out, or --all-images");
        return BR2PGO_INVALID;
    }
    for (size_t i = 0; i < conversion->target_count; i++) {
        if (strstr(conversion->targets[i].path, "%n") == NULL) {
            br2_fail(err, BR2PGO_INVALID, "output '%s' has one name for all images",
                     conversion->targets[i].path);
            br2_hint(err, "put %%n where the image's name is to stand, e.g. -o 'out/%%n.prof'");
            return BR2PGO_INVALID;
        }
    }
    return 0;
}

/* %n is the image's name, %x the format's usual suffix, %% a percent sign. */
static char *expand(const char *pattern, const char *name, const struct br2_format *format)
{
    struct br2_buf out = {0};
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%' || at[1] == '\0') {
            br2_buf_u8(&out, (uint8_t)*at);
            continue;
        }
        at++;
        if (*at == 'n') {
            br2_buf_str(&out, name);
        } else if (*at == 'x') {
            br2_buf_str(&out, format->suffixes[0] != NULL ? format->suffixes[0] + 1 : format->name);
        } else {
            br2_buf_put(&out, *at == '%' ? at : at - 1, *at == '%' ? 1 : 2);
        }
    }
    br2_buf_u8(&out, '\0');
    char *text = out.failed ? NULL : br2_strdup((const char *)out.bytes);
    br2_buf_done(&out);
    return text;
}

/* The image's base name; where an image before it has the same, with its number behind. */
static char *name_part(const struct br2pgo_conversion *conversion, size_t number)
{
    const char *name = br2_base_name(conversion->parts[number].path);
    for (size_t i = 0; i < number; i++) {
        if (strcmp(br2_base_name(conversion->parts[i].path), name) == 0) {
            return br2_format("%s-%zu", name, number + 1);
        }
    }
    return br2_strdup(name);
}

static int copy_targets(struct br2pgo_conversion *part, const struct br2pgo_conversion *whole,
                        const char *name)
{
    part->targets = br2_calloc(whole->target_count, sizeof *part->targets);
    if (part->targets == NULL) {
        return BR2PGO_NO_MEMORY;
    }
    for (size_t i = 0; i < whole->target_count; i++) {
        struct br2_target *target = &part->targets[part->target_count++];
        *target = whole->targets[i];
        target->path = expand(whole->targets[i].path, name, target->format);
        if (target->path == NULL) {
            return BR2PGO_NO_MEMORY;
        }
    }
    return 0;
}

/* A conversion for one image, with the recordings of the whole. */
static int begin_part(struct br2pgo_conversion *whole, size_t number,
                      struct br2pgo_conversion **ret, struct br2pgo_error *err)
{
    char *name = name_part(whole, number);
    struct br2pgo_conversion *part = NULL;
    int rc = name != NULL ? br2pgo_open(&whole->options, &part, err) : br2_fail_memory(err);
    if (rc == 0 && copy_targets(part, whole, name) != 0) {
        rc = br2_fail_memory(err);
    }
    br2_free(name);
    if (rc == 0) {
        part->recordings = whole->recordings;
        part->recording_count = whole->recording_count;
        part->borrows_recordings = true;
        part->has_run = true;
        rc = br2_take_recorded_image(part, whole->parts[number].path, err);
    }
    if (rc != 0) {
        br2pgo_close(part);
        return rc;
    }
    *ret = part;
    return 0;
}

/* What holds for one image only is no reason to give up the others. */
static bool is_reason(int status)
{
    return status != BR2PGO_NO_MEMORY && status != BR2PGO_CANCELLED && status != BR2PGO_INTERNAL;
}

/* A name with a number behind may be the very name of another image. */
static int check_names(const struct br2pgo_conversion *whole, const struct br2pgo_conversion *part,
                       struct br2pgo_error *err)
{
    for (size_t i = 0; i < whole->part_count; i++) {
        const struct br2pgo_conversion *other = whole->parts[i].conversion;
        for (size_t k = 0; other != NULL && k < other->target_count; k++) {
            if (strcmp(other->targets[k].path, part->targets[k].path) == 0) {
                return br2_refuse_twice(part->targets[k].path, err);
            }
        }
    }
    return 0;
}

static void pass_notes(struct br2pgo_conversion *whole, const struct br2pgo_conversion *part)
{
    for (size_t i = 0; i < part->note_count; i++) {
        br2_note(whole, part->notes[i].kind, "%s", part->notes[i].text);
    }
}

static int run_part(struct br2pgo_conversion *whole, size_t number, struct br2pgo_error *err)
{
    struct br2_image_part *part = &whole->parts[number];
    if (part->records < BR2_IMAGE_RECORDS_MIN) {
        part->reason = br2_format("fewer than %d branch records", BR2_IMAGE_RECORDS_MIN);
        return part->reason != NULL ? 0 : br2_fail_memory(err);
    }
    struct br2pgo_conversion *conversion;
    int rc = begin_part(whole, number, &conversion, err);
    if (rc != 0) {
        return rc;
    }
    struct br2pgo_error reason = {0};
    rc = check_names(whole, conversion, &reason);
    rc = rc == 0 ? br2_run_image(conversion, &reason) : rc;
    rc = rc == 0 ? br2_encode_targets(conversion, &reason) : rc;
    if (rc == 0) {
        pass_notes(whole, conversion);
        br2_forget_image(conversion);
        part->conversion = conversion;
        return 0;
    }
    br2pgo_close(conversion);
    if (is_reason(rc)) {
        part->reason = br2_strdup(reason.message);
        return part->reason != NULL ? 0 : br2_fail_memory(err);
    }
    if (err != NULL) {
        *err = reason;
    }
    return rc;
}

int br2_run_all_images(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_list_images(conversion, err);
    size_t made = 0;
    for (size_t i = 0; rc == 0 && i < conversion->part_count; i++) {
        rc = br2_progress(conversion, "making profiles", i, conversion->part_count, err);
        rc = rc != 0 ? rc : run_part(conversion, i, err);
        made += conversion->parts[i].conversion != NULL;
    }
    if (rc == 0 && made == 0) {
        br2_fail(err, BR2PGO_USELESS, "no image of the recording can be made a profile of");
        br2_hint(err, "%s",
                 conversion->part_count != 0 ? "the table says why, image by image"
                                             : "no branch record lies in a file");
        rc = BR2PGO_USELESS;
    }
    return rc;
}

int br2pgo_image_result(const struct br2pgo_conversion *conversion, size_t index,
                        struct br2pgo_image_result *ret)
{
    if (index >= conversion->part_count) {
        return BR2PGO_INVALID;
    }
    const struct br2_image_part *part = &conversion->parts[index];
    *ret = (struct br2pgo_image_result){
        .path = part->path,
        .records = part->records,
        .share = part->share,
        .output = part->conversion != NULL ? part->conversion->targets[0].path : NULL,
        .reason = part->reason,
    };
    return 0;
}
