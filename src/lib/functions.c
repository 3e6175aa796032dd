/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of an image's functions, for who has addresses of his own. */
#include <br2pgo/br2pgo.h>

#include "base/mem.h"
#include "image/image.h"

struct br2pgo_functions {
    struct br2_image *image;
};

int br2pgo_functions_open(const char *image, struct br2pgo_functions **ret,
                          struct br2pgo_error *err)
{
    struct br2pgo_functions *functions = br2_calloc(1, sizeof *functions);
    *ret = NULL;
    if (functions == NULL) {
        return br2_fail_memory(err);
    }
    int rc = br2_image_open(image, &functions->image, err);
    if (rc != 0) {
        br2_free(functions);
        return rc;
    }
    *ret = functions;
    return 0;
}

void br2pgo_functions_close(struct br2pgo_functions *functions)
{
    if (functions != NULL) {
        br2_image_close(functions->image);
        br2_free(functions);
    }
}

const char *br2pgo_functions_name(const struct br2pgo_functions *functions, uint64_t address)
{
    const struct br2_code_range *range = br2_image_range_at(functions->image, address);
    return range != NULL ? range->name : "";
}
