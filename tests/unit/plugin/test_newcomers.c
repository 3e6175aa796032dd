/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* newcomers.c: a new thread waits for what its parent leaves for it, and takes nobody else's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

#define CHILDREN 8

static struct br2_thread *const nobody = (struct br2_thread *)&(max_align_t){0};
static pid_t numbers[CHILDREN];

static void *child(void *number)
{
    __atomic_store_n((pid_t *)number, gettid(), __ATOMIC_RELEASE);
    return br2_newcomer_take();
}

static void test_each_takes_its_own(void **state)
{
    (void)state;
    pthread_t threads[CHILDREN];
    max_align_t places[CHILDREN];
    br2_newcomer_leave(gettid() + 100000000, nobody);
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, child, &numbers[i]), 0);
    }
    for (size_t i = CHILDREN; i-- > 0;) { /* not in the order in which they came */
        pid_t number;
        while ((number = __atomic_load_n(&numbers[i], __ATOMIC_ACQUIRE)) == 0) {
            usleep(100);
        }
        br2_newcomer_leave(number, (struct br2_thread *)&places[i]);
    }
    for (size_t i = 0; i < CHILDREN; i++) {
        void *taken;
        assert_int_equal(pthread_join(threads[i], &taken), 0);
        assert_ptr_equal(taken, &places[i]);
    }
}

static void test_forgotten(void **state)
{
    (void)state;
    br2_newcomer_leave(gettid(), nobody);
    br2_newcomers_forget();
    assert_null(br2_newcomer_take()); /* after the wait */
    br2_newcomer_leave(gettid(), nobody);
    assert_ptr_equal(br2_newcomer_take(), nobody);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_takes_its_own),
        cmocka_unit_test(test_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
