/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct process {
    pid_t pid;
    pid_t parent;
    unsigned depth; /* below the ancestor; 0: not known to be */
};

struct processes {
    struct process *items;
    size_t count;
    size_t capacity;
};

/* proc(5): "pid (name) state ppid ...", where the name may have any characters in it. */
static pid_t read_parent(const char *pid)
{
    char path[64];
    char text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    text[size] = '\0';
    const char *at = strrchr(text, ')');
    return at != NULL && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static void list(struct processes *all)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end != '\0') {
            continue;
        }
        if (!br2_grow(&all->items, &all->capacity, all->count, sizeof *all->items)) {
            break;
        }
        all->items[all->count++] =
            (struct process){.pid = (pid_t)pid, .parent = read_parent(entry->d_name)};
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

/* Gives the children of what is `depth` - 1 below the ancestor their depth. */
static bool descend(struct processes *all, pid_t ancestor, unsigned depth)
{
    bool found = false;
    for (size_t i = 0; i < all->count; i++) {
        struct process *child = &all->items[i];
        bool is_child = depth == 1 && child->parent == ancestor;
        for (size_t k = 0; depth > 1 && !is_child && k < all->count; k++) {
            is_child = all->items[k].depth == depth - 1 && all->items[k].pid == child->parent;
        }
        if (is_child && child->depth == 0) {
            child->depth = depth;
            found = true;
        }
    }
    return found;
}

void br2_descendants_kill(pid_t ancestor, unsigned depth)
{
    struct processes all = {0};
    list(&all);
    for (unsigned i = 1; descend(&all, ancestor, i); i++) {
    }
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].depth >= depth) {
            kill(all.items[i].pid, SIGKILL);
        }
    }
    br2_free(all.items);
}
