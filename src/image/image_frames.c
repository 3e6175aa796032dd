/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code ranges from .eh_frame (Linux Standard Base, "Exception Frames"), for code without symbols.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/eh_encoding.h"
#include "image/image_private.h"

#define AUGMENTATION_MAX 16 /* letters; there are seven */
#define LEB_MAX          10 /* bytes of 64 bits */

struct frames {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    size_t cie; /* offset of the last CIE read, SIZE_MAX: none */
    uint8_t encoding;
    uint8_t lsda_encoding; /* OMIT: there is none */
    bool augmented;        /* FDEs have augmentation data */
};

/* One entry's extent: `c` is put behind the length. False at the end or when broken. */
static bool enter(const struct frames *f, struct br2_cursor *c, size_t *ret_end)
{
    uint64_t length = br2_cursor_u32(c);
    if (length == UINT32_MAX) {
        length = br2_cursor_u64(c);
    }
    if (c->failed || length == 0 || length > br2_cursor_left(c)) {
        return false;
    }
    *ret_end = br2_cursor_offset(c) + (size_t)length;
    return *ret_end <= f->size;
}

static void skip_leb(struct br2_cursor *c)
{
    for (int i = 0; (br2_cursor_u8(c) & 0x80) != 0; i++) {
        c->failed = c->failed || i == LEB_MAX;
        if (c->failed) {
            return;
        }
    }
}

/* The encodings that the augmentation string and data of a CIE give. */
static bool read_augmentation(struct br2_cursor *c, const char *augmentation, struct frames *f)
{
    f->encoding = 0; /* absptr */
    f->lsda_encoding = BR2_EH_OMIT;
    f->augmented = augmentation[0] == 'z';
    if (!f->augmented) {
        return augmentation[0] == '\0';
    }
    skip_leb(c);
    for (const char *p = augmentation + 1; *p != '\0' && !c->failed; p++) {
        if (*p == 'R') {
            f->encoding = br2_cursor_u8(c);
        } else if (*p == 'L') {
            f->lsda_encoding = br2_cursor_u8(c);
        } else if (*p == 'P') {
            uint8_t encoding = br2_cursor_u8(c);
            br2_eh_value(c, encoding & BR2_EH_FORMAT);
        } else if (*p != 'S' && *p != 'B' && *p != 'G') {
            return false;
        }
    }
    return !c->failed && f->encoding != BR2_EH_OMIT;
}

/* Many FDEs may refer to two CIEs in turn, so what is read of one has a limit. */
static const char *augmentation_of(struct br2_cursor *c)
{
    size_t left = br2_cursor_left(c);
    const uint8_t *text = c->at;
    const uint8_t *end = memchr(text, '\0', left < AUGMENTATION_MAX ? left : AUGMENTATION_MAX);
    if (end == NULL) {
        c->failed = true;
        return "";
    }
    c->at = end + 1;
    return (const char *)text;
}

static bool read_cie(struct frames *f, size_t offset)
{
    if (f->cie == offset) {
        return true;
    }
    if (offset >= f->size) {
        return false;
    }
    struct br2_cursor c = br2_cursor_make(f->bytes, f->size, false);
    size_t end;
    br2_cursor_skip(&c, offset);
    if (!enter(f, &c, &end) || br2_cursor_u32(&c) != 0) {
        return false;
    }
    uint8_t version = br2_cursor_u8(&c);
    const char *augmentation = augmentation_of(&c);
    skip_leb(&c); /* code alignment */
    skip_leb(&c); /* data alignment */
    if (version == 1) {
        br2_cursor_u8(&c);
    } else {
        skip_leb(&c);
    }
    if (c.failed || !read_augmentation(&c, augmentation, f)) {
        return false;
    }
    f->cie = offset;
    return true;
}

/* The address of what the unwinder is to know of the function, behind its range; 0: nothing. */
static uint64_t read_lsda(const struct frames *f, struct br2_cursor *c)
{
    uint64_t lsda = 0;
    if (f->augmented && f->lsda_encoding != BR2_EH_OMIT) {
        skip_leb(c); /* how much augmentation data there is */
        uint64_t place = f->address + br2_cursor_offset(c);
        if (!br2_eh_address(c, f->lsda_encoding, place, &lsda)) {
            return 0;
        }
        lsda = lsda != place ? lsda : 0; /* a distance of 0 */
    }
    return lsda;
}

static bool read_fde(const struct br2_image *image, const struct frames *f, struct br2_cursor *c,
                     struct br2_frame *ret)
{
    uint64_t start;
    uint8_t format = f->encoding & BR2_EH_FORMAT;
    if (!br2_eh_address(c, f->encoding, f->address + br2_cursor_offset(c), &start)) {
        return false;
    }
    /* A size has no sign, whatever the address's format. */
    static const uint8_t unsigned_format[16] = {[0x9] = 0x1, [0xa] = 0x2, [0xb] = 0x3, [0xc] = 0x4};
    uint8_t size_format = format >= 0x9 ? unsigned_format[format] : format;
    uint64_t size = br2_eh_value(c, size_format);
    const struct br2_text_area *area = br2_image_area_at(image, start);
    if (c->failed || area == NULL || size == 0) {
        return false;
    }
    uint64_t room = area->end - start;
    *ret = (struct br2_frame){start, start + (size < room ? size : room), read_lsda(f, c)};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct br2_code_range *x = a;
    const struct br2_code_range *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->end < y->end) - (x->end > y->end);
}

static void sort_ranges(struct br2_range_list *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || list->items[i].start >= list->items[kept - 1].end) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

static int read_entries(const struct br2_image *image, struct frames *f, struct br2_frames *ret,
                        struct br2pgo_error *err)
{
    struct br2_cursor c = br2_cursor_make(f->bytes, f->size, false);
    size_t end;
    while (enter(f, &c, &end)) {
        size_t id_offset = br2_cursor_offset(&c);
        uint32_t id = br2_cursor_u32(&c);
        struct br2_frame frame;
        if (!c.failed && id != 0 && id <= id_offset && read_cie(f, id_offset - id) &&
            read_fde(image, f, &c, &frame)) {
            if (!br2_grow(&ret->items, &ret->capacity, ret->count, sizeof *ret->items)) {
                return br2_fail_memory(err);
            }
            ret->items[ret->count++] = frame;
        }
        c = br2_cursor_make(f->bytes, f->size, false);
        br2_cursor_skip(&c, end);
    }
    return 0;
}

int br2_image_frames(const struct br2_image *image, struct br2_frames *ret,
                     struct br2pgo_error *err)
{
    const struct br2_elf_section *section = br2_elf_section(&image->elf, ".eh_frame");
    struct frames f = {.cie = SIZE_MAX};
    f.bytes = br2_elf_section_bytes(section, &f.size);
    if (f.bytes == NULL) {
        return 0;
    }
    f.address = section->address;
    return read_entries(image, &f, ret, err);
}

int br2_image_read_frames(struct br2_image *image, struct br2_range_list *ret,
                          struct br2pgo_error *err)
{
    struct br2_frames frames = {0};
    int status = br2_image_frames(image, &frames, err);
    for (size_t i = 0; status == 0 && i < frames.count; i++) {
        struct br2_code_range range = {frames.items[i].start, frames.items[i].end, "", false,
                                       false};
        status = br2_range_list_add(ret, &range) ? 0 : br2_fail_memory(err);
    }
    br2_free(frames.items);
    sort_ranges(ret);
    return status;
}
