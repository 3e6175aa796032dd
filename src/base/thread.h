/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that work for a call of the library and end with it. */
#ifndef BR2_BASE_THREAD_H
#define BR2_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread. A program's signals are handled in its own threads, but for those that a
 * thread's own instructions raise: a mapped file that was cut short is one. False: the system has
 * no more to give. */
bool br2_thread_start(pthread_t *thread, void *(*work)(void *), void *user);

#endif
