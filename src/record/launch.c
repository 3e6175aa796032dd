/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_at.h"

static const struct machine {
    unsigned short number;
    const char *name;
    const char *prefix; /* where Debian's cross compilers have its libraries */
} machines[] = {
    {EM_X86_64, "x86_64", "/usr/x86_64-linux-gnu"},
    {EM_AARCH64, "aarch64", "/usr/aarch64-linux-gnu"},
    {EM_RISCV, "riscv64", "/usr/riscv64-linux-gnu"},
};

static const struct machine *find_machine(unsigned short number)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].number == number) {
            return &machines[i];
        }
    }
    return NULL;
}

/* The dynamic loader of another machine's program may lie below a folder of its own. */
static const char *find_prefix(int fd, const Elf64_Ehdr *header, const struct machine *machine)
{
    Elf64_Phdr segment;
    char interpreter[256];
    for (unsigned i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)(header->e_phoff + i * sizeof segment);
        if (br2_read_at(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) {
            break;
        }
        if (segment.p_type != PT_INTERP) {
            continue;
        }
        size_t prefix = strlen(machine->prefix);
        size_t size = segment.p_filesz;
        if (size >= sizeof interpreter - prefix) {
            break;
        }
        memcpy(interpreter, machine->prefix, prefix);
        ssize_t got = br2_read_at(fd, interpreter + prefix, size, (off_t)segment.p_offset);
        if (got != (ssize_t)size) {
            break;
        }
        interpreter[prefix + size] = '\0';
        bool is_elsewhere =
            access(interpreter + prefix, F_OK) != 0 && access(interpreter, F_OK) == 0;
        return is_elsewhere ? machine->prefix : NULL;
    }
    return NULL;
}

static enum br2_launch_status bad_format(struct br2_launch *launch, const char *why)
{
    launch->why = why;
    return BR2_LAUNCH_FORMAT;
}

static enum br2_launch_status check_elf(struct br2_launch *launch, int fd, const Elf64_Ehdr *header)
{
    if (header->e_ident[EI_CLASS] != ELFCLASS64) {
        return bad_format(launch, "it is a 32-bit program");
    }
    const struct machine *machine = find_machine(header->e_machine);
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || machine == NULL) {
        return bad_format(launch, "it is for neither x86-64, AArch64 nor 64-bit RISC-V");
    }
    launch->machine = machine->name;
    launch->prefix = find_prefix(fd, header, machine);
    return BR2_LAUNCH_OK;
}

/* Puts a word before the others. */
static void prepend(struct br2_launch *launch, const char *word)
{
    memmove(launch->words + 1, launch->words, launch->word_count * sizeof *launch->words);
    launch->words[0] = word;
    launch->word_count++;
}

/* Takes a line "#!interpreter argument" apart as the kernel does: one argument, blanks and all. */
static bool take_script(struct br2_launch *launch, char *line)
{
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, "\n")] = '\0';
    size_t end = strlen(name);
    while (end > 0 && (name[end - 1] == ' ' || name[end - 1] == '\t')) {
        name[--end] = '\0';
    }
    char *argument = name + strcspn(name, " \t");
    if (argument == name) {
        return false;
    }
    if (*argument != '\0') {
        *argument++ = '\0';
        prepend(launch, argument + strspn(argument, " \t"));
    }
    prepend(launch, name);
    memcpy(launch->program, name, strlen(name) + 1);
    return true;
}

