/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Landing pads from .gcc_except_table. The tables have no standard of their own; GCC's unwinder
 * (libgcc/unwind-pe.h, libstdc++ eh_personality.cc) and the Itanium ABI's "Exception Handling
 * Tables" say what is in them: the base of landing pads, where type tables are, and call sites,
 * each with start, length, landing pad and action.
 */
#include "image/landing_pads.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "image/eh_encoding.h"
#include "image/image_private.h"

struct table {
    const uint8_t *bytes; /* of the section */
    size_t size;
    uint64_t address;
};

/* Puts `c` before the call sites and reads what is ahead of them. */
static bool enter(struct br2_cursor *c, const struct table *table, uint64_t *base,
                  uint8_t *ret_encoding)
{
    uint8_t encoding = br2_cursor_u8(c);
    uint64_t place = table->address + br2_cursor_offset(c);
    if (encoding != BR2_EH_OMIT && !br2_eh_address(c, encoding, place, base)) {
        return false;
    }
    if (br2_cursor_u8(c) != BR2_EH_OMIT) {
        br2_eh_uleb(c); /* where types are */
    }
    *ret_encoding = br2_cursor_u8(c);
    uint64_t length = br2_eh_uleb(c);
    if (c->failed || (*ret_encoding & ~BR2_EH_FORMAT) != 0 || length > br2_cursor_left(c)) {
        return false;
    }
    c->end = c->at + length;
    return true;
}

static int read_call_sites(const struct br2_image *image, struct br2_cursor *c,
                           const struct table *table, const struct br2_frame *frame,
                           struct br2_addresses *ret)
{
    uint64_t base = frame->start;
    uint8_t encoding;
    if (!enter(c, table, &base, &encoding)) {
        return 0;
    }
    while (br2_cursor_left(c) != 0) {
        br2_eh_value(c, encoding);
        br2_eh_value(c, encoding);
        uint64_t pad = br2_eh_value(c, encoding);
        br2_eh_uleb(c); /* action */
        if (c->failed) {
            return 0;
        }
        if (pad != 0 && br2_image_area_at(image, base + pad) != NULL &&
            !br2_addresses_add(ret, base + pad)) {
            return BR2PGO_NO_MEMORY;
        }
    }
    return 0;
}

static int by_lsda(const void *left, const void *right)
{
    const struct br2_frame *a = left;
    const struct br2_frame *b = right;
    if (a->lsda != b->lsda) {
        return a->lsda < b->lsda ? -1 : 1;
    }
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Tables follow each other: each is read up to the next, so that what overlaps is read once. */
static int read_tables(const struct br2_image *image, const struct table *table,
                       struct br2_frames *frames, struct br2_addresses *ret)
{
    if (frames->count != 0) {
        qsort(frames->items, frames->count, sizeof *frames->items, by_lsda);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < frames->count; i++) {
        const struct br2_frame *frame = &frames->items[i];
        bool known = i != 0 && frames->items[i - 1].lsda == frame->lsda;
        if (known || frame->lsda < table->address || frame->lsda - table->address >= table->size) {
            continue;
        }
        size_t next = i + 1;
        while (next < frames->count && frames->items[next].lsda == frame->lsda) {
            next++;
        }
        size_t end = table->size;
        if (next < frames->count && frames->items[next].lsda - table->address < end) {
            end = (size_t)(frames->items[next].lsda - table->address);
        }
        struct br2_cursor c = br2_cursor_make(table->bytes, end, false);
        br2_cursor_skip(&c, (size_t)(frame->lsda - table->address));
        rc = read_call_sites(image, &c, table, frame, ret);
    }
    return rc;
}

int br2_landing_pads_read(const struct br2_image *image, struct br2_addresses *ret,
                          struct br2pgo_error *err)
{
    const struct br2_elf_section *section = br2_elf_section(&image->elf, ".gcc_except_table");
    struct table table = {0};
    table.bytes = br2_elf_section_bytes(section, &table.size);
    if (table.bytes == NULL) {
        return 0;
    }
    table.address = section->address;
    struct br2_frames frames = {0};
    int rc = br2_image_frames(image, &frames, err);
    if (rc == 0 && read_tables(image, &table, &frames, ret) != 0) {
        rc = br2_fail_memory(err);
    }
    br2_free(frames.items);
    br2_addresses_sort(ret);
    return rc;
}
