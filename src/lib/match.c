/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/match.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

const char *br2_image_root(const struct br2pgo_conversion *conversion, size_t *ret_length)
{
    const char *root = conversion->options.sysroot != NULL ? conversion->options.sysroot : "";
    *ret_length = strlen(root);
    while (*ret_length != 0 && root[*ret_length - 1] == '/') {
        --*ret_length;
    }
    return root;
}

struct br2_file_identity br2_identify(const struct br2pgo_conversion *conversion)
{
    struct br2_file_identity file = {0};
    if (stat(conversion->image_path, &file.st) != 0) {
        file.st.st_ino = 0;
    }
    if (realpath(conversion->image_path, file.real) == NULL) {
        file.real[0] = '\0';
    }
    return file;
}

struct fit {
    const struct br2_image *image;
    bool fits;
};

/* Whether code can be where a mapping says: its first byte in the file is in a code segment's
 * pages. */
static void check_mapping(void *user, const struct br2_mapping *mapping)
{
    struct fit *fit = user;
    const struct br2_segment *segments;
    size_t count = br2_image_segments(fit->image, &segments);
    uint64_t length = mapping->end - mapping->start;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = segments[i].mapped_offset;
        if (mapping->file_offset <= first && first - mapping->file_offset < length) {
            fit->fits = true;
        }
    }
}

static bool mappings_fit(const struct br2_recording *recording, uint32_t dso,
                         const struct br2_image *image)
{
    struct fit fit = {.image = image};
    br2_spaces_each_mapping(br2_recording_spaces(recording), dso, check_mapping, &fit);
    return fit.fits;
}

static bool same_path(const struct br2pgo_conversion *conversion, const struct br2_dso *dso,
                      const struct br2_file_identity *file)
{
    const char *path = conversion->image_path;
    size_t length;
    const char *root = br2_image_root(conversion, &length);
    if (strcmp(path, dso->path) == 0 ||
        (strncmp(path, root, length) == 0 && strcmp(path + length, dso->path) == 0)) {
        return true;
    }
    return strcmp(file->real, dso->path) == 0;
}

/* The same base name; a kernel module may be recorded as "[name]", with '_' for '-'. */
static bool same_name(const char *image_path, const char *recorded)
{
    const char *image = br2_base_name(image_path);
    if (recorded[0] != '[') {
        return strcmp(image, br2_base_name(recorded)) == 0;
    }
    size_t length = strlen(recorded);
    if (length < 3 || recorded[length - 1] != ']' || strlen(image) != length - 2 + 3 ||
        strcmp(image + length - 2, ".ko") != 0) {
        return false;
    }
    for (size_t i = 0; i < length - 2; i++) {
        char c = image[i] == '-' ? '_' : image[i];
        if (c != recorded[i + 1]) {
            return false;
        }
    }
    return true;
}

static enum br2_match match_dso(const struct br2pgo_conversion *conversion,
                                const struct br2_recording *recording, uint32_t number,
                                const struct br2_file_identity *file)
{
    const struct br2_dso *dso = &br2_recording_dsos(recording)->items[number];
    const struct br2_build_id *build_id = br2_image_build_id(conversion->image);
    if (dso->path[0] == '\0') {
        return BR2_MATCH_UNNAMED;
    }
    bool path = same_path(conversion, dso, file);
    bool name = same_name(conversion->image_path, dso->path) ||
                (file->stands_for != NULL && strcmp(file->stands_for, dso->path) == 0);
    if (dso->build_id.size != 0 && build_id->size != 0) {
        if (br2_build_id_equal(&dso->build_id, build_id)) {
            return BR2_MATCH_BUILD_ID;
        }
        if (!conversion->options.ignore_build_id) {
            return path || name ? BR2_MATCH_OTHER_BUILD : BR2_MATCH_NO;
        }
    }
    const struct stat *st = &file->st;
    if (dso->inode != 0 && dso->inode == st->st_ino && dso->device_major == major(st->st_dev) &&
        dso->device_minor == minor(st->st_dev)) {
        return BR2_MATCH_INODE;
    }
    if (path) {
        return BR2_MATCH_PATH;
    }
    return name && mappings_fit(recording, number, conversion->image) ? BR2_MATCH_NAME
                                                                      : BR2_MATCH_NO;
}

struct br2_matching br2_match_recording(const struct br2pgo_conversion *conversion,
                                        struct br2_recording *recording,
                                        const struct br2_file_identity *file)
{
    const struct br2_dsos *dsos = br2_recording_dsos(recording);
    struct br2_matching matching = {.best = BR2_MATCH_NO};
    for (uint32_t i = 0; i < dsos->count; i++) {
        enum br2_match match = match_dso(conversion, recording, i, file);
        recording->is_image[i] = false; /* of an image before this one it may be another */
        matching.best = match > matching.best ? match : matching.best;
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < dsos->count && matching.best != BR2_MATCH_NO; i++) {
        if (match_dso(conversion, recording, i, file) != matching.best) {
            continue;
        }
        recording->is_image[i] = matching.best > BR2_MATCH_OTHER_BUILD;
        matching.records += recording->sources[i];
        if (matching.dso == NULL || recording->sources[i] > most) {
            most = recording->sources[i];
            matching.dso = &dsos->items[i];
        }
    }
    return matching;
}
