/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All outputs or none. */
#include "lib/conversion.h"

static int encode(struct br2pgo_conversion *conversion, struct br2_target *target,
                  struct br2pgo_error *err)
{
    const struct br2_format *format = target->format;
    int rc;
    if (format->product == BR2_PRODUCT_PROFILE) {
        rc = br2_format_encode_profile(format, conversion->profile, &target->options,
                                       &target->bytes, err);
    } else {
        rc = br2_format_encode_edges(format, &conversion->edges, &target->bytes, err);
    }
    if (rc != 0) {
        br2_prefix(err, "'%s'", target->path);
    }
    return rc;
}

static int write_one(struct br2_target *target, struct br2pgo_error *err)
{
    int rc = br2_output_open(&target->file, target->path, err);
    return rc != 0 ? rc
                   : br2_output_write(&target->file, target->bytes.bytes, target->bytes.size, err);
}

int br2pgo_write(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (conversion->graph == NULL) {
        return br2_fail(err, BR2PGO_INVALID, "nothing to write: the conversion has not run");
    }
    int rc = 0;
    size_t count = conversion->target_count;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = br2_progress(conversion, "writing", i, count, err);
        rc = rc != 0 ? rc : encode(conversion, &conversion->targets[i], err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = write_one(&conversion->targets[i], err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = br2_output_commit(&conversion->targets[i].file, err);
    }
    for (size_t i = 0; i < count; i++) {
        br2_output_abandon(&conversion->targets[i].file);
        br2_buf_done(&conversion->targets[i].bytes);
    }
    return rc;
}
