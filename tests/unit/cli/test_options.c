/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command line: every option, what is refused, and the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/option_table.h"
#include "cli/options.h"

/* The module knows the library by its interface only. */
int br2pgo_format_info(size_t index, struct br2pgo_format *ret)
{
    static const struct br2pgo_format formats[] = {
        {.name = "first", .description = "of formats", .suffix = ".one"},
        {.name = "second", .description = "without suffix"},
    };
    if (index >= 2) {
        return BR2PGO_INVALID;
    }
    *ret = formats[index];
    return 0;
}

#define WORDS 16

static struct br2_arguments arguments;
static struct br2pgo_error error;

/* Parses the words, ended by NULL, behind the program's name. */
static int parse(const char *first, ...)
{
    static char words[WORDS][64];
    char *argv[WORDS + 1] = {words[0]};
    int argc = 1;
    va_list list;
    va_start(list, first);
    for (const char *word = first; word != NULL; word = va_arg(list, const char *)) {
        assert_in_range(argc, 1, WORDS - 1);
        snprintf(words[argc], sizeof words[argc], "%s", word);
        argv[argc] = words[argc];
        argc++;
    }
    va_end(list);
    br2_arguments_done(&arguments);
    memset(&error, 0, sizeof error);
    return br2_arguments_parse(argc, argv, &arguments, &error);
}

static int teardown(void **state)
{
    (void)state;
    br2_arguments_done(&arguments);
    arguments = (struct br2_arguments){0};
    return 0;
}

static void test_plain(void **state)
{
    (void)state;
    assert_int_equal(parse("perf.data", "-o", "app.prof", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_CONVERT);
    assert_int_equal(arguments.recording_count, 1);
    assert_string_equal(arguments.recordings[0], "perf.data");
    assert_int_equal(arguments.output_count, 1);
    assert_string_equal(arguments.outputs[0].path, "app.prof");
    assert_null(arguments.outputs[0].format);
    assert_null(arguments.binary);
    assert_null(arguments.event);
    assert_null(arguments.sysroot);
    assert_null(arguments.debug_binary);
    assert_null(arguments.report);
    assert_int_equal(arguments.suffixes, BR2PGO_SUFFIXES_AUTO);
    assert_int_equal(arguments.progress, BR2_WHEN_AUTO);
    assert_false(arguments.ignore_build_id || arguments.symbol_list || arguments.compress ||
                 arguments.md5 || arguments.partial || arguments.json || arguments.verbose ||
                 arguments.quiet);
}

static void test_options_with_a_value(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        const char **value;
    } options[] = {
        {"-b", &arguments.binary},
        {"--binary", &arguments.binary},
        {"--event", &arguments.event},
        {"--sysroot", &arguments.sysroot},
        {"--debug-binary", &arguments.debug_binary},
        {"--report", &arguments.report},
        {"--gcc", &arguments.gcc},
        {"--comm", &arguments.comms},
        {"--cpu", &arguments.cpus},
        {"--time", &arguments.time},
        {"--pid", &arguments.record.processes},
        {"-f", &arguments.format},
        {"--format", &arguments.format},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char joined[64];
        assert_int_equal(parse("r", options[i].option, "the value", "-o", "o", NULL), 0);
        assert_string_equal(*options[i].value, "the value");
        snprintf(joined, sizeof joined, "%s%svalue", options[i].option,
                 options[i].option[1] == '-' ? "=" : "");
        assert_int_equal(parse("r", joined, "-o", "o", NULL), 0);
        assert_string_equal(*options[i].value, "value");
        assert_int_equal(arguments.recording_count, 1);
        assert_int_equal(arguments.output_count, 1);
        /* The last one counts; a value may look like an option. */
        assert_int_equal(parse("r", joined, options[i].option, "-v", "-o", "o", NULL), 0);
        assert_string_equal(*options[i].value, "-v");
        assert_false(arguments.verbose);
        assert_int_equal(parse("r", "-o", "o", options[i].option, NULL), BR2PGO_INVALID);
        snprintf(joined, sizeof joined, "option '%s' needs a value", options[i].option);
        assert_string_equal(error.message, joined);
    }
}

