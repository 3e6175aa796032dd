/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* profile_merger of google/autofdo. */
#include "cli/compat/peer.h"

static const struct br2_peer_option options[] = {
    {"output_file", "FILE", BR2_PEER_OUTPUT, NULL, "profile (fbdata.afdo)"},
    {"gcov_version", "1|2|3", BR2_PEER_OWN, "--gcov-version",
     "version of the format; else that of the inputs"},
    {0},
};

const struct br2_peer br2_peer_profile_merger = {
    .name = "profile_merger",
    .spelling = BR2_PEER_GFLAGS,
    .usage = "--output_file=FILE FILE... [OPTION...]",
    .differs =
        "Without --gcov_version the profile keeps the version of its inputs; profile_merger\n"
        "writes a version then that no released GCC reads.\n",
    .options = options,
    .shared = br2_autofdo_options,
    .format = "gcov",
    .output = "fbdata.afdo",
    .command = "merge",
};
