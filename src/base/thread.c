/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/thread.h"

#include <signal.h>

bool br2_thread_start(pthread_t *thread, void *(*work)(void *), void *user)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        sigdelset(&blocked, own[i]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    bool started = pthread_create(thread, NULL, work, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
