/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options of record: read, and held against each other. */
#ifndef BR2_CLI_RECORD_REQUEST_H
#define BR2_CLI_RECORD_REQUEST_H

#include "cli/options.h"
#include "record/record.h"

/* The request that the command line makes; its strings are the arguments'. BR2PGO_INVALID. */
int br2_record_request_read(const struct br2_arguments *arguments, struct br2_record_request *ret,
                            struct br2pgo_error *err);

/* The first option given that only branch hardware can follow, without its dashes, and why; NULL:
 * none. */
const char *br2_record_needs_hardware(const struct br2_arguments *arguments, const char **ret_why);

/* Whether emulation is asked for, or follows from another option. */
bool br2_record_wants_emulation(const struct br2_arguments *arguments);

#endif
