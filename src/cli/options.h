/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command line: one table drives parsing and help. */
#ifndef BR2_CLI_OPTIONS_H
#define BR2_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <br2pgo/br2pgo.h>

enum br2_command {
    BR2_COMMAND_CONVERT,
    BR2_COMMAND_INSPECT,
    BR2_COMMAND_SHOW,
    BR2_COMMAND_MERGE,
    BR2_COMMAND_RECORD,
    BR2_COMMAND_REPORT,
    BR2_COMMAND_DIFF,
    BR2_COMMAND_CHECK,
    BR2_COMMAND_HELP,
    BR2_COMMAND_VERSION,
    BR2_COMMAND_COMPLETION,
};

enum br2_shell {
    BR2_SHELL_BASH,
    BR2_SHELL_ZSH,
    BR2_SHELL_FISH,
};

enum br2_when {
    BR2_WHEN_AUTO, /* on a terminal */
    BR2_WHEN_ALWAYS,
    BR2_WHEN_NEVER,
};

struct br2_wanted_output {
    const char *path;
    const char *format; /* NULL: by suffix */
};

/* What only record takes, numbers not yet read. */
struct br2_record_arguments {
    const char *period;
    const char *frequency;
    const char *duration;
    const char *processes; /* of converting too */
    const char *depth;
    const char *seed;
    const char *exact;
    const char *totals;
    bool all_cpus;
    bool kernel;
    bool emulate;
    bool no_emulate;
    bool dry_run;
    bool cycles;
};

/* What only the report takes. */
struct br2_report_arguments {
    const char *sections;
    const char *function;
    uint64_t top; /* 0: not given */
    bool raw_names;
    bool csv;
    const char *html; /* file for the page; NULL: none */
    bool no_pager;
    enum br2_when color;
};

/* What only check takes. */
struct br2_check_arguments {
    const char *baseline;
    const char *against;
    const char *limits[BR2PGO_CHECK_FIGURES]; /* not yet read */
};

/* Strings point into argv. */
struct br2_arguments {
    enum br2_command command;
    const char *help_of;     /* of HELP: the command that was named; NULL: none */
    enum br2_shell shell;    /* of COMPLETION */
    const char **recordings; /* owned array, NULL at the end; of show and merge: profiles; of
                              * record: program and arguments */
    const char **weights;    /* owned array: of each recording, NULL: not given */
    size_t recording_count;
    struct br2_wanted_output *outputs; /* owned array */
    size_t output_count;
    const char *format; /* for the outputs that follow; of show and merge: for the output */
    bool format_waits;  /* for the first of them */
    const char *binary;
    const char *event;
    const char *weight; /* of the recordings that follow */
    bool weight_waits;  /* for the first of them */
    const char *comms;
    const char *cpus;
    const char *time;
    uint64_t min_count;
    double trim;       /* share, 0 to 1; 0: not given */
    size_t max_memory; /* bytes; 0: not given */
    bool ignore_kernel;
    bool skip_bad;
    const char *sysroot;
    const char *annotate; /* program whose source lines are shown */
    const char *debug_binary;
    const char *report;
    const char *gcc;  /* compiler to ask for its version */
    int gcc_version;  /* 0: not given */
    int gcov_version; /* of the format GCC reads; 0: not given */
    int bolt_version; /* 0: not given */
    int suffixes;     /* enum br2pgo_suffixes */
    int threads;      /* 0: not given */
    bool all_images;
    bool ignore_build_id;
    bool symbol_list;
    bool flow_inference;
    bool compress;
    bool md5;
    bool partial;
    bool json;
    bool verbose;
    bool quiet;
    enum br2_when progress;
    struct br2_record_arguments record;
    struct br2_report_arguments look;
    struct br2_check_arguments check;
};

/* BR2PGO_INVALID with message and hint when the words make no sense together. */
int br2_arguments_parse(int argc, char **argv, struct br2_arguments *ret, struct br2pgo_error *err);
void br2_arguments_done(struct br2_arguments *arguments);

/* Prints the help for a command, by its name, to standard output; NULL: for all. */
void br2_print_help(const char *command);

/* Prints to standard output a script with which the shell completes br2pgo's command lines. */
void br2_print_completion(enum br2_shell shell);

#endif
