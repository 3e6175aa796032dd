/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A .dwo file in memory, made of the pieces of one unit. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "image/split_package.h"

/* The null section, the parts, and the names of sections. */
#define SECTIONS (BR2_SPLIT_PARTS + 2)

/* The names of all sections, and where each begins. */
static const char names[] = "\0.debug_info.dwo\0.debug_abbrev.dwo\0.debug_line.dwo\0"
                            ".debug_str_offsets.dwo\0.debug_rnglists.dwo\0.debug_str.dwo\0"
                            ".shstrtab";

struct strings {
    struct br2_buf offsets; /* owned; as in the unit, but into `text` */
    struct br2_buf text;    /* owned */
};

/* Takes the string at `offset` over; false when it does not end, or there is no room for it. */
static bool take_string(struct br2_split_package *package, const struct br2_split_piece *all,
                        uint64_t offset, struct br2_buf *text)
{
    const uint8_t *end =
        offset < all->size ? memchr(all->bytes + offset, '\0', all->size - (size_t)offset) : NULL;
    if (end == NULL) {
        return false;
    }
    size_t size = (size_t)(end - (all->bytes + offset)) + 1;
    if (!br2_elf_take(&package->room, size)) {
        return false;
    }
    br2_buf_put(text, all->bytes + offset, size);
    return true;
}

/* Copies the unit's table of string offsets with the strings that it leads to. In DWARF 5 it has a
 * header, in which the length tells how wide offsets are. */
static bool take_strings(struct br2_split_package *package, const struct br2_split_unit *unit,
                         struct strings *ret)
{
    const struct br2_split_piece *table = &unit->parts[BR2_SPLIT_STR_OFFSETS];
    if (table->bytes == NULL) {
        return true;
    }
    struct br2_cursor c = br2_cursor_make(table->bytes, table->size, false);
    bool wide = false;
    if (unit->dwarf5) {
        wide = br2_cursor_u32(&c) == UINT32_MAX;
        br2_cursor_skip(&c, wide ? 12 : 4);
        if (c.failed) {
            return false;
        }
        br2_buf_put(&ret->offsets, table->bytes, br2_cursor_offset(&c));
    }
    while (br2_cursor_left(&c) >= (wide ? 8 : 4)) {
        uint64_t offset = wide ? br2_cursor_u64(&c) : br2_cursor_u32(&c);
        uint64_t moved = ret->text.size;
        if (moved > UINT32_MAX ||
            !take_string(package, &unit->parts[BR2_SPLIT_STR], offset, &ret->text)) {
            return false;
        }
        if (wide) {
            br2_buf_le64(&ret->offsets, moved);
        } else {
            br2_buf_le32(&ret->offsets, (uint32_t)moved);
        }
    }
    return true;
}

static void put_header(struct br2_buf *file, const struct br2_split_package *package,
                       uint64_t sections)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = package->elf.header.e_machine,
        .e_version = EV_CURRENT,
        .e_shoff = sections,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = SECTIONS - 1,
    };
    br2_buf_put(file, &header, sizeof header);
}

/* Lays the file out: header, section headers, bytes. */
static void put_file(struct br2_buf *file, const struct br2_split_package *package,
                     const struct br2_split_unit *unit)
{
    struct br2_split_piece pieces[SECTIONS] = {{NULL, 0}};
    memcpy(&pieces[1], unit->parts, sizeof unit->parts);
    pieces[SECTIONS - 1] = (struct br2_split_piece){(const uint8_t *)names, sizeof names};
    put_header(file, package, sizeof(Elf64_Ehdr));
    br2_buf_put(file, &(Elf64_Shdr){0}, sizeof(Elf64_Shdr));
    uint64_t offset = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr);
    size_t name = 1;
    for (size_t i = 1; i < SECTIONS; i++) {
        Elf64_Shdr header = {
            .sh_name = (Elf64_Word)name,
            .sh_type = i == SECTIONS - 1 ? SHT_STRTAB : SHT_PROGBITS,
            .sh_offset = offset,
            .sh_size = pieces[i].size,
            .sh_addralign = 1,
        };
        br2_buf_put(file, &header, sizeof header);
        offset += pieces[i].size;
        name += strlen(names + name) + 1;
    }
    for (size_t i = 1; i < SECTIONS; i++) {
        br2_buf_put(file, pieces[i].bytes, pieces[i].size);
    }
}

static int save(const struct br2_buf *file, int *ret_fd, struct br2pgo_error *err)
{
    int fd = memfd_create("split-unit", MFD_CLOEXEC);
    if (fd < 0) {
        return br2_fail_io(err, "create a file in", "memory", errno);
    }
    for (size_t at = 0; at < file->size;) {
        ssize_t written = write(fd, file->bytes + at, file->size - at);
        if (written < 0 && errno != EINTR) {
            int status = br2_fail_io(err, "write a file in", "memory", errno);
            close(fd);
            return status;
        }
        at += written > 0 ? (size_t)written : 0;
    }
    *ret_fd = fd;
    return 0;
}

int br2_split_unit_file(struct br2_split_package *package, const struct br2_split_unit *unit,
                        int *ret_fd, struct br2pgo_error *err)
{
    struct strings strings = {{0}, {0}};
    struct br2_split_unit made = *unit;
    struct br2_buf file = {0};
    int status = 0;
    bool fits = take_strings(package, unit, &strings);
    made.parts[BR2_SPLIT_STR_OFFSETS] =
        (struct br2_split_piece){strings.offsets.bytes, strings.offsets.size};
    made.parts[BR2_SPLIT_STR] = (struct br2_split_piece){strings.text.bytes, strings.text.size};
    for (size_t i = 0; fits && i < BR2_SPLIT_PARTS; i++) {
        fits = i == BR2_SPLIT_STR || br2_elf_take(&package->room, made.parts[i].size);
    }
    if (fits) {
        put_file(&file, package, &made);
    }
    if (strings.offsets.failed || strings.text.failed || file.failed) {
        status = br2_fail_memory(err);
    } else if (!fits) {
        status = br2_fail(err, BR2PGO_CORRUPT, "a split unit with a broken table of strings");
    } else {
        status = save(&file, ret_fd, err);
    }
    br2_buf_done(&strings.offsets);
    br2_buf_done(&strings.text);
    br2_buf_done(&file);
    return status;
}
