/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers for processes and threads that depend on the programs only. */
#include <stdlib.h>

#include "base/mem.h"
#include "record/stream.h"

/* The first process's. 0 and 1 mean something to who reads a recording. */
#define FIRST_NUMBER 1000u

/* A thread: which run, which of its streams, and where it comes from. */
struct task {
    uint64_t parent_run; /* 0: from nowhere */
    uint64_t parent_serial;
    uint64_t ordinal;
    uint64_t run;
    size_t stream;
};

struct numbering {
    struct br2_streams *streams;
    struct task *tasks; /* sorted by where they come from */
    size_t count;
    struct task *stack;
    size_t depth;
    uint32_t next;
};

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a;
    const struct task *y = b;
    const uint64_t one[5] = {x->parent_run, x->parent_serial, x->ordinal, x->run, x->stream};
    const uint64_t other[5] = {y->parent_run, y->parent_serial, y->ordinal, y->run, y->stream};
    for (size_t i = 0; i < 5; i++) {
        if (one[i] != other[i]) {
            return one[i] < other[i] ? -1 : 1;
        }
    }
    return 0;
}

static const struct br2_stream *find_parent(const struct br2_streams *streams,
                                            const struct task *task)
{
    if (task->parent_run == 0) {
        return NULL;
    }
    const struct br2_run *run = &streams->runs[task->parent_run - 1];
    for (size_t i = 0; i < run->count; i++) {
        if (run->streams[i].serial == task->parent_serial) {
            return &run->streams[i];
        }
    }
    return NULL;
}

/* The first thread of a run comes from another run, or from nowhere. */
static struct task make_task(const struct br2_streams *streams, uint64_t number, size_t index)
{
    const struct br2_run *run = &streams->runs[number - 1];
    const struct br2_stream *stream = &run->streams[index];
    struct task task = {.run = number, .stream = index};
    if (stream->start.parent != 0) {
        task.parent_run = number;
        task.parent_serial = stream->start.parent;
        task.ordinal = stream->start.ordinal;
    } else if (run->parent < number) {
        task.parent_run = run->parent;
        task.parent_serial = run->parent_thread;
        /* Behind all that it started before. */
        task.ordinal = run->origin == BR2_ORIGIN_EXEC ? UINT64_MAX : run->ordinal;
    }
    if (find_parent(streams, &task) == NULL) {
        task.parent_run = 0;
        task.parent_serial = 0;
    }
    return task;
}

static size_t count_tasks(const struct br2_streams *streams, struct task *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < streams->count; i++) {
        for (size_t k = 0; k < streams->runs[i].count; k++) {
            if (streams->runs[i].streams[k].serial == BR2_STREAM_OF_PROCESS) {
                continue;
            }
            if (ret != NULL) {
                ret[count] = make_task(streams, i + 1, k);
            }
            count++;
        }
    }
    return count;
}

/* Puts those that come from there onto the stack, the first on top. */
static void push_children(struct numbering *n, uint64_t run, uint64_t serial)
{
    size_t low = 0;
    size_t high = n->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct task *task = &n->tasks[middle];
        bool before =
            task->parent_run < run || (task->parent_run == run && task->parent_serial <= serial);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    while (low > 0 && n->tasks[low - 1].parent_run == run &&
           n->tasks[low - 1].parent_serial == serial) {
        n->stack[n->depth++] = n->tasks[--low];
    }
}

static void number_task(struct numbering *n, const struct task *task)
{
    struct br2_run *run = &n->streams->runs[task->run - 1];
    struct br2_stream *stream = &run->streams[task->stream];
    const struct br2_stream *parent = find_parent(n->streams, task);
    if (parent != NULL && task->ordinal == UINT64_MAX) {
        /* The process goes on with another program. */
        stream->tid = n->streams->runs[task->parent_run - 1].pid;
        stream->parent_pid = parent->parent_pid;
        stream->parent_tid = parent->parent_tid;
    } else {
        stream->tid = n->next++;
        stream->parent_pid = parent != NULL ? n->streams->runs[task->parent_run - 1].pid : 0;
        stream->parent_tid = parent != NULL ? parent->tid : 0;
    }
    if (stream->start.parent == 0) {
        run->pid = stream->tid;
    }
    push_children(n, task->run, stream->serial);
}

int br2_tasks_number(struct br2_streams *streams, struct br2pgo_error *err)
{
    struct numbering n = {.streams = streams, .next = FIRST_NUMBER};
    n.count = count_tasks(streams, NULL);
    n.tasks = br2_calloc(n.count + 1, sizeof *n.tasks);
    n.stack = br2_calloc(n.count + 1, sizeof *n.stack);
    int rc = 0;
    if (n.tasks != NULL && n.stack != NULL) {
        count_tasks(streams, n.tasks);
        qsort(n.tasks, n.count, sizeof *n.tasks, compare_tasks);
        push_children(&n, 0, 0);
        while (n.depth > 0) {
            const struct task task = n.stack[--n.depth];
            number_task(&n, &task);
        }
    } else {
        rc = br2_fail_memory(err);
    }
    br2_free(n.tasks);
    br2_free(n.stack);
    return rc;
}
