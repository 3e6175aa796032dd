/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "process/dso.h"

#include <string.h>

static const char deleted_suffix[] = " (deleted)";

/* Length of the path without the mark the kernel adds to a file that is gone. */
static size_t path_length(const char *name, bool *ret_deleted)
{
    size_t length = strlen(name);
    size_t suffix = sizeof deleted_suffix - 1;
    *ret_deleted = length > suffix && memcmp(name + length - suffix, deleted_suffix, suffix) == 0;
    return *ret_deleted ? length - suffix : length;
}

/* Pages of hugetlbfs, here at the place where systemd mounts it, hold what a program put there: its
 * own code, if they take the place of that (libhugetlbfs does so). */
static bool is_file(const char *path)
{
    return path[0] == '/' && strncmp(path, "//anon", 6) != 0 &&
           strncmp(path, "/dev/hugepages/", 15) != 0 && strncmp(path, "/dev/zero", 9) != 0 &&
           strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/memfd:", 7) != 0 &&
           strncmp(path, "/anon_hugepage", 14) != 0;
}

size_t br2_kernel_name_length(const char *path)
{
    static const char name[] = "[kernel.kallsyms]";
    const char *symbol = path + sizeof name - 1;
    if (strncmp(path, name, sizeof name - 1) != 0) {
        return 0;
    }
    return strcmp(symbol, "_text") == 0 || strcmp(symbol, "_stext") == 0 ? sizeof name - 1 : 0;
}

struct dso_identity {
    uint8_t kernel;
    struct br2_build_id build_id;
    uint32_t device_major, device_minor;
    uint64_t inode, inode_generation;
    uint32_t path;
};

static uint32_t add_identity(struct br2_dsos *dsos, const struct br2_task_event *event,
                             uint32_t path)
{
    struct dso_identity id;
    memset(&id, 0, sizeof id); /* padding takes part in the comparison */
    id.kernel = event->kernel;
    if (event->build_id.size != 0) {
        id.build_id.size = event->build_id.size;
        memcpy(id.build_id.bytes, event->build_id.bytes, event->build_id.size);
    } else {
        id.device_major = event->device_major;
        id.device_minor = event->device_minor;
        id.inode = event->inode;
        id.inode_generation = event->inode_generation;
        id.path = path;
    }
    return br2_strings_add(&dsos->keys, (const char *)&id, sizeof id);
}

uint32_t br2_dsos_add(struct br2_dsos *dsos, const struct br2_task_event *event)
{
    bool deleted;
    size_t length = path_length(event->name, &deleted);
    uint32_t path = br2_strings_add(&dsos->paths, event->name, length);
    if (path == BR2_NO_STRING ||
        !br2_grow(&dsos->items, &dsos->capacity, dsos->count, sizeof *dsos->items)) {
        return BR2_NO_DSO;
    }
    uint32_t number = add_identity(dsos, event, path);
    if (number == BR2_NO_STRING || number < dsos->count) {
        return number;
    }
    const char *text = br2_strings_get(&dsos->paths, path, NULL);
    dsos->items[dsos->count++] = (struct br2_dso){
        .path = text,
        .build_id = event->build_id,
        .device_major = event->device_major,
        .device_minor = event->device_minor,
        .inode = event->inode,
        .inode_generation = event->inode_generation,
        .kernel = event->kernel,
        .deleted = deleted,
        .file = is_file(text),
    };
    return number;
}

/* Numbers of the recorded images' paths, in `paths`; the first entry of a path counts. */
static int index_paths(struct br2_strings *paths, uint32_t *image_of_path,
                       const struct br2_recorded_image *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool deleted;
        uint32_t known = (uint32_t)paths->count;
        uint32_t path =
            br2_strings_add(paths, images[i].path, path_length(images[i].path, &deleted));
        if (path == BR2_NO_STRING) {
            return BR2PGO_NO_MEMORY;
        }
        if (path == known) {
            image_of_path[path] = (uint32_t)i;
        }
    }
    return 0;
}

int br2_dsos_apply_table(struct br2_dsos *dsos, const struct br2_recorded_image *images,
                         size_t count, struct br2pgo_error *err)
{
    struct br2_strings paths = {0};
    uint32_t *image_of_path = br2_calloc(count, sizeof *image_of_path);
    if (image_of_path == NULL || index_paths(&paths, image_of_path, images, count) != 0) {
        br2_free(image_of_path);
        br2_strings_done(&paths);
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < dsos->count; i++) {
        struct br2_dso *dso = &dsos->items[i];
        size_t kernel = br2_kernel_name_length(dso->path);
        uint32_t path =
            br2_strings_find(&paths, dso->path, kernel != 0 ? kernel : strlen(dso->path));
        if (dso->build_id.size == 0 && path != BR2_NO_STRING) {
            dso->build_id = images[image_of_path[path]].build_id;
        }
    }
    br2_free(image_of_path);
    br2_strings_done(&paths);
    return 0;
}

void br2_dsos_done(struct br2_dsos *dsos)
{
    br2_free(dsos->items);
    br2_strings_done(&dsos->paths);
    br2_strings_done(&dsos->keys);
    *dsos = (struct br2_dsos){0};
}
