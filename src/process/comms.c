/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "process/comms.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "process/address_space.h"

bool br2_comm_listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; length != 0; at++) {
        size_t item = strcspn(at, ",");
        if (item == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += item;
        if (*at == '\0') {
            break;
        }
    }
    return false;
}

int br2_comms_add(struct br2_comms *comms, const struct br2_task_event *event,
                  struct br2pgo_error *err)
{
    bool fork = event->kind == BR2_TASK_FORK;
    if (!fork && event->kind != BR2_TASK_COMM) {
        return 0;
    }
    if (comms->count >= BR2_EVENTS_MAX) {
        br2_fail(err, BR2PGO_LIMIT, "more than %zu names of processes", BR2_EVENTS_MAX);
        br2_hint(err, "choose by --pid, or leave --comm out");
        return BR2PGO_LIMIT;
    }
    if (!br2_grow(&comms->changes, &comms->capacity, comms->count, sizeof *comms->changes)) {
        return br2_fail_memory(err);
    }
    comms->changes[comms->count] = (struct br2_comm_change){
        .pid = event->pid,
        .parent = fork ? event->parent : BR2_PID_KERNEL,
        .time = event->time,
        .order = (uint32_t)comms->count,
        .listed = !fork && br2_comm_listed(comms->names, event->name),
    };
    comms->count++;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct br2_comm_change *a = left;
    const struct br2_comm_change *b = right;
    if (a->pid != b->pid) {
        return a->pid < b->pid ? -1 : 1;
    }
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->order < b->order ? -1 : 1;
}

void br2_comms_finish(struct br2_comms *comms)
{
    if (comms->count != 0) {
        qsort(comms->changes, comms->count, sizeof *comms->changes, compare);
    }
}

/* The last change of the process up to a time, else its first one; NULL: there is none. */
static const struct br2_comm_change *find(const struct br2_comms *comms, int32_t pid, br2_time time)
{
    size_t low = 0;
    size_t high = comms->count; /* the first change after (pid, time) lies in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_comm_change *change = &comms->changes[middle];
        if (change->pid < pid || (change->pid == pid && change->time <= time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low != 0 && comms->changes[low - 1].pid == pid) {
        return &comms->changes[low - 1];
    }
    return low != comms->count && comms->changes[low].pid == pid ? &comms->changes[low] : NULL;
}

bool br2_comms_has(const struct br2_comms *comms, int32_t pid, br2_time time)
{
    for (unsigned generation = 0; generation < BR2_GENERATIONS_MAX; generation++) {
        const struct br2_comm_change *change = find(comms, pid, time);
        if (change == NULL || change->parent == BR2_PID_KERNEL) {
            return change != NULL && change->listed;
        }
        pid = change->parent;
        time = change->time;
    }
    return false;
}

void br2_comms_done(struct br2_comms *comms)
{
    br2_free(comms->changes);
    *comms = (struct br2_comms){0};
}
