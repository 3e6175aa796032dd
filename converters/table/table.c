/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What both table formats write alike. */
#include "converters/table/table.h"

#include <inttypes.h>
#include <string.h>

#define SIGNIFICANT  6
#define MAX_DECIMALS 18

void br2_table_put_probability(struct br2_buf *out, double probability)
{
    int decimals = SIGNIFICANT;
    double scaled = probability * 1e6;
    while (scaled < 1e5 && scaled > 0 && decimals < MAX_DECIMALS) {
        scaled *= 10;
        decimals++;
    }
    uint64_t digits = (uint64_t)(scaled + 0.5);
    while (decimals > 0 && digits % 10 == 0) {
        digits /= 10;
        decimals--;
    }
    if (decimals == 0) {
        br2_buf_printf(out, "%" PRIu64, digits);
    } else { /* below 1, so every digit is a decimal */
        br2_buf_printf(out, "0.%0*" PRIu64, decimals, digits);
    }
}

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
