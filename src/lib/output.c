/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All outputs or none. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "lib/all_images.h"
#include "lib/conversion.h"

static int encode(struct br2pgo_conversion *conversion, struct br2_target *target,
                  struct br2pgo_error *err)
{
    const struct br2_format *format = target->format;
    int rc;
    if (format->product == BR2_PRODUCT_PROFILE) {
        const struct br2_profile *profile =
            format->gcc_rules ? conversion->gcc_profile : conversion->profile;
        rc = br2_format_encode_profile(format, profile, &target->options, &target->bytes, err);
    } else if (format->product == BR2_PRODUCT_EDGES) {
        rc = br2_format_encode_edges(format, &conversion->edges, &target->bytes, err);
    } else if (format->product == BR2_PRODUCT_RANGES) {
        rc = br2_format_encode_ranges(format, &conversion->ranges, &target->bytes, err);
    } else {
        rc = br2_format_encode_flow(format, &conversion->block_flow, &target->options,
                                    &target->bytes, err);
    }
    if (rc != 0) {
        br2_prefix(err, "'%s'", target->path);
    }
    return rc;
}

/* "/data", "/data.0", "/data.1", ... */
static bool is_part_name(const char *name)
{
    if (strncmp(name, "/data", 5) != 0) {
        return false;
    }
    return name[5] == '\0' ||
           (name[5] == '.' && name[6] != '\0' && name[6 + strspn(name + 6, "0123456789")] == '\0');
}

/* Whether `place` is one of the files of a recording in several, named by their folder or by the
 * file `data` in it. */
static bool is_part_of(const char *recording, const char *place)
{
    char folder[PATH_MAX];
    struct stat st;
    if (stat(recording, &st) != 0 || realpath(recording, folder) == NULL) {
        return false;
    }
    size_t length = strlen(folder);
    if (!S_ISDIR(st.st_mode)) {
        if (strcmp(br2_base_name(folder), "data") != 0) {
            return false;
        }
        length -= strlen("/data");
    }
    return strncmp(place, folder, length) == 0 && is_part_name(place + length);
}

static bool is_at(const char *path, const char *place)
{
    char other[PATH_MAX];
    return path != NULL && br2_output_place(path, other) && strcmp(place, other) == 0;
}

int br2_refuse_twice(const char *path, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "output '%s' is named twice", path);
    br2_hint(err, "give every output a name of its own");
    return BR2PGO_INVALID;
}

/* Whether the conversion reads the file at `place`, as far as its files are known. */
static bool is_read(const struct br2pgo_conversion *conversion, const char *place)
{
    if (is_at(conversion->image_path, place) || is_at(conversion->options.debug_binary, place) ||
        (conversion->debug != NULL && is_at(br2_debug_path(conversion->debug), place))) {
        return true;
    }
    for (size_t i = 0; i < conversion->recording_count; i++) {
        if (is_at(conversion->recordings[i].path, place) ||
            is_part_of(conversion->recordings[i].path, place)) {
            return true;
        }
    }
    return false;
}

/* Whether a file written to `path` would replace one of the first `outputs` outputs, or an input.
 */
static int check_path(const struct br2pgo_conversion *conversion, const char *path, size_t outputs,
                      struct br2pgo_error *err)
{
    char place[PATH_MAX];
    if (!br2_output_place(path, place)) {
        return 0;
    }
    for (size_t i = 0; i < outputs; i++) {
        if (is_at(conversion->targets[i].path, place)) {
            return br2_refuse_twice(path, err);
        }
    }
    if (is_read(conversion, place)) {
        br2_fail(err, BR2PGO_INVALID, "output '%s' is a file to be read", path);
        br2_hint(err, "give the output another name, or what is read would be lost");
        return BR2PGO_INVALID;
    }
    return 0;
}

int br2_check_outputs(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = 0;
    if (conversion->options.all_images != 0 && !conversion->borrows_recordings) {
        return 0; /* patterns: each image's own outputs are checked */
    }
    for (size_t i = 0; rc == 0 && i < conversion->target_count; i++) {
        rc = check_path(conversion, conversion->targets[i].path, i, err);
    }
    return rc;
}

