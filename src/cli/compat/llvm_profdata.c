/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* llvm-profdata merge of LLVM 14 to 19, on sample profiles. */
#include "cli/compat/peer.h"

#define NOT_SAMPLES "instrumented programs' profiles are not read"
#define NO_CONTEXTS "profiles with calling contexts are not read"

static const struct br2_peer_option options[] = {
    {"output", "FILE", BR2_PEER_OUTPUT, NULL, "profile (standard output)"},
    {"o", "FILE", BR2_PEER_OUTPUT, NULL, "the same"},
    {"weighted-input", "WEIGHT,FILE", BR2_PEER_INPUT, NULL,
     "a profile whose counts are multiplied"},
    {"text", NULL, BR2_PEER_FORMAT, "llvm-text", "write text"},
    {"binary", NULL, BR2_PEER_FORMAT, "llvm-binary", "write the plain binary form"},
    {"extbinary", NULL, BR2_PEER_FORMAT, "llvm-extbinary", "write the extensible binary form"},
    {"use-md5", NULL, BR2_PEER_OWN, "--md5", "names as MD5 hashes"},
    {"compress-all-sections", NULL, BR2_PEER_OWN, "--compress", "compress all sections"},
    {"gen-partial-profile", NULL, BR2_PEER_OWN, "--partial", "mark the profile as partial"},
    {"num-threads", "N", BR2_PEER_SILENT, NULL, "one thread adds up"},
    {"j", "N", BR2_PEER_SILENT, NULL, "the same"},
    {"sample", NULL, BR2_PEER_ONLY, "true", NOT_SAMPLES},
    {"instr", NULL, BR2_PEER_ONLY, "false", NOT_SAMPLES},
    {"sparse", NULL, BR2_PEER_ONLY, "false", NOT_SAMPLES},
    {"failure-mode", "any", BR2_PEER_ONLY, "any", "a profile that cannot be read ends the run"},
    {"gcc", NULL, BR2_PEER_ONLY, "false", "a profile for GCC is made from the recording"},
    {"input-files", "FILE", BR2_PEER_ONLY, NULL, "names are not read from files"},
    {"f", "FILE", BR2_PEER_ONLY, NULL, "names are not read from files"},
    {"function", "NAME", BR2_PEER_ONLY, NULL, "functions are not chosen by name"},
    {"no-function", "NAME", BR2_PEER_ONLY, NULL, "functions are not chosen by name"},
    {"remapping-file", "FILE", BR2_PEER_ONLY, NULL, "names are not changed"},
    {"r", "FILE", BR2_PEER_ONLY, NULL, "names are not changed"},
    {"prof-sym-list", "FILE", BR2_PEER_ONLY, NULL,
     "the list comes from the program: --symbol-list when converting"},
    {"supplement-instr-with-sample", "FILE", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"debug-info", "FILE", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"binary-file", "FILE", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"profiled-binary", "FILE", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"temporal-profile-*", "N", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"max-debug-info-correlation-warnings", "N", BR2_PEER_ONLY, NULL, NOT_SAMPLES},
    {"sample-merge-cold-context", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"sample-trim-cold-context", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"sample-frame-depth-for-cold-context", "N", BR2_PEER_ONLY, NULL, NO_CONTEXTS},
    {"gen-cs-nested-profile", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"convert-sample-profile-layout", "LAYOUT", BR2_PEER_ONLY, NULL, NO_CONTEXTS},
    {"help", NULL, BR2_PEER_HELP, NULL, "print this help"},
    {"help-list", NULL, BR2_PEER_HELP, NULL, "the same"},
    {"version", NULL, BR2_PEER_VERSION, NULL, "print br2pgo's version"},
    {0},
};

const struct br2_peer br2_peer_llvm_profdata = {
    .name = "llvm-profdata",
    .spelling = BR2_PEER_LLVM,
    .usage = "merge --sample FILE... -o FILE [OPTION...]",
    .differs = "Of attributes of functions that the inputs disagree on, all are kept.\n",
    .options = options,
    .format = "llvm-extbinary",
    .output = "-",
    .command = "merge",
    .subcommand = "merge",
    .others = "only merge is; for overlap there is br2pgo diff, for show br2pgo show",
};
