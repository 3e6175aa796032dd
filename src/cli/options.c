/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/number.h"
#include "cli/option_table.h"
#include "cli/suggest.h"

static int refuse_option(const char *word, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "unknown option '%s'", word);
    char name[BR2_SUGGEST_WORD_MAX] = "";
    if (word[0] == '-' && word[1] == '-') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    }
    struct br2_suggestion meant = br2_suggest(name);
    for (size_t i = 0; i < br2_option_count(); i++) {
        br2_suggest_consider(&meant, br2_option_lines[i].name);
    }
    if (meant.nearest != NULL) {
        br2_hint(err, "did you mean '--%s'?", meant.nearest);
    } else {
        br2_hint(err, "see br2pgo --help");
    }
    return BR2PGO_INVALID;
}

static int parse_word(const char *option, const char *value, const char *const *words, int *ret,
                      struct br2pgo_error *err)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(value, words[i]) == 0) {
            *ret = i;
            return 0;
        }
    }
    const struct br2_option_line *line = br2_option_named(option);
    br2_fail(err, BR2PGO_INVALID, "option '--%s' does not take '%s'", option, value);
    br2_hint(err, "it takes %s", line != NULL ? line->value : "another word");
    return BR2PGO_INVALID;
}

/* "12" or "12.2.0": the major version counts. */
static int parse_version(const char *option, const char *value, int *ret, struct br2pgo_error *err)
{
    char *end;
    long major = value[0] >= '0' && value[0] <= '9' ? strtol(value, &end, 10) : 0;
    if (major < 1 || major > 999 || end[strspn(end, ".0123456789")] != '\0') {
        br2_fail(err, BR2PGO_INVALID, "option '--%s' does not take '%s'", option, value);
        br2_hint(err, "it takes a version, like 12 or 12.2");
        return BR2PGO_INVALID;
    }
    *ret = (int)major;
    return 0;
}

static int parse_count(const char *option, const char *value, uint64_t *ret,
                       struct br2pgo_error *err)
{
    if (!br2_parse_number(value, strlen(value), 10, ret) || *ret == 0) {
        br2_fail(err, BR2PGO_INVALID, "option '--%s' does not take '%s'", option, value);
        br2_hint(err, "it takes a number above 0");
        return BR2PGO_INVALID;
    }
    return 0;
}

/* What an option says to its member. */
static void set_member(struct br2_arguments *arguments, const struct br2_option_line *line,
                       const char *value)
{
    static const bool set = true;
    char *member = (char *)arguments + line->member;
    if (line->value != NULL) {
        memcpy(member, &value, sizeof value);
    } else {
        memcpy(member, &set, sizeof set);
    }
}

static int parse_threads(const char *value, int *ret, struct br2pgo_error *err)
{
    uint64_t number;
    if (!br2_parse_number(value, strlen(value), 10, &number) || number < 1 ||
        number > BR2PGO_THREADS_MAX) {
        br2_fail(err, BR2PGO_INVALID, "option '--threads' does not take '%s'", value);
        br2_hint(err, "it takes a number from 1 to %d", BR2PGO_THREADS_MAX);
        return BR2PGO_INVALID;
    }
    *ret = (int)number;
    return 0;
}

/* "512M": a number of bytes, or of 1024 of what is below for each of K, M and G. */
static int parse_memory(const char *value, size_t *ret, struct br2pgo_error *err)
{
    static const char units[] = "KMG";
    const char *at = value;
    uint64_t number;
    bool good = br2_number_read(&at, SIZE_MAX, &number);
    const char *unit = good && *at != '\0' ? strchr(units, *at) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit + 1 - units) : 0;
    if (!good || at[unit != NULL] != '\0' || number > SIZE_MAX >> shift ||
        number << shift < BR2_MEMORY_MIN) {
        br2_fail(err, BR2PGO_INVALID, "option '--max-memory' does not take '%s'", value);
        br2_hint(err, "it takes a size of %zuM or more, like 512M or 2G", BR2_MEMORY_MIN >> 20);
        return BR2PGO_INVALID;
    }
    *ret = (size_t)number << shift;
    return 0;
}

