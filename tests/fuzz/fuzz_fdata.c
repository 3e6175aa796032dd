/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as fdata: what is accepted is written, read back equal, and keeps its counts when it is
 * merged. */
#include "converters/bolt/fdata.h"
#include "fuzz.h"

static uint64_t total(const struct br2_fdata *fdata)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < fdata->count; i++) {
        uint64_t count = fdata->records[i].count;
        sum = sum > UINT64_MAX - count ? UINT64_MAX : sum + count;
    }
    return sum;
}

static void check_merge(const struct br2_fdata *fdata)
{
    struct br2_fdata sum = {0};
    fuzz_require(br2_fdata_merge(&sum, fdata, NULL) == 0, "any profile merges into an empty one");
    fuzz_require(sum.count <= fdata->count && total(&sum) == total(fdata), "merging keeps counts");
    br2_fdata_done(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct br2_fdata fdata = {0};
    if (br2_fdata_read(&fdata, data, size, NULL) == 0) {
        struct br2_buf out = {0};
        struct br2_fdata again = {0};
        char text[64];
        br2_fdata_write(&fdata, &out);
        const uint8_t *bytes = out.bytes != NULL ? out.bytes : data;
        fuzz_require(br2_fdata_read(&again, bytes, out.size, NULL) == 0, "what is written is read");
        fuzz_require(!br2_fdata_difference(&fdata, &again, text, sizeof text), "and is the same");
        check_merge(&fdata);
        br2_fdata_done(&again);
        br2_buf_done(&out);
    }
    br2_fdata_done(&fdata);
    return 0;
}
