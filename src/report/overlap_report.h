/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `br2pgo diff` says of two profiles. */
#ifndef BR2_REPORT_OVERLAP_REPORT_H
#define BR2_REPORT_OVERLAP_REPORT_H

#include "profile/overlap.h"

struct br2_overlap_report {
    const struct br2_overlap *overlap;
    const char *base_path;
    const char *test_path;
    const char *base_format; /* names of formats */
    const char *test_format;
    const char *function; /* only this one, with its places; NULL: all functions */
    size_t top;           /* so many functions, or places, at most */
};

/* BR2PGO_USELESS: neither has the function; BR2PGO_NO_MEMORY. */
int br2_overlap_text(const struct br2_overlap_report *report, struct br2_buf *out,
                     struct br2pgo_error *err);
int br2_overlap_json(const struct br2_overlap_report *report, struct br2_buf *out,
                     struct br2pgo_error *err);

/* Says that neither has the function that was asked for; returns BR2PGO_USELESS. */
int br2_overlap_refuse(const struct br2_overlap_report *report, struct br2pgo_error *err);

#endif
