/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A recording in several files (perf record --threads): a directory with `data`, an ordinary file,
 * and data.0, data.1, ..., each the records of one reader. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/limits.h"
#include "input/perf_data/perf_data.h"

static bool number_of(const char *name, unsigned *ret)
{
    char *end;
    if (strncmp(name, "data.", 5) != 0 || name[5] < '0' || name[5] > '9') {
        return false;
    }
    unsigned long number = strtoul(name + 5, &end, 10);
    *ret = (unsigned)number;
    return *end == '\0' && number < BR2_PARTS_MAX;
}

static int is_part(const struct dirent *entry)
{
    unsigned number;
    return number_of(entry->d_name, &number);
}

static int compare(const struct dirent **left, const struct dirent **right)
{
    unsigned a = 0;
    unsigned b = 0;
    number_of((*left)->d_name, &a);
    number_of((*right)->d_name, &b);
    return a < b ? -1 : a > b;
}

static int open_part(struct br2_perf *perf, const char *folder, unsigned number,
                     struct br2pgo_error *err)
{
    struct br2_input *input = perf->input;
    if (!br2_grow(&perf->parts, &perf->part_capacity, perf->part_count, sizeof *perf->parts)) {
        return br2_fail_memory(err);
    }
    char *path = br2_format("%s/data.%u", folder, number);
    struct br2_perf_part *part = &perf->parts[perf->part_count];
    *part = (struct br2_perf_part){0};
    int rc = path ? 0 : br2_fail_memory(err);
    if (!rc && br2_file_is_regular(path)) { /* a pipe in it would wait for ever */
        rc = br2_file_open(&part->file, path, NULL, err);
        perf->part_count += rc == 0 && part->file.size > 0;
    } else if (!rc) {
        input->info.parts_missing++;
    }
    if (!rc) {
        part->name = br2_arena_strndup(&input->arena, path + strlen(folder) + 1,
                                       strlen(path) - strlen(folder) - 1);
        rc = part->name ? 0 : br2_fail_memory(err);
    }
    br2_free(path);
    return rc;
}

static int open_all(struct br2_perf *perf, const char *folder, bool *ret_any,
                    struct br2pgo_error *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_part, compare);
    if (count < 0) {
        return errno == ENOMEM ? br2_fail_memory(err) : br2_fail_io(err, "read", folder, errno);
    }
    *ret_any = count > 0;
    int rc = 0;
    unsigned next = 0; /* number of the next part, if none is missing */
    for (int i = 0; i < count; i++) {
        unsigned number = 0;
        number_of(entries[i]->d_name, &number);
        if (number >= next) { /* data.01 is data.1 once more */
            perf->input->info.parts_missing += number - next;
            next = number + 1;
            rc = rc ? rc : open_part(perf, folder, number, err);
        }
        free(entries[i]); /* scandir's own memory */
    }
    free(entries);
    return rc;
}

static int refuse_alone(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED,
             "this is one file of a recording in several (perf record --threads): its samples are "
             "in the others, data.0, data.1, ...");
    br2_hint(err, "give the whole directory as it was recorded");
    return BR2PGO_UNSUPPORTED;
}

/* The directory of DIR/data, which may be named instead of DIR; NULL: no memory. */
static char *folder_of(const struct br2_input *input)
{
    const char *slash = strrchr(input->path, '/');
    if (input->parts_folder) {
        return br2_strdup(input->parts_folder);
    }
    return slash ? br2_strndup(input->path, (size_t)(slash - input->path)) : br2_strdup(".");
}

int br2_perf_open_parts(struct br2_perf *perf, struct br2pgo_error *err)
{
    const struct br2_input *input = perf->input;
    /* Without the header's word, which is lost when its recorder dies, what is in the directory
     * counts; the file alone, under another name, is not asked what lies beside it. */
    bool named = strcmp(br2_base_name(input->path), "data") == 0;
    if (!input->parts_folder && !perf->in_parts) {
        return 0;
    }
    if (!input->parts_folder && !named) {
        return refuse_alone(err);
    }
    char *folder = folder_of(input);
    if (!folder) {
        return br2_fail_memory(err);
    }
    bool any = false;
    int rc = open_all(perf, folder, &any, err);
    br2_free(folder);
    return rc == 0 && perf->in_parts && !any ? refuse_alone(err) : rc;
}

void br2_perf_close_parts(struct br2_perf *perf)
{
    for (size_t i = 0; i < perf->part_count; i++) {
        br2_file_close(&perf->parts[i].file);
    }
    br2_free(perf->parts);
}
