/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening an ELF file and finding its sections. */
#include "image/elf_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

static int not_elf(const struct br2_elf *elf, const char *path, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is not an ELF file", path);
    static const uint8_t xz[] = {0xfd, '7', 'z', 'X', 'Z'};
    static const uint8_t zst[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t gz[] = {0x1f, 0x8b};
    bool packed = elf->size >= 8 && (memcmp(elf->bytes, xz, sizeof xz) == 0 ||
                                     memcmp(elf->bytes, zst, sizeof zst) == 0 ||
                                     memcmp(elf->bytes, gz, sizeof gz) == 0);
    if (packed) {
        br2_hint(err, "it is compressed: decompress it first (xz -d, zstd -d or gzip -d)");
    } else {
        br2_hint(err, "give the program, shared library or kernel module that was running");
    }
    return BR2PGO_UNSUPPORTED;
}

static int corrupt(const char *path, const char *what, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "'%s': %s: %s", path, what, elf_errmsg(-1));
    br2_hint(err, "the file is damaged or incomplete: copy or build it again");
    return BR2PGO_CORRUPT;
}

/* A loaded section of a relocatable file has no address yet; its file offset tells it from all
 * others. */
static uint64_t laid_out_address(const struct br2_elf *elf, const GElf_Shdr *header)
{
    bool needs_one =
        elf->header.e_type == ET_REL && header->sh_addr == 0 && (header->sh_flags & SHF_ALLOC) != 0;
    return needs_one ? header->sh_offset : header->sh_addr;
}

size_t br2_elf_room(const struct br2_elf *elf)
{
    return elf->size < SIZE_MAX / 4 ? 4 * elf->size : SIZE_MAX;
}

bool br2_elf_take(size_t *room, uint64_t size)
{
    if (size > *room) {
        return false;
    }
    *room -= (size_t)size;
    return true;
}

/* A copy: relocating may change the bytes that hold the name. NULL when memory runs out. Names may
 * share bytes, but no more of them than `*room`: beyond, sections have no name. */
static const char *section_name(struct br2_elf *elf, size_t names, size_t offset, size_t *room)
{
    const char *name = names != 0 ? elf_strptr(elf->elf, names, offset) : NULL;
    if (name == NULL || !br2_elf_take(room, strnlen(name, *room))) {
        return "";
    }
    return br2_arena_strndup(&elf->names, name, strlen(name));
}

static int read_sections(struct br2_elf *elf, const char *path, struct br2pgo_error *err)
{
    size_t count = 0;
    size_t names = 0;
    if (elf_getshdrnum(elf->elf, &count) != 0) {
        return corrupt(path, "cannot read the section table", err);
    }
    if (count != 0 && elf_getshdrstrndx(elf->elf, &names) != 0) {
        names = 0;
    }
    if (count > elf->size / sizeof(Elf64_Shdr)) {
        return br2_fail(err, BR2PGO_CORRUPT, "'%s' has more sections than fit in it", path);
    }
    elf->sections = br2_calloc(count + 1, sizeof *elf->sections);
    if (elf->sections == NULL) {
        return br2_fail_memory(err);
    }
    size_t room = br2_elf_room(elf);
    for (size_t i = 0; i < count; i++) {
        struct br2_elf_section *section = &elf->sections[i];
        GElf_Shdr header;
        section->name = "";
        section->scn = elf_getscn(elf->elf, i);
        if (section->scn == NULL || gelf_getshdr(section->scn, &header) == NULL) {
            return corrupt(path, "cannot read a section header", err);
        }
        if (i == 0) {
            continue;
        }
        section->name = section_name(elf, names, header.sh_name, &room);
        if (section->name == NULL) {
            return br2_fail_memory(err);
        }
        section->type = header.sh_type;
        section->link = header.sh_link;
        section->info = header.sh_info;
        section->flags = header.sh_flags;
        section->address = laid_out_address(elf, &header);
        section->offset = header.sh_offset;
        section->size = header.sh_size;
        section->entry_size = header.sh_entsize;
        section->alignment = header.sh_addralign;
    }
    elf->section_count = count;
    return 0;
}

int br2_elf_make_writable(const struct br2_elf *elf, const char *path, struct br2pgo_error *err)
{
    void *bytes = (void *)(uintptr_t)elf->bytes;
    if (elf->file.mapped && mprotect(bytes, elf->size, PROT_READ | PROT_WRITE) != 0) {
        return br2_fail_io(err, "map", path, errno);
    }
    return 0;
}

