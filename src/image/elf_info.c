/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an ELF file says about itself: build-id, symbols, whether it holds debug information. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/limits.h"
#include "image/elf_file.h"

/* Notes are padded to 4 bytes, or to 8 where the segment or section is aligned so. */
static size_t padded(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

static bool build_id_in_notes(const uint8_t *bytes, size_t size, size_t alignment,
                              struct br2_build_id *ret)
{
    struct br2_cursor c = br2_cursor_make(bytes, size, false);
    while (br2_cursor_left(&c) >= 12) {
        uint32_t name_size = br2_cursor_u32(&c);
        uint32_t desc_size = br2_cursor_u32(&c);
        uint32_t type = br2_cursor_u32(&c);
        /* The three words before the name are part of what is padded. */
        const uint8_t *name = br2_cursor_bytes(&c, name_size);
        size_t pad = padded((size_t)12 + name_size, alignment) - 12 - name_size;
        br2_cursor_skip(&c, pad);
        const uint8_t *desc = br2_cursor_bytes(&c, desc_size);
        if (c.failed) {
            return false;
        }
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 &&
            desc_size > 0) {
            ret->size = (uint8_t)(desc_size < BR2_BUILD_ID_MAX ? desc_size : BR2_BUILD_ID_MAX);
            memcpy(ret->bytes, desc, ret->size);
            return true;
        }
        size_t rest = padded(desc_size, alignment) - desc_size;
        if (br2_cursor_left(&c) < rest) {
            return false;
        }
        br2_cursor_skip(&c, rest);
    }
    return false;
}

static bool build_id_in_segments(const struct br2_elf *elf, struct br2_build_id *ret)
{
    size_t count = 0;
    if (elf_getphdrnum(elf->elf, &count) != 0) {
        return false;
    }
    size_t room = br2_elf_room(elf);
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf->elf, (int)i, &header) == NULL || header.p_type != PT_NOTE ||
            header.p_offset > elf->size || header.p_filesz > elf->size - header.p_offset ||
            !br2_elf_take(&room, header.p_filesz)) {
            continue;
        }
        if (build_id_in_notes(elf->bytes + header.p_offset, header.p_filesz,
                              header.p_align == 8 ? 8 : 4, ret)) {
            return true;
        }
    }
    return false;
}

void br2_elf_build_id(const struct br2_elf *elf, struct br2_build_id *ret)
{
    *ret = (struct br2_build_id){0};
    size_t room = br2_elf_room(elf);
    /* The program headers of a separate debug file describe the other file: sections first. */
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct br2_elf_section *section = &elf->sections[i];
        if (section->type != SHT_NOTE || section->offset > elf->size ||
            section->size > elf->size - section->offset || !br2_elf_take(&room, section->size)) {
            continue;
        }
        GElf_Shdr header;
        bool eight = gelf_getshdr(section->scn, &header) != NULL && header.sh_addralign == 8;
        if (build_id_in_notes(elf->bytes + section->offset, section->size, eight ? 8 : 4, ret)) {
            return;
        }
    }
    if (!build_id_in_segments(elf, ret)) {
        ret->size = 0;
    }
}

bool br2_elf_has_debug_info(const struct br2_elf *elf)
{
    const struct br2_elf_section *section = br2_elf_section(elf, ".debug_info");
    if (section == NULL) {
        section = br2_elf_section(elf, ".zdebug_info");
    }
    return section != NULL && section->type != SHT_NOBITS && section->size > 0;
}

static bool is_code(const struct br2_elf_section *section)
{
    return (section->flags & SHF_ALLOC) != 0 && (section->flags & SHF_EXECINSTR) != 0 &&
           section->size > 0;
}

bool br2_elf_is_debug_file(const struct br2_elf *elf)
{
    bool empty = false;
    for (size_t i = 1; i < elf->section_count; i++) {
        if (is_code(&elf->sections[i])) {
            if (elf->sections[i].type != SHT_NOBITS) {
                return false;
            }
            empty = true;
        }
    }
    return empty;
}

/* By name; of those with one name the first in the file first. */
static int by_name(const void *a, const void *b)
{
    const struct br2_elf_section *x = *(const struct br2_elf_section *const *)a;
    const struct br2_elf_section *y = *(const struct br2_elf_section *const *)b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x > y) - (x < y);
}

