/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The processes that a process started, and those that these started. */
#ifndef BR2_RECORD_DESCENDANTS_H
#define BR2_RECORD_DESCENDANTS_H

#include <sys/types.h>

/* Kills those that are at least `depth` generations below `ancestor`, its children being the first.
 * Who started others and ended is not known any more, nor are they. */
void br2_descendants_kill(pid_t ancestor, unsigned depth);

#endif