int br2pgo_check_path(const struct br2pgo_conversion *conversion, const char *path,
                      struct br2pgo_error *err)
{
    return check_path(conversion, path, conversion->target_count, err);
}

int br2_encode_targets(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < conversion->target_count; i++) {
        rc = br2_progress(conversion, "writing", i, conversion->target_count, err);
        rc = rc != 0 ? rc : encode(conversion, &conversion->targets[i], err);
    }
    return rc;
}

/* Outputs that are written together, or not at all. */
struct outputs {
    struct br2_target **items; /* owned array of what the conversions own */
    size_t count;
};

static bool collect_outputs(struct br2pgo_conversion *conversion, struct outputs *ret)
{
    size_t images = conversion->part_count != 0 ? conversion->part_count : 1;
    *ret = (struct outputs){0};
    ret->items = br2_calloc(images * conversion->target_count, sizeof(struct br2_target *));
    for (size_t i = 0; ret->items != NULL && i < images; i++) {
        struct br2pgo_conversion *part =
            conversion->part_count != 0 ? conversion->parts[i].conversion : conversion;
        for (size_t k = 0; part != NULL && k < part->target_count; k++) {
            ret->items[ret->count++] = &part->targets[k];
        }
    }
    return ret->items != NULL;
}

/* Writes the outputs that have a temporary file, or those that have none. */
static int write_all(const struct outputs *outputs, bool temporary, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < outputs->count; i++) {
        struct br2_target *target = outputs->items[i];
        if ((target->file.temporary != NULL) == temporary) {
            rc = br2_output_write(&target->file, target->bytes.bytes, target->bytes.size, err);
            rc = rc == 0 ? br2_output_flush(&target->file, err) : rc;
        }
    }
    return rc;
}

/* Moves the outputs into place. When one cannot be moved, those before it are put back. */
static int replace_all(const struct outputs *outputs, struct br2pgo_error *err)
{
    for (size_t i = 0; outputs->count > 1 && i < outputs->count; i++) {
        br2_output_keep_old(&outputs->items[i]->file);
    }
    int rc = 0;
    size_t done = 0;
    while (rc == 0 && done < outputs->count) {
        rc = br2_output_replace(&outputs->items[done]->file, err);
        done += rc == 0;
    }
    while (rc != 0 && done != 0) {
        br2_output_put_back(&outputs->items[--done]->file);
    }
    return rc;
}

static int write_outputs(const struct outputs *outputs, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < outputs->count; i++) {
        rc = br2_output_open(&outputs->items[i]->file, outputs->items[i]->path, err);
    }
    /* What goes to a pipe cannot be taken back: it goes when the files are certain. */
    rc = rc == 0 ? write_all(outputs, true, err) : rc;
    rc = rc == 0 ? write_all(outputs, false, err) : rc;
    rc = rc == 0 ? replace_all(outputs, err) : rc;
    for (size_t i = 0; i < outputs->count; i++) {
        br2_output_abandon(&outputs->items[i]->file);
        br2_buf_done(&outputs->items[i]->bytes);
    }
    return rc;
}

int br2pgo_write(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (!conversion->complete) {
        br2_fail(err, BR2PGO_INVALID, "nothing to write: the conversion has not run%s",
                 conversion->has_run ? " to its end" : "");
        br2_hint(err, "call br2pgo_run first, and br2pgo_write when it has succeeded");
        return BR2PGO_INVALID;
    }
    struct outputs outputs;
    if (!collect_outputs(conversion, &outputs)) {
        return br2_fail_memory(err);
    }
    /* Those of all images were encoded one by one while the images were at hand. */
    int rc = conversion->part_count == 0 ? br2_encode_targets(conversion, err) : 0;
    rc = rc == 0 ? write_outputs(&outputs, err) : rc;
    conversion->complete = conversion->part_count == 0; /* their bytes are gone */
    br2_free(outputs.items);
    return rc;
}
