/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* llvm-profgen of LLVM 14 to 22: llvm/tools/llvm-profgen, and its --help-hidden. */
#include "cli/compat/peer.h"

#define NO_CONTEXTS "context-sensitive profiles are not written"
#define NO_LISTING  "code is not listed"
#define NO_TRACES   "Arm's traces are not decoded"

static const struct br2_peer_option options[] = {
    {"perfdata", "FILE", BR2_PEER_RECORDING, NULL, "recording"},
    {"pd", "FILE", BR2_PEER_RECORDING, NULL, "the same"},
    {"perfscript", "FILE", BR2_PEER_RECORDING, NULL, "perf script's text"},
    {"ps", "FILE", BR2_PEER_RECORDING, NULL, "the same"},
    {"unsymbolized-profile", "FILE", BR2_PEER_RECORDING, NULL, "counted ranges and branches"},
    {"up", "FILE", BR2_PEER_RECORDING, NULL, "the same"},
    {"binary", "FILE", BR2_PEER_BINARY, NULL, "program or library"},
    {"output", "FILE", BR2_PEER_OUTPUT, NULL, "profile"},
    {"o", "FILE", BR2_PEER_OUTPUT, NULL, "the same"},
    {"format", "text|binary|extbinary", BR2_PEER_FORMAT, NULL, "extbinary when not given"},
    {"skip-symbolization", NULL, BR2_PEER_FORMAT, "unsymbolized", "write ranges and branches"},
    {"pid", "N", BR2_PEER_OWN, "--pid", "use only this process"},
    {"debug-binary", "FILE", BR2_PEER_OWN, "--debug-binary", "file with debug information"},
    {"perf-event", "NAME", BR2_PEER_OWN, "--event", "use only this event"},
    {"use-md5", NULL, BR2_PEER_OWN, "--md5", "names as MD5 hashes"},
    {"populate-profile-symbol-list", NULL, BR2_PEER_OWN, "--symbol-list", "list all functions"},
    {"show-detailed-warning", NULL, BR2_PEER_OWN, "--verbose", "say what was lost"},
    {"ignore-build-id", NULL, BR2_PEER_OWN, "--ignore-build-id",
     "br2pgo's own: take the binary although its build-id differs"},
    {"color", NULL, BR2_PEER_SILENT, NULL, "nothing is coloured"},
    {"kernel", NULL, BR2_PEER_SILENT, NULL, "the kernel is told by its build-id"},
    {"profile-density-threshold", "N", BR2_PEER_SILENT, NULL, "there is no such warning"},
    {"profile-density-cutoff-hot", "N", BR2_PEER_SILENT, NULL, "there is no such warning"},
    {"ignore-stack-samples", NULL, BR2_PEER_ONLY, "true", NO_CONTEXTS},
    {"use-dwarf-correlation", NULL, BR2_PEER_ONLY, "true", "pseudo-probes are not used"},
    {"infer-missing-frames", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"csprof-*", "N", BR2_PEER_ONLY, NULL, NO_CONTEXTS},
    {"csspgo-*", "N", BR2_PEER_ONLY, NULL, NO_CONTEXTS},
    {"compress-recursion", "N", BR2_PEER_ONLY, NULL, NO_CONTEXTS},
    {"gen-cs-nested-profile", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"mark-all-context-preinlined", NULL, BR2_PEER_ONLY, "false", NO_CONTEXTS},
    {"trim-cold-profile", NULL, BR2_PEER_ONLY, "false", "cold functions stay in the profile"},
    {"update-total-samples", NULL, BR2_PEER_ONLY, "false",
     "totals are executed bytes, not sums of the lines"},
    {"fill-zero-for-all-funcs", NULL, BR2_PEER_ONLY, "false", "see --populate-profile-symbol-list"},
    {"use-offset", NULL, BR2_PEER_ONLY, "true",
     "offsets are written; what is read, the code tells"},
    {"use-first-loadable-segment-as-base", NULL, BR2_PEER_ONLY, "false",
     "offsets are from the first executable segment"},
    {"leading-ip-only", NULL, BR2_PEER_ONLY, "false",
     "samples without branch records are not used"},
    {"sample-period", "N", BR2_PEER_ONLY, NULL, "counts are not multiplied by periods"},
    {"dwp", "FILE", BR2_PEER_ONLY, NULL, "the package is looked for beside the binary: BINARY.dwp"},
    {"llvm-sample-profile", "FILE", BR2_PEER_ONLY, NULL,
     "finished profiles are converted by br2pgo merge"},
    {"data-access-perftrace", "FILE", BR2_PEER_ONLY, NULL, "types of vtables are not written"},
    {"etm", "FILE", BR2_PEER_ONLY, NULL, NO_TRACES},
    {"etm-trace-id", "N", BR2_PEER_ONLY, NULL, NO_TRACES},
    {"itm-trace-id", "N", BR2_PEER_ONLY, NULL, NO_TRACES},
    {"target-triple", "NAME", BR2_PEER_ONLY, NULL, "the file says what processor it is for"},
    {"show-density", NULL, BR2_PEER_ONLY, "false", "it is not computed; see br2pgo report"},
    {"show-mmap-events", NULL, BR2_PEER_ONLY, "false", "they are not listed; see br2pgo inspect"},
    {"time-profgen", NULL, BR2_PEER_ONLY, "false", "phases are not timed"},
    {"show-disassembly-only", NULL, BR2_PEER_ONLY, "false", NO_LISTING},
    {"show-source-locations", NULL, BR2_PEER_ONLY, "false", NO_LISTING},
    {"show-canonical-fname", NULL, BR2_PEER_ONLY, "false", NO_LISTING},
    {"show-pseudo-probe", NULL, BR2_PEER_ONLY, "false", NO_LISTING},
    {"disassemble-functions", "NAMES", BR2_PEER_ONLY, NULL, NO_LISTING},
    {"help", NULL, BR2_PEER_HELP, NULL, "print this help"},
    {"help-hidden", NULL, BR2_PEER_HELP, NULL, "the same"},
    {"h", NULL, BR2_PEER_HELP, NULL, "the same"},
    {"version", NULL, BR2_PEER_VERSION, NULL, "print br2pgo's version"},
    {0},
};

static const struct br2_peer_format formats[] = {
    {"text", "llvm-text", NULL},
    {"binary", "llvm-binary", NULL},
    {"extbinary", "llvm-extbinary", NULL},
    {"gcc", NULL, "llvm-profgen cannot write it either; -f gcov is br2pgo's own"},
    {0},
};

const struct br2_peer br2_peer_llvm_profgen = {
    .name = "llvm-profgen",
    .spelling = BR2_PEER_LLVM,
    .usage = "--perfdata=FILE --binary=FILE --output=FILE [OPTION...]",
    .differs =
        "Call stacks in the recording are left aside, as by --ignore-stack-samples, and so are\n"
        "pseudo-probes in the binary, as by --use-dwarf-correlation.\n",
    .options = options,
    .formats = formats,
    .format = "llvm-extbinary",
};
