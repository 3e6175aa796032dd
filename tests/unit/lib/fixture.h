/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A folder with a program and recordings of it, for tests that run whole conversions. The program
 * is x86-64 code at fixed addresses; it is never run. Its branches:
 *
 *     0x401000 _start: call work      0x401005 jmp _start
 *     0x401010 work:   cmp            0x401013 je 0x401017      0x401015 inc
 *     0x401017         dec            0x401019 jne work         0x40101b ret
 */
#ifndef BR2_TEST_FIXTURE_H
#define BR2_TEST_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_BUILD_ID "51ac0123456789abcdef0123456789abcdef0123"
#define FIXTURE_EVENT    "event cycles:u sample=IP,TID,TIME,BRANCH_STACK branch=USER,ANY\n"
/* Six records and five straight runs; work() executes twice, its jne is taken once, its je once. */
#define FIXTURE_HISTORY                                                                            \
    "0x401000/0x401010/P/-/-/1 0x401005/0x401000/P/-/-/1 0x40101b/0x401005/P/-/-/1 "               \
    "0x401019/0x401010/M/-/-/1 0x401013/0x401017/P/-/-/1 0x401000/0x401010/P/-/-/1\n"

/* What is not under test must work: the test cannot go on without. */
static inline void fixture_need(bool worked, const char *what)
{
    if (!worked) {
        perror(what);
        exit(1);
    }
}

static inline void fixture_shell(const char *command)
{
    fflush(NULL);
    if (system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        exit(1);
    }
}

static inline void fixture_save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    fixture_need(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

/* The whole file, ended by a zero byte that is not counted; free it. NULL where there is none. */
static inline char *fixture_load(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (ret_size != NULL) {
        *ret_size = 0;
    }
    if (file == NULL) {
        return NULL;
    }
    char *bytes = NULL;
    size_t size = 0;
    size_t got;
    do {
        char *grown = realloc(bytes, size + 65537);
        fixture_need(grown != NULL, path);
        bytes = grown;
        got = fread(bytes + size, 1, 65536, file);
        size += got;
    } while (got != 0);
    bytes[size] = '\0';
    fclose(file);
    if (ret_size != NULL) {
        *ret_size = size;
    }
    return bytes;
}

/* Makes a recording of what `text` describes to mkperf. */
static inline void fixture_recording(const char *path, const char *text)
{
    const char *tools = getenv("TOOLS");
    char command[1024];
    fixture_save("description", text, strlen(text));
    snprintf(command, sizeof command, "python3 '%s/mkperf' description -o '%s'",
             tools != NULL ? tools : "tests/tools", path);
    fixture_shell(command);
    unlink("description");
}

/* Builds the program; `flags` are more options for cc. */
static inline void fixture_program(const char *path, const char *flags)
{
    static const char source[] = "#define CODE __attribute__((naked, aligned(16))) void\n"
                                 "CODE _start(void)\n"
                                 "{\n"
                                 "    __asm__(\"call work\");\n"
                                 "    __asm__(\"jmp _start\");\n"
                                 "}\n"
                                 "CODE work(void)\n"
                                 "{\n"
                                 "    __asm__(\"cmp $1, %eax\");\n"
                                 "    __asm__(\"je 1f\");\n"
                                 "    __asm__(\"inc %ecx\");\n"
                                 "    __asm__(\"1: dec %edx\");\n"
                                 "    __asm__(\"jne work\");\n"
                                 "    __asm__(\"ret\");\n"
                                 "}\n";
    char command[1024];
    fixture_save("app.c", source, sizeof source - 1);
    snprintf(
        command, sizeof command,
        "cc -g -O1 -ffreestanding -fcf-protection=none -fno-toplevel-reorder -nostdlib -static "
        "-no-pie -Wl,-Ttext=0x401000 -Wl,-z,noseparate-code %s app.c -o '%s'",
        flags, path);
    fixture_shell(command);
}

/*
 * Makes an empty folder, the working directory from now on, with `app` (build-id FIXTURE_BUILD_ID)
 * and `perf.data`. Exits with 77, "skipped", where the compiler does not make x86-64 code.
 */
static inline void fixture_begin(void)
{
    static char folder[256];
    static char tools[1024];
    const char *base = getenv("TMPDIR");
    fixture_need(realpath(getenv("TOOLS") != NULL ? getenv("TOOLS") : "tests/tools", tools) != NULL,
                 "tests/tools");
    setenv("TOOLS", tools, 1);
    snprintf(folder, sizeof folder, "%s/br2-fixture-XXXXXX", base != NULL ? base : "/tmp");
    fixture_need(mkdtemp(folder) != NULL && chdir(folder) == 0, folder);
    if (system("cc -dM -E -x c /dev/null | grep -q __x86_64__") != 0) {
        rmdir(folder);
        exit(77);
    }
    fixture_program("app", "-Wl,--build-id=0x" FIXTURE_BUILD_ID);
    fixture_recording("perf.data", FIXTURE_EVENT
                      "comm pid=7 exec name=app\n"
                      "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=" FIXTURE_BUILD_ID
                      " name=/opt/app\n"
                      "sample pid=7 : " FIXTURE_HISTORY);
}

/* Removes the folder with all that is in it. */
static inline void fixture_end(void)
{
    char command[512];
    char folder[256];
    fixture_need(getcwd(folder, sizeof folder) != NULL && strstr(folder, "/br2-fixture-") != NULL &&
                     chdir("/") == 0,
                 "leave the folder");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    fixture_shell(command);
}

#endif
