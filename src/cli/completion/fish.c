/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "cli/completion/completion.h"

/* Text inside '...'. */
static void print_quoted(const char *text)
{
    for (; *text != '\0'; text++) {
        printf("%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
    }
}

static void print_value(const struct br2_option_line *line)
{
    switch (br2_value_kind(line)) {
    case BR2_VALUE_NONE:
        return;
    case BR2_VALUE_FREE:
        printf(" -x");
        return;
    case BR2_VALUE_FILE:
        printf(" -r -F");
        return;
    case BR2_VALUE_DIR:
        printf(" -x -a '(__fish_complete_directories)'");
        return;
    case BR2_VALUE_WORD:
        printf(" -x -a '");
        br2_print_value_words(line);
        printf("'");
        return;
    case BR2_VALUE_LIST:
        printf(" -x -a '(__fish_append ,");
        br2_print_value_words(line);
        printf(")'");
        return;
    }
}

static void print_option(const struct br2_option_line *line)
{
    printf("complete -c br2pgo -n '__br2pgo_is");
    const struct br2_command_line *command;
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        if ((command->bit & line->commands) != 0) {
            printf(" %s", command->name);
        }
    }
    printf("' -l %s", line->name);
    if (line->id < 256) {
        printf(" -s %c", line->id);
    }
    print_value(line);
    printf(" -d '");
    print_quoted(line->help);
    printf("'\n");
}

void br2_print_fish_completion(void)
{
    printf("# fish completion of br2pgo, made by: br2pgo --completion fish\n"
           "\n"
           "# Whether the command of the line is one of the arguments.\n"
           "function __br2pgo_is\n"
           "    set -l words (commandline -opc)\n"
           "    set -l name convert\n"
           "    if set -q words[2]; and contains -- $words[2] ");
    br2_print_command_names(" ");
    printf("\n"
           "        set name $words[2]\n"
           "    end\n"
           "    contains -- $name $argv\n"
           "end\n"
           "\n");
    const struct br2_command_line *command;
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        printf("complete -c br2pgo -n 'test (count (commandline -opc)) -eq 1' -a %s -d '",
               command->name);
        print_quoted(command->about);
        printf("'\n");
        if (br2_takes_program(command)) {
            printf("complete -c br2pgo -n '__br2pgo_is %s' -x -a "
                   "'(__fish_complete_subcommand --fcs-skip=2)'\n",
                   command->name);
        }
    }
    for (size_t i = 0; i < br2_option_count(); i++) {
        print_option(&br2_option_lines[i]);
    }
}
