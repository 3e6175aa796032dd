/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report as one HTML file that needs no other and no network: src/report/page with the report's
 * data in it. */
#ifndef BR2_REPORT_PAGE_H
#define BR2_REPORT_PAGE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* The page up to the data, and what is behind: made by cmake/Br2pgoPage.cmake. */
extern const unsigned char br2_page_before[];
extern const size_t br2_page_before_size;
extern const unsigned char br2_page_after[];
extern const size_t br2_page_after_size;

struct json_t;
/* Appends the page and releases `report`, of so many members, whose tables have arrays for rows.
 * BR2PGO_NO_MEMORY, also when members are missing (br2_json_whole). */
int br2_report_page(struct json_t *report, size_t members, struct br2_buf *out,
                    struct br2pgo_error *err);

#endif
