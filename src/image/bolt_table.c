/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/bolt_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/limits.h"
#include "image/image_private.h"

#define TABLE_SECTION ".note.bolt_bat"
#define INFO_SECTION  ".note.bolt_info"
#define NOTE_TYPE     1 /* NT_BOLT_BAT */
#define HASH_SIZE     8

struct reader {
    const struct br2_image *image;
    struct br2_cursor c;
    struct br2_bolt_table *table;
    uint64_t address; /* of the last place: differences go on through all fragments, and wrap where
                         removed blocks are behind the next fragment's start */
    size_t hot_count; /* fragments of the first list */
    size_t hot;       /* of the second list: number of the last parent */
    bool no_memory;
};

/* What precedes the places of a fragment. */
struct head {
    uint64_t places;
    uint64_t equal; /* the first so many keep their distance from the first one */
    uint64_t skew;  /* this distance */
    uint64_t entries;
    const uint8_t *is_branch; /* a bit for each of `equal` */
};

bool br2_bolt_rewrote(const struct br2_image *image)
{
    return br2_bolt_table_exists(image) || br2_image_has_section(image, INFO_SECTION);
}

bool br2_bolt_table_exists(const struct br2_image *image)
{
    return br2_image_has_section(image, TABLE_SECTION);
}

/* The signed LEB128 number as two's complement; padding beyond 64 bits is a failure. */
static uint64_t read_sleb(struct br2_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = br2_cursor_u8(c);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            bool negative = (byte & 0x40) != 0 && shift + 7 < 64;
            return value | (negative ? ~UINT64_C(0) << (shift + 7) : 0);
        }
    }
    c->failed = true;
    return 0;
}

static bool add_fragment(struct reader *r, uint64_t start, size_t parent)
{
    struct br2_bolt_table *table = r->table;
    if (!br2_grow(&table->fragments, &table->fragment_capacity, table->fragment_count,
                  sizeof *table->fragments)) {
        r->no_memory = true;
        return false;
    }
    table->fragments[table->fragment_count++] = (struct br2_bolt_fragment){
        .start = start, .first = table->place_count, .parent = parent, .next = SIZE_MAX};
    return true;
}

static bool add_place(struct reader *r, uint64_t output, uint64_t input)
{
    struct br2_bolt_table *table = r->table;
    bool inside = output <= UINT32_MAX && input >> 1 <= UINT32_MAX;
    if (!inside || table->place_count == BR2_BOLT_PLACES_MAX) {
        return false;
    }
    if (!br2_grow(&table->places, &table->place_capacity, table->place_count,
                  sizeof *table->places)) {
        r->no_memory = true;
        return false;
    }
    table->places[table->place_count++] = (struct br2_bolt_place){
        .output = (uint32_t)output, .input = (uint32_t)(input >> 1), .branch = (input & 1) != 0};
    return true;
}

static bool read_places(struct reader *r, uint64_t start, const struct head *head)
{
    uint64_t input = 0;
    for (uint64_t i = 0; i < head->places; i++) {
        uint64_t step = br2_cursor_uleb(&r->c);
        if (step > UINT64_MAX - r->address) {
            return false;
        }
        r->address += step;
        uint64_t output = r->address - start;
        if (i < head->equal) {
            bool branch = (head->is_branch[i / 8] >> (i % 8) & 1) != 0;
            input = (output + head->skew) << 1 | (branch ? 1 : 0);
        } else {
            input += read_sleb(&r->c);
        }
        if ((input & 1) == 0) {
            br2_cursor_skip(&r->c, HASH_SIZE);
            br2_cursor_uleb(&r->c); /* number of the block */
        }
        if (r->c.failed || !add_place(r, output, input)) {
            return false;
        }
    }
    for (uint64_t i = 0; i < head->entries && !r->c.failed; i++) {
        br2_cursor_uleb(&r->c); /* where the function may be entered, too */
    }
    return !r->c.failed;
}

/* `parent`: number of the fragment itself, changed for one of the second list. */
static bool read_head(struct reader *r, bool cold, struct head *ret, size_t *parent)
{
    *ret = (struct head){0};
    if (cold) {
        uint64_t step = br2_cursor_uleb(&r->c);
        if (r->c.failed || r->hot >= r->hot_count || step >= r->hot_count - r->hot) {
            return false;
        }
        r->hot += (size_t)step;
        *parent = r->hot;
        ret->skew = br2_cursor_uleb(&r->c);
    } else {
        br2_cursor_skip(&r->c, HASH_SIZE);
        br2_cursor_uleb(&r->c); /* blocks of the input's function */
        ret->entries = br2_cursor_uleb(&r->c);
    }
    ret->places = br2_cursor_uleb(&r->c);
    ret->equal = br2_cursor_uleb(&r->c);
    size_t left = br2_cursor_left(&r->c);
    /* Each is at least a byte. */
    if (r->c.failed || ret->places > left || ret->entries > left || ret->equal > ret->places ||
        ret->skew > UINT32_MAX) {
        return false;
    }
    ret->is_branch = br2_cursor_bytes(&r->c, (size_t)(ret->equal / 8 + (ret->equal % 8 != 0)));
    return !r->c.failed;
}

static bool read_fragment(struct reader *r, bool cold)
{
    struct br2_bolt_table *table = r->table;
    size_t number = table->fragment_count;
    size_t parent = number;
    uint64_t start = r->address + br2_cursor_uleb(&r->c);
    bool forward = number == 0 || (cold && number == r->hot_count) ||
                   start > table->fragments[number - 1].start;
    struct head head;
    if (!forward || br2_image_area_at(r->image, start) == NULL ||
        !read_head(r, cold, &head, &parent) || !add_fragment(r, start, parent)) {
        return false;
    }
    r->address = start;
    bool ok = read_places(r, start, &head);
    table->fragments[number].count = table->place_count - table->fragments[number].first;
    return ok;
}

