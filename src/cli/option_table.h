/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of commands and options that drives parsing (options.c) and help (help.c). */
#ifndef BR2_CLI_OPTION_TABLE_H
#define BR2_CLI_OPTION_TABLE_H

#include "cli/options.h"

/* Options without a short form are known by numbers beyond the characters. */
enum option_id {
    OPTION_ALL_IMAGES = 256,
    OPTION_WEIGHT,
    OPTION_TRIM,
    OPTION_SKIP_BAD,
    OPTION_COMM,
    OPTION_CPU,
    OPTION_TIME,
    OPTION_IGNORE_KERNEL,
    OPTION_MIN_COUNT,
    OPTION_MAX_MEMORY,
    OPTION_EVENT,
    OPTION_SYSROOT,
    OPTION_ANNOTATE,
    OPTION_DEBUG_BINARY,
    OPTION_IGNORE_BUILD_ID,
    OPTION_NAMES,
    OPTION_SYMBOL_LIST,
    OPTION_FLOW_INFERENCE,
    OPTION_COMPRESS,
    OPTION_MD5,
    OPTION_PARTIAL,
    OPTION_GCC_VERSION,
    OPTION_GCC,
    OPTION_GCOV_VERSION,
    OPTION_BOLT_VERSION,
    OPTION_REPORT,
    OPTION_PROGRESS,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_HTML,
    OPTION_SECTION,
    OPTION_FUNCTION,
    OPTION_TOP,
    OPTION_RAW_NAMES,
    OPTION_COLOR,
    OPTION_NO_PAGER,
    OPTION_PERIOD,
    OPTION_FREQUENCY,
    OPTION_DURATION,
    OPTION_PID,
    OPTION_ALL_CPUS,
    OPTION_KERNEL,
    OPTION_DRY_RUN,
    OPTION_EMULATE,
    OPTION_NO_EMULATE,
    OPTION_DEPTH,
    OPTION_CYCLES,
    OPTION_SEED,
    OPTION_EXACT,
    OPTION_TOTALS,
    OPTION_COMPAT,
    OPTION_BASELINE,
    OPTION_AGAINST,
    OPTION_MIN_DENSITY,
    OPTION_MIN_BOLT_DENSITY,
    OPTION_MIN_COVERAGE,
    OPTION_MIN_SIMILARITY,
    OPTION_MAX_LOST,
    OPTION_MAX_UNATTRIBUTED,
    OPTION_MAX_IMBALANCE,
    OPTION_MAX_NEWEST_BIAS,
    OPTION_MAX_BEAT,
    OPTION_MAX_REPEATED,
    OPTION_MAX_STALE,
    OPTION_MAX_STALE_LINES,
    OPTION_MAX_STALE_OPERANDS,
    OPTION_COMPLETION,
};

struct br2_command_line {
    enum br2_command command;
    const char *name;
    unsigned bit;      /* in the table of options */
    const char *input; /* what its arguments are */
    size_t inputs_min;
    size_t inputs_max;
    size_t outputs_min;
    size_t outputs_max;
    const char *usage;    /* behind "br2pgo" */
    const char *about;    /* what it is for or makes, behind "br2pgo NAME: " */
    const char *synopsis; /* the whole usage, behind "br2pgo" */
    const char *example;  /* behind "br2pgo" */
};

struct br2_option_line {
    int id; /* the short form where it is a character */
    const char *name;
    const char *value; /* NULL: takes none */
    unsigned commands;
    const char *help;
    size_t member; /* of struct br2_arguments that it sets, a string or bool; 0: see take_option in
                      options.c */
};

extern const struct br2_option_line br2_option_lines[];
/* More than there are. */
#define BR2_OPTION_LINES_MAX 96

size_t br2_option_count(void);

/* The option of a short form or number, or of a name; NULL: there is none. */
const struct br2_option_line *br2_option_find(int id);
const struct br2_option_line *br2_option_named(const char *name);

/* The words that an option takes where `value` is the name of a kind, split by '|' or ','; NULL:
 * none. */
const char *br2_option_words(const struct br2_option_line *line);

/* The line of a command, of the word that names it, and by number from 0 on; NULL: there is none.
 */
const struct br2_command_line *br2_command_line(enum br2_command command);
const struct br2_command_line *br2_command_named(const char *word);
const struct br2_command_line *br2_command_at(size_t index);

/* The name of an option of reading recordings that was given; NULL: none was. */
const char *br2_reading_option_given(const struct br2_arguments *arguments);

/* A share from "12.5" or "12.5%", 0 to 1; false: it is none. */
bool br2_percent_read(const char *text, double *ret);

#endif
