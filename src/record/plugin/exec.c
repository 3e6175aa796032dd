/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program starts another: the emulator would let the kernel run that by itself. Instead the
 * process goes on with a new emulator, which has this plugin. What cannot be emulated, or does not
 * exist, is left to the system call, which then fails, or runs it unrecorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/launch.h"
#include "record/plugin/plugin.h"

#define WORDS_MAX (1u << 20)

/* The program's array of strings, where the emulator has them; NULL at the end. */
static char **read_words(uint64_t address, size_t *ret_count)
{
    size_t count = 0;
    size_t capacity = 0;
    char **words = NULL;
    for (;;) {
        uint64_t word = 0;
        bool end = address == 0;
        if (!br2_grow(&words, &capacity, count, sizeof *words) || count == WORDS_MAX ||
            (!end && !br2_read_memory(address + count * sizeof word, &word, sizeof word))) {
            br2_free(words);
            return NULL;
        }
        end |= word == 0;
        words[count++] = end ? NULL : (char *)(uintptr_t)(word + br2_plugin.guest_base);
        if (end) {
            *ret_count = count - 1;
            return words;
        }
    }
}

/* Moves the private variables out of `all` into `ret`, both with NULL at their ends. */
static bool split_variables(char **all, char **ret)
{
    size_t kept = 0;
    size_t moved = 0;
    for (size_t i = 0; all[i] != NULL; i++) {
        char start[16] = {0};
        uint64_t address = (uint64_t)(uintptr_t)all[i] - br2_plugin.guest_base;
        /* A string ends at a page's end at the latest where another page follows. */
        if (!br2_read_string(address, start, sizeof start - 1) && start[0] == '\0') {
            return false;
        }
        if (br2_launch_is_private(start) && br2_launch_is_private(all[i])) {
            ret[moved++] = all[i];
        } else {
            all[kept++] = all[i];
        }
    }
    all[kept] = NULL;
    ret[moved] = NULL;
    return true;
}

/* The folder of this emulator has those for other machines. */
static bool find_emulator(const char *machine, char *ret, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", ret, size - 1);
    if (length <= 0) {
        return false;
    }
    ret[length] = '\0';
    char *slash = strrchr(ret, '/');
    size_t room = size - (size_t)(slash + 1 - ret);
    return snprintf(slash + 1, room, "qemu-%s", machine) < (int)room && access(ret, X_OK) == 0;
}

/* The option -plugin, in which a comma is written twice. */
static void make_option(const struct br2_thread *thread, const char *path, char *ret, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = snprintf(
        ret, size, "%s,from=%" PRIu64 ",thread=%" PRIu64 ",time=%" PRIu64 ",seed=%" PRIu64 ",name=",
        br2_plugin.arguments, br2_plugin.area->header.number, thread->serial,
        br2_thread_now(thread) + 1, br2_child_seed(thread->seed, thread->children));
    char *to = ret + length;
    for (size_t i = 0; i < 15 && name[i] != '\0'; i++) {
        *to++ = name[i];
        if (name[i] == ',') {
            *to++ = ',';
        }
    }
    *to = '\0';
}

static void run(const struct br2_thread *thread, const struct br2_launch *launch, char **arguments,
                char **variables)
{
    char emulator[BR2_AREA_PATH];
    char plugin[BR2_AREA_PATH + 512];
    static char own[] = BR2_LAUNCH_VARIABLE;
    char seed[24];
    size_t argument_count = 0;
    size_t variable_count = 0;
    while (arguments[argument_count] != NULL) {
        argument_count++;
    }
    while (variables[variable_count] != NULL) {
        variable_count++;
    }
    char **private = br2_calloc(variable_count + 1, sizeof *private);
    char **rest = br2_calloc(variable_count + 2, sizeof *rest);
    const char **words = br2_calloc(br2_launch_room(argument_count, variable_count), sizeof *words);
    if (private != NULL && rest != NULL && words != NULL && split_variables(variables, private) &&
        find_emulator(launch->machine, emulator, sizeof emulator)) {
        size_t count = 0;
        for (; variables[count] != NULL; count++) {
            rest[count] = variables[count];
        }
        rest[count] = own;
        make_option(thread, launch->script, plugin, sizeof plugin);
        snprintf(seed, sizeof seed, "%" PRIu32, br2_plugin.guest_seed);
        struct br2_launch_call call = {.emulator = emulator,
                                       .plugin = plugin,
                                       .seed = seed,
                                       .arguments = arguments,
                                       .variables = private};
        br2_launch_arguments(launch, &call, words);
        execve(emulator, (char *const *)(uintptr_t)words, rest);
    }
    br2_free(private);
    br2_free(rest);
    br2_free(words);
}

static void note_lost(const char *path, const char *why)
{
    struct br2_area_header *header = &br2_plugin.area->header;
    if (__atomic_fetch_add(&header->lost_processes, 1, __ATOMIC_RELAXED) == 0) {
        snprintf(header->lost_program, sizeof header->lost_program, "'%.180s': %s", path, why);
    }
}

/* Of a program that its process has open, or of this one. */
static void follow_own_link(char *path)
{
    char target[BR2_AREA_PATH];
    char own[64];
    snprintf(own, sizeof own, "/proc/%d/exe", (int)getpid());
    if (strcmp(path, "/proc/self/exe") == 0 || strcmp(path, "/proc/thread-self/exe") == 0 ||
        strcmp(path, own) == 0) {
        memcpy(path, br2_plugin.area->header.path, sizeof br2_plugin.area->header.path);
        return;
    }
    if (strncmp(path, "/proc/self/fd/", 14) == 0 || strncmp(path, "/dev/fd/", 8) == 0) {
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length > 0 && target[0] == '/') {
            target[length] = '\0';
            memcpy(path, target, (size_t)length + 1);
        }
    }
}

static void exec_path(const struct br2_thread *thread, char *path, uint64_t arguments,
                      uint64_t environment)
{
    struct br2_launch *launch = br2_alloc(sizeof *launch);
    size_t argument_count = 0;
    size_t variable_count = 0;
    char **words = read_words(arguments, &argument_count);
    char **variables = read_words(environment, &variable_count);
    follow_own_link(path);
    if (launch != NULL && words != NULL && variables != NULL) {
        switch (br2_launch_resolve(path, launch)) {
        case BR2_LAUNCH_OK:
            run(thread, launch, words, variables);
            note_lost(path, "its emulator did not start");
            break;
        case BR2_LAUNCH_FORMAT:
            note_lost(path, launch->why);
            break;
        default:
            break;
        }
    }
    br2_free(launch);
    br2_free(words);
    br2_free(variables);
}

void br2_exec(const struct br2_thread *thread, uint64_t path, uint64_t arguments,
              uint64_t environment)
{
    char name[BR2_AREA_PATH];
    int error = errno;
    if (br2_read_string(path, name, sizeof name)) {
        exec_path(thread, name, arguments, environment);
    }
    errno = error;
}

void br2_execveat(const struct br2_thread *thread, int folder, const struct br2_execveat *call)
{
    char name[BR2_AREA_PATH];
    char link[64];
    int error = errno;
    if (br2_read_string(call->path, name, sizeof name)) {
        size_t length = strlen(name);
        if (name[0] != '/' && folder != AT_FDCWD) {
            snprintf(link, sizeof link, "/proc/self/fd/%d%s", folder, length != 0 ? "/" : "");
            size_t before = strlen(link);
            if (length + before >= sizeof name) {
                return;
            }
            memmove(name + before, name, length + 1);
            memcpy(name, link, before);
        }
        exec_path(thread, name, call->arguments, call->environment);
    }
    errno = error;
}
