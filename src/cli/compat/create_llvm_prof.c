/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* create_llvm_prof of google/autofdo. Its default format is that of 2026; 0.19's was binary. */
#include "cli/compat/peer.h"

#define NO_PROPELLER "Propeller's layouts are not written"

static const struct br2_peer_option options[] = {
    {"binary", "FILE", BR2_PEER_BINARY, NULL, "program or library (a.out)"},
    {"out", "FILE", BR2_PEER_OUTPUT, NULL, "profile"},
    {"gcov", "FILE", BR2_PEER_OUTPUT, NULL, "the same"},
    {"format", "text|binary|extbinary", BR2_PEER_FORMAT, NULL, "text when not given"},
    {"prof_sym_list", NULL, BR2_PEER_OWN, "--symbol-list", "list all functions"},
    {"gcov_version", "N", BR2_PEER_SILENT, NULL, "LLVM's formats have no such version"},
    {"use_discriminator_encoding", NULL, BR2_PEER_ONLY, "true", "clang encodes discriminators"},
    {"use_fs_discriminator", NULL, BR2_PEER_ONLY, "false",
     "the binary tells whether its discriminators are flow-sensitive"},
    {"use_base_only_in_fs_discriminator", NULL, BR2_PEER_ONLY, "false",
     "flow-sensitive discriminators are written whole"},
    {"propeller_*", "VALUE", BR2_PEER_ONLY, NULL, NO_PROPELLER},
    {"profiled_binary_name", "NAME", BR2_PEER_ONLY, NULL, NO_PROPELLER},
    {0},
};

static const struct br2_peer_format formats[] = {
    {"text", "llvm-text", NULL},
    {"binary", "llvm-binary", NULL},
    {"extbinary", "llvm-extbinary", NULL},
    {"propeller", NULL, NO_PROPELLER},
    {0},
};

const struct br2_peer br2_peer_create_llvm_prof = {
    .name = "create_llvm_prof",
    .spelling = BR2_PEER_GFLAGS,
    .usage = "--profile=FILE --binary=FILE --out=FILE [OPTION...]",
    .differs =
        "A binary with another build-id than was recorded is not taken for its name alone.\n",
    .options = options,
    .shared = br2_autofdo_options,
    .formats = formats,
    .format = "llvm-text",
    .recording = "perf.data",
    .binary = "a.out",
};
