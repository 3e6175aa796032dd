/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening a .dwp or .dwo file, and finding a unit in the index. */
#include "image/split_package.h"

#include <string.h>

#include "base/cursor.h"

#define STRING_MEAN 1024

static const char *const section_names[BR2_SPLIT_PARTS] = {
    ".debug_info.dwo",        ".debug_abbrev.dwo",   ".debug_line.dwo",
    ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_str.dwo",
};

static uint32_t load(const uint8_t *table, size_t index)
{
    const uint8_t *p = table + 4 * index;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static struct br2_split_piece section_bytes(struct br2_split_package *package, const char *name)
{
    const struct br2_elf_section *section = br2_elf_section(&package->elf, name);
    struct br2_split_piece piece = {0};
    if (section == NULL) {
        return piece;
    }
    if ((section->flags & SHF_COMPRESSED) != 0 && elf_compress(section->scn, 0, 0) < 0) {
        return piece;
    }
    piece.bytes = br2_elf_section_bytes(section, &piece.size);
    return piece;
}

/* Sections that br2_elf_open has decompressed count too. */
static bool has_compressed_section(const struct br2_elf *elf)
{
    bool found = elf->buffer_count != 0;
    for (size_t i = 1; i < elf->section_count; i++) {
        found = found || (elf->sections[i].flags & SHF_COMPRESSED) != 0;
    }
    return found;
}

/* Bytes that files of units may have in all. Strings are shared between units, but nobody's are
 * a KiB long on average. */
static size_t room_of(const struct br2_split_package *package)
{
    size_t most = 0;
    size_t room = br2_elf_room(&package->elf);
    for (size_t i = 0; i < BR2_SPLIT_PARTS; i++) {
        size_t size = package->whole.parts[i].size;
        size_t times = i == BR2_SPLIT_STR_OFFSETS ? STRING_MEAN / 4 : 4;
        most = size < (SIZE_MAX - most) / times ? most + times * size : SIZE_MAX;
    }
    return room > most ? room : most;
}

static int broken(const char *path, const char *what, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "'%s': %s", path, what);
    br2_hint(err, "make it again with dwp or llvm-dwp");
    return BR2PGO_CORRUPT;
}

/* Splits the index into its tables; false when they do not fit in it. */
static bool read_index(struct br2_split_package *package, const struct br2_split_piece *index)
{
    struct br2_cursor c = br2_cursor_make(index->bytes, index->size, false);
    uint32_t version = br2_cursor_u32(&c); /* in DWARF 5: 2 bytes, and 2 of padding */
    package->columns = br2_cursor_u32(&c);
    package->units = br2_cursor_u32(&c);
    package->slots = br2_cursor_u32(&c);
    size_t left = br2_cursor_left(&c);
    if (c.failed || (version != 2 && version != 5) || package->slots > left / 12) {
        return false;
    }
    package->whole.dwarf5 = version == 5;
    left -= 12 * (size_t)package->slots;
    if ((package->slots & (package->slots - 1)) != 0 || package->columns > left / 4) {
        return false;
    }
    left -= 4 * (size_t)package->columns;
    if (package->columns != 0 && package->units > left / 8 / package->columns) {
        return false;
    }
    package->ids = c.at;
    package->rows = package->ids + 8 * (size_t)package->slots;
    package->kinds = package->rows + 4 * (size_t)package->slots;
    package->offsets = package->kinds + 4 * (size_t)package->columns;
    package->sizes = package->offsets + 4 * (size_t)package->columns * package->units;
    return true;
}

int br2_split_package_open(struct br2_split_package *package, const char *path,
                           struct br2pgo_error *err)
{
    *package = (struct br2_split_package){0};
    int status = br2_elf_open(&package->elf, path, BR2_ELF_DEBUG, err);
    if (status != 0) {
        return status;
    }
    package->compressed = has_compressed_section(&package->elf);
    for (size_t i = 0; i < BR2_SPLIT_PARTS; i++) {
        package->whole.parts[i] = section_bytes(package, section_names[i]);
    }
    package->room = room_of(package);
    if (package->whole.parts[BR2_SPLIT_INFO].bytes == NULL ||
        package->whole.parts[BR2_SPLIT_ABBREV].bytes == NULL) {
        return broken(path, "there is no debug information of split units in it", err);
    }
    struct br2_split_piece index = section_bytes(package, ".debug_cu_index");
    package->indexed = index.bytes != NULL;
    if (package->indexed && !read_index(package, &index)) {
        return broken(path, "its index of units is broken, or of an unknown version", err);
    }
    return 0;
}

void br2_split_package_done(struct br2_split_package *package)
{
    br2_elf_close(&package->elf);
}

/* What a column is of; BR2_SPLIT_PARTS: of a section that is not needed. Numbers 1, 3, 4 and 6 are
 * the same in both versions. */
static enum br2_split_part part_of(const struct br2_split_package *package, uint32_t kind)
{
    switch (kind) {
    case 1:
        return BR2_SPLIT_INFO;
    case 3:
        return BR2_SPLIT_ABBREV;
    case 4:
        return BR2_SPLIT_LINE;
    case 6:
        return BR2_SPLIT_STR_OFFSETS;
    case 8: /* before DWARF 5: macros */
        return package->whole.dwarf5 ? BR2_SPLIT_RNGLISTS : BR2_SPLIT_PARTS;
    default:
        return BR2_SPLIT_PARTS;
    }
}

/* The pieces that row `row`, from 0 on, tells. */
static bool read_row(const struct br2_split_package *package, uint32_t row,
                     struct br2_split_unit *ret)
{
    *ret = (struct br2_split_unit){.dwarf5 = package->whole.dwarf5};
    ret->parts[BR2_SPLIT_STR] = package->whole.parts[BR2_SPLIT_STR]; /* has no column */
    for (uint32_t column = 0; column < package->columns; column++) {
        enum br2_split_part part = part_of(package, load(package->kinds, column));
        if (part == BR2_SPLIT_PARTS) {
            continue;
        }
        size_t at = (size_t)row * package->columns + column;
        uint32_t offset = load(package->offsets, at);
        uint32_t size = load(package->sizes, at);
        const struct br2_split_piece *whole = &package->whole.parts[part];
        if (size != 0 && (offset > whole->size || size > whole->size - offset)) {
            return false;
        }
        if (size != 0) {
            ret->parts[part] = (struct br2_split_piece){whole->bytes + offset, size};
        }
    }
    return ret->parts[BR2_SPLIT_INFO].bytes != NULL && ret->parts[BR2_SPLIT_ABBREV].bytes != NULL;
}

bool br2_split_package_find(const struct br2_split_package *package, uint64_t id,
                            struct br2_split_unit *ret)
{
    if (!package->indexed) {
        *ret = package->whole;
        return true;
    }
    uint32_t mask = package->slots - 1;
    uint32_t slot = (uint32_t)id & mask;
    uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < package->slots; i++) {
        uint32_t row = load(package->rows, slot);
        if (row == 0) {
            return false;
        }
        if (br2_load_le64(package->ids + 8 * (size_t)slot) == id) {
            return row <= package->units && read_row(package, row - 1, ret);
        }
        slot = (slot + step) & mask;
    }
    return false;
}
