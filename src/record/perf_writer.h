/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf.data of an emulated recording, as `perf record -j any,u -c PERIOD` would write it. */
#ifndef BR2_RECORD_PERF_WRITER_H
#define BR2_RECORD_PERF_WRITER_H

#include <stdbool.h>

#include "base/file.h"
#include "record/stream.h"

struct br2_perf_file {
    char *const *command; /* NULL at the end */
    const char *machine;  /* as uname -m */
    uint64_t period;
    bool cycles; /* records have them */
};

/* Writes what a mapped streams, whose threads have their numbers, holds. Nothing of it depends on
 * the machine, the moment, or the folder's disk. Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_perf_write(const struct br2_perf_file *file, const struct br2_streams *streams,
                   struct br2_output *out, struct br2pgo_error *err);

#endif