static void test_options_without_a_value(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        const bool *value;
    } options[] = {
        {"--ignore-build-id", &arguments.ignore_build_id},
        {"--symbol-list", &arguments.symbol_list},
        {"--compress", &arguments.compress},
        {"--md5", &arguments.md5},
        {"--partial", &arguments.partial},
        {"--verbose", &arguments.verbose},
        {"-v", &arguments.verbose},
        {"--quiet", &arguments.quiet},
        {"-q", &arguments.quiet},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char joined[64];
        assert_int_equal(parse(options[i].option, "r", "-o", "o", NULL), 0);
        assert_true(*options[i].value);
        assert_int_equal(arguments.ignore_build_id + arguments.symbol_list + arguments.compress +
                             arguments.md5 + arguments.partial + arguments.verbose +
                             arguments.quiet,
                         1);
        assert_int_equal(arguments.recording_count, 1);
        snprintf(joined, sizeof joined, "%s=yes", options[i].option);
        if (joined[1] == '-') {
            assert_int_equal(parse(joined, "r", "-o", "o", NULL), BR2PGO_INVALID);
            assert_string_equal(strchr(error.message, '\0') - 14, "takes no value");
        }
    }
    assert_int_equal(parse("r", "-vvoo", NULL), 0);
    assert_true(arguments.verbose);
    assert_string_equal(arguments.outputs[0].path, "o");
}

static void test_words(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "all", "selected", "none"};
    static const char *const when[] = {"auto", "always", "never"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(parse("r", "-o", "o", "--names", names[i], NULL), 0);
        assert_int_equal(arguments.suffixes, BR2PGO_SUFFIXES_AUTO + i);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(parse("r", "-o", "o", "--progress", when[i], NULL), 0);
        assert_int_equal(arguments.progress, BR2_WHEN_AUTO + i);
    }
    assert_int_equal(parse("r", "-o", "o", "--names=some", NULL), BR2PGO_INVALID);
    assert_string_equal(error.message, "option '--names' does not take 'some'");
    assert_string_equal(error.hint, "it takes auto|all|selected|none");
    assert_int_equal(parse("r", "-o", "o", "--progress", "", NULL), BR2PGO_INVALID);
    assert_string_equal(error.hint, "it takes auto|always|never");
}

/* A format holds for the outputs that follow it, up to the next one. */
static void test_format_is_sticky(void **state)
{
    (void)state;
    assert_int_equal(
        parse("-o", "a", "-f", "x", "-o", "b", "r", "--output=c", "-f", "y", "-o", "-", NULL), 0);
    static const struct br2_wanted_output wanted[] = {
        {"a", NULL}, {"b", "x"}, {"c", "x"}, {"-", "y"}};
    assert_int_equal(arguments.output_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(arguments.outputs[i].path, wanted[i].path);
        if (wanted[i].format == NULL) {
            assert_null(arguments.outputs[i].format);
        } else {
            assert_string_equal(arguments.outputs[i].format, wanted[i].format);
        }
    }
}

static void test_format_without_output(void **state)
{
    (void)state;
    assert_int_equal(parse("r", "-o", "a", "-f", "x", NULL), BR2PGO_INVALID);
    assert_string_equal(error.message, "no output follows '--format x'");
}

static void test_weights(void **state)
{
    (void)state;
    assert_int_equal(
        parse("a", "--weight", "3", "b", "c", "--weight=0.5", "-o", "x", "--", "d", NULL), 0);
    assert_null(arguments.weights[0]);
    assert_string_equal(arguments.weights[1], "3");
    assert_string_equal(arguments.weights[2], "3");
    assert_string_equal(arguments.weights[3], "0.5");
    assert_int_equal(parse("a", "-o", "x", "--weight", "3", NULL), BR2PGO_INVALID);
    assert_string_equal(error.message, "no recording follows '--weight 3'");
}

