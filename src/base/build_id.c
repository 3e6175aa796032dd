/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/build_id.h"

#include <stdio.h>
#include <string.h>

bool br2_build_id_equal(const struct br2_build_id *a, const struct br2_build_id *b)
{
    if (a->size == 0 || b->size == 0) {
        return false;
    }
    const struct br2_build_id *longer = a->size >= b->size ? a : b;
    const struct br2_build_id *shorter = a->size >= b->size ? b : a;
    if (memcmp(longer->bytes, shorter->bytes, shorter->size) != 0) {
        return false;
    }
    for (size_t i = shorter->size; i < longer->size; i++) {
        if (longer->bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

const char *br2_build_id_text(const struct br2_build_id *id, char *text)
{
    text[0] = '\0';
    for (size_t i = 0; i < id->size; i++) {
        snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
    }
    return text;
}
