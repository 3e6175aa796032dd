/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* create_gcov of google/autofdo. */
#include "cli/compat/peer.h"

static const struct br2_peer_option options[] = {
    {"binary", "FILE", BR2_PEER_BINARY, NULL, "program or library (data.binary)"},
    {"gcov", "FILE", BR2_PEER_OUTPUT, NULL, "profile (fbdata.afdo)"},
    {"gcov_version", "1|2|3", BR2_PEER_OWN, "--gcov-version",
     "version of the format; else that of the binary's GCC"},
    {"use_discriminator_encoding", NULL, BR2_PEER_ONLY, "false",
     "the encoding is that of the GCC the profile is for"},
    {0},
};

const struct br2_peer br2_peer_create_gcov = {
    .name = "create_gcov",
    .spelling = BR2_PEER_GFLAGS,
    .usage = "--profile=FILE --binary=FILE --gcov=FILE [OPTION...]",
    .differs =
        "Without --gcov_version the profile is for the GCC that built the binary; create_gcov\n"
        "writes a version then that no released GCC reads. A binary with another build-id than\n"
        "was recorded is not taken for its name alone.\n",
    .options = options,
    .shared = br2_autofdo_options,
    .format = "gcov",
    .recording = "perf.data",
    .binary = "data.binary",
    .output = "fbdata.afdo",
};
