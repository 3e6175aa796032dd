/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's time on one processor, and on the next. */
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "trace/trace.h"

void br2_trace_borders_done(struct br2_trace_borders *borders)
{
    br2_free(borders->items);
    *borders = (struct br2_trace_borders){0};
}

int br2_trace_borders_add(struct br2_trace_borders *borders, const struct br2_trace_borders *more,
                          struct br2pgo_error *err)
{
    for (size_t i = 0; i < more->count; i++) {
        if (!br2_grow(&borders->items, &borders->capacity, borders->count,
                      sizeof *borders->items)) {
            return br2_fail_memory(err);
        }
        borders->items[borders->count++] = more->items[i];
    }
    return 0;
}

/* A time so short that its clock stands still begins before it ends. */
static int compare(const void *left, const void *right)
{
    const struct br2_trace_border *a = left;
    const struct br2_trace_border *b = right;
    int order = br2_compare_u64((uint32_t)a->tid, (uint32_t)b->tid);
    order = order != 0 ? order : br2_compare_u64(a->time, b->time);
    order = order != 0 ? order : br2_compare_u64(b->begins, a->begins);
    order = order != 0 ? order : br2_compare_u64(a->at, b->at);
    return order != 0 ? order : br2_compare_u64(a->end, b->end);
}

struct joining {
    br2_trace_step_sink sink;
    void *user;
    struct br2_trace_border open; /* the border that waits for the next one */
    bool waits;
    bool carries; /* a time began with it in which no run ended */
};

static int give(const struct joining *j, const struct br2_trace_border *border, uint64_t end,
                struct br2pgo_error *err)
{
    struct br2_trace_step step = {
        .view = border->view,
        .time = border->time,
        .from = border->from,
        .to = border->begins ? border->at : border->to,
        .end = end,
    };
    return step.from == 0 && step.end == 0 ? 0 : j->sink(j->user, &step, err);
}

static int take(struct joining *j, const struct br2_trace_border *border, struct br2pgo_error *err)
{
    const struct br2_trace_border *open = &j->open;
    bool follows = j->waits && open->tid == border->tid && open->view == border->view;
    if (!border->begins) {
        if (j->carries && follows && border->from == 0) {
            j->open.at = border->at;
            j->open.time = border->time;
            j->carries = false;
            return 0;
        }
        int rc = j->waits ? give(j, open, 0, err) : 0;
        j->open = *border;
        j->waits = true;
        j->carries = false;
        return rc;
    }
    follows = follows && !j->carries && open->at == border->at;
    if (follows && border->end == 0) {
        j->carries = true;
        return 0;
    }
    int rc = j->waits ? give(j, open, follows ? border->end : 0, err) : 0;
    j->waits = j->carries = false;
    return rc != 0 || follows ? rc : give(j, border, border->end, err);
}

int br2_trace_borders_join(struct br2_trace_borders *borders, br2_trace_step_sink sink, void *user,
                           struct br2pgo_error *err)
{
    struct joining joining = {.sink = sink, .user = user};
    if (borders->count != 0) {
        qsort(borders->items, borders->count, sizeof *borders->items, compare);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < borders->count; i++) {
        rc = take(&joining, &borders->items[i], err);
    }
    return rc == 0 && joining.waits ? give(&joining, &joining.open, 0, err) : rc;
}
