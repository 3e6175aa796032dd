/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All outputs or none. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    } else {
        rc = br2_format_encode_flow(format, &conversion->block_flow, &target->bytes, err);
    }
    if (rc != 0) {
        br2_prefix(err, "'%s'", target->path);
    }
    return rc;
}

/* Where a file is, or would be: the same for all its names. False for standard output, devices and
 * pipes, which nothing replaces, and where there is no such folder. */
static bool place_of(const char *path, char place[PATH_MAX])
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        return false;
    }
    if (realpath(path, place) != NULL) {
        return true;
    }
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = slash != NULL ? (int)(slash + 1 - path) : 1;
    int size = snprintf(folder, sizeof folder, "%.*s", length, slash != NULL ? path : ".");
    if (size < 0 || size >= PATH_MAX || realpath(folder, place) == NULL) {
        return false;
    }
    size_t used = strcmp(place, "/") != 0 ? strlen(place) : 0;
    size = snprintf(place + used, PATH_MAX - used, "/%s", name);
    return size >= 0 && (size_t)size < PATH_MAX - used;
}

static bool is_at(const char *path, const char *place)
{
    char other[PATH_MAX];
    return path != NULL && place_of(path, other) && strcmp(place, other) == 0;
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
        if (is_at(conversion->recordings[i].path, place)) {
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
    if (!place_of(path, place)) {
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

static int encode_all(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < conversion->target_count; i++) {
        rc = br2_progress(conversion, "writing", i, conversion->target_count, err);
        rc = rc != 0 ? rc : encode(conversion, &conversion->targets[i], err);
    }
    return rc;
}

/* Writes the outputs that have a temporary file, or those that have none. */
static int write_all(struct br2pgo_conversion *conversion, bool temporary, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < conversion->target_count; i++) {
        struct br2_target *target = &conversion->targets[i];
        if ((target->file.temporary != NULL) == temporary) {
            rc = br2_output_write(&target->file, target->bytes.bytes, target->bytes.size, err);
            rc = rc == 0 ? br2_output_flush(&target->file, err) : rc;
        }
    }
    return rc;
}

/* Moves the outputs into place. When one cannot be moved, those before it are put back. */
static int replace_all(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    size_t count = conversion->target_count;
    for (size_t i = 0; count > 1 && i < count; i++) {
        br2_output_keep_old(&conversion->targets[i].file);
    }
    int rc = 0;
    size_t done = 0;
    while (rc == 0 && done < count) {
        rc = br2_output_replace(&conversion->targets[done].file, err);
        done += rc == 0;
    }
    while (rc != 0 && done != 0) {
        br2_output_put_back(&conversion->targets[--done].file);
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
    size_t count = conversion->target_count;
    int rc = encode_all(conversion, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = br2_output_open(&conversion->targets[i].file, conversion->targets[i].path, err);
    }
    /* What goes to a pipe cannot be taken back: it goes when the files are certain. */
    rc = rc == 0 ? write_all(conversion, true, err) : rc;
    rc = rc == 0 ? write_all(conversion, false, err) : rc;
    rc = rc == 0 ? replace_all(conversion, err) : rc;
    for (size_t i = 0; i < count; i++) {
        br2_output_abandon(&conversion->targets[i].file);
        br2_buf_done(&conversion->targets[i].bytes);
    }
    return rc;
}
