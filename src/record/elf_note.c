/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/elf_note.h"

#include <elf.h>
#include <string.h>

#include "base/file.h"

/* Name and description of a note are filled up to multiples of 4. */
static size_t padded(uint32_t size)
{
    return ((size_t)size + 3) & ~(size_t)3;
}

static bool find_in_notes(const uint8_t *at, size_t size, struct br2_build_id *ret)
{
    Elf64_Nhdr note;
    while (size >= sizeof note) {
        memcpy(&note, at, sizeof note);
        at += sizeof note;
        size -= sizeof note;
        size_t name = padded(note.n_namesz);
        if (name > size || padded(note.n_descsz) > size - name) {
            return false;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
            note.n_descsz != 0 && note.n_descsz <= BR2_BUILD_ID_MAX) {
            ret->size = (uint8_t)note.n_descsz;
            memcpy(ret->bytes, at + name, note.n_descsz);
            return true;
        }
        at += name + padded(note.n_descsz);
        size -= name + padded(note.n_descsz);
    }
    return false;
}

static bool find_in_file(const uint8_t *bytes, size_t size, struct br2_build_id *ret)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (size < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
        bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        if (header.e_phoff > size || i >= (size - header.e_phoff) / sizeof segment) {
            return false;
        }
        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NOTE && segment.p_offset <= size &&
            segment.p_filesz <= size - segment.p_offset &&
            find_in_notes(bytes + segment.p_offset, segment.p_filesz, ret)) {
            return true;
        }
    }
    return false;
}

bool br2_note_build_id(const char *path, struct br2_build_id *ret)
{
    struct br2_file file;
    *ret = (struct br2_build_id){0};
    if (!br2_file_is_regular(path) || br2_file_open(&file, path, NULL, NULL) != 0) {
        return false;
    }
    bool found = find_in_file(file.bytes, file.size, ret);
    br2_file_close(&file);
    return found;
}
