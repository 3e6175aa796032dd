/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/record_request.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/number.h"

static int refuse_value(const char *option, const char *value, const char *takes,
                        struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "option '--%s' does not take '%s'", option, value);
    br2_hint(err, "it takes %s", takes);
    return BR2PGO_INVALID;
}

/* A number of an option that may be missing. */
static int read_number(const char *option, const char *value, uint64_t least, uint64_t *ret,
                       struct br2pgo_error *err)
{
    if (value == NULL) {
        return 0;
    }
    if (!br2_parse_number(value, strlen(value), 10, ret) || *ret < least) {
        return refuse_value(option, value, least == 0 ? "a number" : "a number from 1", err);
    }
    return 0;
}

/* "12", "0.5": to the millisecond. */
static int read_duration(const char *value, uint64_t *ret_ms, struct br2pgo_error *err)
{
    if (value == NULL) {
        return 0;
    }
    size_t whole = strcspn(value, ".");
    const char *digits = value[whole] == '.' ? value + whole + 1 : "";
    size_t count = strlen(digits);
    uint64_t seconds = 0;
    uint64_t part = 0;
    bool good = br2_parse_number(value, whole, 10, &seconds) && seconds <= 100000000 &&
                (count == 0 ? value[whole] == '\0'
                            : count <= 3 && br2_parse_number(digits, count, 10, &part));
    for (; count != 0 && count < 3; count++) {
        part *= 10;
    }
    *ret_ms = seconds * 1000 + part;
    if (!good || *ret_ms == 0) {
        return refuse_value("duration", value, "seconds, like 10 or 0.5", err);
    }
    return 0;
}

static int check_processes(const char *value, struct br2pgo_error *err)
{
    static const char takes[] = "process ids, like 12 or 12,34";
    for (const char *at = value; at != NULL;) {
        size_t length = strcspn(at, ",");
        uint64_t id;
        if (!br2_parse_number(at, length, 10, &id) || id == 0 || id > INT32_MAX) {
            return refuse_value("pid", value, takes, err);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return 0;
}

static int read_depth(const char *value, unsigned *ret, struct br2pgo_error *err)
{
    uint64_t depth = 0;
    if (value == NULL) {
        return 0;
    }
    if (!br2_parse_number(value, strlen(value), 10, &depth) || depth < BR2_RECORD_DEPTH_MIN ||
        depth > BR2_RECORD_DEPTH_MAX) {
        return refuse_value("depth", value, "a number from 8 to 64", err);
    }
    *ret = (unsigned)depth;
    return 0;
}

/* The first option given that only emulation can follow; NULL: none. */
static const char *emulation_option(const struct br2_record_arguments *record)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        {"emulate", record->emulate},       {"depth", record->depth != NULL},
        {"seed", record->seed != NULL},     {"exact", record->exact != NULL},
        {"totals", record->totals != NULL}, {"cycles", record->cycles},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given) {
            return options[i].name;
        }
    }
    return NULL;
}

bool br2_record_wants_emulation(const struct br2_arguments *arguments)
{
    return emulation_option(&arguments->record) != NULL;
}

const char *br2_record_needs_hardware(const struct br2_arguments *arguments, const char **ret_why)
{
    const struct br2_record_arguments *record = &arguments->record;
    const struct {
        const char *name;
        bool given;
        const char *why;
    } options[] = {
        {"pid", record->processes != NULL, "a process that runs already cannot move into one"},
        {"all-cpus", record->all_cpus, "it sees nothing but the program it runs"},
        {"kernel", record->kernel, "it runs the program's code, not the kernel's"},
        {"frequency", record->frequency != NULL, "it has no time to go by; give a --period"},
        {"dry-run", record->dry_run, "it is no command of perf"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given) {
            *ret_why = options[i].why;
            return options[i].name;
        }
    }
    return NULL;
}

static int refuse_both(const char *one, const char *other, const char *why,
                       struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "--%s and --%s do not go together: %s", one, other, why);
    br2_hint(err, "leave one of them out");
    return BR2PGO_INVALID;
}

