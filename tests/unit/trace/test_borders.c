/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* borders.c: a thread's time on several processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "trace/trace.h"

static int tell(void *user, const struct br2_trace_step *step, struct br2pgo_error *err)
{
    (void)err;
    br2_buf_printf(user, "%" PRIx64 ">%" PRIx64 "..%" PRIx64 " ", step->from, step->to, step->end);
    return 0;
}

static struct br2_trace_border begins(int32_t tid, br2_time time, uint64_t at, uint64_t end)
{
    return (struct br2_trace_border){
        .tid = tid, .time = time, .view = 2, .begins = true, .at = at, .end = end};
}

static struct br2_trace_border ends(int32_t tid, br2_time time, uint64_t from, uint64_t to,
                                    uint64_t at)
{
    return (struct br2_trace_border){
        .tid = tid, .time = time, .view = 2, .from = from, .to = to, .at = at};
}

static void expect(const struct br2_trace_border *borders, size_t count, const char *wanted)
{
    struct br2_trace_borders all = {0};
    struct br2_trace_borders some = {(struct br2_trace_border *)(uintptr_t)borders, count, count};
    struct br2_buf text = {0};
    assert_int_equal(br2_trace_borders_add(&all, &some, NULL), 0);
    assert_int_equal(br2_trace_borders_join(&all, tell, &text, NULL), 0);
    br2_buf_u8(&text, '\0');
    assert_string_equal((const char *)text.bytes, wanted);
    br2_buf_done(&text);
    br2_trace_borders_done(&all);
}
#define EXPECT(borders, wanted) expect(borders, sizeof(borders) / sizeof *(borders), wanted)

static void test_joined(void **state)
{
    (void)state;
    /* In any order, of two threads. */
    const struct br2_trace_border two[] = {
        begins(8, 20, 0x30, 0x38),
        begins(7, 30, 0x14, 0x18),
        ends(7, 20, 0x5, 0x10, 0x14),
        begins(7, 10, 0x1, 0x4),
    };
    EXPECT(two, "0>1..4 5>10..18 0>30..38 ");
    /* A time in which no run ended; the clock stands still in it. */
    const struct br2_trace_border three[] = {
        ends(7, 20, 0x5, 0x10, 0x12),
        begins(7, 30, 0x12, 0),
        ends(7, 30, 0, 0x12, 0x14),
        begins(7, 40, 0x14, 0x18),
    };
    EXPECT(three, "5>10..18 ");
}

static void test_not_joined(void **state)
{
    (void)state;
    /* It goes on elsewhere: something came between. */
    const struct br2_trace_border elsewhere[] = {
        ends(7, 20, 0x5, 0x10, 0x14),
        begins(7, 30, 0x40, 0x48),
    };
    EXPECT(elsewhere, "5>10..0 0>40..48 ");
    const struct br2_trace_border others[] = {
        ends(7, 20, 0x5, 0x10, 0x14),
        begins(8, 30, 0x14, 0x18),
    };
    EXPECT(others, "5>10..0 0>14..18 ");
    /* An address means something else in another view. */
    struct br2_trace_border view[] = {
        ends(7, 20, 0x5, 0x10, 0x14),
        begins(7, 30, 0x14, 0x18),
    };
    view[1].view = 3;
    EXPECT(view, "5>10..0 0>14..18 ");
    /* The thread's last time. */
    const struct br2_trace_border last[] = {begins(7, 10, 0x1, 0x4), ends(7, 20, 0x5, 0x10, 0x14)};
    EXPECT(last, "0>1..4 5>10..0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
