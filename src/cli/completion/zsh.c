/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "cli/completion/completion.h"

/* Text inside '...', where `special` has a meaning to _arguments. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            printf("'\\''");
            continue;
        }
        printf("%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
    }
}

static void print_action(const struct br2_option_line *line)
{
    switch (br2_value_kind(line)) {
    case BR2_VALUE_NONE:
        return;
    case BR2_VALUE_FREE:
        printf(":value: ");
        return;
    case BR2_VALUE_FILE:
        printf(":file:_files");
        return;
    case BR2_VALUE_DIR:
        printf(":folder:_files -/");
        return;
    case BR2_VALUE_WORD:
        printf(":%s:(", line->name);
        br2_print_value_words(line);
        printf(" )");
        return;
    case BR2_VALUE_LIST:
        printf(":%s:_values -s , %s", line->name, line->name);
        br2_print_value_words(line);
        return;
    }
}

static void print_option(const struct br2_option_line *line)
{
    const char *value = line->value != NULL ? "=" : "";
    printf("            ");
    if (line->id < 256) {
        printf("'*'{-%c%s,--%s%s}'[", line->id, line->value != NULL ? "+" : "", line->name, value);
    } else {
        printf("'*--%s%s[", line->name, value);
    }
    print_quoted(line->help, "[]:\\");
    printf("]");
    print_action(line);
    printf("' \\\n");
}

/* A pattern of the suffixes that profiles have. */
static void print_profile_files(void)
{
    printf("_files -g \"*(");
    struct br2pgo_format format;
    bool first = true;
    for (size_t i = 0; br2pgo_format_info(i, &format) == 0; i++) {
        if (format.suffix != NULL) {
            printf("%s%s", first ? "" : "|", format.suffix);
            first = false;
        }
    }
    printf(")(-.)\"");
}

static void print_command(const struct br2_command_line *command, bool is_default)
{
    printf("    %s)\n"
           "        _arguments -s -S : \\\n",
           command->name);
    for (size_t i = 0; i < br2_option_count(); i++) {
        if ((br2_option_lines[i].commands & command->bit) != 0) {
            print_option(&br2_option_lines[i]);
        }
    }
    printf("            ");
    if (br2_takes_program(command)) {
        printf("'(-)1:program:_command_names -e' '(-)*::argument:_normal'");
    } else if (br2_takes_profile(command)) {
        printf("'*:profile:");
        print_profile_files();
        printf("'");
    } else {
        printf("'*:%s:%s'", command->input, is_default ? "_br2pgo_first" : "_files");
    }
    printf("\n        ;;\n");
}

void br2_print_zsh_completion(void)
{
    printf("#compdef br2pgo\n"
           "# zsh completion of br2pgo, made by: br2pgo --completion zsh\n"
           "\n"
           "# The first word is a command, or already a recording.\n"
           "_br2pgo_first()\n"
           "{\n"
           "    (( CURRENT == 2 )) && _describe -t commands command commands\n"
           "    _files\n"
           "}\n"
           "\n"
           "_br2pgo()\n"
           "{\n"
           "    local command=convert\n"
           "    local -a commands\n"
           "    commands=(\n");
    const struct br2_command_line *command;
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        printf("        '%s:", command->name);
        print_quoted(command->about, "\\");
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT > 3 )) && [[ $words[2] == --compat ]]; then\n"
           "        _files\n"
           "        return\n"
           "    fi\n"
           "    if (( CURRENT > 2 )) && [[ -n ${commands[(r)$words[2]:*]} ]]; then\n"
           "        command=$words[2]\n"
           "        shift words\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    case $command in\n");
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        print_command(command, i == 0);
    }
    printf("    esac\n"
           "}\n"
           "\n"
           "if [[ $funcstack[1] == _br2pgo ]]; then\n"
           "    _br2pgo \"$@\"\n"
           "else\n"
           "    compdef _br2pgo br2pgo\n"
           "fi\n");
}