static int check_together(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    const struct br2_record_arguments *record = &arguments->record;
    const char *emulation = emulation_option(record);
    const char *why = "";
    const char *hardware = br2_record_needs_hardware(arguments, &why);
    if (emulation != NULL && record->no_emulate) {
        return refuse_both(emulation, "no-emulate", "the first needs emulation", err);
    }
    if (emulation != NULL && hardware != NULL) {
        br2_fail(err, BR2PGO_INVALID,
                 "--%s is not possible in an emulator, which --%s asks for: %s", hardware,
                 emulation, why);
        br2_hint(err, "leave one of them out");
        return BR2PGO_INVALID;
    }
    if (record->period != NULL && record->frequency != NULL) {
        return refuse_both("period", "frequency", "each says when to take a sample", err);
    }
    if (record->processes != NULL && record->all_cpus) {
        return refuse_both("pid", "all-cpus", "the second records every process", err);
    }
    if (arguments->recording_count == 0 && record->processes == NULL && !record->all_cpus) {
        br2_fail(err, BR2PGO_INVALID, "no program given");
        br2_hint(err, "usage: br2pgo record PROGRAM [ARG...]; of what runs already: --pid N, "
                      "--all-cpus");
        return BR2PGO_INVALID;
    }
    return 0;
}

static bool is_one_file(const char *one, const char *other)
{
    char place[PATH_MAX];
    char other_place[PATH_MAX];
    return strcmp(one, other) == 0 ||
           (br2_output_place(one, place) && br2_output_place(other, other_place) &&
            strcmp(place, other_place) == 0);
}

/* Each file has one content. */
static int check_apart(const char *const *files, size_t count, struct br2pgo_error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            if (files[i] != NULL && files[k] != NULL && is_one_file(files[i], files[k])) {
                br2_fail(err, BR2PGO_INVALID, "two outputs are '%s'", files[i]);
                br2_hint(err, "give each a name of its own");
                return BR2PGO_INVALID;
            }
        }
    }
    return 0;
}

static int check_files(const struct br2_record_request *request, struct br2pgo_error *err)
{
    struct stat st;
    if (strcmp(request->output, "-") == 0) {
        br2_fail(err, BR2PGO_INVALID, "a recording is not written to standard output");
        br2_hint(err, "that is the program's; name a file with -o");
        return BR2PGO_INVALID;
    }
    if (stat(request->output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is no file that a recording can be written to",
                 request->output);
        br2_hint(err, "a recording is read back: name an ordinary file");
        return BR2PGO_INVALID;
    }
    const char *const files[] = {request->output, request->exact, request->totals};
    return check_apart(files, sizeof files / sizeof *files, err);
}

int br2_record_request_read(const struct br2_arguments *arguments, struct br2_record_request *ret,
                            struct br2pgo_error *err)
{
    const struct br2_record_arguments *record = &arguments->record;
    *ret = (struct br2_record_request){
        .command =
            arguments->recording_count != 0 ? (char **)(uintptr_t)arguments->recordings : NULL,
        .output = arguments->output_count != 0 ? arguments->outputs[0].path : "perf.data",
        .exact = record->exact,
        .totals = record->totals,
        .cycles = record->cycles,
        .processes = record->processes,
        .all_cpus = record->all_cpus,
        .kernel = record->kernel,
        .verbose = arguments->verbose,
        .quiet = arguments->quiet,
    };
    int rc = read_number("period", record->period, 1, &ret->period, err);
    rc = rc != 0 ? rc : read_number("frequency", record->frequency, 1, &ret->frequency, err);
    rc = rc != 0 ? rc : read_number("seed", record->seed, 0, &ret->seed, err);
    rc = rc != 0 ? rc : read_duration(record->duration, &ret->duration_ms, err);
    rc = rc != 0 ? rc : read_depth(record->depth, &ret->depth, err);
    rc = rc != 0 ? rc : check_processes(record->processes, err);
    rc = rc != 0 ? rc : check_together(arguments, err);
    return rc != 0 ? rc : check_files(ret, err);
}
