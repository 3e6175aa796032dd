/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which of a recording's images is the file that was opened as the image. */
#ifndef BR2_LIB_MATCH_H
#define BR2_LIB_MATCH_H

#include <limits.h>
#include <sys/stat.h>

#include "lib/conversion.h"

/* How surely a recorded image is the file that was opened. */
enum br2_match {
    BR2_MATCH_NO,
    BR2_MATCH_OTHER_BUILD, /* same path or name, another build-id */
    BR2_MATCH_UNNAMED,     /* the recording does not say which file it is of */
    BR2_MATCH_NAME,        /* same base name, and its mappings fit the file's segments */
    BR2_MATCH_PATH,
    BR2_MATCH_INODE,
    BR2_MATCH_BUILD_ID,
};

/* The image's file, looked at once. */
struct br2_file_identity {
    struct stat st;
    char real[PATH_MAX]; /* "" where it cannot be resolved */
    /* The clearly busiest executable, where the user says that a file of another name and build is
     * still it; else NULL. */
    const char *stands_for;
};

/* How well a recording knows the file that was opened. */
struct br2_matching {
    enum br2_match best;
    const struct br2_dso *dso; /* the busiest of those that match so well */
    uint64_t records;          /* of all that match so well */
};

/* The folder that recorded paths begin at, without the slash they begin with. */
const char *br2_image_root(const struct br2pgo_conversion *conversion, size_t *ret_length);

/* Looks at the file of the conversion's image; `stands_for` is NULL. */
struct br2_file_identity br2_identify(const struct br2pgo_conversion *conversion);

/* How well the recording knows the image; marks the image numbers that match as well as the best
 * one does (`is_image`). */
struct br2_matching br2_match_recording(const struct br2pgo_conversion *conversion,
                                        struct br2_recording *recording,
                                        const struct br2_file_identity *file);

#endif
