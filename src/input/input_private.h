/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is behind an open recording; shared by the registry and the formats. */
#ifndef BR2_INPUT_INPUT_PRIVATE_H
#define BR2_INPUT_INPUT_PRIVATE_H

#include "base/file.h"
#include "base/mem.h"
#include "input/input.h"

struct br2_input {
    const struct br2_input_format *format;
    char *path;               /* owned; as it was given */
    char *parts_folder;       /* owned; NULL: `path` is no directory */
    const char *spool_folder; /* borrowed while it is opened; may be NULL */
    struct br2_file file;
    struct br2_recording_info info;
    struct br2_arena arena; /* holds what the info points to */
    uint64_t done;          /* bytes of the current pass */
    uint64_t total;
    br2_input_tick tick; /* NULL: nobody watches */
    void *tick_user;
    struct br2_early_samples *early; /* NULL: the first pass hands out none */
    void *state;                     /* the format's own */
};

extern const struct br2_input_format br2_perf_data_format;
extern const struct br2_input_format br2_perf_script_format;
extern const struct br2_input_format br2_ranges_format;
extern const struct br2_input_format br2_bolt_preagg_input_format;

/*
 * Fills `err` for a file that no format recognised: says what it seems to be and what to do.
 * `bytes` is the whole file or its beginning. Returns BR2PGO_UNSUPPORTED.
 */
int br2_input_refuse_file(const char *path, const uint8_t *bytes, size_t size,
                          struct br2pgo_error *err);

/* The same for a directory. */
int br2_input_refuse_directory(const char *path, struct br2pgo_error *err);

#endif
