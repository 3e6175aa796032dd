/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "cli/compat/peer.h"

static const struct br2_peer *const peers[] = {
    &br2_peer_llvm_profgen, &br2_peer_perf2bolt,     &br2_peer_create_llvm_prof,
    &br2_peer_create_gcov,  &br2_peer_llvm_profdata, &br2_peer_profile_merger,
};

const struct br2_peer *br2_peer_at(size_t index)
{
    return index < sizeof peers / sizeof *peers ? peers[index] : NULL;
}

const struct br2_peer *br2_peer_named(const char *program)
{
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        size_t length = strlen(peers[i]->name);
        if (strncmp(program, peers[i]->name, length) == 0 &&
            strspn(program + length, "-.0123456789") == strlen(program + length)) {
            return peers[i];
        }
    }
    return NULL;
}

const struct br2_peer_option *br2_peer_option_at(const struct br2_peer *peer, size_t index)
{
    size_t i = 0;
    for (const struct br2_peer_option *option = peer->options; option->name != NULL; option++) {
        if (i++ == index) {
            return option;
        }
    }
    for (const struct br2_peer_option *option = peer->shared;
         option != NULL && option->name != NULL; option++) {
        if (i++ == index) {
            return option;
        }
    }
    return NULL;
}
