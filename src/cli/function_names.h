/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of functions for the recorder, which knows files and addresses only. */
#ifndef BR2_CLI_FUNCTION_NAMES_H
#define BR2_CLI_FUNCTION_NAMES_H

#include <br2pgo/br2pgo.h>

#include "record/record.h"

/* The image asked for last. Zero-initialise, then use. */
struct br2_function_names {
    char *path; /* owned */
    struct br2pgo_functions *functions;
};

/* A br2_function_name of such a `user`. "" where the image cannot be read, too. */
const char *br2_function_names_get(void *user, const char *image, uint64_t address);
void br2_function_names_done(struct br2_function_names *names);

#endif
