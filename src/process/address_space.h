/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Address spaces over time: what was mapped where, in which process, when a sample was taken.
 *
 * A process goes through views. A view is a set of mappings under which an address never changes
 * its meaning: a mapping that fills a hole is added to the current view; only exec, fork of
 * somebody else into the same pid, or mapping over something starts a new one, unless neither the
 * old nor the new is a file. So nearly every process has one view, and a forked child shares its
 * parent's.
 */
#ifndef BR2_PROCESS_ADDRESS_SPACE_H
#define BR2_PROCESS_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "input/input.h"
#include "process/dso.h"
#include "process/mapping_set.h"

#define BR2_VIEW_KERNEL  0u /* the kernel's addresses are the same in every process */
#define BR2_VIEW_UNKNOWN 1u /* of a process the recording says nothing about */

struct br2_spaces;
struct br2_spaces *br2_spaces_new(void);
void br2_spaces_free(struct br2_spaces *spaces);
/* Sets other limits than BR2_MAPPINGS_MAX and BR2_EVENTS_MAX, before anything is added. */
void br2_spaces_limit(struct br2_spaces *spaces, size_t mappings, size_t events);

/* Takes in one event; any order. A br2_task_sink: `user` is the struct br2_spaces. BR2PGO_LIMIT. */
int br2_spaces_add(void *user, const struct br2_task_event *event, struct br2pgo_error *err);
/* Call once after the last event, before any question: puts events in order of time. */
int br2_spaces_finish(struct br2_spaces *spaces, struct br2pgo_error *err);

struct br2_dsos *br2_spaces_dsos(struct br2_spaces *spaces);

/* A view that is a process's from `from` until before `until`. */
struct br2_turn {
    int32_t pid;
    uint32_t view;
    br2_time from;
    br2_time until;
};

/* The view of a process at a time, and how long it is. Before its first event a process has its
 * first view. */
struct br2_turn br2_spaces_turn(const struct br2_spaces *spaces, int32_t pid, br2_time time);
static inline uint32_t br2_spaces_view(const struct br2_spaces *spaces, int32_t pid, br2_time time)
{
    return br2_spaces_turn(spaces, pid, time).view;
}
/* The same for who asks again and again: `last`, zero-initialised, keeps the last answer. */
static inline uint32_t br2_spaces_view_again(const struct br2_spaces *spaces, struct br2_turn *last,
                                             int32_t pid, br2_time time)
{
    if (pid != last->pid || time < last->from || time >= last->until) {
        *last = br2_spaces_turn(spaces, pid, time);
    }
    return last->view;
}

/* Recorders say of the running kernel's code where it is in memory, not in a file: perf gives the
 * address of the symbol _text for the offset in the file. Such a mapping's file offset is this,
 * plus what it starts behind _text: no file is so long. */
#define BR2_KERNEL_TEXT_OFFSET ((uint64_t)1 << 63)

/* Whether an address belongs to the kernel half on x86-64 and AArch64. */
static inline bool br2_is_kernel_address(uint64_t address)
{
    return address >> 63 != 0;
}

/* The mapping that holds `address` in the view (in the kernel's for a kernel address), or NULL. */
const struct br2_mapping *br2_spaces_resolve(const struct br2_spaces *spaces, uint32_t view,
                                             uint64_t address);

/* All executable mappings of one image (BR2_NO_DSO: of every image), over all views: calls `sink`
 * for each. */
void br2_spaces_each_mapping(const struct br2_spaces *spaces, uint32_t dso,
                             void (*sink)(void *user, const struct br2_mapping *mapping),
                             void *user);

#endif