bool br2_percent_read(const char *text, double *ret)
{
    static const uint64_t million = 1000000;
    uint64_t number = 0;
    bool good = br2_decimal_read(&text, million, &number);
    text += good && *text == '%';
    *ret = (double)number / (double)million / 100;
    return good && *text == '\0' && number <= 100 * million;
}

static int parse_trim(const char *value, double *ret, struct br2pgo_error *err)
{
    if (!br2_percent_read(value, ret) || *ret <= 0 || *ret >= 1) {
        br2_fail(err, BR2PGO_INVALID, "option '--trim' does not take '%s'", value);
        br2_hint(err, "it takes a share in percent, above 0 and below 100, like 0.01%%");
        return BR2PGO_INVALID;
    }
    return 0;
}

/* Options that take one of a few words. */
static int take_word(struct br2_arguments *arguments, int id, const char *value,
                     struct br2pgo_error *err)
{
    static const char *const when_words[] = {"auto", "always", "never", NULL};
    static const char *const names_words[] = {"auto", "all", "selected", "none", NULL};
    static const char *const gcov_words[] = {"1", "2", "3", NULL};
    static const char *const shell_words[] = {"bash", "zsh", "fish", NULL};
    int word = 0;
    int rc = 0;
    switch (id) {
    case OPTION_NAMES:
        return parse_word("names", value, names_words, &arguments->suffixes, err);
    case OPTION_GCOV_VERSION:
        rc = parse_word("gcov-version", value, gcov_words, &word, err);
        arguments->gcov_version = word + 1;
        return rc;
    case OPTION_COMPLETION:
        rc = parse_word("completion", value, shell_words, &word, err);
        arguments->shell = (enum br2_shell)word;
        arguments->command = BR2_COMMAND_COMPLETION;
        return rc;
    case OPTION_COLOR:
        rc = parse_word("color", value, when_words, &word, err);
        arguments->look.color = (enum br2_when)word;
        return rc;
    default: /* OPTION_PROGRESS */
        rc = parse_word("progress", value, when_words, &word, err);
        arguments->progress = (enum br2_when)word;
        return rc;
    }
}

/* It chooses how the words are read, so it must be known before them: see compat/compat.h. */
static int refuse_late_compat(const char *value, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "--compat must be the first option");
    br2_hint(err, "br2pgo --compat %s, and behind it that tool's options", value);
    return BR2PGO_INVALID;
}

/* Every option and argument fits: the arrays have room for all of argv. */
static int take_option(struct br2_arguments *arguments, int id, const char *value,
                       struct br2pgo_error *err)
{
    const struct br2_option_line *line = br2_option_find(id);
    if (line != NULL && line->member != 0) {
        set_member(arguments, line, value);
        return 0;
    }
    switch (id) {
    case 1: /* getopt's code for an argument that is no option */
        arguments->weights[arguments->recording_count] = arguments->weight;
        arguments->recordings[arguments->recording_count++] = value;
        arguments->weight_waits = false;
        return 0;
    case OPTION_WEIGHT:
        arguments->weight = value;
        arguments->weight_waits = true;
        return 0;
    case 'o':
        arguments->outputs[arguments->output_count++] =
            (struct br2_wanted_output){.path = value, .format = arguments->format};
        arguments->format_waits = false;
        return 0;
    case 'f':
        arguments->format = value;
        arguments->format_waits = true;
        return 0;
    case OPTION_TRIM:
        return parse_trim(value, &arguments->trim, err);
    case OPTION_MIN_COUNT:
        return parse_count("min-count", value, &arguments->min_count, err);
    case OPTION_GCC_VERSION:
        return parse_version("gcc-version", value, &arguments->gcc_version, err);
    case OPTION_BOLT_VERSION:
        return parse_version("bolt-version", value, &arguments->bolt_version, err);
    case OPTION_TOP:
        return parse_count("top", value, &arguments->look.top, err);
    case 'j':
        return parse_threads(value, &arguments->threads, err);
    case OPTION_MAX_MEMORY:
        return parse_memory(value, &arguments->max_memory, err);
    case OPTION_COMPAT:
        return refuse_late_compat(value, err);
    default:
        return take_word(arguments, id, value, err);
    }
}

