/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* read_at.c: all of it, as much as there is, errors. Parts and interruptions: fault/system_calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/read_at.h"

static void test_read_at(void **state)
{
    (void)state;
    char bytes[8] = "xxxxxxx";
    int ends[2];
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs("abcdef", file);
    fflush(file);
    assert_int_equal(br2_read_at(fileno(file), bytes, 3, 1), 3);
    assert_string_equal(bytes, "bcdxxxx");
    assert_int_equal(br2_read_at(fileno(file), bytes, 7, 4), 2);
    assert_string_equal(bytes, "efdxxxx");
    assert_int_equal(br2_read_at(fileno(file), bytes, 7, 6), 0);
    fclose(file);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(br2_read_at(ends[0], bytes, 1, 0), -1); /* a pipe has no places */
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
