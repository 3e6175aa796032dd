/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/option_table.h"

#include <string.h>

#define FOR_CONVERT 1u
#define FOR_INSPECT 2u
#define FOR_SHOW    4u
#define FOR_MERGE   8u
#define FOR_RECORD  16u
#define FOR_REPORT  32u
#define FOR_DIFF    64u
#define FOR_CHECK   128u
#define FOR_ALL                                                                                    \
    (FOR_CONVERT | FOR_INSPECT | FOR_SHOW | FOR_MERGE | FOR_RECORD | FOR_REPORT | FOR_DIFF |       \
     FOR_CHECK)
#define FOR_SUMS    (FOR_CONVERT | FOR_REPORT | FOR_CHECK)
#define FOR_READING (FOR_SUMS | FOR_DIFF)

#define FOR_FORMATS (FOR_CONVERT | FOR_SHOW | FOR_MERGE | FOR_DIFF | FOR_CHECK)
#define FOR_OUTPUTS (FOR_CONVERT | FOR_SHOW | FOR_MERGE | FOR_RECORD)
#define FOR_WRITING (FOR_CONVERT | FOR_MERGE)

#define MANY ((size_t)-1)

/* In the order of the help, which explains an option at the first command that takes it. */
static const struct br2_command_line command_lines[] = {
    {
        .command = BR2_COMMAND_CONVERT,
        .name = "convert",
        .bit = FOR_CONVERT,
        .input = "recording",
        .inputs_min = 1,
        .inputs_max = MANY,
        .outputs_min = 1,
        .outputs_max = MANY,
        .usage = "perf.data -b BINARY -o PROFILE",
        .about = "profiles from recordings (the default command)",
        .synopsis = "RECORDING... [-b BINARY] -o PROFILE [-o PROFILE...]",
        .example = "perf.data -b ./app -o app.prof",
    },
    {
        .command = BR2_COMMAND_INSPECT,
        .name = "inspect",
        .bit = FOR_INSPECT,
        .input = "recording",
        .inputs_min = 1,
        .inputs_max = 1,
        .usage = "inspect perf.data",
        .about = "what is in a recording",
        .synopsis = "inspect RECORDING [--json]",
        .example = "inspect perf.data",
    },
    {
        .command = BR2_COMMAND_REPORT,
        .name = "report",
        .bit = FOR_REPORT,
        .input = "recording",
        .inputs_min = 1,
        .inputs_max = MANY,
        .usage = "report perf.data",
        .about = "what the branch records say, for people",
        .synopsis = "report RECORDING... [-b BINARY] [OPTION...]",
        .example = "report perf.data",
    },
    {
        .command = BR2_COMMAND_CHECK,
        .name = "check",
        .bit = FOR_CHECK,
        .input = "recording",
        .inputs_min = 1,
        .inputs_max = MANY,
        .usage = "check perf.data",
        .about = "whether recordings, or a finished profile, are good enough",
        .synopsis = "check RECORDING...|PROFILE [-b BINARY] [OPTION...]",
        .example = "check perf.data --baseline last-release.prof --min-coverage 90%",
    },
    {
        .command = BR2_COMMAND_DIFF,
        .name = "diff",
        .bit = FOR_DIFF,
        .input = "profile",
        .inputs_min = 2,
        .inputs_max = 2,
        .usage = "diff PROFILE PROFILE",
        .about = "how alike two profiles are, or two recordings",
        .synopsis = "diff PROFILE PROFILE [OPTION...]",
        .example = "diff monday.prof tuesday.prof",
    },
    {
        .command = BR2_COMMAND_SHOW,
        .name = "show",
        .bit = FOR_SHOW,
        .input = "profile",
        .inputs_min = 1,
        .inputs_max = 1,
        .outputs_max = 1,
        .usage = "show PROFILE",
        .about = "a finished profile as text",
        .synopsis = "show PROFILE [-f NAME] [-o FILE] [OPTION...]",
        .example = "show app.prof",
    },
    {
        .command = BR2_COMMAND_MERGE,
        .name = "merge",
        .bit = FOR_MERGE,
        .input = "profile",
        .inputs_min = 1,
        .inputs_max = MANY,
        .outputs_min = 1,
        .outputs_max = 1,
        .usage = "merge PROFILE... -o PROFILE",
        .about = "profiles added up, or one made into another format or for another GCC",
        .synopsis = "merge PROFILE... -o PROFILE [OPTION...]",
        .example = "merge monday.prof tuesday.prof -o all.prof",
    },
    {
        .command = BR2_COMMAND_RECORD,
        .name = "record",
        .bit = FOR_RECORD,
        .input = "program",
        .inputs_max = MANY,
        .outputs_max = 1,
        .usage = "record PROGRAM [ARG...]",
        .about = "a recording of a program (default output: perf.data)",
        .synopsis = "record [OPTION...] PROGRAM [ARG...]",
        .example = "record -o app.data ./app --its-option",
    },
};
#define COMMAND_COUNT (sizeof command_lines / sizeof *command_lines)

