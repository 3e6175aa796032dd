/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of other tools' options: a file for each tool, a line in peers.c. */
#ifndef BR2_CLI_COMPAT_PEER_H
#define BR2_CLI_COMPAT_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include <br2pgo/error.h>

/* How the tool's options are spelt; with one dash or two, `--x=y` and `--x y`, in both. */
enum br2_peer_spelling {
    BR2_PEER_LLVM,   /* true, false, 1, 0 behind '=' */
    BR2_PEER_GFLAGS, /* that, t, f, yes, no, y, n in either case; --nox; '-' for '_' in names */
};

/* What an option amounts to here. Of an option that is given twice the last counts, as it does in
 * the tools. */
enum br2_peer_effect {
    BR2_PEER_ONLY,      /* only the words of `to`, split by '|', which ask for what is done anyway;
                         * anything else is refused, `text` says why. NULL: no word */
    BR2_PEER_SILENT,    /* nothing, and no output depends on it */
    BR2_PEER_RECORDING, /* the value is the recording */
    BR2_PEER_BINARY,    /* the binary */
    BR2_PEER_OUTPUT,    /* the output */
    BR2_PEER_INPUT,     /* one of several: "WEIGHT,FILE" */
    BR2_PEER_FORMAT,    /* a word of the table of formats; of a boolean: the format `to` */
    BR2_PEER_OWN,       /* br2pgo's option `to`, with the value when it takes one */
    BR2_PEER_VERBOSE,   /* --verbose, for any number but 0 */
    BR2_PEER_HELP,
    BR2_PEER_VERSION,
};

struct br2_peer_option {
    const char *name;  /* with '*' at the end: all that begin so */
    const char *value; /* what it takes; NULL: it is a boolean */
    enum br2_peer_effect effect;
    const char *to;
    const char *text; /* for the help; of ONLY the reason for refusing */
};

struct br2_peer_format {
    const char *word;
    const char *format; /* br2pgo's; NULL: refused, `reason` says why */
    const char *reason;
};

struct br2_peer {
    const char *name;
    enum br2_peer_spelling spelling;
    const char *usage;   /* behind the name */
    const char *differs; /* lines on where the result is another one, each ended */
    const struct br2_peer_option *options; /* ended by a name of NULL */
    const struct br2_peer_option *shared;  /* of the tools of its family; NULL: none */
    const struct br2_peer_format *formats; /* ended by a word of NULL; NULL: it has none */
    const char *format;                    /* br2pgo's, when none is asked for */
    const char *recording;                 /* what is read when none is given; NULL: nothing */
    const char *binary;
    const char *output;
    bool binary_stands_alone; /* it is the argument that is no option */
    const char *command;    /* br2pgo's, on the arguments that are no options, in place of recording
                               and binary; NULL: it converts */
    const char *subcommand; /* must be the first of them, and is none; NULL: there is none */
    const char *others;     /* why others than that are refused */
};

extern const struct br2_peer br2_peer_llvm_profgen;
extern const struct br2_peer br2_peer_perf2bolt;
extern const struct br2_peer br2_peer_create_llvm_prof;
extern const struct br2_peer br2_peer_create_gcov;
extern const struct br2_peer br2_peer_llvm_profdata;
extern const struct br2_peer br2_peer_profile_merger;

/* Options that all tools of google/autofdo take. */
extern const struct br2_peer_option br2_autofdo_options[];

/* The tool by number from 0 on, and by the name of its program, with a version behind it (-19,
 * -19.1) or not; NULL: there is none. */
const struct br2_peer *br2_peer_at(size_t index);
const struct br2_peer *br2_peer_named(const char *program);

/* The tool that a command line is for, by the program's name or --compat, and the number of the
 * word behind that; NULL: br2pgo's own. BR2PGO_INVALID: --compat names no tool that is known. */
int br2_peer_find(int argc, char **argv, const struct br2_peer **ret, int *ret_next,
                  struct br2pgo_error *err);

/* The option by number from 0 on, the shared ones behind the tool's own; NULL behind the last. */
const struct br2_peer_option *br2_peer_option_at(const struct br2_peer *peer, size_t index);

#endif
