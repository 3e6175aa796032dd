/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One function: its inlined scopes, and which scope and line each stretch of its code belongs to.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "image/cold_parts.h"
#include "image/debug_private.h"

/* An address interval of a scope. */
struct stretch {
    uint64_t start, end;
    uint32_t scope;
    uint32_t depth;
};

struct builder {
    struct br2_debug *debug;
    const struct br2_line_table *lines;
    struct br2_debug_function *function;
    size_t scope_capacity;
    size_t location_capacity;
    struct stretch *stretches; /* owned; of inlined scopes and the function */
    size_t stretch_count;
    size_t stretch_capacity;
    struct br2_interval_list scratch;
};

enum {
    BUILD_BROKEN = 1
};

/* Adds the ranges of `die` as stretches of `scope`. False when memory runs out. */
static bool add_stretches(struct builder *b, Dwarf_Die *die, uint32_t scope, uint32_t depth,
                          uint64_t *ret_first)
{
    b->scratch.count = 0;
    if (!br2_debug_ranges(b->debug, die, &b->scratch, scope, ret_first)) {
        return false;
    }
    for (size_t i = 0; i < b->scratch.count; i++) {
        if (!br2_grow(&b->stretches, &b->stretch_capacity, b->stretch_count,
                      sizeof *b->stretches)) {
            return false;
        }
        b->stretches[b->stretch_count++] =
            (struct stretch){b->scratch.items[i].start, b->scratch.items[i].end, scope, depth};
    }
    return true;
}

static bool add_scope(struct builder *b, Dwarf_Die *die, uint32_t parent, uint32_t *ret)
{
    struct br2_debug_function *function = b->function;
    if (function->scope_count >= BR2_NO_SCOPE ||
        !br2_grow(&function->scopes, &b->scope_capacity, function->scope_count,
                  sizeof *function->scopes)) {
        return false;
    }
    *ret = (uint32_t)function->scope_count;
    struct br2_scope *scope = &function->scopes[function->scope_count++];
    *scope = (struct br2_scope){.parent = parent};
    br2_debug_describe(b->debug, die, scope);
    if (parent == BR2_NO_SCOPE) {
        return true;
    }
    uint64_t value;
    if (br2_debug_number(die, DW_AT_call_line, &value) && value <= UINT32_MAX) {
        scope->call_line = (uint32_t)value;
    }
    if (br2_debug_number(die, DW_AT_call_column, &value) && value <= UINT32_MAX) {
        scope->call_column = (uint32_t)value;
    }
    if (br2_debug_number(die, BR2_AT_GNU_DISCRIMINATOR, &value) && value <= UINT32_MAX) {
        scope->call_discriminator = (uint32_t)value;
        scope->call_has_discriminator = true;
    }
    return true;
}

/* A DIE on the way down, and the scope that its children are in. */
struct level {
    Dwarf_Die die;
    uint32_t scope;
    uint32_t depth; /* of that scope */
};

/* Whether there can be inlined calls in a child with this tag. */
static bool is_transparent(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
           tag == DW_TAG_with_stmt;
}

/* Looks at one DIE: `inner` becomes what its children are in. Says whether to look at them; a
 * negative value when memory runs out. */
static int visit(struct builder *b, Dwarf_Die *die, const struct level *outer, struct level *inner)
{
    int tag = dwarf_tag(die);
    inner->scope = outer->scope;
    inner->depth = outer->depth;
    if (tag == DW_TAG_inlined_subroutine) {
        inner->depth = outer->depth + 1;
        if (!add_scope(b, die, outer->scope, &inner->scope) ||
            !add_stretches(b, die, inner->scope, inner->depth, NULL)) {
            return BR2PGO_NO_MEMORY;
        }
        return 1;
    }
    return is_transparent(tag);
}

/* Finds all inlined scopes below the function's DIE. */
static int walk_scopes(struct builder *b, Dwarf_Die *function)
{
    struct level stack[BR2_DIE_DEPTH_MAX];
    size_t depth = 1;
    stack[0] = (struct level){*function, 0, 0};
    int more = dwarf_child(function, &stack[1].die);
    if (more != 0) {
        return more < 0 ? BUILD_BROKEN : 0;
    }
    for (;;) {
        if (!br2_debug_spend(b->debug)) {
            return BUILD_BROKEN;
        }
        struct level inner;
        int down = visit(b, &stack[depth].die, &stack[depth - 1], &inner);
        if (down < 0) {
            return down;
        }
        if (down > 0 && depth + 1 < BR2_DIE_DEPTH_MAX &&
            dwarf_child(&stack[depth].die, &stack[depth + 1].die) == 0) {
            stack[depth].scope = inner.scope;
            stack[depth].depth = inner.depth;
            depth++;
            continue;
        }
        while ((more = dwarf_siblingof(&stack[depth].die, &stack[depth].die)) == 1 && depth > 1) {
            depth--;
        }
        if (more != 0) {
            return more < 0 ? BUILD_BROKEN : 0;
        }
    }
}

