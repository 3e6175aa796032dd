/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The images a recording names: which file a mapping came from, as far as the recording knows. */
#ifndef BR2_PROCESS_DSO_H
#define BR2_PROCESS_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"
#include "base/strings.h"
#include "input/input.h"

#define BR2_NO_DSO UINT32_MAX

struct br2_dso {
    const char *path; /* as recorded, " (deleted)" cut off */
    struct br2_build_id build_id;
    uint32_t device_major, device_minor;
    uint64_t inode;
    uint64_t inode_generation;
    bool kernel;
    bool deleted;
    bool file; /* false: [vdso], //anon, [kernel.kallsyms] and their like */
};

/* Zero-initialise, then use. */
struct br2_dsos {
    struct br2_dso *items;
    size_t count;
    size_t capacity;
    struct br2_strings paths;
    struct br2_strings keys; /* what makes two mappings the same image; same numbers as items */
};

/* The number of the image that `event` maps, added when new: the same inline build-id, else the
 * same path, device and inode. BR2_NO_DSO when memory runs out. */
uint32_t br2_dsos_add(struct br2_dsos *dsos, const struct br2_task_event *event);

/* Length of "[kernel.kallsyms]" where `path` is that and the symbol it starts at, as recorders name
 * the running kernel's code; else 0. */
size_t br2_kernel_name_length(const char *path);

/* Gives images without an inline build-id the one the recording's table has for their path.
 * BR2PGO_NO_MEMORY. */
int br2_dsos_apply_table(struct br2_dsos *dsos, const struct br2_recorded_image *images,
                         size_t count, struct br2pgo_error *err);
void br2_dsos_done(struct br2_dsos *dsos);

#endif
