/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/early.h"

#include "base/mem.h"
#include "base/strings.h"
#include "lib/counters.h"

/* More are not worth their memory: a second pass has none of them. */
#define STAYS_MAX 65536

/* What a process has between two events that may give it another view. */
struct stay {
    int32_t pid;
    br2_time first; /* of its samples' times, which are in any order */
    br2_time last;
};

struct br2_early {
    unsigned threads;
    bool given_up;
    struct br2_counters *counters; /* NULL: no sample came yet */
    struct br2_strings pids;
    uint32_t *current; /* by a process's number in `pids`: its stay; NO_STAY: the next begins one */
    size_t current_capacity;
    struct stay *stays;
    size_t count;
    size_t capacity;
    uint32_t latest; /* the last sample's; NO_STAY: to be looked up */
};
#define NO_STAY UINT32_MAX

struct br2_early *br2_early_new(unsigned threads)
{
    struct br2_early *early = br2_calloc(1, sizeof *early);
    if (early != NULL) {
        early->threads = threads;
        early->latest = NO_STAY;
    }
    return early;
}

void br2_early_add_task(struct br2_early *early, const struct br2_task_event *event)
{
    bool begins = event->kind == BR2_TASK_FORK || event->kind == BR2_TASK_EXIT ||
                  (event->kind == BR2_TASK_COMM && event->exec);
    uint32_t number =
        begins ? br2_strings_find(&early->pids, (const char *)&event->pid, sizeof event->pid)
               : BR2_NO_STRING;
    if (number != BR2_NO_STRING) {
        early->current[number] = NO_STAY;
        early->latest = NO_STAY;
    }
}

/* The process's current stay; one is begun where it has none. NO_STAY: there is no memory. */
static uint32_t find_stay(struct br2_early *early, const struct br2_sample *sample)
{
    size_t known = early->pids.count;
    if (!br2_grow(&early->current, &early->current_capacity, known, sizeof *early->current) ||
        !br2_grow(&early->stays, &early->capacity, early->count, sizeof *early->stays)) {
        return NO_STAY;
    }
    uint32_t pid = br2_strings_add(&early->pids, (const char *)&sample->pid, sizeof sample->pid);
    if (pid == BR2_NO_STRING) {
        return NO_STAY;
    }
    if (pid == known) {
        early->current[pid] = NO_STAY;
    }
    if (early->current[pid] == NO_STAY) {
        early->current[pid] = (uint32_t)early->count;
        early->stays[early->count++] = (struct stay){sample->pid, sample->time, sample->time};
    }
    return early->current[pid];
}

int br2_early_take(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct br2_early *early = user;
    early->given_up = early->given_up || early->count > STAYS_MAX;
    if (early->given_up) {
        return 0;
    }
    if (early->counters == NULL) {
        int rc = br2_counters_new_early(early->threads, &early->counters, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (early->latest == NO_STAY || early->stays[early->latest].pid != sample->pid) {
        early->latest = find_stay(early, sample);
        if (early->latest == NO_STAY) {
            return br2_fail_memory(err);
        }
    }
    struct stay *stay = &early->stays[early->latest];
    stay->first = sample->time < stay->first ? sample->time : stay->first;
    stay->last = sample->time > stay->last ? sample->time : stay->last;
    return br2_counters_take_early(early->counters, sample, early->latest, err);
}

/* The view of each stay; false: one has several. */
static bool find_views(const struct br2_early *early, const struct br2_spaces *spaces,
                       uint32_t *views)
{
    for (size_t i = 0; i < early->count; i++) {
        const struct stay *stay = &early->stays[i];
        struct br2_turn turn = br2_spaces_turn(spaces, stay->pid, stay->first);
        if (stay->last != stay->first && stay->last >= turn.until) {
            return false;
        }
        views[i] = turn.view;
    }
    return true;
}

int br2_early_finish(struct br2_early *early, const struct br2_spaces *spaces,
                     struct br2_folded *folded, struct br2_count_stats *stats,
                     struct br2pgo_error *err)
{
    if (early->given_up || early->counters == NULL) {
        return 1;
    }
    uint32_t *views = br2_alloc(early->count * sizeof *views);
    if (views == NULL) {
        return br2_fail_memory(err);
    }
    int rc = 1;
    if (find_views(early, spaces, views)) {
        br2_counters_set_views(early->counters, spaces, views);
        rc = br2_counters_finish(early->counters, folded, stats, err);
    }
    br2_free(views);
    return rc;
}

void br2_early_free(struct br2_early *early)
{
    if (early == NULL) {
        return;
    }
    br2_counters_free(early->counters);
    br2_strings_done(&early->pids);
    br2_free(early->current);
    br2_free(early->stays);
    br2_free(early);
}