static bool add_location(struct builder *b, uint64_t start, uint64_t end, uint32_t scope,
                         const struct br2_line_row *row)
{
    struct br2_debug_function *f = b->function;
    if (!br2_grow(&f->locations, &b->location_capacity, f->location_count, sizeof *f->locations)) {
        return false;
    }
    f->locations[f->location_count++] =
        (struct br2_location){.start = start, .end = end, .scope = scope};
    if (row != NULL) {
        struct br2_location *location = &f->locations[f->location_count - 1];
        location->file = row->file;
        location->line = row->line;
        location->discriminator = row->discriminator;
    }
    return true;
}

/* Index of the last row of the sequence at or before `address`. */
static size_t row_at(const struct br2_line_table *lines, const struct br2_line_sequence *sequence,
                     uint64_t address)
{
    size_t low = sequence->first;
    size_t high = sequence->first + sequence->count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->rows[middle].address <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* [at, end) of one scope, cut at the rows of `sequence`. */
static bool add_rows(struct builder *b, const struct br2_line_sequence *sequence, uint64_t at,
                     uint64_t end, uint32_t scope)
{
    size_t last = sequence->first + sequence->count - 1;
    for (size_t row = row_at(b->lines, sequence, at); at < end; row++) {
        uint64_t next = row < last ? b->lines->rows[row + 1].address : end;
        next = next < end ? next : end;
        if (!add_location(b, at, next, scope, &b->lines->rows[row])) {
            return false;
        }
        at = next;
    }
    return true;
}

/* [start, end) of one scope, cut at the rows of all sequences; what has no row gets line 0. */
static bool add_stretch(struct builder *b, uint64_t start, uint64_t end, uint32_t scope)
{
    uint64_t at = start;
    for (size_t i = br2_line_table_sequence(b->lines, at); at < end; i++) {
        const struct br2_line_sequence *sequence =
            i < b->lines->sequence_count ? &b->lines->sequences[i] : NULL;
        uint64_t gap_end = sequence != NULL && sequence->start < end ? sequence->start : end;
        if (gap_end > at) {
            if (!add_location(b, at, gap_end, scope, NULL)) {
                return false;
            }
            at = gap_end;
        }
        if (at < end) {
            uint64_t stop = sequence->end < end ? sequence->end : end;
            if (!add_rows(b, sequence, at, stop, scope)) {
                return false;
            }
            at = stop;
        }
    }
    return true;
}

/* The deepest first; of equals the one that comes last in the tree, as in LLVM's symbolizer. */
static bool is_deeper(const struct stretch *a, const struct stretch *b)
{
    if (a->depth != b->depth) {
        return a->depth > b->depth;
    }
    return a->scope > b->scope;
}

/* A binary heap of the stretches open at one address, the deepest on top. */
struct heap {
    const struct stretch **items; /* owned */
    size_t count;
};

static void heap_push(struct heap *heap, const struct stretch *item)
{
    size_t at = heap->count++;
    while (at > 0 && is_deeper(item, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

static void heap_pop(struct heap *heap)
{
    const struct stretch *item = heap->items[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && is_deeper(heap->items[child + 1], heap->items[child])) {
            child++;
        }
        if (!is_deeper(heap->items[child], item)) {
            break;
        }
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = item;
}

static int by_start(const void *a, const void *b)
{
    const struct stretch *x = a;
    const struct stretch *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return (x->scope > y->scope) - (x->scope < y->scope);
}

/* Index of the function's first range that ends behind `address`. */
static size_t range_behind(const struct br2_debug_function *f, uint64_t address)
{
    size_t low = 0;
    size_t high = f->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->ranges[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Drops what inlined scopes claim outside the function. */
static void clip_to_function(struct builder *b)
{
    const struct br2_debug_function *f = b->function;
    size_t kept = 0;
    for (size_t i = 0; i < b->stretch_count; i++) {
        struct stretch s = b->stretches[i];
        size_t r = range_behind(f, s.start);
        if (r == f->range_count || f->ranges[r].start >= s.end) {
            continue;
        }
        s.start = s.start > f->ranges[r].start ? s.start : f->ranges[r].start;
        s.end = s.end < f->ranges[r].end ? s.end : f->ranges[r].end;
        b->stretches[kept++] = s;
    }
    b->stretch_count = kept;
}

/* Cuts the function's code where the innermost scope changes. */
static bool sweep(struct builder *b, struct heap *open)
{
    uint64_t at = 0;
    for (size_t next = 0; next < b->stretch_count || open->count > 0;) {
        const struct stretch *top = open->count > 0 ? open->items[0] : NULL;
        if (top == NULL) {
            at = b->stretches[next].start;
        } else if (top->end <= at) {
            heap_pop(open);
            continue;
        } else {
            bool cut = next < b->stretch_count && b->stretches[next].start < top->end;
            uint64_t end = cut ? b->stretches[next].start : top->end;
            if (end > at && !add_stretch(b, at, end, top->scope)) {
                return false;
            }
            at = end;
        }
        while (next < b->stretch_count && b->stretches[next].start == at) {
            heap_push(open, &b->stretches[next++]);
        }
    }
    return true;
}

static bool make_locations(struct builder *b)
{
    clip_to_function(b);
    if (b->stretch_count == 0) {
        return true;
    }
    qsort(b->stretches, b->stretch_count, sizeof *b->stretches, by_start);
    struct heap open = {.items = br2_calloc(b->stretch_count, sizeof(const struct stretch *))};
    bool good = open.items != NULL && sweep(b, &open);
    br2_free(open.items);
    return good;
}

static bool has_function(const struct builder *b, uint64_t address)
{
    const struct br2_code_range *range = br2_image_range_at(b->debug->image, address);
    return range != NULL && range->start == address && range->name[0] != '\0' &&
           br2_cold_part_owner(range) == 0;
}

/* Where the listed ranges begin: compilers that split a function may list its cold part first,
 * which has a symbol of no type (clang) or of a cold part. */
static uint64_t start_of(const struct builder *b, uint64_t first)
{
    size_t i = 0;
    while (i < b->stretch_count && !has_function(b, b->stretches[i].start)) {
        i++;
    }
    return i < b->stretch_count ? b->stretches[i].start : first;
}

static uint64_t entry_of(Dwarf_Die *die, uint64_t first)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr low;
    Dwarf_Addr entry;
    uint64_t offset;
    bool has_low = dwarf_lowpc(die, &low) == 0;
    if (dwarf_attr(die, DW_AT_entry_pc, &attribute) != NULL) {
        if (dwarf_formaddr(&attribute, &entry) == 0) {
            return entry;
        }
        if (br2_debug_number(die, DW_AT_entry_pc, &offset)) {
            return (has_low ? low : first) + offset;
        }
    }
    Dwarf_Attribute low_attribute;
    bool own_low = has_low && dwarf_attr(die, DW_AT_low_pc, &low_attribute) != NULL;
    return own_low ? low : first;
}

/* The function's own ranges, joined where they overlap. */
static bool set_ranges(struct builder *b, Dwarf_Die *die)
{
    uint64_t first = 0;
    if (!add_stretches(b, die, 0, 0, &first)) {
        return false;
    }
    b->function->entry = entry_of(die, start_of(b, first));
    b->function->ranges = br2_calloc(b->stretch_count + 1, sizeof *b->function->ranges);
    if (b->function->ranges == NULL) {
        return false;
    }
    if (b->stretch_count > 1) {
        qsort(b->stretches, b->stretch_count, sizeof *b->stretches, by_start);
    }
    size_t count = 0;
    for (size_t i = 0; i < b->stretch_count; i++) {
        struct br2_address_range range = {b->stretches[i].start, b->stretches[i].end};
        struct br2_address_range *last = count > 0 ? &b->function->ranges[count - 1] : NULL;
        if (last != NULL && range.start < last->end) {
            last->end = range.end > last->end ? range.end : last->end;
        } else {
            b->function->ranges[count++] = range;
        }
    }
    b->function->range_count = count;
    return true;
}

static int build(struct builder *b, Dwarf_Die *die)
{
    uint32_t root;
    if (!add_scope(b, die, BR2_NO_SCOPE, &root) || !set_ranges(b, die)) {
        return BR2PGO_NO_MEMORY;
    }
    int status = walk_scopes(b, die);
    if (status == 0 && !make_locations(b)) {
        status = BR2PGO_NO_MEMORY;
    }
    return status;
}

int br2_debug_build(struct br2_debug *debug, struct br2_unit *unit, Dwarf_Die *die,
                    struct br2_debug_function **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    struct builder b = {.debug = debug};
    int status = br2_debug_load_lines(debug, unit, &b.lines, err);
    if (status != 0) {
        return status;
    }
    b.function = br2_calloc(1, sizeof *b.function);
    if (b.function == NULL) {
        return br2_fail_memory(err);
    }
    b.function->producer = unit->producer;
    b.function->assembly = unit->assembly;
    b.function->lines_unit = unit->die.cu;
    status = build(&b, die);
    br2_free(b.stretches);
    br2_free(b.scratch.items);
    if (status != 0) {
        br2_debug_function_free(b.function);
        return status == BUILD_BROKEN ? status : br2_fail_memory(err);
    }
    *ret = b.function;
    return 0;
}

void br2_debug_function_free(struct br2_debug_function *function)
{
    if (function != NULL) {
        br2_free(function->scopes);
        br2_free(function->locations);
        br2_free(function->ranges);
        br2_free(function);
    }
}
