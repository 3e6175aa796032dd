/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/completion/completion.h"

#include <stdio.h>
#include <string.h>

enum br2_value_kind br2_value_kind(const struct br2_option_line *line)
{
    const char *value = line->value;
    if (value == NULL) {
        return BR2_VALUE_NONE;
    }
    if (line->id == 'f' || strchr(value, '|') != NULL) {
        return BR2_VALUE_WORD;
    }
    if (br2_option_words(line) != NULL) {
        return strchr(value, ',') != NULL ? BR2_VALUE_LIST : BR2_VALUE_WORD;
    }
    if (strcmp(value, "FILE") == 0) {
        return BR2_VALUE_FILE;
    }
    return strcmp(value, "DIR") == 0 ? BR2_VALUE_DIR : BR2_VALUE_FREE;
}

void br2_print_value_words(const struct br2_option_line *line)
{
    if (line->id == 'f') {
        struct br2pgo_format format;
        for (size_t i = 0; br2pgo_format_info(i, &format) == 0; i++) {
            printf(" %s", format.name);
        }
        return;
    }
    const char *words = br2_option_words(line);
    words = words != NULL ? words : line->value;
    while (*words != '\0') {
        words += strspn(words, "|, ");
        int length = (int)strcspn(words, "|, ");
        printf(" %.*s", length, words);
        words += length;
    }
}

void br2_print_command_names(const char *separator)
{
    const struct br2_command_line *line;
    for (size_t i = 0; (line = br2_command_at(i)) != NULL; i++) {
        printf("%s%s", i != 0 ? separator : "", line->name);
    }
}

bool br2_takes_program(const struct br2_command_line *line)
{
    return strcmp(line->input, "program") == 0;
}

bool br2_takes_profile(const struct br2_command_line *line)
{
    bool reads_image = (br2_option_find('b')->commands & line->bit) != 0;
    return strcmp(line->input, "profile") == 0 && !reads_image;
}

void br2_print_completion(enum br2_shell shell)
{
    switch (shell) {
    case BR2_SHELL_BASH:
        br2_print_bash_completion();
        break;
    case BR2_SHELL_ZSH:
        br2_print_zsh_completion();
        break;
    case BR2_SHELL_FISH:
        br2_print_fish_completion();
        break;
    }
}
