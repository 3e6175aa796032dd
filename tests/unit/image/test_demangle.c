/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "image/demangle.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_Z1fi.part.0", "f(int) [clone .part.0]"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"}, /* Rust's legacy mangling */
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},                    /* and v0 */
        {"_start", NULL},
        {"main", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = br2_demangle(cases[i][0]);
        if (cases[i][1] == NULL) {
            assert_null(name);
        } else {
            assert_string_equal(name, cases[i][1]);
        }
        br2_free(name);
    }
}

/* Nested deeper than any name that somebody wrote: refused, not a stack that overflows. */
static void test_deep(void **state)
{
    (void)state;
    static char name[200000] = "_Z1f";
    memset(name + 4, 'P', sizeof name - 6);
    name[sizeof name - 2] = 'i';
    br2_free(br2_demangle(name));
}

/* p<q<..., q<...> >: every S and digit is the part before it again. Of 3 levels the name is
 * readable; of 30 it would be 18 GB long. */
static void test_doubling(void **state)
{
    (void)state;
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int levels = 3; levels <= 30; levels += 27) {
        struct br2_buf name = {0};
        br2_buf_printf(&name, "_Z1f1pI");
        for (int i = 1; i < levels; i++) {
            br2_buf_printf(&name, "S_I");
        }
        br2_buf_printf(&name, "S_IiiE");
        for (int i = 0; i < levels; i++) {
            br2_buf_printf(&name, "S%c_E", digits[i]);
        }
        br2_buf_u8(&name, '\0');
        char *readable = br2_demangle((const char *)name.bytes);
        br2_buf_done(&name);
        if (levels == 3) {
            assert_non_null(readable);
            assert_string_equal(
                readable, "f(p<p<p<p<int, int>, p<int, int> >, p<p<int, int>, p<int, int> > >, "
                          "p<p<p<int, int>, p<int, int> >, p<p<int, int>, p<int, int> > > >)");
        } else {
            assert_null(readable);
        }
        br2_free(readable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_doubling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
