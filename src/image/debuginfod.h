/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Debug information and programs by build-id from debuginfod servers, by way of elfutils' client
 * library, which is loaded only when it is asked: it keeps what it gets in a cache of its own.
 */
#ifndef BR2_IMAGE_DEBUGINFOD_H
#define BR2_IMAGE_DEBUGINFOD_H

#include <stdbool.h>

#include "base/build_id.h"
#include "base/err.h"

enum br2_debuginfod_kind {
    BR2_DEBUGINFOD_DEBUG,      /* the separate debug file */
    BR2_DEBUGINFOD_EXECUTABLE, /* the program or library itself */
};

/* Whether servers are named in DEBUGINFOD_URLS: without it nothing ever leaves the machine. */
bool br2_debuginfod_wanted(void);

/*
 * Asks for the file of this build-id, which it then has; `*ret_path` is where it is now, to be
 * freed by the caller. BR2PGO_IO: no library, no answer, no such file, or one of another build (one
 * line, no hint); BR2PGO_NO_MEMORY.
 */
int br2_debuginfod_fetch(const struct br2_build_id *id, enum br2_debuginfod_kind kind,
                         char **ret_path, struct br2pgo_error *err);

#endif
