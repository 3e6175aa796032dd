/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "cli/option_table.h"

/* The options of a command that were not explained with another. */
static void print_options(unsigned command, unsigned before)
{
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        if ((line->commands & command) == 0 || (line->commands & before) != 0) {
            continue;
        }
        char text[64];
        snprintf(text, sizeof text, "--%s%s%s", line->name, line->value != NULL ? " " : "",
                 line->value != NULL ? line->value : "");
        if (line->id < 256) {
            printf("  -%c, ", line->id);
        } else {
            printf("      ");
        }
        printf(strlen(text) > 22 ? "%s\n%30s%s\n" : "%-22s%2s%s\n", text, "", line->help);
    }
}

/* The names of options that were explained before, but for those of every command. */
static void list_options(unsigned command, unsigned before, unsigned all)
{
    int column = 0;
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        if ((line->commands & command) == 0 || (line->commands & before) == 0 ||
            line->commands == all) {
            continue;
        }
        if (column == 0) {
            column = printf("  as above:");
        } else if (column + 3 + (int)strlen(line->name) > 100) {
            column = printf("\n           ");
        }
        column += printf(" --%s", line->name);
    }
    if (column != 0) {
        printf("\n");
    }
}

static void print_formats(void)
{
    printf("\nFormats:\n");
    struct br2pgo_format format;
    for (size_t i = 0; br2pgo_format_info(i, &format) == 0; i++) {
        printf("  %-16s%-13s %s\n", format.name, format.suffix != NULL ? format.suffix : "",
               format.description);
    }
}

static bool takes_format(const struct br2_command_line *line)
{
    return (br2_option_find('f')->commands & line->bit) != 0;
}

static void print_help_of(const struct br2_command_line *line)
{
    printf("br2pgo %s: %s\n"
           "\n"
           "usage:   br2pgo %s\n"
           "example: br2pgo %s\n"
           "\n",
           line->name, line->about, line->synopsis, line->example);
    print_options(line->bit, 0);
    if (takes_format(line)) {
        print_formats();
    }
}

void br2_print_help(const char *command)
{
    const struct br2_command_line *line = command != NULL ? br2_command_named(command) : NULL;
    if (line != NULL) {
        print_help_of(line);
        return;
    }
    printf("br2pgo: compiler profiles from sampled branch records\n\n");
    unsigned all = 0;
    for (size_t i = 0; (line = br2_command_at(i)) != NULL; i++) {
        printf("%s br2pgo %s\n", i == 0 ? "usage:" : "      ", line->synopsis);
        all |= line->bit;
    }
    unsigned before = 0;
    for (size_t i = 0; (line = br2_command_at(i)) != NULL; i++) {
        printf("\nbr2pgo %s, %s:\n", line->name, line->about);
        print_options(line->bit, before);
        list_options(line->bit, before, all);
        before |= line->bit;
    }
    print_formats();
    printf("\nbr2pgo COMMAND --help tells of one command, with an example.\n"
           "Exit status: 0 written, 1 failed, 2 usage, 3 no useful profile in the recording;\n"
           "of record: the program's.\n");
}
