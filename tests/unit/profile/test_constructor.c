/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* constructor.c: where a name says which constructor it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "profile/constructor.h"

/* From the symbol tables of programs that g++ 12 built; `^` is before the digit. */
static void test_kinds(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "_ZN1BC^4Ei",
        "_ZN1BC^2Ei",
        "_ZN1BD^0Ev",
        "_ZN2C43C4EC^1Ev",
        "_ZN1TIiEC^4IdEET_",
        "_ZNSt6vectorIiSaIiEED^2Ev",
        "_ZN1TIZN1AC4EvEUlvE_EC^4Ev",
        "_ZN3ArrILi4ELb1EEC^4ERKS0_",
        "_ZN4WrapIDv4_fEC^1Ev",
        "_ZN12_GLOBAL__N_1L1xC^4Ev",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        size_t at = strcspn(rows[i], "^");
        memcpy(name, rows[i], at);
        memcpy(name + at, rows[i] + at + 1, strlen(rows[i] + at));
        assert_int_equal(br2_constructor_kind(name, strlen(name)), at);
    }
}

/* Of what is in a constructor, or has one among its arguments, the name is another. */
static void test_others(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "C4E",
        "_ZN",
        "_ZN1BC4",
        "main",
        "_ZN3C4E1fEv",
        "_Z1fC4E",
        "_ZZN1AC4EvENKUlvE_clEv",
        "_ZN1TIZN1AC4EvEUlvE_E3runEv",
        "_ZN1A1fEC4E",
        "_ZN99999999999999999999C4E",
        "_ZNS",
        "_ZNA4",
        "_ZN1AplERKS_",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i]);
        char *exact = malloc(length + 1); /* without room that a sanitizer would not see */
        assert_non_null(exact);
        memcpy(exact, rows[i], length);
        char *name = realloc(exact, length != 0 ? length : 1);
        assert_non_null(name);
        assert_int_equal(br2_constructor_kind(name, length), length);
        free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