#define MEMBER(name) offsetof(struct br2_arguments, name)

const struct br2_option_line br2_option_lines[] = {
    {'b', "binary", "FILE", FOR_READING, "program or library to make profiles for", MEMBER(binary)},
    {'o', "output", "FILE", FOR_OUTPUTS, "write a profile; may be repeated; '-' is standard output",
     0},
    {OPTION_ALL_IMAGES, "all-images", NULL, FOR_CONVERT,
     "profiles for the program and its libraries; %n in -o is the name", MEMBER(all_images)},
    {'f', "format", "NAME", FOR_FORMATS, "format of the outputs that follow; else by their suffix",
     0},
    {OPTION_EVENT, "event", "NAME", FOR_READING, "use this event; else all with branch records",
     MEMBER(event)},
    {OPTION_WEIGHT, "weight", "N", FOR_SUMS | FOR_MERGE,
     "the recordings that follow count N times (3, 0.25); the default is 1", 0},
    {OPTION_TRIM, "trim", "PERCENT", FOR_MERGE,
     "leave out functions with less than this share of the samples", 0},
    {OPTION_SKIP_BAD, "skip-bad", NULL, FOR_SUMS,
     "leave out recordings that cannot be used, with a warning", MEMBER(skip_bad)},
    {OPTION_COMM, "comm", "NAME[,NAME...]", FOR_READING, "use only processes of these names",
     MEMBER(comms)},
    {OPTION_CPU, "cpu", "N[,N...]", FOR_READING, "use only samples of these processors",
     MEMBER(cpus)},
    {OPTION_TIME, "time", "FROM,TO", FOR_READING,
     "use only samples of this time, in seconds or as 10%-20%", MEMBER(time)},
    {OPTION_IGNORE_KERNEL, "ignore-kernel", NULL, FOR_READING,
     "leave out branches from, to and in the kernel", MEMBER(ignore_kernel)},
    {OPTION_MIN_COUNT, "min-count", "N", FOR_READING,
     "leave out branches with fewer than N records", 0},
    {OPTION_SYSROOT, "sysroot", "DIR", FOR_READING | FOR_SHOW, "look for recorded files below DIR",
     MEMBER(sysroot)},
    {OPTION_ANNOTATE, "annotate", "IMAGE", FOR_SHOW,
     "counts beside the source lines, by this program's debug information", MEMBER(annotate)},
    {OPTION_DEBUG_BINARY, "debug-binary", "FILE", FOR_READING,
     "file that holds the binary's debug information", MEMBER(debug_binary)},
    {OPTION_IGNORE_BUILD_ID, "ignore-build-id", NULL, FOR_READING,
     "take the binary although its build-id differs", MEMBER(ignore_build_id)},
    {OPTION_NAMES, "names", "auto|all|selected|none", FOR_CONVERT,
     "suffixes of function names the compiler ignores (default: auto)", 0},
    {OPTION_SYMBOL_LIST, "symbol-list", NULL, FOR_CONVERT,
     "list all functions, so that those without samples are cold", MEMBER(symbol_list)},
    {OPTION_FLOW_INFERENCE, "flow-inference", NULL, FOR_CONVERT,
     "for clang with -mllvm -sample-profile-use-profi", MEMBER(flow_inference)},
    {OPTION_COMPRESS, "compress", NULL, FOR_WRITING, "compress the profile's sections",
     MEMBER(compress)},
    {OPTION_MD5, "md5", NULL, FOR_WRITING, "write names as MD5 hashes", MEMBER(md5)},
    {OPTION_PARTIAL, "partial", NULL, FOR_WRITING, "mark the profile as of a part of the program",
     MEMBER(partial)},
    {OPTION_GCC, "gcc", "FILE", FOR_WRITING,
     "write gcov for this compiler, which is asked; else for the binary's", MEMBER(gcc)},
    {OPTION_GCC_VERSION, "gcc-version", "N", FOR_WRITING, "write gcov for this version of GCC", 0},
    {OPTION_GCOV_VERSION, "gcov-version", "1|2|3", FOR_WRITING,
     "write gcov in this version, for a GCC that reads it", 0},
    {OPTION_BOLT_VERSION, "bolt-version", "N", FOR_CONVERT,
     "write bolt-preagg for this version of BOLT; else for any", 0},
    {OPTION_REPORT, "report", "FILE", FOR_CONVERT, "write what was read and lost, as JSON",
     MEMBER(report)},
    {OPTION_JSON, "json", NULL, FOR_INSPECT | FOR_REPORT | FOR_DIFF | FOR_CHECK | FOR_SHOW,
     "print JSON", MEMBER(json)},
    {OPTION_BASELINE, "baseline", "PROFILE", FOR_CHECK, "compare with this finished profile",
     MEMBER(check.baseline)},
    {OPTION_AGAINST, "against", "IMAGE", FOR_CHECK,
     "tell what changed in this build of the program", MEMBER(check.against)},
    {OPTION_MIN_DENSITY, "min-density", "N", FOR_CHECK,
     "counts by place, as llvm-profgen counts (default: 2)",
     MEMBER(check.limits[BR2PGO_CHECK_DENSITY])},
    {OPTION_MIN_BOLT_DENSITY, "min-bolt-density", "N", FOR_CHECK,
     "executed bytes by byte of code, as llvm-bolt counts",
     MEMBER(check.limits[BR2PGO_CHECK_BOLT_DENSITY])},
    {OPTION_MIN_COVERAGE, "min-coverage", "PERCENT", FOR_CHECK, "of the baseline's samples",
     MEMBER(check.limits[BR2PGO_CHECK_COVERAGE])},
    {OPTION_MIN_SIMILARITY, "min-similarity", "PERCENT", FOR_CHECK, "to the baseline",
     MEMBER(check.limits[BR2PGO_CHECK_SIMILARITY])},
    {OPTION_MAX_LOST, "max-lost", "PERCENT", FOR_CHECK,
     "what contradicts the program's code (default: 1)", MEMBER(check.limits[BR2PGO_CHECK_LOST])},
    {OPTION_MAX_UNATTRIBUTED, "max-unattributed", "PERCENT", FOR_CHECK,
     "instructions in functions without debug information (default: 10)",
     MEMBER(check.limits[BR2PGO_CHECK_UNATTRIBUTED])},
    {OPTION_MAX_IMBALANCE, "max-imbalance", "PERCENT", FOR_CHECK,
     "of what enters functions and leaves them", MEMBER(check.limits[BR2PGO_CHECK_IMBALANCE])},
    {OPTION_MAX_NEWEST_BIAS, "max-newest-bias", "PERCENT", FOR_CHECK, "samples not taken at random",
     MEMBER(check.limits[BR2PGO_CHECK_NEWEST_BIAS])},
    {OPTION_MAX_BEAT, "max-beat", "PERCENT", FOR_CHECK, "samples by a period that beats with loops",
     MEMBER(check.limits[BR2PGO_CHECK_BEAT])},
    {OPTION_MAX_REPEATED, "max-repeated", "PERCENT", FOR_CHECK, "newest records logged twice",
     MEMBER(check.limits[BR2PGO_CHECK_REPEATED])},
    {OPTION_MAX_STALE, "max-stale", "PERCENT", FOR_CHECK, "instructions in functions that changed",
     MEMBER(check.limits[BR2PGO_CHECK_STALE])},
    {OPTION_MAX_STALE_LINES, "max-stale-lines", "PERCENT", FOR_CHECK,
     "instructions at other lines of the same code",
     MEMBER(check.limits[BR2PGO_CHECK_STALE_LINES])},
    {OPTION_MAX_STALE_OPERANDS, "max-stale-operands", "PERCENT", FOR_CHECK,
     "instructions in functions with other constants",
     MEMBER(check.limits[BR2PGO_CHECK_STALE_OPERANDS])},
    {OPTION_CSV, "csv", NULL, FOR_REPORT, "print CSV", MEMBER(look.csv)},
    {OPTION_HTML, "html", "FILE", FOR_REPORT, "write a page for a browser", MEMBER(look.html)},
    {OPTION_SECTION, "section", "NAME[,NAME...]", FOR_REPORT,
     "branches,targets,functions,loops,latency,paths,coverage,code,source", MEMBER(look.sections)},
    {OPTION_FUNCTION, "function", "NAME", FOR_REPORT | FOR_DIFF | FOR_SHOW,
     "only what is of this function", MEMBER(look.function)},
    {OPTION_TOP, "top", "N", FOR_REPORT | FOR_DIFF | FOR_SHOW,
     "the N first rows of each table (default: some; for CSV and JSON all)", 0},
    {OPTION_RAW_NAMES, "raw-names", NULL, FOR_REPORT, "names as in the symbol table",
     MEMBER(look.raw_names)},
    {OPTION_COLOR, "color", "auto|always|never", FOR_REPORT, "colour the text", 0},
    {OPTION_NO_PAGER, "no-pager", NULL, FOR_REPORT, "do not page what is shown on a terminal",
     MEMBER(look.no_pager)},
    {'j', "threads", "N", FOR_READING, "count with N threads (default: one for each processor)", 0},
    {OPTION_MAX_MEMORY, "max-memory", "SIZE", FOR_READING | FOR_INSPECT | FOR_SHOW | FOR_MERGE,
     "fail rather than take more memory than this (512M, 2G)", 0},
    {OPTION_PROGRESS, "progress", "auto|always|never", FOR_READING, "show progress", 0},
    {OPTION_PERIOD, "period", "N", FOR_RECORD,
     "taken branches between samples (default: 500009; emulated: 5003)", MEMBER(record.period)},
    {OPTION_FREQUENCY, "frequency", "N", FOR_RECORD, "samples a second in place of a period",
     MEMBER(record.frequency)},
    {OPTION_DURATION, "duration", "SECONDS", FOR_RECORD, "end the recording after so long",
     MEMBER(record.duration)},
    {OPTION_PID, "pid", "N[,N...]", FOR_READING | FOR_RECORD,
     "use only these processes; record: of those that run already", MEMBER(record.processes)},
    {OPTION_ALL_CPUS, "all-cpus", NULL, FOR_RECORD, "record every process of the machine",
     MEMBER(record.all_cpus)},
    {OPTION_KERNEL, "kernel", NULL, FOR_RECORD, "record the kernel's branches too",
     MEMBER(record.kernel)},
    {OPTION_DRY_RUN, "dry-run", NULL, FOR_RECORD, "print the perf command, and do nothing",
     MEMBER(record.dry_run)},
    {OPTION_EMULATE, "emulate", NULL, FOR_RECORD,
     "record in an emulator, as is done without branch hardware", MEMBER(record.emulate)},
    {OPTION_NO_EMULATE, "no-emulate", NULL, FOR_RECORD, "fail without branch hardware",
     MEMBER(record.no_emulate)},
    {OPTION_DEPTH, "depth", "8..64", FOR_RECORD,
     "emulate, with so many branch records a sample (default: 32)", MEMBER(record.depth)},
    {OPTION_CYCLES, "cycles", NULL, FOR_RECORD,
     "emulate, with cycles in each record: one for an instruction", MEMBER(record.cycles)},
    {OPTION_SEED, "seed", "N", FOR_RECORD, "emulate, with other samples for another number",
     MEMBER(record.seed)},
    {OPTION_EXACT, "exact", "FILE", FOR_RECORD,
     "emulate, and write exact counts of every edge as CSV", MEMBER(record.exact)},
    {OPTION_TOTALS, "totals", "FILE", FOR_RECORD,
     "emulate, and write what was executed in all, as JSON", MEMBER(record.totals)},
    {'v', "verbose", NULL, FOR_WRITING | FOR_RECORD | FOR_REPORT | FOR_DIFF | FOR_CHECK,
     "say what was read, lost and written", MEMBER(verbose)},
    {'q', "quiet", NULL, FOR_WRITING | FOR_RECORD | FOR_REPORT | FOR_DIFF | FOR_CHECK,
     "say nothing but errors", MEMBER(quiet)},
    {OPTION_COMPAT, "compat", "TOOL", FOR_CONVERT,
     "first: take the command line of llvm-profgen, perf2bolt and others", 0},
    {OPTION_COMPLETION, "completion", "bash|zsh|fish", FOR_CONVERT,
     "print a script that completes br2pgo's command lines", 0},
    {'h', "help", NULL, FOR_ALL, "print this help", 0},
    {'V', "version", NULL, FOR_ALL, "print the version", 0},
};
#define OPTION_COUNT (sizeof br2_option_lines / sizeof *br2_option_lines)
_Static_assert(OPTION_COUNT <= BR2_OPTION_LINES_MAX, "the table has grown");