/* One step: an ELF file ends it, a script goes on with its interpreter. */
static enum br2_launch_status look_at(struct br2_launch *launch, char *line, bool *ret_again)
{
    union {
        Elf64_Ehdr header;
        char text[BR2_LAUNCH_LINE];
    } start = {.text = {0}};
    struct stat status;
    int fd = open(launch->program, O_RDONLY | O_CLOEXEC);
    *ret_again = false;
    if (fd < 0) {
        return errno == EACCES && access(launch->program, X_OK) == 0
                   ? bad_format(launch, "it may be run but not be read")
                   : BR2_LAUNCH_MISSING;
    }
    enum br2_launch_status result;
    bool known = fstat(fd, &status) == 0;
    ssize_t size = known ? br2_read_at(fd, &start, sizeof start - 1, 0) : -1;
    if (!known || !S_ISREG(status.st_mode) ||
        faccessat(AT_FDCWD, launch->program, X_OK, AT_EACCESS) != 0) {
        errno = EACCES;
        result = BR2_LAUNCH_MISSING;
    } else if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) {
        result = bad_format(launch, "it runs with another user's rights");
    } else if (size >= (ssize_t)sizeof start.header && memcmp(start.text, ELFMAG, SELFMAG) == 0) {
        result = check_elf(launch, fd, &start.header);
    } else if (size > 2 && start.text[0] == '#' && start.text[1] == '!') {
        memcpy(line, start.text, sizeof start.text);
        *ret_again = take_script(launch, line);
        result = *ret_again ? BR2_LAUNCH_OK : bad_format(launch, "its first line names no program");
    } else {
        result = bad_format(launch, "it is neither an ELF file nor a script");
    }
    close(fd);
    return result;
}

enum br2_launch_status br2_launch_resolve(const char *path, struct br2_launch *ret)
{
    size_t length = strlen(path);
    ret->word_count = 0;
    ret->machine = NULL;
    ret->prefix = NULL;
    ret->why = NULL;
    if (length >= sizeof ret->program) {
        errno = ENAMETOOLONG;
        return BR2_LAUNCH_MISSING;
    }
    memcpy(ret->program, path, length + 1);
    memcpy(ret->script, path, length + 1);
    for (size_t i = 0; i < BR2_LAUNCH_LINES; i++) {
        bool again;
        enum br2_launch_status status = look_at(ret, ret->lines[i], &again);
        if (again && i == 0) {
            ret->words[ret->word_count++] = ret->script;
        }
        if (!again) {
            return status;
        }
    }
    errno = ELOOP;
    return BR2_LAUNCH_MISSING;
}

bool br2_launch_is_private(const char *variable)
{
    static const char *const names[] = {"LD_", "QEMU_", "GLIBC_TUNABLES=", "MALLOC_",
                                        "GCONV_PATH="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0) {
            /* The emulator's option takes a comma for the end of a variable. */
            return strchr(variable, ',') == NULL;
        }
    }
    return false;
}

size_t br2_launch_room(size_t argument_count, size_t variable_count)
{
    return 18 + 2 * BR2_LAUNCH_LINES + argument_count + 2 * variable_count;
}

void br2_launch_arguments(const struct br2_launch *launch, const struct br2_launch_call *call,
                          const char **ret)
{
    size_t n = 0;
    ret[n++] = call->emulator;
    ret[n++] = "-plugin";
    ret[n++] = call->plugin;
    ret[n++] = "-seed";
    ret[n++] = call->seed;
    if (launch->prefix != NULL) {
        ret[n++] = "-L";
        ret[n++] = launch->prefix;
    }
    ret[n++] = "-U";
    ret[n++] = "MALLOC_ARENA_MAX";
    for (size_t i = 0; call->variables[i] != NULL; i++) {
        ret[n++] = "-E";
        ret[n++] = call->variables[i];
    }
    const char *first = call->arguments[0] != NULL ? call->arguments[0] : "";
    ret[n++] = "-0";
    ret[n++] = launch->word_count != 0 ? launch->words[0] : first;
    ret[n++] = launch->program;
    for (size_t i = 1; i < launch->word_count; i++) {
        ret[n++] = launch->words[i];
    }
    for (size_t i = 1; call->arguments[0] != NULL && call->arguments[i] != NULL; i++) {
        ret[n++] = call->arguments[i];
    }
    ret[n] = NULL;
}
