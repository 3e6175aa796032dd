/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the text and the JSON form of an inspection. */
#ifndef BR2_REPORT_INSPECT_PRIVATE_H
#define BR2_REPORT_INSPECT_PRIVATE_H

#include "report/inspect.h"

struct br2_inspected_image {
    const struct br2_dso *dso;
    uint64_t records;
};

/* The images, busiest first; free with br2_free. BR2PGO_NO_MEMORY. */
int br2_inspect_order(const struct br2_inspection *inspection, struct br2_inspected_image **ret,
                      size_t *ret_count);

const char *br2_truncation_text(enum br2_truncation truncation);

#endif
