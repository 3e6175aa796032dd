/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What both table formats write alike. */
#include "converters/table/table.h"

#include <string.h>

enum br2_edge_kind br2_table_kind(const char *text, size_t length)
{
    for (unsigned i = 0; i < BR2_EDGE_KINDS; i++) {
        if (strlen(br2_edge_kind_names[i]) == length &&
            memcmp(br2_edge_kind_names[i], text, length) == 0) {
            return (enum br2_edge_kind)i;
        }
    }
    return BR2_EDGE_KINDS;
}
