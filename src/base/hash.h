/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Secret numbers for hash tables, so that no file can be made to hit one slot with every key. No
 * output depends on them: whatever comes out of a table is sorted or added up. */
#ifndef BR2_BASE_HASH_H
#define BR2_BASE_HASH_H

#include <stdint.h>

struct br2_hash_key {
    uint64_t words[4]; /* odd */
};

/* The process's key, drawn at the first call. */
const struct br2_hash_key *br2_hash_key(void);

#endif
