/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes small ELF files for the tests of src/image. */
#ifndef BR2_TEST_ELF_BUILDER_H
#define BR2_TEST_ELF_BUILDER_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define EB_MAX 24

struct eb_section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint64_t address;
    uint32_t link;
    uint32_t info;
    uint64_t entry_size;
    struct br2_buf data; /* owned */
};

struct eb {
    uint16_t type;
    uint16_t machine;
    struct eb_section sections[EB_MAX]; /* [0] is the null section */
    size_t count;
    struct br2_buf strings; /* of symbols */
    struct br2_buf symbols;
    char path[64];
};

static inline struct eb eb_new(uint16_t type, uint16_t machine)
{
    struct eb eb = {.type = type, .machine = machine, .count = 1};
    br2_buf_u8(&eb.strings, 0);
    br2_buf_put(&eb.symbols, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    return eb;
}

/* Index of the new section; its bytes are copied. */
static inline uint32_t eb_add(struct eb *eb, const char *name, uint32_t type, uint64_t flags,
                              uint64_t address, const void *bytes, size_t size)
{
    struct eb_section *s = &eb->sections[eb->count];
    *s = (struct eb_section){.name = name, .type = type, .flags = flags, .address = address};
    br2_buf_put(&s->data, bytes, size);
    return (uint32_t)eb->count++;
}

static inline uint32_t eb_text(struct eb *eb, const char *name, uint64_t address, const void *bytes,
                               size_t size)
{
    return eb_add(eb, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, address, bytes, size);
}

/* Index of the new symbol. */
static inline uint32_t eb_symbol(struct eb *eb, const char *name, unsigned bind, unsigned type,
                                 uint16_t section, uint64_t value, uint64_t size)
{
    Elf64_Sym symbol = {
        .st_name = (uint32_t)eb->strings.size,
        .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
        .st_shndx = section,
        .st_value = value,
        .st_size = size,
    };
    br2_buf_put(&eb->strings, name, strlen(name) + 1);
    br2_buf_put(&eb->symbols, &symbol, sizeof symbol);
    return (uint32_t)(eb->symbols.size / sizeof symbol - 1);
}

/* Adds the symbols made so far as a table of `type`; its index. */
static inline uint32_t eb_symtab(struct eb *eb, const char *name, uint32_t type)
{
    uint32_t strings = eb_add(eb, ".strtab", SHT_STRTAB, 0, 0, eb->strings.bytes, eb->strings.size);
    uint32_t table = eb_add(eb, name, type, 0, 0, eb->symbols.bytes, eb->symbols.size);
    eb->sections[table].link = strings;
    eb->sections[table].entry_size = sizeof(Elf64_Sym);
    return table;
}

static inline void eb_rela(struct eb *eb, const char *name, uint32_t symtab, uint32_t target,
                           const Elf64_Rela *relas, size_t count)
{
    uint32_t at = eb_add(eb, name, SHT_RELA, 0, 0, relas, count * sizeof *relas);
    eb->sections[at].link = symtab;
    eb->sections[at].info = target;
    eb->sections[at].entry_size = sizeof *relas;
}

static inline void eb_note(struct br2_buf *buf, const char *owner, uint32_t type, const void *desc,
                           uint32_t size)
{
    br2_buf_le32(buf, (uint32_t)strlen(owner) + 1);
    br2_buf_le32(buf, size);
    br2_buf_le32(buf, type);
    br2_buf_put(buf, owner, strlen(owner) + 1);
    while (buf->size % 4 != 0) {
        br2_buf_u8(buf, 0);
    }
    br2_buf_put(buf, desc, size);
    while (buf->size % 4 != 0) {
        br2_buf_u8(buf, 0);
    }
}

static inline void eb_align(struct br2_buf *file)
{
    while (file->size % 16 != 0) {
        br2_buf_u8(file, 0);
    }
}

static inline void eb_put_headers(struct br2_buf *file, const struct eb *eb,
                                  const uint64_t *offsets, const uint32_t *names)
{
    for (size_t i = 0; i < eb->count; i++) {
        const struct eb_section *s = &eb->sections[i];
        Elf64_Shdr header = {
            .sh_name = names[i],
            .sh_type = s->type,
            .sh_flags = s->flags,
            .sh_addr = s->address,
            .sh_offset = i != 0 ? offsets[i] : 0,
            .sh_size = s->data.size,
            .sh_link = s->link,
            .sh_info = s->info,
            .sh_addralign = i != 0,
            .sh_entsize = s->entry_size,
        };
        br2_buf_put(file, &header, sizeof header);
    }
}

static inline void eb_put_segments(struct br2_buf *file, const struct eb *eb,
                                   const uint64_t *offsets, size_t at)
{
    for (size_t i = 1; i < eb->count; i++) {
        const struct eb_section *s = &eb->sections[i];
        if ((s->flags & SHF_EXECINSTR) == 0 || eb->type == ET_REL) {
            continue;
        }
        Elf64_Phdr header = {
            .p_type = PT_LOAD,
            .p_flags = PF_R | PF_X,
            .p_offset = offsets[i],
            .p_vaddr = s->address,
            .p_filesz = s->data.size,
            .p_memsz = s->data.size,
            .p_align = 1,
        };
        memcpy(file->bytes + at, &header, sizeof header);
        at += sizeof header;
    }
}

/* Appends the whole file to `file` and frees what `eb` holds. */
static inline void eb_finish(struct eb *eb, struct br2_buf *file)
{
    uint64_t offsets[EB_MAX] = {0};
    uint32_t names[EB_MAX] = {0};
    size_t segments = 0;
    uint32_t shstrtab = eb_add(eb, ".shstrtab", SHT_STRTAB, 0, 0, "", 1);
    for (size_t i = 1; i < eb->count; i++) {
        struct br2_buf *strings = &eb->sections[shstrtab].data;
        names[i] = (uint32_t)strings->size;
        br2_buf_put(strings, eb->sections[i].name, strlen(eb->sections[i].name) + 1);
        segments += (eb->sections[i].flags & SHF_EXECINSTR) != 0 && eb->type != ET_REL;
    }
    for (size_t i = 0; i < sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr); i++) {
        br2_buf_u8(file, 0);
    }
    for (size_t i = 1; i < eb->count; i++) {
        eb_align(file);
        offsets[i] = file->size;
        br2_buf_put(file, eb->sections[i].data.bytes, eb->sections[i].data.size);
    }
    eb_align(file);
    Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = eb->type,
        .e_machine = eb->machine,
        .e_version = EV_CURRENT,
        .e_phoff = segments != 0 ? sizeof header : 0,
        .e_shoff = file->size,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (uint16_t)segments,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (uint16_t)eb->count,
        .e_shstrndx = (uint16_t)shstrtab,
    };
    eb_put_headers(file, eb, offsets, names);
    memcpy(file->bytes, &header, sizeof header);
    eb_put_segments(file, eb, offsets, sizeof header);
    for (size_t i = 0; i < eb->count; i++) {
        br2_buf_done(&eb->sections[i].data);
    }
    br2_buf_done(&eb->strings);
    br2_buf_done(&eb->symbols);
}

static inline void eb_save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* A fresh folder below the temporary one; remove with eb_remove. */
static inline char *eb_folder(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/br2-image-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(1);
    }
    return path;
}

/* Writes the file to a new name, kept in eb->path. */
static inline const char *eb_write(struct eb *eb)
{
    struct br2_buf file = {0};
    snprintf(eb->path, sizeof eb->path, "/tmp/br2-elf-XXXXXX");
    int fd = mkstemp(eb->path);
    if (fd < 0) {
        perror(eb->path);
        exit(1);
    }
    close(fd);
    eb_finish(eb, &file);
    eb_save(eb->path, file.bytes, file.size);
    br2_buf_done(&file);
    return eb->path;
}

#endif
