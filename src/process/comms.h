/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which processes had one of some command names, when. A forked process has its parent's name until
 * it gets its own; a thread's own name is not looked at. */
#ifndef BR2_PROCESS_COMMS_H
#define BR2_PROCESS_COMMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/input.h"

struct br2_comm_change {
    int32_t pid;
    int32_t parent; /* of a fork; else BR2_PID_KERNEL */
    br2_time time;
    uint32_t order; /* of events at the same time */
    bool listed;    /* the name it got is one of those asked for */
};

/* Set `names`, the rest is zero. */
struct br2_comms {
    const char *names; /* "a,b,c"; borrowed */
    struct br2_comm_change *changes;
    size_t count;
    size_t capacity;
};

/* Whether `name` is one of the names in "a,b,c". */
bool br2_comm_listed(const char *names, const char *name);

/* Takes in one event, of any kind. Errors: BR2PGO_NO_MEMORY; BR2PGO_LIMIT. */
int br2_comms_add(struct br2_comms *comms, const struct br2_task_event *event,
                  struct br2pgo_error *err);
/* Call once after the last event. */
void br2_comms_finish(struct br2_comms *comms);
/* Whether the process has one of the names at a time; before its first name it has that. */
bool br2_comms_has(const struct br2_comms *comms, int32_t pid, br2_time time);
void br2_comms_done(struct br2_comms *comms);

#endif
