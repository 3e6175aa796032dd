/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arguments that may be finished profiles or recordings. */
#ifndef BR2_CLI_SOURCE_H
#define BR2_CLI_SOURCE_H

#include "cli/options.h"

/* Zero-initialise, then use. */
struct br2_cli_source {
    struct br2pgo_source source;
    struct br2pgo_conversion *conversion; /* owned, of recordings */
};

/* Whether the file is a finished profile, and then its format. */
bool br2_is_profile(const char *path, struct br2pgo_format *ret);

/* Reads the arguments' recordings, and makes of them what `format` holds. Notes are printed as for
 * a conversion. */
int br2_source_read(struct br2_cli_source *ret, const struct br2_arguments *arguments,
                    const char *format, struct br2pgo_error *err);
void br2_source_done(struct br2_cli_source *source);

/* Refuses an option of reading where nothing is read but finished profiles: BR2PGO_INVALID. */
int br2_refuse_reading_options(const struct br2_arguments *arguments, struct br2pgo_error *err);

#endif
