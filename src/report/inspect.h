/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is in a recording, for people and for programs. */
#ifndef BR2_REPORT_INSPECT_H
#define BR2_REPORT_INSPECT_H

#include "base/buf.h"
#include "flow/counting.h"
#include "input/input.h"
#include "process/dso.h"

struct br2_inspection {
    const char *path;
    const struct br2_recording_info *info;
    const struct br2_dsos *dsos;
    const uint64_t *sources; /* per image number: branch records that start in it */
    const struct br2_count_stats *stats;
    /* Of a trace that is decoded when the recording is converted; 0 streams: there is none. */
    uint64_t trace_streams;
    uint64_t trace_bytes;
    uint64_t trace_gaps;
};

/* Branch records that lie in no mapping: those that were counted and start in no image. */
uint64_t br2_inspect_unmapped(const struct br2_inspection *inspection);

/* "any, user", "call stack", ...: what PERF_SAMPLE_BRANCH_* bits ask for; into `text`. */
const char *br2_branch_mode_text(uint64_t branch_sample_type, char *text, size_t size);

/* Appends the text; failures stick to `out`. */
void br2_inspect_text(const struct br2_inspection *inspection, struct br2_buf *out);
/* Appends one JSON object and a newline. BR2PGO_NO_MEMORY. */
int br2_inspect_json(const struct br2_inspection *inspection, struct br2_buf *out,
                     struct br2pgo_error *err);

#endif
