/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "process/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"

struct view {
    struct br2_mapping_set mappings;
    bool shared; /* more than one process is in it */
};

/* From `time` on, the process is in `view`. */
struct turn {
    br2_time time;
    uint32_t view;
};

#define NO_EVENT UINT32_MAX

struct process {
    int32_t pid;
    uint32_t last;      /* number of the last event added; NO_EVENT: none */
    struct turn *turns; /* sorted by time */
    size_t count;
    size_t capacity;
};

struct event {
    br2_time time;
    uint32_t order; /* of arrival: breaks ties */
    int32_t pid;
    uint8_t kind; /* enum br2_task_kind */
    bool kernel;
    union {
        int32_t parent;             /* of FORK */
        struct br2_mapping mapping; /* of MMAP */
    } of;
};

struct br2_spaces {
    struct br2_dsos dsos;
    struct event *events; /* until finished */
    size_t event_count;
    size_t event_capacity;
    size_t events_max;
    size_t image_bytes; /* see BR2_IMAGE_NAMES_MAX */
    struct view *views;
    size_t view_count;
    size_t view_capacity;
    size_t mapping_count; /* over all views */
    size_t mappings_max;
    struct process *processes; /* while adding: in order of appearance */
    size_t process_count;
    size_t process_capacity;
    uint32_t *pid_slots; /* index + 1 into processes, by hash of the pid */
    size_t pid_slot_count;
};

struct br2_spaces *br2_spaces_new(void)
{
    struct br2_spaces *spaces = br2_calloc(1, sizeof *spaces);
    if (spaces != NULL) {
        spaces->mappings_max = BR2_MAPPINGS_MAX;
        spaces->events_max = BR2_EVENTS_MAX;
    }
    return spaces;
}

void br2_spaces_limit(struct br2_spaces *spaces, size_t mappings, size_t events)
{
    spaces->mappings_max = mappings;
    spaces->events_max = events;
}

void br2_spaces_free(struct br2_spaces *spaces)
{
    if (spaces == NULL) {
        return;
    }
    for (size_t i = 0; i < spaces->view_count; i++) {
        br2_mapping_set_done(&spaces->views[i].mappings);
    }
    for (size_t i = 0; i < spaces->process_count; i++) {
        br2_free(spaces->processes[i].turns);
    }
    br2_dsos_done(&spaces->dsos);
    br2_free(spaces->events);
    br2_free(spaces->views);
    br2_free(spaces->processes);
    br2_free(spaces->pid_slots);
    br2_free(spaces);
}

struct br2_dsos *br2_spaces_dsos(struct br2_spaces *spaces)
{
    return &spaces->dsos;
}

