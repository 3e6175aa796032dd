/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as an edge table: what is accepted is written in both formats, and read back equal. */
#include "converters/converter.h"
#include "fuzz.h"

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
        br2_edge_table_done(&table);
    }
    return 0;
}
