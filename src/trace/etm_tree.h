/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OpenCSD's decoders of a stream. */
#ifndef BR2_TRACE_ETM_TREE_H
#define BR2_TRACE_ETM_TREE_H

#include "trace/etm_units.h"

/* OpenCSD hands back pointers to what does not change: what changes is behind one of these. */
struct br2_etm_link {
    struct br2_etm_tree *tree;
};

/* Lies still while it is in use. */
struct br2_etm_tree {
    struct br2_etm_link self;
    struct br2_etm_units *units;
    void *handle; /* OpenCSD's decode tree; NULL: none is made yet */
    void *scan;   /* another, that only tells packets apart */
    const struct br2_etm_unit *raw;
    const struct br2_etm_info *info;
    int rc; /* of the sink's */
    struct br2pgo_error *err;
};

void br2_etm_tree_begin(struct br2_etm_tree *tree, struct br2_etm_units *units);
void br2_etm_tree_done(struct br2_etm_tree *tree);

/* What comes next is of all units, in frames, or, `raw`, of that one without frames. The unit and
 * the info stay. BR2PGO_NO_MEMORY. */
int br2_etm_tree_use(struct br2_etm_tree *tree, const struct br2_etm_info *info,
                     const struct br2_etm_unit *raw, struct br2pgo_error *err);
/* Decodes a part of the stream. Errors are the sink's, and BR2PGO_NO_MEMORY. */
int br2_etm_tree_decode(struct br2_etm_tree *tree, const uint8_t *bytes, uint64_t size,
                        struct br2pgo_error *err);

#endif
