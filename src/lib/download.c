/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is not on this machine, from debuginfod servers, where the user has named some. */
#include <string.h>

#include "image/debuginfod.h"
#include "lib/conversion.h"
#include "lib/match.h"

/* Whether all of the debug information that there is here is not there. */
static bool lacks_debug(const struct br2pgo_conversion *conversion)
{
    return conversion->options.debug_binary == NULL &&
           !br2_image_has_section(conversion->image, ".debug_info") &&
           !br2_image_has_section(conversion->image, ".zdebug_info") &&
           br2_image_build_id(conversion->image)->size != 0 && br2_debuginfod_wanted() &&
           br2_image_debug_file(conversion->image, conversion->options.sysroot) == NULL;
}

int br2_find_debug(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    char *path = NULL;
    if (lacks_debug(conversion)) {
        struct br2pgo_error reason = {0};
        int rc = br2_debuginfod_fetch(br2_image_build_id(conversion->image), BR2_DEBUGINFOD_DEBUG,
                                      &path, &reason);
        if (rc == BR2PGO_NO_MEMORY) {
            return br2_fail_memory(err);
        }
        if (rc != 0) {
            path = NULL;
            br2_note(conversion, BR2PGO_NOTE_WARNING, "%s", reason.message);
        } else {
            br2_note(conversion, BR2PGO_NOTE_DETAIL, "debug information from debuginfod: '%s'",
                     path);
        }
    }
    int rc =
        br2_debug_open(conversion->image, path != NULL ? path : conversion->options.debug_binary,
                       conversion->options.sysroot, &conversion->debug, err);
    br2_free(path);
    return rc;
}

/* The build-id that a recording has for the image's path; NULL: none. */
static const struct br2_build_id *recorded_build_id(const struct br2pgo_conversion *conversion)
{
    size_t length;
    const char *root = br2_image_root(conversion, &length);
    const char *path = conversion->image_path;
    path += strncmp(path, root, length) == 0 ? length : 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_dsos *dsos = br2_spaces_dsos(conversion->recordings[i].spaces);
        for (size_t k = 0; k < dsos->count; k++) {
            if (dsos->items[k].build_id.size != 0 && strcmp(dsos->items[k].path, path) == 0) {
                return &dsos->items[k].build_id;
            }
        }
    }
    return NULL;
}

bool br2_download_image(struct br2pgo_conversion *conversion)
{
    const struct br2_build_id *id = recorded_build_id(conversion);
    struct br2pgo_error reason = {0};
    char *path = NULL;
    if (id == NULL || !br2_debuginfod_wanted()) {
        return false;
    }
    int rc = br2_debuginfod_fetch(id, BR2_DEBUGINFOD_EXECUTABLE, &path, &reason);
    if (rc == 0) {
        rc = br2_image_open(path, &conversion->image, &reason);
    }
    if (rc == 0) {
        br2_note(conversion, BR2PGO_NOTE_DETAIL, "'%s' is not here; from debuginfod: '%s'",
                 conversion->image_path, path);
    } else {
        br2_note(conversion, BR2PGO_NOTE_WARNING, "%s", reason.message);
    }
    br2_free(path);
    return rc == 0;
}