/* The table in getopt's form. The leading '-' asks for arguments in order, '+' to end at the first:
 * what follows the program to record is the program's. The ':' asks for silence. */
static void make_getopt_tables(bool program_follows, struct option *ret_long, char *ret_short)
{
    *ret_short++ = program_follows ? '+' : '-';
    *ret_short++ = ':';
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        ret_long[i] = (struct option){
            .name = line->name,
            .has_arg = line->value != NULL ? required_argument : no_argument,
            .val = line->id,
        };
        if (line->id < 256) {
            *ret_short++ = (char)line->id;
            if (line->value != NULL) {
                *ret_short++ = ':';
            }
        }
    }
    ret_long[br2_option_count()] = (struct option){0};
    *ret_short = '\0';
}

/* getopt takes any unique beginning of a name; a script that relied on one would break when an
 * option is added. */
static bool is_abbreviated(const char *word, const struct br2_option_line *line)
{
    return word[0] == '-' && word[1] == '-' &&
           (strncmp(word + 2, line->name, strlen(line->name)) != 0 ||
            (word[2 + strlen(line->name)] != '\0' && word[2 + strlen(line->name)] != '='));
}

/* What getopt refused: `id` is its '?' or ':'. optopt is the option, 0 for an unknown long one. */
static int refuse_use(int id, const char *word, struct br2pgo_error *err)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    /* One of several letters in a word; a byte of a longer character is not shown alone. */
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *option = is_long || optopt <= ' ' || optopt > '~' ? word : letter;
    const struct br2_option_line *line = is_long ? br2_option_find(optopt) : NULL;
    if (id == ':') {
        line = br2_option_find(optopt);
        br2_fail(err, BR2PGO_INVALID, "option '%s' needs a value", option);
        br2_hint(err, "it takes %s", line != NULL ? line->value : "one");
        return BR2PGO_INVALID;
    }
    if (line != NULL) {
        br2_fail(err, BR2PGO_INVALID, "option '--%s' takes no value", line->name);
        br2_hint(err, "give it alone; see br2pgo --help");
        return BR2PGO_INVALID;
    }
    return refuse_option(option, err);
}

static int check_option(struct br2_arguments *arguments, int id, const char *word,
                        struct br2pgo_error *err)
{
    if (id == '?' || id == ':') {
        return refuse_use(id, word, err);
    }
    const struct br2_option_line *line = br2_option_find(id);
    if (id == 1 || line == NULL) {
        return 0;
    }
    if (is_abbreviated(word, line)) {
        return refuse_option(word, err);
    }
    if ((line->commands & br2_command_line(arguments->command)->bit) == 0) {
        br2_fail(err, BR2PGO_INVALID, "option '--%s' has no meaning for this command", line->name);
        br2_hint(err, "see br2pgo --help");
        return BR2PGO_INVALID;
    }
    if (line->value != NULL && optarg[0] == '\0') {
        br2_fail(err, BR2PGO_INVALID, "the value of option '--%s' is empty", line->name);
        br2_hint(err, "it takes %s", line->value);
        return BR2PGO_INVALID;
    }
    return 0;
}

