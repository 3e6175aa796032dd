/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finished profiles: files in one of the formats that br2pgo writes. */
#ifndef BR2_LIB_PROFILE_FILE_H
#define BR2_LIB_PROFILE_FILE_H

#include "base/file.h"
#include "converters/bolt/fdata.h"
#include "converters/converter.h"

/* Zero-initialise, then open. */
struct br2_profile_file {
    const char *path; /* the caller's */
    const struct br2_format *format;
    struct br2_file file;
};

/* Opens a file and tells its format by its content. BR2PGO_IO; BR2PGO_UNSUPPORTED where it is of no
 * format that is known here. */
int br2_profile_file_open(struct br2_profile_file *ret, const char *path, struct br2pgo_error *err);
void br2_profile_file_close(struct br2_profile_file *file);

/* Its content, for each product, into an empty one; messages name the file. BR2PGO_USELESS where it
 * holds nothing. */
int br2_profile_file_profile(const struct br2_profile_file *file, struct br2_profile *ret,
                             struct br2pgo_error *err);
int br2_profile_file_edges(const struct br2_profile_file *file, struct br2_edge_table *ret,
                           struct br2pgo_error *err);
int br2_profile_file_fdata(const struct br2_profile_file *file, struct br2_fdata *ret,
                           struct br2pgo_error *err);

/* Writes fdata, reads it back and compares. */
int br2_encode_fdata(const struct br2_fdata *fdata, struct br2_buf *out, struct br2pgo_error *err);

#endif