int br2_elf_replace(struct br2_elf *elf, const struct br2_elf_section *section, void *bytes,
                    size_t size, struct br2pgo_error *err)
{
    if (!br2_grow(&elf->buffers, &elf->buffer_capacity, elf->buffer_count, sizeof(void *))) {
        br2_free(bytes);
        return br2_fail_memory(err);
    }
    elf->buffers[elf->buffer_count++] = bytes;
    /* Two objects, of which readers take either. */
    Elf_Data *both[] = {elf_getdata(section->scn, NULL), elf_rawdata(section->scn, NULL)};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        if (both[i] != NULL) {
            both[i]->d_buf = bytes;
            both[i]->d_size = size;
        }
    }
    return 0;
}

static bool has_compressed_section(const struct br2_elf *elf)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        if ((elf->sections[i].flags & SHF_COMPRESSED) != 0 ||
            strncmp(elf->sections[i].name, ".zdebug_", 8) == 0) {
            return true;
        }
    }
    return false;
}

static int begin(struct br2_elf *elf, const char *path, struct br2pgo_error *err)
{
    elf->elf = elf_memory((char *)(uintptr_t)elf->bytes, elf->size);
    if (elf->elf == NULL || elf_kind(elf->elf) != ELF_K_ELF) {
        return not_elf(elf, path, err);
    }
    if (gelf_getclass(elf->elf) != ELFCLASS64) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is a 32-bit ELF file", path);
        br2_hint(err, "only 64-bit programs can be handled");
        return BR2PGO_UNSUPPORTED;
    }
    if (elf->bytes[EI_DATA] != ELFDATA2LSB) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is an ELF file of a big-endian machine", path);
        br2_hint(err,
                 "only code of x86-64, little-endian AArch64 and 64-bit RISC-V can be decoded");
        return BR2PGO_UNSUPPORTED;
    }
    if (gelf_getehdr(elf->elf, &elf->header) == NULL) {
        return corrupt(path, "cannot read the ELF header", err);
    }
    return 0;
}

static bool is_elf(const uint8_t *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

int br2_elf_open(struct br2_elf *elf, const char *path, enum br2_elf_use use,
                 struct br2pgo_error *err)
{
    *elf = (struct br2_elf){0};
    elf_version(EV_CURRENT);
    int status = br2_file_open(&elf->file, path, is_elf, err);
    if (status != 0) {
        return status;
    }
    elf->bytes = elf->file.bytes;
    elf->size = elf->file.size;
    if (elf->size == 0) {
        return not_elf(elf, path, err);
    }
    status = begin(elf, path, err);
    if (status == 0) {
        status = read_sections(elf, path, err);
    }
    bool relocate = elf->header.e_type == ET_REL && use >= BR2_ELF_CODE;
    bool decompress = use >= BR2_ELF_DEBUG && has_compressed_section(elf);
    if (status == 0 && (relocate || decompress)) {
        status = br2_elf_make_writable(elf, path, err);
    }
    if (status == 0 && decompress) {
        status = br2_elf_decompress(elf, err);
    }
    if (status == 0 && relocate) {
        status = br2_elf_relocate(elf, use, err);
    }
    return status;
}

void br2_elf_close(struct br2_elf *elf)
{
    if (elf->elf != NULL) {
        elf_end(elf->elf);
    }
    br2_free(elf->sections);
    br2_arena_done(&elf->names);
    br2_free(elf->unresolved);
    for (size_t i = 0; i < elf->buffer_count; i++) {
        br2_free(elf->buffers[i]);
    }
    br2_free(elf->buffers);
    br2_file_close(&elf->file);
    *elf = (struct br2_elf){0};
}

const struct br2_elf_section *br2_elf_section(const struct br2_elf *elf, const char *name)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        if (strcmp(elf->sections[i].name, name) == 0) {
            return &elf->sections[i];
        }
    }
    return NULL;
}

const uint8_t *br2_elf_section_bytes(const struct br2_elf_section *section, size_t *ret_size)
{
    *ret_size = 0;
    if (section == NULL || section->type == SHT_NOBITS || section->type == SHT_NULL) {
        return NULL;
    }
    Elf_Data *data = elf_getdata(section->scn, NULL);
    if (data == NULL || data->d_buf == NULL || data->d_size == 0) {
        return NULL;
    }
    *ret_size = data->d_size;
    return data->d_buf;
}