static void test_min_count(void **state)
{
    (void)state;
    assert_int_equal(parse("a", "-o", "x", "--min-count", "12", NULL), 0);
    assert_int_equal(arguments.min_count, 12);
    static const char *const bad[] = {"0", "x", "-1", "1.5", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse("a", "-o", "x", "--min-count", bad[i], NULL), BR2PGO_INVALID);
        assert_string_equal(error.hint, "it takes a number above 0");
    }
}

static void test_recordings(void **state)
{
    (void)state;
    assert_int_equal(parse("a", "-o", "o", "b", "-", "--", "-v", "--", "--help", "c", NULL), 0);
    static const char *const wanted[] = {"a", "b", "-", "-v", "--", "--help", "c"};
    assert_int_equal(arguments.recording_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(arguments.recordings[i], wanted[i]);
    }
    assert_false(arguments.verbose);
}

static void test_commands(void **state)
{
    (void)state;
    assert_int_equal(parse("inspect", "r", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_INSPECT);
    assert_false(arguments.json);
    assert_string_equal(arguments.recordings[0], "r");
    assert_int_equal(parse("inspect", "--json", "r", NULL), 0);
    assert_true(arguments.json);
    assert_int_equal(parse("convert", "r", "-o", "o", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_CONVERT);
    assert_int_equal(arguments.recording_count, 1);
    assert_int_equal(parse("show", "p", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_SHOW);
    assert_int_equal(arguments.output_count, 0);
    /* One output: its format may stand anywhere. */
    assert_int_equal(parse("show", "p", "-o", "x", "-f", "edges", NULL), 0);
    assert_string_equal(arguments.format, "edges");
    assert_int_equal(
        parse("merge", "a", "b", "-o", "x", "-f", "gcov", "--gcc-version", "12", "--md5", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_MERGE);
    assert_int_equal(arguments.recording_count, 2);
    assert_string_equal(arguments.recordings[1], "b");
    assert_string_equal(arguments.outputs[0].path, "x");
    assert_string_equal(arguments.format, "gcov");
    assert_int_equal(arguments.gcc_version, 12);
    assert_true(arguments.md5);
    /* A recording of that name, anywhere but first. */
    assert_int_equal(parse("-o", "o", "inspect", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_CONVERT);
    assert_string_equal(arguments.recordings[0], "inspect");
    static const char *const help[] = {"-h", "--help", "-V", "--version"};
    for (size_t i = 0; i < 4; i++) {
        enum br2_command command = i < 2 ? BR2_COMMAND_HELP : BR2_COMMAND_VERSION;
        assert_int_equal(parse(help[i], NULL), 0);
        assert_int_equal(arguments.command, command);
        assert_int_equal(parse("inspect", help[i], "a", "b", NULL), 0);
        assert_int_equal(arguments.command, command);
        assert_int_equal(parse("r", help[i], "--nonsense", NULL), 0);
        assert_int_equal(arguments.command, command);
    }
}

static void assert_refused(int status, const char *message, const char *hint)
{
    assert_int_equal(status, BR2PGO_INVALID);
    assert_int_equal(error.status, BR2PGO_INVALID);
    assert_string_equal(error.message, message);
    assert_string_equal(error.hint, hint);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused(parse(NULL), "no recording given",
                   "usage: br2pgo perf.data -b BINARY -o PROFILE; see br2pgo --help");
    assert_refused(parse("r", NULL), "no output given",
                   "name one with -o, e.g. -o app.prof; to look into the recording: br2pgo inspect "
                   "'r'");
    assert_refused(parse("inspect", NULL), "no recording given",
                   "usage: br2pgo inspect perf.data; see br2pgo --help");
    assert_refused(parse("inspect", "a", "b", NULL), "inspect takes one recording at a time",
                   "call it once for each");
    assert_refused(parse("show", NULL), "no profile given",
                   "usage: br2pgo show PROFILE; see br2pgo --help");
    assert_refused(parse("show", "a", "b", NULL), "show takes one profile at a time",
                   "call it once for each");
    assert_refused(parse("show", "a", "-o", "b", "-o", "c", NULL), "show writes one output",
                   "call it once for each");
    assert_refused(parse("show", "a", "--md5", NULL),
                   "option '--md5' has no meaning for this command", "see br2pgo --help");
    assert_refused(parse("merge", "-o", "x", NULL), "no profile given",
                   "usage: br2pgo merge PROFILE... -o PROFILE; see br2pgo --help");
    assert_refused(parse("merge", "a", NULL), "no output given",
                   "name one with -o, e.g. -o app.prof; to look into the profile: br2pgo show 'a'");
    assert_refused(parse("merge", "a", "-o", "x", "-o", "y", NULL), "merge writes one output",
                   "call it once for each");
    assert_refused(parse("merge", "a", "-o", "x", "-b", "y", NULL),
                   "option '--binary' has no meaning for this command", "see br2pgo --help");
    assert_refused(parse("inspect", "r", "-o", "x", NULL),
                   "option '--output' has no meaning for this command", "see br2pgo --help");
    assert_refused(parse("r", "-o", "x", "--json", NULL),
                   "option '--json' has no meaning for this command", "see br2pgo --help");
    assert_refused(parse("r", "-o", "x", "-z", NULL), "unknown option '-z'", "see br2pgo --help");
    assert_refused(parse("r", "-o", "x", "-vz", NULL), "unknown option '-z'", "see br2pgo --help");
    assert_refused(parse("r", "-o", "x", "--frobnicate=1", NULL), "unknown option '--frobnicate=1'",
                   "see br2pgo --help");
    assert_refused(parse("r", "-o", "x", "--report", "x", NULL),
                   "the report and an output are both 'x'", "give each a name of its own");
    assert_refused(parse("r", "-o", "x", "-qv", NULL), "--quiet and --verbose ask for the opposite",
                   "leave one of them out; --report writes what -v shows to a file");
    assert_refused(parse("r", "-o", "x", "-b", NULL), "option '-b' needs a value", "it takes FILE");
    assert_refused(parse("r", "-o", "x", "--md5=1", NULL), "option '--md5' takes no value",
                   "give it alone; see br2pgo --help");
    assert_refused(parse("r", "-o", "", NULL), "the value of option '--output' is empty",
                   "it takes FILE");
    assert_refused(parse("r", "-o", "x", "--report=", NULL),
                   "the value of option '--report' is empty", "it takes FILE");
}

static void test_gcc_version(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int version;
    } good[] = {{"12", 12}, {"12.2", 12}, {"9.4.0", 9}, {"16.", 16}, {"1", 1}, {"999", 999}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(parse("r", "-o", "o", "--gcc-version", good[i].word, NULL), 0);
        assert_int_equal(arguments.gcc_version, good[i].version);
    }
    static const char *const bad[] = {"0", "-1", "+12", " 12", "gcc", "12x", "12-rc1", "1000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[96];
        snprintf(message, sizeof message, "option '--gcc-version' does not take '%s'", bad[i]);
        assert_refused(parse("r", "-o", "o", "--gcc-version", bad[i], NULL), message,
                       "it takes a version, like 12 or 12.2");
    }
    assert_refused(parse("r", "-o", "o", "--gcc-version=12", "--gcc", "gcc", NULL),
                   "both --gcc-version and --gcc say which GCC is meant: one is enough",
                   "leave one of them out");
}

static void test_bolt_version(void **state)
{
    (void)state;
    assert_int_equal(parse("r", "-o", "o", "--bolt-version", "22.1.8", NULL), 0);
    assert_int_equal(arguments.bolt_version, 22);
    assert_int_equal(arguments.gcc_version, 0);
    assert_refused(parse("r", "-o", "o", "--bolt-version", "new", NULL),
                   "option '--bolt-version' does not take 'new'",
                   "it takes a version, like 12 or 12.2");
}

static void test_gcov_version(void **state)
{
    (void)state;
    assert_int_equal(parse("r", "-o", "o", "--gcov-version", "1", NULL), 0);
    assert_int_equal(arguments.gcov_version, 1);
    assert_int_equal(parse("r", "-o", "o", "--gcov-version=3", NULL), 0);
    assert_int_equal(arguments.gcov_version, 3);
    assert_int_equal(arguments.gcc_version, 0);
    static const char *const bad[] = {"0", "4", "12", "875575082"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[96];
        snprintf(message, sizeof message, "option '--gcov-version' does not take '%s'", bad[i]);
        assert_refused(parse("r", "-o", "o", "--gcov-version", bad[i], NULL), message,
                       "it takes 1|2|3");
    }
    assert_refused(parse("r", "-o", "o", "--gcov-version=2", "--gcc", "gcc", NULL),
                   "--gcov-version follows from --gcc", "leave --gcov-version out");
    assert_refused(parse("r", "-o", "o", "--gcov-version=2", "--gcc-version=13", NULL),
                   "--gcov-version follows from --gcc-version", "leave --gcov-version out");
}

static void test_completion(void **state)
{
    (void)state;
    assert_int_equal(parse("--completion", "fish", NULL), 0);
    assert_int_equal(arguments.command, BR2_COMMAND_COMPLETION);
    assert_int_equal(arguments.shell, BR2_SHELL_FISH);
    assert_int_equal(parse("--completion=bash", "perf.data", NULL), 0);
    assert_int_equal(arguments.shell, BR2_SHELL_BASH);
    assert_refused(parse("--completion", "csh", NULL), "option '--completion' does not take 'csh'",
                   "it takes bash|zsh|fish");
}

static void test_late_compat(void **state)
{
    (void)state;
    assert_refused(parse("r", "--compat", "perf2bolt", NULL), "--compat must be the first option",
                   "br2pgo --compat perf2bolt, and behind it that tool's options");
}

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(parse("r", "-o", "o", NULL), 0);
    assert_int_equal(arguments.threads, 0);
    assert_int_equal(parse("r", "-o", "o", "-j", "7", NULL), 0);
    assert_int_equal(arguments.threads, 7);
    assert_int_equal(parse("r", "-o", "o", "--threads=256", NULL), 0);
    assert_int_equal(arguments.threads, 256);
    static const char *const bad[] = {"0", "-1", "257", "", "2x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[96];
        snprintf(message, sizeof message, "option '--threads' does not take '%s'", bad[i]);
        assert_refused(parse("r", "-o", "o", "-j", bad[i], NULL),
                       bad[i][0] != '\0' ? message : "the value of option '--threads' is empty",
                       bad[i][0] != '\0' ? "it takes a number from 1 to 256" : "it takes N");
    }
}

static void test_max_memory(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"16M", 16777216},       {"16777216", 16777216}, {"16384K", 16777216},
                {"2G", (size_t)2 << 30}, {"100000K", 102400000}, {"17179869183G", SIZE_MAX << 30}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(parse("r", "-o", "o", "--max-memory", good[i].text, NULL), 0);
        assert_int_equal(arguments.max_memory, good[i].bytes);
    }
    assert_int_equal(parse("inspect", "r", "--max-memory", "1G", NULL), 0);
    assert_int_equal(parse("show", "r", "--max-memory", "1G", NULL), 0);
    assert_int_equal(parse("merge", "r", "-o", "o", "--max-memory", "1G", NULL), 0);
    static const char *const bad[] = {"0",  "15M",  "16777215", "M",    "16MB",
                                      "-1", "1.5G", "16m",      "16 M", "17179869184G"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[96];
        snprintf(message, sizeof message, "option '--max-memory' does not take '%s'", bad[i]);
        assert_refused(parse("r", "-o", "o", "--max-memory", bad[i], NULL), message,
                       "it takes a size of 16M or more, like 512M or 2G");
    }
    assert_refused(parse("record", "--max-memory", "1G", "r", NULL),
                   "option '--max-memory' has no meaning for this command", "see br2pgo --help");
}

static const char *const all_options[] = {
    "binary",        "output",    "all-images",   "format",
    "event",         "sysroot",   "debug-binary", "ignore-build-id",
    "names",         "report",    "gcc",          "gcc-version",
    "symbol-list",   "compress",  "md5",          "partial",
    "progress",      "verbose",   "quiet",        "help",
    "version",       "threads",   "weight",       "skip-bad",
    "comm",          "cpu",       "time",         "pid",
    "ignore-kernel", "min-count", "bolt-version", "max-memory",
    "gcov-version",  "compat",    "completion",   "flow-inference",
};
#define OPTION_COUNT (sizeof all_options / sizeof *all_options)

static void assert_meant(const char *word, const char *option)
{
    char hint[64];
    snprintf(hint, sizeof hint, "did you mean '--%s'?", option);
    char message[96];
    snprintf(message, sizeof message, "unknown option '%s'", word);
    assert_refused(parse("r", "-o", "x", word, "value", NULL), message, hint);
}

/* A beginning of a name is not taken for the name; neither is a slip, but both are understood. */
static void test_did_you_mean(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *name = all_options[i];
        char word[64];
        snprintf(word, sizeof word, "--%.*s", (int)strlen(name) - 1, name);
        assert_meant(word, name);
        snprintf(word, sizeof word, "--%s%c", name, 'x');
        assert_meant(word, name);
        snprintf(word, sizeof word, "--%c%c%s", name[1], name[0], name + 2);
        assert_meant(word, name);
        snprintf(word, sizeof word, "--%c%s=3", name[0], name + 2);
        assert_meant(word, name);
    }
    assert_meant("--prog", "progress");
    assert_meant("--debug", "debug-binary");
    assert_meant("--veresion", "version");
}

