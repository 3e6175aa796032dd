/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which emulator runs a program, and how it is called. In the recorder for the first program, in
 * the plugin for those that it starts: uses nothing but the C library. */
#ifndef BR2_RECORD_LAUNCH_H
#define BR2_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#define BR2_LAUNCH_PATH  4096u
#define BR2_LAUNCH_LINES 5u /* scripts run by scripts: as many as the kernel allows */
#define BR2_LAUNCH_LINE  256u

enum br2_launch_status {
    BR2_LAUNCH_OK,
    BR2_LAUNCH_MISSING, /* there is no such program, or it may not be run: errno */
    BR2_LAUNCH_FORMAT,  /* neither a 64-bit program of a known machine nor a script: `why` */
};

struct br2_launch {
    char program[BR2_LAUNCH_PATH]; /* what the emulator loads */
    const char *machine;           /* as in the emulator's name: x86_64, aarch64, riscv64 */
    const char *prefix;            /* where its libraries are; NULL: where this system's are */
    const char *why;               /* what is in the way, for BR2_LAUNCH_FORMAT */
    /* Of a script: what stands in place of the first argument. */
    const char *words[2 * BR2_LAUNCH_LINES + 1];
    size_t word_count;
    char lines[BR2_LAUNCH_LINES][BR2_LAUNCH_LINE];
    char script[BR2_LAUNCH_PATH];
};

/* Looks at the program, and at the interpreters of a script. */
enum br2_launch_status br2_launch_resolve(const char *path, struct br2_launch *ret);

/* Whether a variable of the environment would change the emulator itself, so that it is to be set
 * for the program only: "LD_PRELOAD=..." and its like. */
bool br2_launch_is_private(const char *variable);

/* How many words br2_launch_arguments makes at most. */
size_t br2_launch_room(size_t argument_count, size_t variable_count);

/* For the emulator alone, whose own memory the system would else put now before, now behind the
 * program's: a variable of the environment it is started with, behind the program's. */
#define BR2_LAUNCH_VARIABLE "MALLOC_ARENA_MAX=1"

struct br2_launch_call {
    const char *emulator;
    const char *plugin; /* the value of its option -plugin */
    const char *seed;
    char *const *arguments; /* the program's, NULL at the end; [0] too */
    char *const *variables; /* those that are private, NULL at the end */
};

/* The emulator's arguments, NULL at the end. */
void br2_launch_arguments(const struct br2_launch *launch, const struct br2_launch_call *call,
                          const char **ret);

#endif
