/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "cli/completion/completion.h"

/* The parts of the script that no table decides. `--x=y` is three words to bash. */
static const char begin[] =
    "# bash completion of br2pgo, made by: br2pgo --completion bash\n"
    "_br2pgo_files()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "# Files that are named as profiles are, and folders; all files when there are none.\n"
    "_br2pgo_profiles()\n"
    "{\n"
    "    local file kept=()\n"
    "    _br2pgo_files -f\n"
    "    for file in \"${COMPREPLY[@]}\"; do\n"
    "        case $file in\n"
    "        %s) kept+=(\"$file\") ;;\n"
    "        *) [[ -d $file ]] && kept+=(\"$file\") ;;\n"
    "        esac\n"
    "    done\n"
    "    ((${#kept[@]} == 0)) || COMPREPLY=(\"${kept[@]}\")\n"
    "}\n";

static const char words_begin[] =
    "\n"
    "_br2pgo()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=convert options= i\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    if ((COMP_CWORD > 1)); then\n"
    "        case ${COMP_WORDS[1]} in\n";

static const char end[] = "    *) _br2pgo_files -f ;;\n"
                          "    esac\n"
                          "}\n"
                          "complete -F _br2pgo br2pgo\n";

static void print_profile_patterns(void)
{
    struct br2pgo_format format;
    bool first = true;
    for (size_t i = 0; br2pgo_format_info(i, &format) == 0; i++) {
        if (format.suffix != NULL) {
            printf("%s*%s", first ? "" : "|", format.suffix);
            first = false;
        }
    }
}

/* "--binary|-b". */
static void print_names(const struct br2_option_line *line)
{
    printf("--%s", line->name);
    if (line->id < 256) {
        printf("|-%c", line->id);
    }
}

/* The pattern of all options of the commands with values of a kind; false when there are none. */
static bool print_pattern(unsigned commands, enum br2_value_kind kind, const char *indent)
{
    bool any = false;
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        if ((line->commands & commands) != 0 && br2_value_kind(line) == kind) {
            printf("%s", any ? "|" : indent);
            print_names(line);
            any = true;
        }
    }
    printf("%s", any ? ")" : "");
    return any;
}

/* Behind the program's name, the words are the program's: files are all that can be told of them.
 */
static void print_program(const struct br2_command_line *command)
{
    printf("    if [[ $command == %s ]]; then\n"
           "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
           "            case ${COMP_WORDS[i]} in\n",
           command->name);
    for (int kind = BR2_VALUE_FREE; kind <= BR2_VALUE_LIST; kind++) {
        if (print_pattern(command->bit, (enum br2_value_kind)kind, "            ")) {
            printf("\n"
                   "                ((++i))\n"
                   "                [[ ${COMP_WORDS[i]} != = ]] || ((++i))\n"
                   "                ;;\n");
        }
    }
    printf("            -?*) ;;\n"
           "            *)\n"
           "                _br2pgo_files -f\n"
           "                return\n"
           "                ;;\n"
           "            esac\n"
           "        done\n"
           "    fi\n");
}

static void print_options(const struct br2_command_line *command)
{
    printf("    %s) options='", command->name);
    bool first = true;
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        if ((line->commands & command->bit) != 0) {
            printf("%s--%s", first ? "" : " ", line->name);
            first = false;
        }
    }
    printf("' ;;\n");
}

static void print_values(void)
{
    printf("    case $prev in\n");
    for (size_t i = 0; i < br2_option_count(); i++) {
        const struct br2_option_line *line = &br2_option_lines[i];
        enum br2_value_kind kind = br2_value_kind(line);
        if (kind != BR2_VALUE_WORD && kind != BR2_VALUE_LIST) {
            continue;
        }
        printf("    ");
        print_names(line);
        bool list = kind == BR2_VALUE_LIST;
        printf(")\n        mapfile -t COMPREPLY < <(compgen %s-W '",
               list ? "-P \"${cur%\"${cur##*,}\"}\" " : "");
        br2_print_value_words(line);
        printf("' -- \"%s\")\n        return\n        ;;\n", list ? "${cur##*,}" : "$cur");
    }
    static const struct {
        enum br2_value_kind kind;
        const char *action;
    } others[] = {
        {BR2_VALUE_FILE, "        _br2pgo_files -f\n"},
        {BR2_VALUE_DIR, "        _br2pgo_files -d\n"},
        {BR2_VALUE_FREE, ""},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (print_pattern(~0u, others[i].kind, "    ")) {
            printf("\n%s        return\n        ;;\n", others[i].action);
        }
    }
    printf("    esac\n");
}

/* What is no option: commands, then what the command reads. */
static void print_arguments(void)
{
    printf("    if [[ $cur == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
           "        return\n"
           "    fi\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        _br2pgo_files -f -W '");
    br2_print_command_names(" ");
    printf("'\n"
           "        return\n"
           "    fi\n"
           "    case $command in\n");
    const struct br2_command_line *command;
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        if (br2_takes_profile(command)) {
            printf("    %s) _br2pgo_profiles ;;\n", command->name);
        } else if (br2_takes_program(command)) {
            printf("    %s) _br2pgo_files -c -f ;;\n", command->name);
        }
    }
    fputs(end, stdout);
}

static void print_begin(void)
{
    const char *at = begin;
    for (; at[0] != '%' || at[1] != 's'; at++) {
        putchar(*at);
    }
    print_profile_patterns();
    fputs(at + 2, stdout);
}

void br2_print_bash_completion(void)
{
    print_begin();
    printf("%s        ", words_begin);
    br2_print_command_names("|");
    printf(") command=${COMP_WORDS[1]} ;;\n"
           "        --compat) # the other tool's words\n"
           "            if ((COMP_CWORD > 2)) && [[ $prev != --compat ]]; then\n"
           "                _br2pgo_files -f\n"
           "                return\n"
           "            fi\n"
           "            ;;\n"
           "        esac\n"
           "    fi\n");
    const struct br2_command_line *command;
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        if (br2_takes_program(command)) {
            print_program(command);
        }
    }
    printf("    case $command in\n");
    for (size_t i = 0; (command = br2_command_at(i)) != NULL; i++) {
        print_options(command);
    }
    printf("    esac\n");
    print_values();
    print_arguments();
}