static void test_long_unknown_option(void **state)
{
    (void)state;
    char word[64];
    memset(word, 'y', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    word[0] = word[1] = '-';
    assert_int_equal(parse("r", "-o", "x", word, NULL), BR2PGO_INVALID);
    assert_string_equal(error.hint, "see br2pgo --help");
}

/* What br2_print_help prints. */
static void capture_help(const char *command, char *text, size_t size)
{
    fflush(stdout);
    FILE *file = tmpfile();
    assert_non_null(file);
    int old = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    br2_print_help(command);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void test_help(void **state)
{
    (void)state;
    static char text[16384];
    capture_help(NULL, text, sizeof text);
    assert_non_null(strstr(text, "usage: br2pgo RECORDING..."));
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, " --%s ", all_options[i]);
        assert_non_null(strstr(text, wanted));
    }
    const char *inspect = strstr(text, "\nbr2pgo inspect");
    assert_non_null(inspect);
    assert_non_null(strstr(inspect, " --json "));
    const char *show = strstr(text, "\nbr2pgo show");
    const char *merge = strstr(text, "\nbr2pgo merge");
    assert_true(inspect < show && show < merge);
    const char *output = strstr(inspect, "--output ");
    assert_true(output > show);
    const char *above = strstr(show, "\n  as above: --output --format ");
    assert_true(above > show && above < merge);
    assert_non_null(strstr(inspect, "\n  as above: --max-memory\n"));
    assert_non_null(strstr(merge, " --gcc-version "));
    assert_null(strstr(merge, " --binary"));
    assert_ptr_equal(strstr(text, " --json "), strstr(inspect, " --json "));
    assert_non_null(strstr(text, "  first           .one          of formats\n"));
    assert_non_null(strstr(text, "  second                        without suffix\n"));
    /* For terminals of 100 columns; no line empty but those between the parts. */
    for (const char *at = text; *at != '\0'; at = strchr(at, '\n') + 1) {
        assert_in_range(strcspn(at, "\n"), 0, 100);
    }
    size_t options = 0;
    for (const char *at = text; (at = strstr(at, "--")) != NULL && at < inspect; at += 2) {
        options += at[-1] == ' ';
    }
    assert_int_equal(options, OPTION_COUNT); /* none but these */
}

