/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* comms.c: the names of processes over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "process/comms.h"

static void name(struct br2_comms *comms, int32_t pid, br2_time time, const char *text)
{
    struct br2_task_event event = {.kind = BR2_TASK_COMM, .pid = pid, .time = time, .name = text};
    assert_int_equal(br2_comms_add(comms, &event, NULL), 0);
}

static void fork_of(struct br2_comms *comms, int32_t pid, int32_t parent, br2_time time)
{
    struct br2_task_event event = {
        .kind = BR2_TASK_FORK, .pid = pid, .parent = parent, .time = time};
    assert_int_equal(br2_comms_add(comms, &event, NULL), 0);
}

static void test_listed(void **state)
{
    (void)state;
    assert_true(br2_comm_listed("a", "a"));
    assert_true(br2_comm_listed("a,bc,d", "bc"));
    assert_true(br2_comm_listed("a,bc,d", "d"));
    assert_false(br2_comm_listed("a,bc,d", "b"));
    assert_false(br2_comm_listed("a,bc,d", "bcd"));
    assert_false(br2_comm_listed("a,,d", ""));
}

static void test_names_over_time(void **state)
{
    (void)state;
    struct br2_comms comms = {.names = "app,tool"};
    name(&comms, 7, 100, "shell");
    name(&comms, 7, 300, "app"); /* not in order of time */
    name(&comms, 7, 200, "tool");
    name(&comms, 7, 400, "shell");
    name(&comms, 7, 400, "app"); /* at the same time: the later one holds */
    fork_of(&comms, 8, 7, 150);
    fork_of(&comms, 9, 7, 350);
    fork_of(&comms, 10, 9, 360);
    name(&comms, 10, 500, "none");
    br2_comms_finish(&comms);
    const struct {
        int32_t pid;
        br2_time time;
        bool has;
    } rows[] = {
        {7, 50, false},  {7, 199, false}, {7, 200, true},   {7, 350, true},   {7, 400, true},
        {8, 900, false}, {9, 900, true},  {10, 499, true},  {10, 500, false}, {11, 100, false},
        {8, 10, false},  {9, 10, true},   {6, 1000, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (br2_comms_has(&comms, rows[i].pid, rows[i].time) != rows[i].has) {
            fail_msg("process %d at %d", (int)rows[i].pid, (int)rows[i].time);
        }
    }
    br2_comms_done(&comms);
}

/* A file may say that each of two is the other's child. */
static void test_circle(void **state)
{
    (void)state;
    struct br2_comms comms = {.names = "app"};
    fork_of(&comms, 7, 8, 100);
    fork_of(&comms, 8, 7, 100);
    br2_comms_finish(&comms);
    assert_false(br2_comms_has(&comms, 7, 200));
    br2_comms_done(&comms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_names_over_time),
        cmocka_unit_test(test_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
