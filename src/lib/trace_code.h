/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code that a traced recording's addresses are in: files as they are on this machine. */
#ifndef BR2_LIB_TRACE_CODE_H
#define BR2_LIB_TRACE_CODE_H

#include <pthread.h>

#include "lib/conversion.h"
#include "trace/trace.h"

struct br2_trace_files {
    const struct br2pgo_conversion *conversion;
    const struct br2_recording *recording;
    struct br2_build_id given; /* of the conversion's image, where one is given; size 0: none */
    pthread_mutex_t lock;      /* over the files */
    struct br2_trace_file {
        bool tried;
        struct br2_file file; /* `bytes` NULL: it cannot be used, for: */
        const char *reason;
        char *path; /* owned */
    } * files;      /* by number of the image */
    size_t count;
};

/* Errors: those of br2_image_open, of the image that was given; BR2PGO_NO_MEMORY. */
int br2_trace_files_begin(struct br2_trace_files *files, const struct br2pgo_conversion *conversion,
                          const struct br2_recording *recording, struct br2pgo_error *err);
void br2_trace_files_done(struct br2_trace_files *files);
/* The `find` of struct br2_trace_code: `user` is the struct br2_trace_files. */
bool br2_trace_files_find(void *user, uint32_t view, uint64_t address,
                          struct br2_trace_section *ret);
/* The image that was given, where it is none of the recording's; else NULL. */
const char *br2_trace_files_unused(const struct br2_trace_files *files);
/* Says, into `text`, why an address of a view has no code. */
void br2_trace_files_explain(const struct br2_trace_files *files, uint32_t view, uint64_t address,
                             char *text, size_t size);

#endif
