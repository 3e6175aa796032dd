/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command lines of other tools, put into br2pgo's own options: `br2pgo --compat TOOL ...`, or
 * br2pgo called by the tool's name. */
#ifndef BR2_CLI_COMPAT_COMPAT_H
#define BR2_CLI_COMPAT_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

#include <br2pgo/br2pgo.h>

#include "base/mem.h"

struct br2_peer;

/* Zero-initialise, then use. */
struct br2_compat {
    const struct br2_peer *peer; /* the tool whose command line it is; NULL: br2pgo's own */
    char **words;                /* the same for br2pgo, from its name on; NULL at the end */
    size_t count;
    bool help;              /* the tool's help was asked for; there are no words then */
    struct br2_arena arena; /* holds the words */
};

/*
 * Reads a command line. It is a tool's when argv[0] ends in the tool's name (with a version behind
 * it or not: llvm-profgen-19) or when --compat NAME stands first. BR2PGO_INVALID: no such tool, or
 * an option that the tool does not take; BR2PGO_UNSUPPORTED: one it does, but br2pgo does not, with
 * the reason; BR2PGO_NO_MEMORY.
 */
int br2_compat_read(int argc, char **argv, struct br2_compat *ret, struct br2pgo_error *err);
void br2_compat_done(struct br2_compat *compat);

/* Prints to standard output what of the tool's command line is taken. */
void br2_compat_print_help(const struct br2_peer *peer);

/* Says on standard error what the command line is in br2pgo's own options, which messages speak of.
 */
void br2_compat_print_own(const struct br2_compat *compat);

#endif