static int parse_options(int argc, char **argv, struct br2_arguments *arguments,
                         struct br2pgo_error *err)
{
    struct option long_options[BR2_OPTION_LINES_MAX + 1];
    char short_options[3 + 2 * BR2_OPTION_LINES_MAX];
    make_getopt_tables(arguments->command == BR2_COMMAND_RECORD, long_options, short_options);
    opterr = 0;
    optind = 0; /* glibc: forget what an earlier call left */
    for (;;) {
        int next = optind != 0 ? optind : 1;
        const char *word = next < argc ? argv[next] : "";
        int id = getopt_long(argc, argv, short_options, long_options, NULL);
        if (id == -1) {
            break;
        }
        int rc = check_option(arguments, id, word, err);
        if (rc != 0) {
            return rc;
        }
        if (id == 'h' || id == 'V') {
            arguments->command = id == 'h' ? BR2_COMMAND_HELP : BR2_COMMAND_VERSION;
            return 0;
        }
        rc = take_option(arguments, id, optarg, err);
        if (rc != 0 || arguments->command == BR2_COMMAND_COMPLETION) {
            return rc;
        }
    }
    for (; optind < argc; optind++) { /* behind "--", or the program and what is its */
        arguments->weights[arguments->recording_count] = arguments->weight;
        arguments->recordings[arguments->recording_count++] = argv[optind];
        arguments->weight_waits = false;
    }
    return 0;
}

/* Options that make no sense together. */
static int check_together(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    if (arguments->gcc != NULL && arguments->gcc_version != 0) {
        br2_fail(err, BR2PGO_INVALID,
                 "both --gcc-version and --gcc say which GCC is meant: one is enough");
        br2_hint(err, "leave one of them out");
        return BR2PGO_INVALID;
    }
    if (arguments->json && arguments->look.csv) {
        br2_fail(err, BR2PGO_INVALID, "both --json and --csv are given");
        br2_hint(err, "leave one of them out");
        return BR2PGO_INVALID;
    }
    if (arguments->gcov_version != 0 && (arguments->gcc != NULL || arguments->gcc_version != 0)) {
        br2_fail(err, BR2PGO_INVALID, "--gcov-version follows from %s",
                 arguments->gcc != NULL ? "--gcc" : "--gcc-version");
        br2_hint(err, "leave --gcov-version out");
        return BR2PGO_INVALID;
    }
    if (arguments->look.html != NULL && (arguments->json || arguments->look.csv)) {
        br2_fail(err, BR2PGO_INVALID, "--html writes a page, %s prints something else",
                 arguments->json ? "--json" : "--csv");
        br2_hint(err, "ask for one at a time");
        return BR2PGO_INVALID;
    }
    if (arguments->quiet && arguments->verbose) {
        br2_fail(err, BR2PGO_INVALID, "--quiet and --verbose ask for the opposite");
        br2_hint(err, "leave one of them out; --report writes what -v shows to a file");
        return BR2PGO_INVALID;
    }
    for (size_t i = 0; arguments->report != NULL && i < arguments->output_count; i++) {
        if (strcmp(arguments->report, arguments->outputs[i].path) == 0) {
            br2_fail(err, BR2PGO_INVALID, "the report and an output are both '%s'",
                     arguments->report);
            br2_hint(err, "give each a name of its own");
            return BR2PGO_INVALID;
        }
    }
    return 0;
}

/* How many files it is called with. */
static int check_counts(const struct br2_arguments *arguments,
                        const struct br2_command_line *command, struct br2pgo_error *err)
{
    if (arguments->recording_count < command->inputs_min) {
        if (arguments->recording_count == 0) {
            br2_fail(err, BR2PGO_INVALID, "no %s given", command->input);
        } else {
            br2_fail(err, BR2PGO_INVALID, "%s takes %zu of them: one %s is given", command->name,
                     command->inputs_min, command->input);
        }
        br2_hint(err, "usage: br2pgo %s; see br2pgo --help", command->usage);
        return BR2PGO_INVALID;
    }
    if (arguments->recording_count > command->inputs_max) {
        br2_fail(err, BR2PGO_INVALID,
                 command->inputs_max == 1 ? "%s takes one %s at a time"
                                          : "%s takes two %ss at a time",
                 command->name, command->input);
        br2_hint(err, "call it once for each");
        return BR2PGO_INVALID;
    }
    if (arguments->output_count < command->outputs_min) {
        br2_fail(err, BR2PGO_INVALID, "no output given");
        br2_hint(err, "name one with -o, e.g. -o app.prof; to look into the %s: br2pgo %s '%s'",
                 command->input, command->command == BR2_COMMAND_MERGE ? "show" : "inspect",
                 arguments->recordings[0]);
        return BR2PGO_INVALID;
    }
    if (arguments->output_count > command->outputs_max) {
        br2_fail(err, BR2PGO_INVALID, "%s writes one output", command->name);
        br2_hint(err, "call it once for each");
        return BR2PGO_INVALID;
    }
    return 0;
}

