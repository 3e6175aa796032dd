/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a finished profile, written in its own format: that is accepted again and written as
 * the same bytes. Two of it add up, in whatever order, to no more than twice its counts. */
#include <string.h>

#include "converters/converter.h"
#include "fuzz.h"

static uint64_t twice(uint64_t count)
{
    return count > UINT64_MAX / 2 ? UINT64_MAX : 2 * count;
}

/* The highest count, and total, of its functions. */
static uint64_t highest(const struct br2_profile *profile)
{
    uint64_t most = 0;
    for (size_t i = 0; i < profile->function_count; i++) {
        uint64_t total = profile->functions[i]->total;
        most = total > most ? total : most;
    }
    return most;
}

static void check_round_trip(const struct br2_format *format, const struct br2_profile *profile)
{
    struct br2_write_options options = {0};
    struct br2_buf first = {0};
    struct br2_buf second = {0};
    struct br2_profile *again = br2_profile_new();
    if (br2_format_encode_profile(format, profile, &options, &first, NULL) == 0 &&
        first.size != 0) {
        fuzz_require(format->read_profile(first.bytes, first.size, again, NULL) == 0,
                     "what is written is read");
        fuzz_require(br2_format_encode_profile(format, again, &options, &second, NULL) == 0 &&
                         first.size == second.size &&
                         memcmp(first.bytes, second.bytes, first.size) == 0,
                     "and written the same");
    }
    br2_profile_free(again);
    br2_buf_done(&first);
    br2_buf_done(&second);
}

static void check_merge(const struct br2_profile *profile)
{
    struct br2_profile *sum = br2_profile_new();
    if (br2_profile_merge(sum, profile, 1, NULL, NULL) == 0) {
        fuzz_require(sum->function_count <= profile->function_count, "merging makes no functions");
        fuzz_require(br2_profile_merge(sum, profile, 1, NULL, NULL) == 0,
                     "what was merged can be merged again");
        if (sum->function_count == profile->function_count) { /* no two of one name */
            fuzz_require(highest(sum) <= twice(highest(profile)), "sums are of what came in");
        }
    }
    br2_profile_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct br2_format *format = br2_format_by_content(data, size);
    if (format == NULL || format->product != BR2_PRODUCT_PROFILE) {
        return 0;
    }
    struct br2_profile *profile = br2_profile_new();
    if (format->read_profile(data, size, profile, NULL) == 0) {
        check_round_trip(format, profile);
        check_merge(profile);
    }
    br2_profile_free(profile);
    return 0;
}
