/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles as functions, places and counts. */
#include "profile/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/number.h"

/* One step of a path, kept as the bytes of a string. */
struct path_step {
    uint64_t first;
    uint64_t second;
    uint32_t parent; /* BR2_NO_PATH: from the function itself */
    uint32_t name;
};

void br2_tally_names_done(struct br2_tally_names *names)
{
    br2_strings_done(&names->names);
    br2_strings_done(&names->paths);
}

uint32_t br2_tally_path(struct br2_tally_names *names, uint32_t path, const uint64_t place[2],
                        uint32_t name)
{
    struct path_step step = {place[0], place[1], path, name};
    return br2_strings_add(&names->paths, (const char *)&step, sizeof step);
}

static struct path_step get_step(const struct br2_tally_names *names, uint32_t path)
{
    struct path_step step;
    size_t length;
    memcpy(&step, br2_strings_get(&names->paths, path, &length), sizeof step);
    return step;
}

bool br2_tally_add_function(struct br2_tally *tally, uint32_t name, uint64_t head)
{
    if (!br2_grow(&tally->functions, &tally->function_capacity, tally->function_count,
                  sizeof *tally->functions)) {
        return false;
    }
    tally->functions[tally->function_count++] =
        (struct br2_tally_function){.name = name, .head = head};
    return true;
}

bool br2_tally_add_item(struct br2_tally *tally, const struct br2_tally_item *item)
{
    if (!br2_grow(&tally->items, &tally->item_capacity, tally->item_count, sizeof *tally->items)) {
        return false;
    }
    tally->items[tally->item_count++] = *item;
    return true;
}

void br2_tally_done(struct br2_tally *tally)
{
    br2_free(tally->items);
    br2_free(tally->functions);
    *tally = (struct br2_tally){0};
}

int br2_tally_compare_places(const struct br2_tally_item *a, const struct br2_tally_item *b)
{
    /* BR2_NO_PATH + 1 is 0. */
    int order = br2_compare_u64((uint32_t)(a->path + 1), (uint32_t)(b->path + 1));
    order = order != 0 ? order : br2_compare_u64(a->first, b->first);
    return order != 0 ? order : br2_compare_u64(a->second, b->second);
}

static int compare_items(const void *left, const void *right)
{
    const struct br2_tally_item *a = left;
    const struct br2_tally_item *b = right;
    int order = br2_compare_u64(a->function, b->function);
    return order != 0 ? order : br2_tally_compare_places(a, b);
}

static int compare_functions(const void *left, const void *right)
{
    const struct br2_tally_function *a = left;
    const struct br2_tally_function *b = right;
    return br2_compare_u64(a->name, b->name);
}

static void merge_items(struct br2_tally *tally)
{
    if (tally->item_count != 0) {
        qsort(tally->items, tally->item_count, sizeof *tally->items, compare_items);
    }
    size_t kept = 0;
    for (size_t i = 0; i < tally->item_count; i++) {
        struct br2_tally_item *last = kept != 0 ? &tally->items[kept - 1] : NULL;
        if (last != NULL && compare_items(last, &tally->items[i]) == 0) {
            last->count = br2_add_saturated(last->count, tally->items[i].count);
        } else {
            tally->items[kept++] = tally->items[i];
        }
    }
    tally->item_count = kept;
}

static void merge_functions(struct br2_tally *tally)
{
    if (tally->function_count != 0) {
        qsort(tally->functions, tally->function_count, sizeof *tally->functions, compare_functions);
    }
    size_t kept = 0;
    for (size_t i = 0; i < tally->function_count; i++) {
        struct br2_tally_function *last = kept != 0 ? &tally->functions[kept - 1] : NULL;
        if (last != NULL && last->name == tally->functions[i].name) {
            last->head = br2_add_saturated(last->head, tally->functions[i].head);
        } else {
            tally->functions[kept++] = tally->functions[i];
        }
    }
    tally->function_count = kept;
}

int br2_tally_finish(struct br2_tally *tally, struct br2pgo_error *err)
{
    merge_items(tally);
    for (size_t i = 0; i < tally->item_count; i++) {
        bool new_function = i == 0 || tally->items[i].function != tally->items[i - 1].function;
        if (new_function && !br2_tally_add_function(tally, tally->items[i].function, 0)) {
            return br2_fail_memory(err);
        }
    }
    merge_functions(tally);
    size_t at = 0;
    for (size_t i = 0; i < tally->function_count; i++) {
        struct br2_tally_function *function = &tally->functions[i];
        function->first = at;
        for (; at < tally->item_count && tally->items[at].function == function->name; at++) {
            uint64_t count = tally->items[at].count;
            function->sum = br2_add_saturated(function->sum, count);
            function->max = count > function->max ? count : function->max;
        }
        function->item_count = at - function->first;
        tally->sum = br2_add_saturated(tally->sum, function->sum);
    }
    return 0;
}

