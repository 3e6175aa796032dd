/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scripts that complete command lines, from the table of commands and options. */
#ifndef BR2_CLI_COMPLETION_COMPLETION_H
#define BR2_CLI_COMPLETION_COMPLETION_H

#include "cli/option_table.h"

/* What may stand as an option's value. */
enum br2_value_kind {
    BR2_VALUE_NONE, /* the option takes none */
    BR2_VALUE_FREE, /* a number, a name: not to be guessed */
    BR2_VALUE_FILE,
    BR2_VALUE_DIR,
    BR2_VALUE_WORD, /* one of br2_print_value_words */
    BR2_VALUE_LIST, /* some of them, with commas between */
};

enum br2_value_kind br2_value_kind(const struct br2_option_line *line);

/* Prints the words that the option takes, with a blank before each. */
void br2_print_value_words(const struct br2_option_line *line);

/* Prints the names of all commands, `separator` between them. */
void br2_print_command_names(const char *separator);

/* Whether what follows the options is a program with its own words, or finished profiles and
 * nothing else. */
bool br2_takes_program(const struct br2_command_line *line);
bool br2_takes_profile(const struct br2_command_line *line);

/* Each prints the whole script. */
void br2_print_bash_completion(void);
void br2_print_zsh_completion(void);
void br2_print_fish_completion(void);

#endif
