/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code ranges of an image: function symbols first, PLT stubs and call frames where there is
 * none. */
#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"

struct candidate {
    uint64_t start;
    uint64_t end;
    const char *name;
    size_t length;
    uint8_t rank; /* of the binding: global, weak, local */
    bool sized;
};

struct candidates {
    struct candidate *items;
    size_t count;
    size_t capacity;
};

bool br2_range_list_add(struct br2_range_list *list, const struct br2_code_range *range)
{
    if (!br2_grow(&list->items, &list->capacity, list->count, sizeof *list->items)) {
        return false;
    }
    list->items[list->count++] = *range;
    return true;
}

static uint8_t rank_of(const GElf_Sym *symbol)
{
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL:
        return 2;
    case STB_WEAK:
        return 1;
    default:
        return 0;
    }
}

/* Fills `ret` from a symbol; false when it is not a function with code here. AArch64's mapping
 * symbols ($x, $d) have no type, so they never are. */
static bool is_function(const struct br2_image *image, const GElf_Sym *symbol, const char *name,
                        struct candidate *ret)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    uint64_t start;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
        !br2_elf_symbol_address(&image->elf, symbol, &start)) {
        return false;
    }
    const struct br2_text_area *area = br2_image_area_at(image, start);
    if (area == NULL) {
        return false;
    }
    uint64_t room = area->end - start;
    *ret = (struct candidate){
        .start = start,
        .end = start + (symbol->st_size < room ? symbol->st_size : room),
        .name = name,
        .length = strlen(name),
        .rank = rank_of(symbol),
        .sized = symbol->st_size != 0,
    };
    return true;
}

static int collect(struct br2_image *image, uint32_t type, struct candidates *list,
                   struct br2pgo_error *err)
{
    struct br2_elf_symbols symbols;
    if (!br2_elf_symbols(&image->elf, type, &symbols)) {
        return 0;
    }
    for (size_t i = 1; i < symbols.count; i++) {
        GElf_Sym symbol;
        const char *name;
        struct candidate candidate;
        if (!br2_elf_symbol(&symbols, i, &symbol, &name) ||
            !is_function(image, &symbol, name, &candidate)) {
            continue;
        }
        if (!br2_grow(&list->items, &list->capacity, list->count, sizeof *list->items)) {
            return br2_fail_memory(err);
        }
        list->items[list->count++] = candidate;
    }
    return 0;
}

/* By address; of aliases the best name first. */
static int by_start_then_name(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    return x->name == y->name ? 0 : strcmp(x->name, y->name);
}

/* Makes one of all aliases: the first one's name, the largest size. Those without a size go to the
 * next symbol or the end of the section. */
static void join_aliases(const struct br2_image *image, struct candidates *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct candidate *c = &list->items[i];
        struct candidate *last = kept > 0 ? &list->items[kept - 1] : NULL;
        if (last != NULL && last->start == c->start) {
            last->end = c->end > last->end ? c->end : last->end;
            last->sized = last->sized || c->sized;
        } else {
            list->items[kept++] = *c;
        }
    }
    list->count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct candidate *c = &list->items[i];
        if (!c->sized) {
            uint64_t end = br2_image_area_at(image, c->start)->end;
            bool next_is_near = i + 1 < kept && list->items[i + 1].start < end;
            c->end = next_is_near ? list->items[i + 1].start : end;
        }
    }
}

static int keep_outer(const struct candidates *list, struct br2_range_list *ret,
                      struct br2pgo_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct candidate *c = &list->items[i];
        struct br2_code_range *last = ret->count > 0 ? &ret->items[ret->count - 1] : NULL;
        if (last != NULL && c->start < last->end) {
            if (!c->sized || c->end < last->end) {
                continue;
            }
            last->end = c->start;
        }
        struct br2_code_range range = {c->start, c->end, c->name, false, true};
        if (!br2_range_list_add(ret, &range)) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

int br2_image_read_symbols(struct br2_image *image, struct br2_range_list *ret,
                           struct br2pgo_error *err)
{
    struct candidates list = {0};
    int status = collect(image, SHT_SYMTAB, &list, err);
    if (status == 0 && list.count == 0) {
        status = collect(image, SHT_DYNSYM, &list, err);
    }
    if (status == 0 && list.count > 0) {
        qsort(list.items, list.count, sizeof *list.items, by_start_then_name);
        join_aliases(image, &list);
        status = keep_outer(&list, ret, err);
    }
    br2_free(list.items);
    return status;
}

static int append(struct br2_range_list *list, const struct br2_code_range *range,
                  struct br2pgo_error *err)
{
    return br2_range_list_add(list, range) ? 0 : br2_fail_memory(err);
}

/* `base` and, in the gaps between its ranges, those of `extra`; `base` is replaced. */
static int fill_gaps(struct br2_range_list *base, const struct br2_range_list *extra,
                     struct br2pgo_error *err)
{
    struct br2_range_list merged = {0};
    size_t b = 0;
    uint64_t covered = 0; /* end of the last range of `base` passed */
    int status = 0;
    for (size_t e = 0; e < extra->count && status == 0; e++) {
        struct br2_code_range range = extra->items[e];
        while (status == 0 && b < base->count && base->items[b].start <= range.start) {
            covered = base->items[b].end;
            status = append(&merged, &base->items[b++], err);
        }
        if (b < base->count && base->items[b].start < range.end) {
            range.end = base->items[b].start;
        }
        if (status == 0 && range.start >= covered && range.start < range.end) {
            status = append(&merged, &range, err);
        }
    }
    while (status == 0 && b < base->count) {
        status = append(&merged, &base->items[b++], err);
    }
    if (status != 0) {
        br2_free(merged.items);
        return status;
    }
    br2_free(base->items);
    *base = merged;
    return 0;
}

int br2_image_read_ranges(struct br2_image *image, struct br2pgo_error *err)
{
    struct br2_range_list all = {0};
    struct br2_range_list plt = {0};
    struct br2_range_list frames = {0};
    int status = br2_image_read_symbols(image, &all, err);
    if (status == 0) {
        status = br2_image_read_plt(image, &plt, err);
    }
    if (status == 0) {
        status = fill_gaps(&all, &plt, err);
    }
    if (status == 0) {
        status = br2_image_read_frames(image, &frames, err);
    }
    if (status == 0) {
        status = fill_gaps(&all, &frames, err);
    }
    br2_free(plt.items);
    br2_free(frames.items);
    if (status != 0) {
        br2_free(all.items);
        return status;
    }
    image->ranges = all.items;
    image->range_count = all.count;
    return 0;
}

size_t br2_image_ranges(const struct br2_image *image, const struct br2_code_range **ret)
{
    *ret = image->ranges;
    return image->range_count;
}

const struct br2_code_range *br2_image_range_at(const struct br2_image *image, uint64_t address)
{
    size_t low = 0;
    size_t high = image->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->ranges[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool inside = low < image->range_count && image->ranges[low].start <= address;
    return inside ? &image->ranges[low] : NULL;
}
