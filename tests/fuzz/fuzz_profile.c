/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a finished profile: what is accepted is written in every format that can hold it,
 * and read back equal (br2_format_encode_profile compares). */
#include "converters/converter.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct br2_format *format = br2_format_by_content(data, size);
    if (format == NULL || format->product != BR2_PRODUCT_PROFILE) {
        return 0;
    }
    struct br2_profile *profile = br2_profile_new();
    if (format->read_profile(data, size, profile, NULL) == 0) {
        for (size_t i = 0; br2_formats[i] != NULL; i++) {
            if (br2_formats[i]->product != BR2_PRODUCT_PROFILE) {
                continue;
            }
            struct br2_write_options options = {0};
            struct br2_buf out = {0};
            int rc = br2_format_encode_profile(br2_formats[i], profile, &options, &out, NULL);
            fuzz_require(rc != BR2PGO_INTERNAL, "what is written says what went in");
            br2_buf_done(&out);
        }
    }
    br2_profile_free(profile);
    return 0;
}