/* Behind a command, what that command takes, with an example; alone, everything. */
static void test_help_of_a_command(void **state)
{
    (void)state;
    static char text[16384];
    assert_int_equal(parse("perf.data", "--help", NULL), 0);
    assert_null(arguments.help_of);
    const struct br2_command_line *line;
    for (size_t i = 0; (line = br2_command_at(i)) != NULL; i++) {
        assert_int_equal(parse(line->name, "--help", NULL), 0);
        assert_int_equal(arguments.command, BR2_COMMAND_HELP);
        assert_string_equal(arguments.help_of, line->name);
        capture_help(arguments.help_of, text, sizeof text);
        char wanted[128];
        snprintf(wanted, sizeof wanted, "\nusage:   br2pgo %s\nexample: br2pgo %s\n",
                 line->synopsis, line->example);
        assert_non_null(strstr(text, wanted));
        for (size_t k = 0; k < br2_option_count(); k++) {
            snprintf(wanted, sizeof wanted, " --%s%c", br2_option_lines[k].name,
                     br2_option_lines[k].value != NULL ? ' ' : '\n');
            bool shown = strstr(text, wanted) != NULL;
            if (br2_option_lines[k].value == NULL) {
                wanted[strlen(wanted) - 1] = ' ';
                shown = shown || strstr(text, wanted) != NULL;
            }
            assert_int_equal(shown, (br2_option_lines[k].commands & line->bit) != 0);
        }
    }
    capture_help("show", text, sizeof text);
    assert_non_null(strstr(text, "  first           .one          of formats\n"));
    capture_help("inspect", text, sizeof text);
    assert_null(strstr(text, "Formats:"));
}

