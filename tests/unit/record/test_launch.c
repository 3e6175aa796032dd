/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch.c: which emulator runs a file, and how it is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/launch.h"

static struct br2_launch launch;

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    assert_int_equal(chmod(name, mode), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text), 0755);
}

static void write_elf(const char *name, unsigned char class, uint16_t machine)
{
    Elf64_Ehdr header = {.e_machine = machine};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    write_file(name, &header, sizeof header, 0755);
}

static int set_up(void **state)
{
    static char folder[] = "/tmp/br2pgo-test-XXXXXX";
    *state = mkdtemp(folder);
    return *state != NULL && chdir(*state) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"x86",     "arm",  "riscv", "sparc", "old",  "script",
                                        "script2", "self", "empty", "text",  "plain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(names[i]);
    }
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

static void test_programs(void **state)
{
    (void)state;
    write_elf("x86", ELFCLASS64, EM_X86_64);
    write_elf("arm", ELFCLASS64, EM_AARCH64);
    write_elf("riscv", ELFCLASS64, EM_RISCV);
    assert_int_equal(br2_launch_resolve("./x86", &launch), BR2_LAUNCH_OK);
    assert_string_equal(launch.machine, "x86_64");
    assert_int_equal(launch.word_count, 0);
    assert_int_equal(br2_launch_resolve("arm", &launch), BR2_LAUNCH_OK);
    assert_string_equal(launch.machine, "aarch64");
    assert_int_equal(br2_launch_resolve("riscv", &launch), BR2_LAUNCH_OK);
    assert_string_equal(launch.machine, "riscv64");
}

static void test_refusals(void **state)
{
    (void)state;
    write_elf("old", ELFCLASS32, EM_386);
    write_elf("sparc", ELFCLASS64, EM_SPARCV9);
    write_text("text", "echo hello\n");
    write_text("empty", "#!  \n");
    write_file("plain", "#!./x86\n", 8, 0644);
    assert_int_equal(br2_launch_resolve("old", &launch), BR2_LAUNCH_FORMAT);
    assert_string_equal(launch.why, "it is a 32-bit program");
    assert_int_equal(br2_launch_resolve("sparc", &launch), BR2_LAUNCH_FORMAT);
    assert_int_equal(br2_launch_resolve("text", &launch), BR2_LAUNCH_FORMAT);
    assert_int_equal(br2_launch_resolve("empty", &launch), BR2_LAUNCH_FORMAT);
    assert_int_equal(br2_launch_resolve("nothing", &launch), BR2_LAUNCH_MISSING);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(br2_launch_resolve("plain", &launch), BR2_LAUNCH_MISSING);
    assert_int_equal(errno, EACCES);
    assert_int_equal(br2_launch_resolve("/tmp", &launch), BR2_LAUNCH_MISSING);
}

/* One argument, blanks in it and all, as the kernel takes it; a script may run a script. */
static void test_scripts(void **state)
{
    static char texts[][16] = {"script2", "one", "two", "LD_PRELOAD=x.so"};
    static char *const arguments[] = {texts[0], texts[1], texts[2], NULL};
    static char *const variables[] = {texts[3], NULL};
    static const char *const wanted[] = {"/bin/qemu",
                                         "-plugin",
                                         "file=p",
                                         "-seed",
                                         "7",
                                         "-U",
                                         "MALLOC_ARENA_MAX",
                                         "-E",
                                         "LD_PRELOAD=x.so",
                                         "-0",
                                         "./x86",
                                         "./x86",
                                         "-a  b",
                                         "./script",
                                         "./script2",
                                         "one",
                                         "two"};
    const char *words[64];
    (void)state;
    write_elf("x86", ELFCLASS64, EM_X86_64);
    write_text("script", "#! ./x86 \t-a  b \necho\n");
    write_text("script2", "#!./script");
    assert_int_equal(br2_launch_resolve("./script2", &launch), BR2_LAUNCH_OK);
    assert_string_equal(launch.program, "./x86");
    struct br2_launch_call call = {.emulator = "/bin/qemu",
                                   .plugin = "file=p",
                                   .seed = "7",
                                   .arguments = arguments,
                                   .variables = variables};
    assert_true(br2_launch_room(3, 1) <= sizeof words / sizeof *words);
    br2_launch_arguments(&launch, &call, words);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_string_equal(words[i], wanted[i]);
    }
    assert_null(words[sizeof wanted / sizeof *wanted]);
    write_text("self", "#!./self\n");
    assert_int_equal(br2_launch_resolve("./self", &launch), BR2_LAUNCH_MISSING);
    assert_int_equal(errno, ELOOP);
}

static void test_private(void **state)
{
    (void)state;
    assert_true(br2_launch_is_private("LD_LIBRARY_PATH=/x"));
    assert_true(br2_launch_is_private("QEMU_STRACE=1"));
    assert_false(br2_launch_is_private("LD_PRELOAD=a,b"));
    assert_false(br2_launch_is_private("HOME=/root"));
    assert_false(br2_launch_is_private("OLD_LD_PATH=/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_private),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
