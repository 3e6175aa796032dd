/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is in a recording just made, in a few lines. */
#ifndef BR2_CLI_SUMMARY_H
#define BR2_CLI_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <br2pgo/br2pgo.h>

#define BR2_SUMMARY_IMAGES 3

struct br2_summary {
    bool whole; /* the recorder came to its end */
    uint64_t samples;
    uint64_t records;     /* branch records */
    uint64_t trace_bytes; /* of an instruction trace, in place of them */
    uint64_t lost;        /* records the recorder had no room for */
    size_t image_count;
    struct br2_summary_image {
        char *path; /* owned */
        double share;
    } images[BR2_SUMMARY_IMAGES]; /* with the most branch records */
};

/* Errors: those of br2pgo_inspect. Undone by br2_summary_done. */
int br2_summary_read(const char *path, struct br2_summary *ret, struct br2pgo_error *err);
void br2_summary_done(struct br2_summary *summary);

/* Says it on standard error, of the recording under its final name, and how to go on. */
void br2_summary_print(const struct br2_summary *summary, const char *path, bool all_images);

#endif
