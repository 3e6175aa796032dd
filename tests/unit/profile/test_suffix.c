/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* suffix.c: what of a name the compiler looks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profile/suffix.h"

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *all;
        const char *selected;
        const char *unique; /* selected, keeping ".__uniq." */
    } rows[] = {
        {"main", "main", "main", "main"},
        {"f.cold", "f", "f.cold", "f.cold"},
        {"f.llvm.123", "f", "f", "f"},
        {"f.part.0", "f", "f", "f"},
        {"f.part.0.llvm.12", "f", "f", "f"},
        {"f.llvm.12.part.0", "f", "f.llvm.12", "f.llvm.12"},
        {"f.__uniq.99", "f", "f", "f.__uniq.99"},
        {"f.__uniq.99.llvm.5", "f", "f", "f.__uniq.99"},
        {"f.__uniq.99.part.1.llvm.5", "f", "f", "f.__uniq.99"},
        {"f.llvm.12.cold", "f", "f.llvm.12.cold", "f.llvm.12.cold"},
        {"f.llvm.", "f", "f", "f"},
        {"f.constprop.0.isra.0", "f", "f.constprop.0.isra.0", "f.constprop.0.isra.0"},
        {"llvm.12", "llvm", "llvm.12", "llvm.12"},
        {".Lf.1", ".Lf", ".Lf.1", ".Lf.1"},
        {"", "", "", ""},
        {".", ".", ".", "."},
        {"_ZN3fooEv.llvm.1234567890", "_ZN3fooEv", "_ZN3fooEv", "_ZN3fooEv"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = rows[i].name;
        size_t length = strlen(name);
        print_message("%s\n", name);
        assert_int_equal(br2_canonical_length(name, length, BR2_SUFFIX_ALL, 0),
                         strlen(rows[i].all));
        assert_int_equal(br2_canonical_length(name, length, BR2_SUFFIX_ALL, 1),
                         strlen(rows[i].all));
        assert_int_equal(br2_canonical_length(name, length, BR2_SUFFIX_SELECTED, 0),
                         strlen(rows[i].selected));
        assert_int_equal(br2_canonical_length(name, length, BR2_SUFFIX_SELECTED, 1),
                         strlen(rows[i].unique));
        assert_int_equal(br2_canonical_length(name, length, BR2_SUFFIX_NONE, 0), length);
    }
}

static void test_names_of_gcc(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *to_15;
        const char *from_16;
    } rows[] = {
        {"main", "main", "main"},
        {"f.isra.0", "f", "f"},
        {"f.constprop.0.isra.12", "f", "f"},
        {"f.part.0.cold", "f", "f"},
        {"f.cold.3", "f", "f"},
        {"f.lto_priv.1.lto_priv.0", "f", "f"},
        {"f.part", "f", "f.part"},
        {"f.part.", "f", "f.part."},
        {"f.part.x", "f", "f.part.x"},
        {"f._omp_fn.0", "f", "f._omp_fn.0"},
        {"f._omp_fn.0.part.1", "f", "f._omp_fn.0"},
        {"f.part.0._omp_fn.1", "f", "f.part.0._omp_fn.1"},
        {"f.7", "f", "f.7"},
        {"f.scold.1", "f", "f.scold.1"},
        {"part.0", "part", "part.0"},
        {".part.0", "", ".part.0"},
        {".Lf", "", ".Lf"},
        {"", "", ""},
        {"12", "12", "12"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = rows[i].name;
        print_message("%s\n", name);
        assert_int_equal(br2_canonical_length(name, strlen(name), BR2_SUFFIX_GCC, 0),
                         strlen(rows[i].to_15));
        assert_int_equal(br2_canonical_length(name, strlen(name), BR2_SUFFIX_GCC_16, 0),
                         strlen(rows[i].from_16));
    }
}

/* The length counts, not a NUL. */
static void test_length(void **state)
{
    (void)state;
    assert_int_equal(br2_canonical_length("f.llvm.12", 1, BR2_SUFFIX_ALL, 0), 1);
    assert_int_equal(br2_canonical_length("f.llvm.12", 5, BR2_SUFFIX_SELECTED, 0), 5);
    assert_int_equal(br2_canonical_length("f.llvm.12", 8, BR2_SUFFIX_SELECTED, 0), 1);
    assert_int_equal(br2_canonical_length("f.part.0x", 8, BR2_SUFFIX_GCC_16, 0), 1);
    assert_int_equal(br2_canonical_length("f.part.0", 1, BR2_SUFFIX_GCC, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_of_gcc),
        cmocka_unit_test(test_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
