/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looking into a recording without an image. */
#include "report/inspect.h"

#include "base/mem.h"
#include "lib/conversion.h"
#include "lib/text.h"

static int inspect(struct br2pgo_conversion *conversion, int json, struct br2_buf *out,
                   struct br2pgo_error *err)
{
    struct br2_recording *recording = &conversion->recordings[0];
    int rc = br2_recording_open(conversion, recording, err);
    if (rc == 0) {
        rc = br2_recording_count(conversion, recording, err);
    }
    if (rc != 0) {
        return rc;
    }
    struct br2_inspection inspection = {
        .path = recording->path,
        .info = br2_input_info(recording->input),
        .dsos = br2_spaces_dsos(recording->spaces),
        .sources = recording->sources,
        .stats = &recording->stats,
    };
    if (json) {
        return br2_inspect_json(&inspection, out, err);
    }
    br2_inspect_text(&inspection, out);
    return 0;
}

int br2pgo_inspect(const char *path, int json, char **ret, struct br2pgo_error *err)
{
    struct br2pgo_conversion *conversion = NULL;
    struct br2_buf out = {0};
    *ret = NULL;
    int rc = br2pgo_open(NULL, &conversion, err);
    if (rc == 0) {
        rc = br2pgo_add_recording(conversion, path, err);
    }
    if (rc == 0) {
        rc = inspect(conversion, json, &out, err);
    }
    br2pgo_close(conversion);
    return br2_take_text(rc, &out, ret, err);
}