static size_t pid_slot(const struct br2_spaces *spaces, int32_t pid)
{
    size_t mask = spaces->pid_slot_count - 1;
    size_t slot = (size_t)(((uint32_t)pid * br2_hash_key()->words[0]) >> 32) & mask;
    while (spaces->pid_slots[slot] != 0 &&
           spaces->processes[spaces->pid_slots[slot] - 1].pid != pid) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static struct process *find_process(const struct br2_spaces *spaces, int32_t pid)
{
    if (spaces->pid_slot_count == 0) {
        return NULL;
    }
    uint32_t index = spaces->pid_slots[pid_slot(spaces, pid)];
    return index != 0 ? &spaces->processes[index - 1] : NULL;
}

static int grow_pid_slots(struct br2_spaces *spaces)
{
    size_t wanted = spaces->pid_slot_count != 0 ? spaces->pid_slot_count * 2 : 64;
    uint32_t *slots = br2_calloc(wanted, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    br2_free(spaces->pid_slots);
    spaces->pid_slots = slots;
    spaces->pid_slot_count = wanted;
    for (size_t i = 0; spaces->processes != NULL && i < spaces->process_count; i++) {
        spaces->pid_slots[pid_slot(spaces, spaces->processes[i].pid)] = (uint32_t)(i + 1);
    }
    return 0;
}

/* The process, added when new; NULL when memory runs out. */
static struct process *get_process(struct br2_spaces *spaces, int32_t pid)
{
    struct process *known = find_process(spaces, pid);
    if (known != NULL) {
        return known;
    }
    if ((spaces->process_count >= spaces->pid_slot_count / 2 && grow_pid_slots(spaces) != 0) ||
        !br2_grow(&spaces->processes, &spaces->process_capacity, spaces->process_count,
                  sizeof *spaces->processes)) {
        return NULL;
    }
    struct process *process = &spaces->processes[spaces->process_count++];
    *process = (struct process){.pid = pid, .last = NO_EVENT};
    spaces->pid_slots[pid_slot(spaces, pid)] = (uint32_t)spaces->process_count;
    return process;
}

static int refuse(size_t limit, const char *what, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_LIMIT, "more than %zu %s", limit, what);
    br2_hint(err, "record fewer processes at a time, or for a shorter time");
    return BR2PGO_LIMIT;
}

/* The number of the image that the event maps. */
static int add_image(struct br2_spaces *spaces, const struct br2_task_event *event, uint32_t *ret,
                     struct br2pgo_error *err)
{
    size_t known = spaces->dsos.count;
    *ret = br2_dsos_add(&spaces->dsos, event);
    if (*ret == BR2_NO_DSO) {
        return br2_fail_memory(err);
    }
    if (spaces->dsos.count > known) {
        spaces->image_bytes += BR2_IMAGE_BYTES + strlen(event->name);
    }
    return spaces->image_bytes <= BR2_IMAGE_NAMES_MAX
               ? 0
               : refuse(BR2_IMAGE_NAMES_MAX, "bytes of names of mapped files", err);
}

/* Whether a process is told again what it was told last: by JIT compilers that change the
 * protection of their memory back and forth. */
static bool is_repeated(const struct br2_spaces *spaces, const struct process *process,
                        const struct event *event)
{
    if (process->last == NO_EVENT || event->kind != BR2_TASK_MMAP) {
        return false;
    }
    const struct event *last = &spaces->events[process->last];
    const struct br2_mapping *a = &last->of.mapping;
    const struct br2_mapping *b = &event->of.mapping;
    return last->kind == BR2_TASK_MMAP && last->kernel == event->kernel && a->start == b->start &&
           a->end == b->end && a->file_offset == b->file_offset && a->dso == b->dso;
}

static int add_event(struct br2_spaces *spaces, const struct event *event, struct br2pgo_error *err)
{
    struct process *process = get_process(spaces, event->pid);
    if (process == NULL) {
        return br2_fail_memory(err);
    }
    if (is_repeated(spaces, process, event)) {
        return 0;
    }
    if (spaces->event_count >= spaces->events_max) {
        return refuse(spaces->events_max, "mappings, forks and executions", err);
    }
    if (!br2_grow(&spaces->events, &spaces->event_capacity, spaces->event_count,
                  sizeof *spaces->events)) {
        return br2_fail_memory(err);
    }
    process->last = (uint32_t)spaces->event_count;
    spaces->events[spaces->event_count++] = *event;
    return 0;
}

static uint64_t file_offset(const struct br2_task_event *event)
{
    bool kernel = event->kernel && br2_kernel_name_length(event->name) != 0;
    return kernel ? BR2_KERNEL_TEXT_OFFSET + (event->address - event->file_offset)
                  : event->file_offset;
}

int br2_spaces_add(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    struct br2_spaces *spaces = user;
    bool matters = event->kind == BR2_TASK_FORK || (event->kind == BR2_TASK_COMM && event->exec) ||
                   (event->kind == BR2_TASK_MMAP && !event->data && event->length != 0);
    uint64_t end;
    if (!matters || __builtin_add_overflow(event->address, event->length, &end)) {
        return 0;
    }
    struct event stored = {
        .time = event->time,
        .order = (uint32_t)spaces->event_count,
        .pid = event->pid,
        .kind = (uint8_t)event->kind,
        .kernel = event->kernel || event->pid == BR2_PID_KERNEL,
    };
    if (event->kind == BR2_TASK_FORK) {
        stored.of.parent = event->parent;
    } else if (event->kind == BR2_TASK_MMAP) {
        stored.of.mapping = (struct br2_mapping){
            .start = event->address,
            .end = end,
            .file_offset = file_offset(event),
        };
        int rc = add_image(spaces, event, &stored.of.mapping.dso, err);
        if (rc != 0) {
            return rc;
        }
    }
    return add_event(spaces, &stored, err);
}

static int add_turn(struct process *process, br2_time time, uint32_t view, struct br2pgo_error *err)
{
    if (!br2_grow(&process->turns, &process->capacity, process->count, sizeof *process->turns)) {
        return br2_fail_memory(err);
    }
    process->turns[process->count++] = (struct turn){.time = time, .view = view};
    return 0;
}

/* Whether so many more mappings may be kept. */
static int check_limit(const struct br2_spaces *spaces, size_t more, struct br2pgo_error *err)
{
    if (more > spaces->mappings_max - spaces->mapping_count) {
        return refuse(spaces->mappings_max, "mappings to keep", err);
    }
    return 0;
}

/* A new view, with a copy of the mappings of view `from`, empty for SIZE_MAX. */
static int add_view(struct br2_spaces *spaces, size_t from, uint32_t *ret, struct br2pgo_error *err)
{
    size_t count = from != SIZE_MAX ? spaces->views[from].mappings.count : 0;
    int rc = check_limit(spaces, count, err);
    if (rc != 0) {
        return rc;
    }
    if (!br2_grow(&spaces->views, &spaces->view_capacity, spaces->view_count,
                  sizeof *spaces->views)) {
        return br2_fail_memory(err);
    }
    struct view *view = &spaces->views[spaces->view_count];
    *view = (struct view){0};
    if (from != SIZE_MAX && !br2_mapping_set_copy(&view->mappings, &spaces->views[from].mappings)) {
        return br2_fail_memory(err);
    }
    spaces->mapping_count += count;
    *ret = (uint32_t)spaces->view_count++;
    return 0;
}

static bool is_file(const struct br2_spaces *spaces, const struct br2_mapping *mapping)
{
    return spaces->dsos.items[mapping->dso].file;
}

/* Whether the view says the same of [start, end) already. */
static bool has_mapping(const struct view *view, const struct br2_mapping *wanted)
{
    const struct br2_mapping *found = br2_mapping_set_after(&view->mappings, wanted->start);
    return found != NULL && found->start <= wanted->start && found->end >= wanted->end &&
           found->dso == wanted->dso &&
           found->file_offset + (wanted->start - found->start) == wanted->file_offset;
}

/* Whether addresses change their meaning when `wanted` is mapped. Memory that is no file means
 * nothing, however often it is mapped anew: JIT compilers do that for every function. */
static bool changes(const struct br2_spaces *spaces, const struct view *view,
                    const struct br2_mapping *wanted)
{
    const struct br2_mapping *found = br2_mapping_set_after(&view->mappings, wanted->start);
    return is_file(spaces, wanted) && found != NULL && found->start < wanted->end;
}

/* The process's current view, ready to be changed: its own, and a new one if asked for. */
static int own_view(struct br2_spaces *spaces, struct process *process, br2_time time, bool fresh,
                    uint32_t *ret, struct br2pgo_error *err)
{
    if (process->count == 0) {
        int rc = add_view(spaces, SIZE_MAX, ret, err);
        return rc != 0 ? rc : add_turn(process, time, *ret, err);
    }
    uint32_t current = process->turns[process->count - 1].view;
    if (!fresh && !spaces->views[current].shared) {
        *ret = current;
        return 0;
    }
    int rc = add_view(spaces, current, ret, err);
    return rc != 0 ? rc : add_turn(process, time, *ret, err);
}

static int map_into(struct br2_spaces *spaces, uint32_t number, const struct br2_mapping *mapping,
                    struct br2pgo_error *err)
{
    struct br2_mapping_set *mappings = &spaces->views[number].mappings;
    int rc = check_limit(spaces, 2, err);
    if (rc != 0) {
        return rc;
    }
    spaces->mapping_count -= mappings->count;
    bool ok = br2_mapping_set_put(mappings, mapping);
    spaces->mapping_count += mappings->count;
    return ok ? 0 : br2_fail_memory(err);
}

/*
 * Maps memory that is no file: where the code of one is, that code stays. Programs copy their code
 * to huge pages and map these in its place; that a JIT compiler gets the place of a library that is
 * gone is rarer, and what runs there contradicts the library's code.
 */
static int map_memory(struct br2_spaces *spaces, uint32_t number, const struct br2_mapping *mapping,
                      struct br2pgo_error *err)
{
    struct br2_mapping piece = *mapping;
    int rc = 0;
    while (rc == 0 && piece.start < mapping->end) {
        struct br2_mapping_set *mappings = &spaces->views[number].mappings;
        const struct br2_mapping *file = br2_mapping_set_after(mappings, piece.start);
        while (file != NULL && file->start < mapping->end && !is_file(spaces, file)) {
            file = br2_mapping_set_after(mappings, file->end);
        }
        bool has_file = file != NULL && file->start < mapping->end;
        uint64_t next = has_file ? file->end : mapping->end;
        piece.end = has_file ? file->start : mapping->end;
        if (piece.start < piece.end) {
            rc = map_into(spaces, number, &piece, err);
        }
        piece.file_offset += next - piece.start;
        piece.start = next;
    }
    return rc;
}

static int replay_mmap(struct br2_spaces *spaces, const struct event *event,
                       struct br2pgo_error *err)
{
    if (event->kernel) {
        return map_into(spaces, BR2_VIEW_KERNEL, &event->of.mapping, err);
    }
    struct process *process = get_process(spaces, event->pid);
    if (process == NULL) {
        return br2_fail_memory(err);
    }
    bool fresh = false;
    if (process->count != 0) {
        const struct view *view = &spaces->views[process->turns[process->count - 1].view];
        if (has_mapping(view, &event->of.mapping)) {
            return 0;
        }
        fresh = changes(spaces, view, &event->of.mapping);
    }
    uint32_t number = 0;
    int rc = own_view(spaces, process, event->time, fresh, &number, err);
    if (rc != 0) {
        return rc;
    }
    return is_file(spaces, &event->of.mapping)
               ? map_into(spaces, number, &event->of.mapping, err)
               : map_memory(spaces, number, &event->of.mapping, err);
}

static int replay_exec(struct br2_spaces *spaces, const struct event *event,
                       struct br2pgo_error *err)
{
    struct process *process = get_process(spaces, event->pid);
    if (process == NULL) {
        return br2_fail_memory(err);
    }
    uint32_t number = 0;
    int rc = add_view(spaces, SIZE_MAX, &number, err);
    return rc != 0 ? rc : add_turn(process, event->time, number, err);
}

static int replay_fork(struct br2_spaces *spaces, const struct event *event,
                       struct br2pgo_error *err)
{
    const struct process *parent = find_process(spaces, event->of.parent);
    if (parent == NULL || parent->count == 0) {
        /* Whoever had the pid before, it is not this process. */
        const struct process *before = find_process(spaces, event->pid);
        return before != NULL && before->count != 0 ? replay_exec(spaces, event, err) : 0;
    }
    uint32_t number = parent->turns[parent->count - 1].view;
    struct process *child = get_process(spaces, event->pid);
    if (child == NULL) {
        return br2_fail_memory(err);
    }
    spaces->views[number].shared = true;
    return add_turn(child, event->time, number, err);
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

int br2_spaces_finish(struct br2_spaces *spaces, struct br2pgo_error *err)
{
    uint32_t number = 0;
    int rc = 0;
    while (rc == 0 && spaces->view_count <= BR2_VIEW_UNKNOWN) {
        rc = add_view(spaces, SIZE_MAX, &number, err);
    }
    if (spaces->event_count != 0) {
        qsort(spaces->events, spaces->event_count, sizeof *spaces->events, compare_events);
    }
    for (size_t i = 0; rc == 0 && i < spaces->event_count; i++) {
        const struct event *event = &spaces->events[i];
        if (event->kind == BR2_TASK_MMAP) {
            rc = replay_mmap(spaces, event, err);
        } else if (event->kind == BR2_TASK_FORK) {
            rc = replay_fork(spaces, event, err);
        } else {
            rc = replay_exec(spaces, event, err);
        }
    }
    br2_free(spaces->events);
    spaces->events = NULL;
    spaces->event_count = spaces->event_capacity = 0;
    return rc;
}

struct br2_turn br2_spaces_turn(const struct br2_spaces *spaces, int32_t pid, br2_time time)
{
    struct br2_turn turn = {.pid = pid, .view = BR2_VIEW_UNKNOWN, .until = UINT64_MAX};
    const struct process *process = find_process(spaces, pid);
    if (process == NULL || process->count == 0) {
        return turn;
    }
    size_t low = 0;
    size_t high = process->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (process->turns[middle].time <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t number = low != 0 ? low - 1 : 0;
    turn.view = process->turns[number].view;
    turn.from = number != 0 ? process->turns[number].time : 0;
    turn.until = number + 1 < process->count ? process->turns[number + 1].time : UINT64_MAX;
    return turn;
}

const struct br2_mapping *br2_spaces_resolve(const struct br2_spaces *spaces, uint32_t view,
                                             uint64_t address)
{
    const struct view *found =
        &spaces->views[br2_is_kernel_address(address) ? BR2_VIEW_KERNEL : view];
    const struct br2_mapping *mapping = br2_mapping_set_after(&found->mappings, address);
    return mapping != NULL && mapping->start <= address ? mapping : NULL;
}

void br2_spaces_each_mapping(const struct br2_spaces *spaces, uint32_t dso,
                             void (*sink)(void *user, const struct br2_mapping *mapping),
                             void *user)
{
    for (size_t i = 0; i < spaces->view_count; i++) {
        const struct br2_mapping *mapping = br2_mapping_set_after(&spaces->views[i].mappings, 0);
        for (; mapping != NULL;
             mapping = br2_mapping_set_after(&spaces->views[i].mappings, mapping->end)) {
            if (dso == BR2_NO_DSO || mapping->dso == dso) {
                sink(user, mapping);
            }
        }
    }
}