static int check_whole(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    const struct br2_command_line *command = br2_command_line(arguments->command);
    int rc = check_counts(arguments, command, err);
    if (rc != 0) {
        return rc;
    }
    if (arguments->weight_waits) {
        br2_fail(err, BR2PGO_INVALID, "no %s follows '--weight %s'", command->input,
                 arguments->weight);
        br2_hint(err, "a weight holds for the %ss behind it: --weight %s %s", command->input,
                 arguments->weight,
                 command->command == BR2_COMMAND_MERGE ? "app.prof" : "perf.data");
        return BR2PGO_INVALID;
    }
    if (arguments->format_waits && command->outputs_max > 1) {
        br2_fail(err, BR2PGO_INVALID, "no output follows '--format %s'", arguments->format);
        br2_hint(err, "a format holds for the outputs behind it: -f %s -o FILE", arguments->format);
        return BR2PGO_INVALID;
    }
    return check_together(arguments, err);
}

/* A first word that is nearly a command, and no file: a recording called so would not be found. One
 * or two letters are near to much and say nothing. */
static int check_no_command(const char *word, struct br2pgo_error *err)
{
    struct br2_suggestion meant = br2_suggest(word);
    const struct br2_command_line *line;
    for (size_t i = 0; (line = br2_command_at(i)) != NULL; i++) {
        br2_suggest_consider(&meant, line->name);
    }
    if (word[0] == '-' || strlen(word) < 3 || meant.nearest == NULL || access(word, F_OK) == 0) {
        return 0;
    }
    br2_fail(err, BR2PGO_INVALID, "unknown command '%s'; there is no recording of that name either",
             word);
    br2_hint(err, "did you mean 'br2pgo %s'?", meant.nearest);
    return BR2PGO_INVALID;
}

int br2_arguments_parse(int argc, char **argv, struct br2_arguments *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_arguments){.command = BR2_COMMAND_CONVERT};
    ret->recordings = br2_calloc((size_t)argc, sizeof *ret->recordings);
    ret->weights = br2_calloc((size_t)argc, sizeof *ret->weights);
    ret->outputs = br2_calloc((size_t)argc, sizeof *ret->outputs);
    if (ret->recordings == NULL || ret->weights == NULL || ret->outputs == NULL) {
        return br2_fail_memory(err);
    }
    const struct br2_command_line *line = argc > 1 ? br2_command_named(argv[1]) : NULL;
    int rc = 0;
    if (line != NULL) {
        ret->command = line->command;
        ret->help_of = line->name;
        argv++;
        argc--;
    } else if (argc > 1) {
        rc = check_no_command(argv[1], err);
    }
    rc = rc != 0 ? rc : parse_options(argc, argv, ret, err);
    bool runs = ret->command != BR2_COMMAND_HELP && ret->command != BR2_COMMAND_VERSION &&
                ret->command != BR2_COMMAND_COMPLETION;
    return rc != 0 || !runs ? rc : check_whole(ret, err);
}

void br2_arguments_done(struct br2_arguments *arguments)
{
    br2_free(arguments->recordings);
    br2_free(arguments->weights);
    br2_free(arguments->outputs);
}
