/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Build-ids: what tells whether two files are of the same build. */
#ifndef BR2_BASE_BUILD_ID_H
#define BR2_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#define BR2_BUILD_ID_MAX 20

struct br2_build_id {
    uint8_t size; /* 0: unknown */
    uint8_t bytes[BR2_BUILD_ID_MAX];
};

/* Equal, or one is the other cut short or padded with zeros: recorders before perf 5.11 padded
 * 8- and 16-byte build-ids to 20. Unknown equals nothing. */
bool br2_build_id_equal(const struct br2_build_id *a, const struct br2_build_id *b);
/* Lower-case hexadecimal, for messages; `text` has room for 2 * BR2_BUILD_ID_MAX + 1. */
const char *br2_build_id_text(const struct br2_build_id *id, char *text);

#endif
