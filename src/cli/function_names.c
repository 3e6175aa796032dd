/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/function_names.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

void br2_function_names_done(struct br2_function_names *names)
{
    br2pgo_functions_close(names->functions);
    br2_free(names->path);
    *names = (struct br2_function_names){0};
}

const char *br2_function_names_get(void *user, const char *image, uint64_t address)
{
    struct br2_function_names *names = user;
    if (names->path == NULL || strcmp(names->path, image) != 0) {
        br2_function_names_done(names);
        names->path = br2_strdup(image);
        /* What a program has mapped may be anything. */
        if (names->path == NULL || !br2_file_is_regular(image) ||
            br2pgo_functions_open(image, &names->functions, NULL) != 0) {
            return "";
        }
    }
    return names->functions != NULL ? br2pgo_functions_name(names->functions, address) : "";
}