size_t br2_option_count(void)
{
    return OPTION_COUNT;
}

const char *br2_option_words(const struct br2_option_line *line)
{
    switch (line->id) {
    case OPTION_SECTION:
        return line->help; /* lists them, and nothing else */
    case OPTION_COMPAT:
        return "llvm-profgen|perf2bolt|create_llvm_prof|create_gcov|llvm-profdata|profile_merger";
    default:
        return NULL;
    }
}

const struct br2_option_line *br2_option_find(int id)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (br2_option_lines[i].id == id) {
            return &br2_option_lines[i];
        }
    }
    return NULL;
}

const struct br2_option_line *br2_option_named(const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(br2_option_lines[i].name, name) == 0) {
            return &br2_option_lines[i];
        }
    }
    return NULL;
}

const struct br2_command_line *br2_command_line(enum br2_command command)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (command_lines[i].command == command) {
            return &command_lines[i];
        }
    }
    return &command_lines[0];
}

const struct br2_command_line *br2_command_at(size_t index)
{
    return index < COMMAND_COUNT ? &command_lines[index] : NULL;
}

const struct br2_command_line *br2_command_named(const char *word)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(command_lines[i].name, word) == 0) {
            return &command_lines[i];
        }
    }
    return NULL;
}

const char *br2_reading_option_given(const struct br2_arguments *arguments)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        if ((line->commands & FOR_SUMS) != FOR_SUMS || line->member == 0 || line->id == 'v' ||
            line->id == 'q') {
            continue;
        }
        const char *member = (const char *)arguments + line->member;
        const char *text = NULL;
        if (line->value != NULL) {
            memcpy(&text, member, sizeof text);
        }
        if (line->value != NULL ? text != NULL : *member != 0) {
            return line->name;
        }
    }
    if (arguments->weight != NULL) {
        return "weight";
    }
    if (arguments->min_count != 0) {
        return "min-count";
    }
    return arguments->threads != 0 ? "threads" : NULL;
}
