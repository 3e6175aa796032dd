/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* landing_pads.c: tables as compilers write them, and broken ones, from assembler text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "image/landing_pads.h"

/* A function of 16 bytes whose table is at .L<name>, with the encoding of that address. */
#define FUNCTION(name, encoding)                                                                   \
    ".text\n.globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"               \
    ".cfi_lsda " encoding ", .L" name "\n.fill 15, 1, 0x90\nret\n.cfi_endproc\n"                   \
    ".size " name ", 16\n.section .gcc_except_table,\"a\",@progbits\n.L" name ":\n"

/* Three call sites in ULEB128: of a pad at 5, of none, of a pad at 9 with an action. */
#define SITES ".byte 1, 12\n.byte 1, 2, 5, 0\n.byte 4, 1, 0, 0\n.byte 6, 1, 9, 1\n"

/* The code starts at 0x401000. */
static const char program[] = ".globl _start\n_start: ret\n.p2align 4\n"
    /* 0x401010: as GCC does it, and types behind the call sites */
    FUNCTION("gcc", "0x1b") ".byte 0xff, 0x9b, 15\n" SITES ".byte 1, 1, 13, 0\n"
    /* 0x401020: an absolute address, and a base of its own, 0x401030, relative to its place */
    FUNCTION("based", "0x3") ".byte 0x1b\n.long wide - .\n.byte 0xff\n" SITES
        /* 0x401030: 4-byte numbers */
        FUNCTION("wide", "0x1b") ".byte 0xff, 0xff, 3, 13\n.long 1, 2, 7\n.byte 0\n"
    /* 0x401040: the call sites end in the middle of one */
    FUNCTION("cut", "0x1b") ".byte 0xff, 0xff, 1, 6, 1, 2, 3, 0, 1, 2\n"
    /* 0x401050: more call sites than there is to the next table */
    FUNCTION("long", "0x1b") ".byte 0xff, 0xff, 1, 9, 1, 2, 4, 0\n"
    /* 0x401060: call sites of an encoding that is none */
    FUNCTION("odd", "0x1b") ".byte 0xff, 0xff, 5, 4, 1, 2, 3, 0\n"
    /* 0x401070: relative call sites */
    FUNCTION("relative", "0x1b") ".byte 0xff, 0xff, 0x1b, 13\n.long 1, 2, 7\n.byte 0\n"
    /* 0x401080: a pad where there is no code */
    FUNCTION("nowhere", "0x1b") ".byte 0xff, 0xff, 3, 13\n.long 1, 2, 0x700000\n.byte 0\n"
    /* 0x401090: a base behind an address */
    FUNCTION(
        "indirect",
        "0x1b") ".byte 0x9b\n.long _start - .\n.byte 0xff\n" SITES
                /* 0x4010a0: the table of another function, which is that one's */
                ".text\n.type thief, @function\nthief:\n.cfi_startproc\n.cfi_lsda 0x1b, .Lgcc\n"
                ".fill 15, 1, 0x90\nret\n.cfi_endproc\n"
                /* 0x4010b0: a table that is not in the section */
                ".cfi_startproc\n.cfi_lsda 0x1b, thief\n.fill 15, 1, 0x90\nret\n.cfi_endproc\n"
                /* 0x4010c0: no table */
                ".cfi_startproc\n.fill 15, 1, 0x90\nret\n.cfi_endproc\n";

static struct br2_image *image;

static int setup(void **state)
{
    (void)state;
    char path[] = "/tmp/br2-pads-XXXXXX";
    char command[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command,
             "cc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-Ttext=0x401000 -x assembler - "
             "-o %s",
             path);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(program, pipe);
    assert_int_equal(pclose(pipe), 0);
    int rc = br2_image_open(path, &image, NULL);
    unlink(path);
    return rc;
}

static int teardown(void **state)
{
    (void)state;
    br2_image_close(image);
    return 0;
}

static void test_pads(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {0x401015, 0x401019, 0x401035, 0x401037, 0x401039, 0x401043};
    struct br2_addresses pads = {0};
    assert_int_equal(br2_landing_pads_read(image, &pads, NULL), 0);
    for (size_t i = 0; i < pads.count; i++) {
        print_message("%llx\n", (unsigned long long)pads.items[i]);
    }
    assert_int_equal(pads.count, sizeof wanted / sizeof *wanted);
    assert_memory_equal(pads.items, wanted, sizeof wanted);
    br2_addresses_done(&pads);
}

static void test_without_memory(void **state)
{
    (void)state;
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 100) {
        struct br2_addresses pads = {0};
        struct br2pgo_error err = {0};
        br2_mem_fail_at(++nth);
        rc = br2_landing_pads_read(image, &pads, &err);
        br2_mem_fail_at(0);
        assert_int_equal(err.status, rc);
        br2_addresses_done(&pads);
    }
    assert_int_equal(rc, 0);
    assert_true(nth >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pads),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
