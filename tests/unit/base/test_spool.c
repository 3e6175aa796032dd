/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spool.c: little stays in memory, much goes to a file without a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/spool.h"

static uint8_t block[65536];

static int write_blocks(struct br2_spool *spool, size_t count, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        memset(block, (int)(i % 251), sizeof block);
        rc = br2_spool_write(spool, block, sizeof block, err);
    }
    return rc;
}

static void check_blocks(const struct br2_file *file, size_t count)
{
    assert_int_equal(file->size, count * sizeof block);
    for (size_t i = 0; i < file->size; i += 4099) {
        assert_int_equal(file->bytes[i], i / sizeof block % 251);
    }
}

static void keeps(size_t count, bool in_file, const char *folder)
{
    struct br2_spool spool;
    struct br2_file file;
    br2_spool_begin(&spool, folder);
    assert_int_equal(write_blocks(&spool, count, NULL), 0);
    assert_int_equal(spool.fd >= 0, in_file);
    assert_int_equal(spool.bytes == NULL, in_file);
    assert_int_equal(br2_spool_finish(&spool, &file, NULL), 0);
    br2_spool_done(&spool);
    assert_int_equal(file.mapped, in_file);
    check_blocks(&file, count);
    br2_file_close(&file);
}

static void test_memory_and_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/br2-spool-XXXXXX";
    assert_non_null(mkdtemp(folder));
    size_t most = BR2_SPOOL_MEMORY / sizeof block;
    keeps(1, false, folder);
    keeps(most, false, folder);
    keeps(most + 1, true, folder);
    keeps(most + 1, true, "/nowhere"); /* goes where there is room */
    keeps(most + 1, true, NULL);
    assert_int_equal(rmdir(folder), 0); /* nothing has a name there */
}

static void test_nothing(void **state)
{
    (void)state;
    struct br2_spool spool;
    struct br2_file file;
    br2_spool_begin(&spool, NULL);
    assert_int_equal(br2_spool_write(&spool, block, 0, NULL), 0);
    assert_int_equal(br2_spool_finish(&spool, &file, NULL), 0);
    assert_int_equal(file.size, 0);
    br2_file_close(&file);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct br2_spool spool;
    struct br2pgo_error err = {0};
    br2_spool_begin(&spool, NULL);
    br2_mem_fail_at(2);
    int rc = write_blocks(&spool, 4, &err);
    br2_mem_fail_at(0);
    br2_spool_done(&spool);
    assert_int_equal(rc, BR2PGO_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_and_file),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
