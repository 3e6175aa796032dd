/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as an edge table: what is accepted is written in both formats, and read back equal. Its
 * sum with itself is refused or has its outcomes, and as a table of its own is the sum of that. */
#include "converters/converter.h"
#include "flow/edge_merge.h"
#include "fuzz.h"

static void check_merge(struct br2_edge_table *table)
{
    struct br2_edge_table sum = {0};
    struct br2_edge_table again = {0};
    char text[128];
    if (br2_edge_table_merge(&sum, table, 1, NULL) == 0) {
        fuzz_require(sum.count <= table->count, "merging makes no outcomes");
        fuzz_require(br2_edge_table_merge(&again, &sum, 1, NULL) == 0 &&
                         br2_edge_table_difference(&sum, &again, text, sizeof text) == NULL,
                     "a sum is the sum of itself");
        fuzz_require(br2_edge_table_merge(&again, table, 1, NULL) == 0 && again.count == sum.count,
                     "and once more has no other outcomes");
    }
    br2_edge_table_done(&sum);
    br2_edge_table_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; br2_formats[i] != NULL; i++) {
        struct br2_edge_table table = {0};
        if (br2_formats[i]->product != BR2_PRODUCT_EDGES ||
            br2_formats[i]->read_edges(data, size, &table, NULL) != 0) {
            br2_edge_table_done(&table);
            continue;
        }
        for (size_t k = 0; br2_formats[k] != NULL; k++) {
            if (br2_formats[k]->product == BR2_PRODUCT_EDGES) {
                struct br2_buf out = {0};
                int rc = br2_format_encode_edges(br2_formats[k], &table, &out, NULL);
                fuzz_require(rc != BR2PGO_INTERNAL, "what is written says what went in");
                br2_buf_done(&out);
            }
        }
        check_merge(&table);
        br2_edge_table_done(&table);
    }
    return 0;
}
