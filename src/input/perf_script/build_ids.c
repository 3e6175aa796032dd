/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lines of perf buildid-list, which people put before what perf script prints:
 *     51ac0000000000000000000000000000000000e5 /opt/app
 *     0d1e0000000000000000000000000000000000a7 [kernel.kallsyms]
 */
#include "input/perf_script/perf_script.h"

/* The shortest build-id that linkers make (lld's --build-id=fast) is as long as an address. */
#define ID_MIN 8

static bool is_bracketed(struct br2_span name)
{
    return br2_span_is(&name, '[') && name.end[-1] == ']' &&
           memchr(name.at, ' ', br2_span_left(&name)) == NULL;
}

bool br2_script_read_build_id(struct br2_span line, struct br2_build_id *ret_id,
                              struct br2_span *ret_name)
{
    if (!br2_span_take_build_id(&line, ret_id) || ret_id->size < ID_MIN ||
        !br2_span_is(&line, ' ')) {
        return false;
    }
    br2_span_skip_blanks(&line);
    *ret_name = line;
    /* Behind an address a symbol may be "[unknown]", but never a path. */
    return br2_span_is(&line, '/') || (ret_id->size > ID_MIN && is_bracketed(line));
}

int br2_script_add_build_id(struct br2_script *script, const struct br2_build_id *id,
                            struct br2_span name, struct br2pgo_error *err)
{
    struct br2_recording_info *info = &script->input->info;
    size_t length = br2_span_left(&name);
    script->image_bytes += BR2_IMAGE_BYTES + length;
    if (script->image_bytes > BR2_IMAGE_NAMES_MAX) {
        br2_fail(err, BR2PGO_LIMIT, "more than %zu bytes of build-ids and their files' names",
                 BR2_IMAGE_NAMES_MAX);
        br2_hint(err, "leave out the lines of files that no sample is in");
        return BR2PGO_LIMIT;
    }
    if (!br2_grow(&info->images, &script->image_capacity, info->image_count,
                  sizeof *info->images)) {
        return br2_fail_memory(err);
    }
    const char *path = br2_arena_strndup(&script->input->arena, name.at, length);
    if (path == NULL) {
        return br2_fail_memory(err);
    }
    info->images[info->image_count++] = (struct br2_recorded_image){
        .path = path,
        .build_id = *id,
        .kernel = br2_span_begins(&name, "[kernel."),
    };
    return 0;
}
