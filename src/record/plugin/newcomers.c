/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * QEMU 9 and later tell of a new thread in that thread. Which of its parent's children it is, only
 * the parent knows, when it comes back from starting it: it leaves that under the system's number
 * of the thread, and the new one waits for it. Without locks: a process may be forked at any time.
 */
#include <time.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

#define PLACES    256u
#define STEP_NS   50000L
#define STEPS_MAX 20000u /* a second */

static struct {
    int tid; /* 0: free; -1: being filled */
    struct br2_thread *thread;
} places[PLACES];

void br2_newcomer_leave(int tid, struct br2_thread *thread)
{
    for (unsigned i = 0; i < PLACES; i++) {
        int free = 0;
        if (__atomic_compare_exchange_n(&places[i].tid, &free, -1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            places[i].thread = thread;
            __atomic_store_n(&places[i].tid, tid, __ATOMIC_RELEASE);
            return;
        }
    }
}

static struct br2_thread *take(int tid)
{
    for (unsigned i = 0; i < PLACES; i++) {
        if (__atomic_load_n(&places[i].tid, __ATOMIC_ACQUIRE) == tid) {
            struct br2_thread *thread = places[i].thread;
            __atomic_store_n(&places[i].tid, 0, __ATOMIC_RELEASE);
            return thread;
        }
    }
    return NULL;
}

struct br2_thread *br2_newcomer_take(void)
{
    static const struct timespec step = {.tv_nsec = STEP_NS};
    int tid = gettid();
    struct br2_thread *thread = take(tid);
    for (unsigned i = 0; thread == NULL && i < STEPS_MAX; i++) {
        nanosleep(&step, NULL);
        thread = take(tid);
    }
    return thread;
}

void br2_newcomers_forget(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        places[i].tid = 0;
    }
}