static bool read_list(struct reader *r, bool cold)
{
    uint64_t count = br2_cursor_uleb(&r->c);
    bool ok = !r->c.failed && count <= br2_cursor_left(&r->c);
    for (uint64_t i = 0; ok && i < count; i++) {
        ok = read_fragment(r, cold);
    }
    return ok;
}

static bool read_note(struct br2_cursor *c, struct br2_cursor *ret)
{
    uint32_t name_size = br2_cursor_u32(c);
    uint32_t size = br2_cursor_u32(c);
    uint32_t type = br2_cursor_u32(c);
    const uint8_t *name = br2_cursor_bytes(c, name_size);
    br2_cursor_skip(c, (4 - name_size % 4) % 4);
    const uint8_t *bytes = br2_cursor_bytes(c, size);
    if (c->failed || type != NOTE_TYPE || name_size != 5 || memcmp(name, "BOLT", 5) != 0) {
        return false;
    }
    *ret = br2_cursor_make(bytes, size, false);
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct br2_bolt_fragment *a = left;
    const struct br2_bolt_fragment *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Each function's fragments, its parent first. */
static void link_fragments(struct br2_bolt_table *table)
{
    for (size_t i = 0; i < table->fragment_count; i++) {
        struct br2_bolt_fragment *fragment = &table->fragments[i];
        if (fragment->parent != i) {
            struct br2_bolt_fragment *parent = &table->fragments[fragment->parent];
            fragment->next = parent->next;
            parent->next = i;
        }
    }
}

/* Sorts fragments of both lists into one; a parent is then found by its start. */
static bool sort_fragments(struct br2_bolt_table *table)
{
    size_t count = table->fragment_count;
    uint64_t *parents = br2_calloc(count, sizeof *parents);
    if (parents == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct br2_bolt_fragment *fragment = &table->fragments[i];
        parents[i] = table->fragments[fragment->parent].start;
        fragment->parent = i;
    }
    if (count != 0) {
        qsort(table->fragments, count, sizeof *table->fragments, by_start);
    }
    for (size_t i = 0; i < count; i++) {
        struct br2_bolt_fragment *fragment = &table->fragments[i];
        fragment->parent =
            (size_t)(br2_bolt_fragment_at(table, parents[fragment->parent]) - table->fragments);
    }
    br2_free(parents);
    return true;
}

static bool are_distinct(const struct br2_bolt_table *table)
{
    for (size_t i = 1; i < table->fragment_count; i++) {
        if (table->fragments[i - 1].start == table->fragments[i].start) {
            return false;
        }
    }
    return true;
}

int br2_bolt_table_read(const struct br2_image *image, struct br2_bolt_table *ret,
                        struct br2pgo_error *err)
{
    *ret = (struct br2_bolt_table){0};
    size_t size = 0;
    const struct br2_elf_section *section = br2_elf_section(&image->elf, TABLE_SECTION);
    const uint8_t *bytes = br2_elf_section_bytes(section, &size);
    struct br2_cursor c = br2_cursor_make(bytes, bytes != NULL ? size : 0, false);
    struct reader r = {.image = image, .table = ret};
    bool ok = read_note(&c, &r.c) && read_list(&r, false);
    r.hot_count = ret->fragment_count;
    ok = ok && read_list(&r, true) && br2_cursor_left(&r.c) == 0;
    if (ok && !sort_fragments(ret)) {
        r.no_memory = true;
    }
    if (ok && !r.no_memory && are_distinct(ret)) {
        link_fragments(ret);
        return 0;
    }
    br2_bolt_table_done(ret);
    if (r.no_memory) {
        return br2_fail_memory(err);
    }
    br2_fail(err, BR2PGO_UNSUPPORTED,
             "'%s': the address translation table in " TABLE_SECTION
             " is not of llvm-bolt 19 or later, or it is broken",
             br2_image_path(image));
    br2_hint(err, "rewrite the program with llvm-bolt 19 or later and record it again");
    return BR2PGO_UNSUPPORTED;
}

void br2_bolt_table_done(struct br2_bolt_table *table)
{
    br2_free(table->fragments);
    br2_free(table->places);
    *table = (struct br2_bolt_table){0};
}

const struct br2_bolt_fragment *br2_bolt_fragment_at(const struct br2_bolt_table *table,
                                                     uint64_t address)
{
    struct br2_bolt_fragment key = {.start = address};
    return table->fragment_count != 0
               ? bsearch(&key, table->fragments, table->fragment_count, sizeof key, by_start)
               : NULL;
}

/* How many of the fragment's places are at or before `output`. */
static size_t places_to(const struct br2_bolt_place *places, size_t count, uint64_t output)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].output <= output) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct br2_bolt_place *br2_bolt_block(const struct br2_bolt_table *table,
                                            const struct br2_bolt_fragment *fragment,
                                            uint64_t output)
{
    const struct br2_bolt_place *places = &table->places[fragment->first];
    size_t at = places_to(places, fragment->count, output);
    while (at != 0 && places[at - 1].branch) {
        at--;
    }
    return at != 0 ? &places[at - 1] : NULL;
}

const struct br2_bolt_place *br2_bolt_branch(const struct br2_bolt_table *table,
                                             const struct br2_bolt_fragment *fragment,
                                             uint64_t output)
{
    const struct br2_bolt_place *places = &table->places[fragment->first];
    size_t at = places_to(places, fragment->count, output);
    while (at != 0 && places[at - 1].output == output) {
        if (places[--at].branch) {
            return &places[at];
        }
    }
    return NULL;
}
