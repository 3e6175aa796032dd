/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/err.h"
#include "cli/compat/peer.h"
#include "cli/suggest.h"

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

static int refuse_peer(const char *name, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "--compat does not know the command line of '%s'", name);
    struct br2_suggestion meant = br2_suggest(name);
    const struct br2_peer *peer;
    for (size_t i = 0; (peer = br2_peer_at(i)) != NULL; i++) {
        br2_suggest_consider(&meant, peer->name);
    }
    if (meant.nearest != NULL) {
        br2_hint(err, "did you mean '%s'?", meant.nearest);
    } else {
        br2_hint(
            err,
            "it takes llvm-profgen, perf2bolt, create_llvm_prof, create_gcov, llvm-profdata or "
            "profile_merger");
    }
    return BR2PGO_INVALID;
}

int br2_peer_find(int argc, char **argv, const struct br2_peer **ret, int *ret_next,
                  struct br2pgo_error *err)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    *ret = argc > 0 ? br2_peer_named(slash != NULL ? slash + 1 : argv[0]) : NULL;
    *ret_next = 1;
    if (*ret != NULL || argc < 2 || strncmp(argv[1], "--compat", 8) != 0 ||
        (argv[1][8] != '\0' && argv[1][8] != '=')) {
        return 0;
    }
    const char *name = argv[1][8] == '=' ? argv[1] + 9 : argc > 2 ? argv[2] : "";
    *ret_next = argv[1][8] == '=' ? 2 : 3;
    *ret = br2_peer_named(name);
    return *ret != NULL ? 0 : refuse_peer(name, err);
}