/* All sections with a name but the null section, sorted; NULL when memory runs out. */
static const struct br2_elf_section **sort_sections(const struct br2_elf *elf, size_t *ret_count)
{
    const struct br2_elf_section **sorted = br2_calloc(elf->section_count + 1, sizeof *sorted);
    *ret_count = 0;
    if (sorted == NULL) {
        return NULL;
    }
    for (size_t i = 1; i < elf->section_count; i++) {
        if (elf->sections[i].name[0] != '\0') {
            sorted[(*ret_count)++] = &elf->sections[i];
        }
    }
    qsort(sorted, *ret_count, sizeof *sorted, by_name);
    return sorted;
}

int br2_elf_same_layout(const struct br2_elf *a, const struct br2_elf *b, bool *ret,
                        struct br2pgo_error *err)
{
    size_t a_count;
    size_t b_count;
    const struct br2_elf_section **in_a = sort_sections(a, &a_count);
    const struct br2_elf_section **in_b = sort_sections(b, &b_count);
    bool good = in_a != NULL && in_b != NULL;
    *ret = good;
    for (size_t i = 0, k = 0; good && i < a_count && *ret; i++) {
        while (k < b_count && strcmp(in_b[k]->name, in_a[i]->name) < 0) {
            k++;
        }
        if (k < b_count && strcmp(in_b[k]->name, in_a[i]->name) == 0 && is_code(in_a[i]) &&
            is_code(in_b[k])) {
            *ret = in_b[k]->address == in_a[i]->address;
        }
    }
    br2_free(in_a);
    br2_free(in_b);
    return good ? 0 : br2_fail_memory(err);
}

bool br2_elf_symbols_of(const struct br2_elf *elf, const struct br2_elf_section *section,
                        struct br2_elf_symbols *ret)
{
    *ret = (struct br2_elf_symbols){0};
    if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM) {
        return false;
    }
    Elf_Data *data = elf_getdata(section->scn, NULL);
    if (data == NULL || data->d_buf == NULL || data->d_type != ELF_T_SYM) {
        return false;
    }
    ret->data = data;
    ret->count = data->d_size / sizeof(Elf64_Sym);
    if (section->link < elf->section_count) {
        size_t size;
        ret->strings = (const char *)br2_elf_section_bytes(&elf->sections[section->link], &size);
        ret->strings_size = size;
    }
    return true;
}

bool br2_elf_symbols(const struct br2_elf *elf, uint32_t type, struct br2_elf_symbols *ret)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        if (elf->sections[i].type == type) {
            return br2_elf_symbols_of(elf, &elf->sections[i], ret);
        }
    }
    return false;
}

bool br2_elf_symbol(const struct br2_elf_symbols *symbols, size_t index, GElf_Sym *ret,
                    const char **ret_name)
{
    if (index >= symbols->count || index > INT32_MAX ||
        gelf_getsym(symbols->data, (int)index, ret) == NULL) {
        return false;
    }
    const char *name = "";
    if (ret->st_name < symbols->strings_size) {
        size_t left = symbols->strings_size - ret->st_name;
        name = symbols->strings + ret->st_name;
        if (memchr(name, '\0', left < BR2_ELF_NAME_MAX ? left : BR2_ELF_NAME_MAX) == NULL) {
            name = "";
        }
    }
    *ret_name = name;
    return true;
}

bool br2_elf_symbol_address(const struct br2_elf *elf, const GElf_Sym *symbol, uint64_t *ret)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_XINDEX ||
        symbol->st_shndx == SHN_COMMON) {
        return false;
    }
    *ret = symbol->st_value;
    if (elf->header.e_type == ET_REL && symbol->st_shndx < SHN_LORESERVE) {
        if (symbol->st_shndx >= elf->section_count) {
            return false;
        }
        *ret += elf->sections[symbol->st_shndx].address;
    }
    return true;
}

static bool table_has(const struct br2_elf *elf, uint32_t type, const char *wanted)
{
    struct br2_elf_symbols symbols;
    if (!br2_elf_symbols(elf, type, &symbols)) {
        return false;
    }
    for (size_t i = 1; i < symbols.count; i++) {
        GElf_Sym symbol;
        const char *name;
        if (br2_elf_symbol(&symbols, i, &symbol, &name) && symbol.st_shndx != SHN_UNDEF &&
            strcmp(name, wanted) == 0) {
            return true;
        }
    }
    return false;
}

bool br2_elf_has_symbol(const struct br2_elf *elf, const char *name)
{
    return table_has(elf, SHT_SYMTAB, name) || table_has(elf, SHT_DYNSYM, name);
}
