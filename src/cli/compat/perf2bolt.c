/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf2bolt of LLVM 14 to 22: its --help-hidden, bolt/README.md and bolt/docs. */
#include "cli/compat/peer.h"

#define NO_BASIC  "without branch records there is no telling which way the code went"
#define NO_MEMORY "memory accesses are not written"
#define NO_YAML   "only llvm-bolt writes YAML: -data=FDATA -w=FILE"

static const struct br2_peer_option options[] = {
    {"perfdata", "FILE", BR2_PEER_RECORDING, NULL, "recording, or pre-aggregated addresses"},
    {"p", "FILE", BR2_PEER_RECORDING, NULL, "the same"},
    {"o", "FILE", BR2_PEER_OUTPUT, NULL, "profile"},
    {"profile-format", "fdata", BR2_PEER_FORMAT, NULL, "fdata when not given"},
    {"pid", "N", BR2_PEER_OWN, "--pid", "use only this process"},
    {"ignore-build-id", NULL, BR2_PEER_OWN, "--ignore-build-id",
     "take the binary although its build-id differs"},
    {"v", "N", BR2_PEER_VERBOSE, NULL, "say what was lost"},
    {"pa", NULL, BR2_PEER_SILENT, NULL, "what the input is shows in its content"},
    {"no-threads", NULL, BR2_PEER_SILENT, NULL, "no output depends on threads"},
    {"thread-count", "N", BR2_PEER_SILENT, NULL, "no output depends on threads"},
    {"tasks-per-thread", "N", BR2_PEER_SILENT, NULL, "no output depends on threads"},
    {"aggregate-only", NULL, BR2_PEER_ONLY, "true", "the binary is not rewritten"},
    {"ignore-interrupt-lbr", NULL, BR2_PEER_ONLY, "true",
     "no run of code is counted across an interrupt"},
    {"w", "FILE", BR2_PEER_ONLY, NULL, NO_YAML},
    {"nl", NULL, BR2_PEER_ONLY, "false", NO_BASIC},
    {"ba", NULL, BR2_PEER_ONLY, "false", NO_BASIC},
    {"basic-events", NULL, BR2_PEER_ONLY, "false", NO_BASIC},
    {"use-event-pc", NULL, BR2_PEER_ONLY, "false", "where a sample was taken is not used"},
    {"impute-trace-fall-through", NULL, BR2_PEER_ONLY, "false", "what was not seen is not counted"},
    {"max-samples", "N", BR2_PEER_ONLY, NULL, "all samples are read; see br2pgo's --time"},
    {"itrace", "OPTIONS", BR2_PEER_ONLY, NULL,
     "traces are not decoded; perf inject --itrace does that"},
    {"spe", NULL, BR2_PEER_ONLY, "false", "Arm SPE's samples are not decoded"},
    {"filter-mem-profile", NULL, BR2_PEER_ONLY, "false", NO_MEMORY},
    {"parse-mem-profile", NULL, BR2_PEER_ONLY, "false", NO_MEMORY},
    {"autofdo", NULL, BR2_PEER_ONLY, "false", "use br2pgo as create_llvm_prof"},
    {"strict", NULL, BR2_PEER_ONLY, "false", "no code is taken for well-formed"},
    {"show-density", NULL, BR2_PEER_ONLY, "false", "it is not computed; see br2pgo report"},
    {"time-aggr", NULL, BR2_PEER_ONLY, "false", "phases are not timed"},
    {"help", NULL, BR2_PEER_HELP, NULL, "print this help"},
    {"help-hidden", NULL, BR2_PEER_HELP, NULL, "the same"},
    {"h", NULL, BR2_PEER_HELP, NULL, "the same"},
    {"version", NULL, BR2_PEER_VERSION, NULL, "print br2pgo's version"},
    {0},
};

static const struct br2_peer_format formats[] = {
    {"fdata", "fdata", NULL},
    {"yaml", NULL, NO_YAML},
    {0},
};

const struct br2_peer br2_peer_perf2bolt = {
    .name = "perf2bolt",
    .spelling = BR2_PEER_LLVM,
    .usage = "-p FILE -o FILE [OPTION...] BINARY",
    .differs = "Memory accesses in the recording are left aside.\n",
    .options = options,
    .formats = formats,
    .format = "fdata",
    .binary_stands_alone = true,
};