const struct br2_tally_function *br2_tally_find(const struct br2_tally *tally, uint32_t name)
{
    struct br2_tally_function key = {.name = name};
    return tally->function_count == 0 ? NULL
                                      : bsearch(&key, tally->functions, tally->function_count,
                                                sizeof key, compare_functions);
}

const char *br2_tally_name(const struct br2_tally *tally, uint32_t name)
{
    return br2_strings_get(&tally->names->names, name, NULL);
}

bool br2_tally_is_named(const char *name, const char *asked)
{
    size_t length = strlen(asked);
    return strncmp(name, asked, length) == 0 && (name[length] == '\0' || name[length] == '/');
}

uint32_t br2_tally_innermost(const struct br2_tally *tally, const struct br2_tally_item *item)
{
    return item->path != BR2_NO_PATH ? get_step(tally->names, item->path).name : item->function;
}

void br2_tally_keep(struct br2_tally *tally, const bool *keep)
{
    size_t kept = 0;
    size_t items = 0;
    for (size_t i = 0; i < tally->function_count; i++) {
        struct br2_tally_function function = tally->functions[i];
        if (keep[i]) {
            memmove(tally->items + items, tally->items + function.first,
                    function.item_count * sizeof *tally->items);
            function.first = items;
            items += function.item_count;
            tally->functions[kept++] = function;
        }
    }
    tally->function_count = kept;
    tally->item_count = items;
}

static void print_lines(uint64_t offset, uint64_t discriminator, struct br2_buf *out)
{
    br2_buf_printf(out, "%" PRIu64, offset);
    if (discriminator != 0) {
        br2_buf_printf(out, ".%" PRIu64, discriminator);
    }
}

/* The steps of a path, the function's own first. The nesting of a profile is limited. */
static void print_path(const struct br2_tally *tally, uint32_t path, struct br2_buf *out)
{
    uint32_t chain[BR2_PROFILE_DEPTH_MAX + 1];
    size_t depth = 0;
    for (; path != BR2_NO_PATH && depth <= BR2_PROFILE_DEPTH_MAX; depth++) {
        chain[depth] = path;
        path = get_step(tally->names, path).parent;
    }
    while (depth > 0) {
        struct path_step step = get_step(tally->names, chain[--depth]);
        print_lines(step.first, step.second, out);
        br2_buf_printf(out, " %s ", br2_tally_name(tally, step.name));
    }
}

static void print_address(uint64_t address, struct br2_buf *out)
{
    if (address != 0) {
        br2_buf_printf(out, "0x%" PRIx64, address);
    } else {
        br2_buf_str(out, "outside");
    }
}

void br2_tally_print_place(const struct br2_tally *tally, const struct br2_tally_item *item,
                           struct br2_buf *out)
{
    switch (tally->terms) {
    case BR2_TALLY_LINES:
        print_path(tally, item->path, out);
        print_lines(item->first, item->second, out);
        break;
    case BR2_TALLY_OFFSETS:
        br2_buf_printf(out, "%" PRIx64, item->first);
        if (item->path != BR2_NO_PATH) {
            br2_buf_printf(out, " -> %s+%" PRIx64,
                           br2_tally_name(tally, get_step(tally->names, item->path).name),
                           item->second);
        }
        break;
    case BR2_TALLY_ADDRESSES:
        print_address(item->first, out);
        br2_buf_str(out, " -> ");
        print_address(item->second, out);
        break;
    }
}

static int compare_ranks(const void *left, const void *right, void *user)
{
    const struct br2_tally *tally = user;
    const struct br2_tally_function *a = *(const struct br2_tally_function *const *)left;
    const struct br2_tally_function *b = *(const struct br2_tally_function *const *)right;
    int order = br2_compare_u64(b->sum, a->sum);
    return order != 0 ? order
                      : strcmp(br2_tally_name(tally, a->name), br2_tally_name(tally, b->name));
}

const struct br2_tally_function **br2_tally_ranking(const struct br2_tally *tally)
{
    size_t count = tally->function_count;
    const struct br2_tally_function **ranking = br2_calloc(count + 1, sizeof *ranking);
    if (ranking == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        ranking[i] = &tally->functions[i];
    }
    struct br2_tally user = *tally; /* what a comparison's user points to is not constant */
    if (count > 1) {
        qsort_r(ranking, count, sizeof *ranking, compare_ranks, &user);
    }
    return ranking;
}
