/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/hash.h"

#include <pthread.h>
#include <sys/random.h>

/* From the golden ratio, MurmurHash3's finaliser and their complements: good multipliers where the
 * system has no random numbers to give. */
static struct br2_hash_key key = {{UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xff51afd7ed558ccd),
                                   UINT64_C(0xc4ceb9fe1a85ec53), UINT64_C(0x61c8864680b583eb)}};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void draw(void)
{
    struct br2_hash_key drawn;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn) {
        for (int i = 0; i < 4; i++) {
            key.words[i] = drawn.words[i] | 1;
        }
    }
}

const struct br2_hash_key *br2_hash_key(void)
{
    pthread_once(&once, draw);
    return &key;
}
