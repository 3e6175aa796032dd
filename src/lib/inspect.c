/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looking into a recording without an image. */
#include "report/inspect.h"

#include "base/mem.h"
#include "lib/conversion.h"
#include "lib/text.h"
#include "lib/trace.h"
#include "trace/streams.h"

/* What an instruction trace is made of; it is not decoded here: that takes the code. */
static int look_at_trace(struct br2_input *input, struct br2_inspection *inspection,
                         struct br2pgo_error *err)
{
    struct br2_trace_streams streams = {0};
    int rc = br2_input_read_trace(input, br2_trace_streams_add, &streams, err);
    if (rc == 0) {
        rc = br2_trace_streams_finish(&streams, NULL, err);
    }
    inspection->trace_streams = streams.count;
    inspection->trace_bytes = streams.bytes;
    inspection->trace_gaps = streams.gaps;
    br2_trace_streams_done(&streams);
    return rc;
}

static int inspect(struct br2pgo_conversion *conversion, int json, struct br2_buf *out,
                   struct br2pgo_error *err)
{
    struct br2_recording *recording = &conversion->recordings[0];
    int rc = br2_recording_open(conversion, recording, err);
    bool traced = rc == 0 && br2_trace_is_used(br2_input_info(recording->input));
    if (rc == 0) {
        rc = traced ? br2_recording_count_sources(recording, err)
                    : br2_recording_count(conversion, recording, err);
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
    if (traced) {
        rc = look_at_trace(recording->input, &inspection, err);
        if (rc != 0) {
            return rc;
        }
    }
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
