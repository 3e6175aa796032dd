/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile's functions and places, for programs; and its counts beside the source lines. */
#ifndef BR2_REPORT_TALLY_REPORT_H
#define BR2_REPORT_TALLY_REPORT_H

#include "profile/tally.h"

/* One JSON object: the functions with the most counts first. BR2PGO_NO_MEMORY. */
int br2_tally_json(const struct br2_tally *tally, const char *path, const char *format,
                   struct br2_buf *out, struct br2pgo_error *err);

/* A source line that has a count. */
struct br2_line_count {
    const char *file; /* as the debug information names it */
    uint32_t line;
    uint64_t count;
};

/* Prints the lines, sorted by file and line and distinct, with a few of the source around; of a
 * file that is not found only their numbers. `sysroot`: the files lie below it; NULL: "/". */
void br2_annotate_lines(const struct br2_line_count *lines, size_t count, const char *sysroot,
                        struct br2_buf *out);

#endif
