/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/paths.h"

#include <string.h>

#include "base/mem.h"

static size_t size_of(const struct br2_path *path)
{
    return offsetof(struct br2_path, edges) + path->count * sizeof *path->edges;
}

static bool count_up(struct br2_paths *paths, const char *bytes, size_t size, uint64_t times)
{
    size_t before = paths->ways.count;
    uint32_t number = br2_strings_add(&paths->ways, bytes, size);
    if (number == BR2_NO_STRING ||
        !br2_grow(&paths->counts, &paths->capacity, number, sizeof *paths->counts)) {
        return false;
    }
    if (paths->ways.count != before) {
        paths->counts[number] = 0;
    }
    paths->counts[number] += times;
    return true;
}

/* Forgets those that were seen least, until half as many are left. */
static bool forget(struct br2_paths *paths, size_t limit)
{
    uint64_t least = 0;
    size_t left = paths->ways.count;
    while (left > limit / 2) {
        least = 2 * least + 1;
        left = 0;
        for (size_t i = 0; i < paths->ways.count; i++) {
            left += paths->counts[i] > least;
        }
    }
    struct br2_paths kept = {
        .limit = paths->limit, .all = paths->all, .error = paths->error, .cut = paths->cut};
    bool ok = true;
    for (uint32_t i = 0; ok && i < paths->ways.count; i++) {
        size_t size;
        const char *bytes = br2_strings_get(&paths->ways, i, &size);
        ok = paths->counts[i] <= least || count_up(&kept, bytes, size, paths->counts[i]);
    }
    kept.error += least;
    br2_paths_done(paths);
    *paths = kept;
    return ok;
}

bool br2_paths_add(struct br2_paths *paths, const struct br2_path *path, uint64_t times)
{
    size_t limit = paths->limit != 0 ? paths->limit : BR2_PATHS_MAX;
    if (paths->ways.count >= limit && !forget(paths, limit)) {
        return false;
    }
    paths->all += times;
    return count_up(paths, (const char *)path, size_of(path), times);
}

void br2_paths_get(const struct br2_paths *paths, size_t number, struct br2_path *ret)
{
    size_t size;
    const char *bytes = br2_strings_get(&paths->ways, (uint32_t)number, &size);
    memcpy(ret, bytes, size);
}

void br2_paths_done(struct br2_paths *paths)
{
    br2_strings_done(&paths->ways);
    br2_free(paths->counts);
    *paths = (struct br2_paths){0};
}