static void test_unknown_command(void **state)
{
    (void)state;
    assert_refused(parse("inspct", "perf.data", NULL),
                   "unknown command 'inspct'; there is no recording of that name either",
                   "did you mean 'br2pgo inspect'?");
    assert_refused(parse("mrege", "a", "-o", "b", NULL),
                   "unknown command 'mrege'; there is no recording of that name either",
                   "did you mean 'br2pgo merge'?");
    assert_refused(parse("rec", "a", NULL),
                   "unknown command 'rec'; there is no recording of that name either",
                   "did you mean 'br2pgo record'?");
    assert_int_equal(parse("./inspct", "-o", "x", NULL), 0);
    assert_int_equal(parse("-o", "x", "inspct", NULL), 0);
    assert_int_equal(parse("sh", "-o", "x", NULL), 0);
    FILE *file = fopen("shows", "w");
    assert_non_null(file);
    fclose(file);
    int rc = parse("shows", "-o", "x", NULL);
    unlink("shows");
    assert_int_equal(rc, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, teardown),
        cmocka_unit_test_teardown(test_options_with_a_value, teardown),
        cmocka_unit_test_teardown(test_options_without_a_value, teardown),
        cmocka_unit_test_teardown(test_words, teardown),
        cmocka_unit_test_teardown(test_gcc_version, teardown),
        cmocka_unit_test_teardown(test_bolt_version, teardown),
        cmocka_unit_test_teardown(test_gcov_version, teardown),
        cmocka_unit_test_teardown(test_completion, teardown),
        cmocka_unit_test_teardown(test_late_compat, teardown),
        cmocka_unit_test_teardown(test_threads, teardown),
        cmocka_unit_test_teardown(test_max_memory, teardown),
        cmocka_unit_test_teardown(test_format_is_sticky, teardown),
        cmocka_unit_test_teardown(test_format_without_output, teardown),
        cmocka_unit_test_teardown(test_weights, teardown),
        cmocka_unit_test_teardown(test_min_count, teardown),
        cmocka_unit_test_teardown(test_recordings, teardown),
        cmocka_unit_test_teardown(test_commands, teardown),
        cmocka_unit_test_teardown(test_refusals, teardown),
        cmocka_unit_test_teardown(test_did_you_mean, teardown),
        cmocka_unit_test_teardown(test_long_unknown_option, teardown),
        cmocka_unit_test_teardown(test_help, teardown),
        cmocka_unit_test_teardown(test_help_of_a_command, teardown),
        cmocka_unit_test_teardown(test_unknown_command, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
