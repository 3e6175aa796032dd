/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An open ELF file: libelf's handle plus a checked section table. Private to src/image. */
#ifndef BR2_IMAGE_ELF_FILE_H
#define BR2_IMAGE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

struct br2_elf_section {
    const char *name; /* "" where the file gives none */
    Elf_Scn *scn;
    uint32_t type;
    uint32_t link;
    uint32_t info;
    uint64_t flags;
    uint64_t address; /* of a relocatable file's loaded section without one: its file offset */
    uint64_t offset;
    uint64_t size;
    uint64_t entry_size;
    uint64_t alignment;
};

struct br2_elf {
    struct br2_file file;
    const uint8_t *bytes;
    size_t size;
    Elf *elf;
    GElf_Ehdr header;
    struct br2_elf_section *sections; /* owned; [0] is the null section */
    size_t section_count;
    struct br2_arena names; /* of sections */
    /* Code addresses with a relocation against a symbol of another file, sorted. */
    uint64_t *unresolved; /* owned */
    size_t unresolved_count;
    size_t unresolved_capacity;
    uint64_t decompressed; /* bytes of all buffers */
    void **buffers;        /* owned; decompressed sections */
    size_t buffer_count;
    size_t buffer_capacity;
};

/* A symbol table and its strings, checked for size only. */
struct br2_elf_symbols {
    Elf_Data *data;
    size_t count;
    const char *strings;
    size_t strings_size;
};

/* What a file is opened for: each includes what is above it. */
enum br2_elf_use {
    BR2_ELF_HEADERS, /* notes, sections, symbols */
    BR2_ELF_CODE,    /* a relocatable file's code and call frames are relocated */
    BR2_ELF_DEBUG,   /* debug sections are relocated too, and decompressed as far as libelf does not
                      */
};

/*
 * Opens `path`. Errors: BR2PGO_IO; BR2PGO_UNSUPPORTED (not ELF, 32-bit, big-endian);
 * BR2PGO_CORRUPT; BR2PGO_NO_MEMORY. Free with br2_elf_close, also after a failure.
 */
int br2_elf_open(struct br2_elf *elf, const char *path, enum br2_elf_use use,
                 struct br2pgo_error *err);
void br2_elf_close(struct br2_elf *elf);

/* Parts of a hostile file may overlap, so that going through all of one kind is more work than its
 * size tells. No honest file has more bytes of any kind than this. */
size_t br2_elf_room(const struct br2_elf *elf);
/* Takes `size` from what is left of it; false when that is less. */
bool br2_elf_take(size_t *room, uint64_t size);

/* The first section of this name, or NULL. */
const struct br2_elf_section *br2_elf_section(const struct br2_elf *elf, const char *name);
/* A section's bytes as libelf presents them; NULL when it has none. */
const uint8_t *br2_elf_section_bytes(const struct br2_elf_section *section, size_t *ret_size);

/* Build-id: the note of type 3 and owner "GNU", and no other. `size` 0 when there is none. */
void br2_elf_build_id(const struct br2_elf *elf, struct br2_build_id *ret);
/* Whether the file has DWARF units; whether its code is in another file (`objcopy
 * --only-keep-debug`). */
bool br2_elf_has_debug_info(const struct br2_elf *elf);
bool br2_elf_is_debug_file(const struct br2_elf *elf);
/* Whether all executable sections that both have by name are at the same addresses.
 * BR2PGO_NO_MEMORY. */
int br2_elf_same_layout(const struct br2_elf *a, const struct br2_elf *b, bool *ret,
                        struct br2pgo_error *err);

/* The symbol table of type `type` (SHT_SYMTAB or SHT_DYNSYM); false when there is none. */
bool br2_elf_symbols(const struct br2_elf *elf, uint32_t type, struct br2_elf_symbols *ret);
/* The same from one section. */
bool br2_elf_symbols_of(const struct br2_elf *elf, const struct br2_elf_section *section,
                        struct br2_elf_symbols *ret);
/* Symbol `index` and its name ("" when broken or longer than BR2_ELF_NAME_MAX); false when there is
 * no such symbol. */
bool br2_elf_symbol(const struct br2_elf_symbols *symbols, size_t index, GElf_Sym *ret,
                    const char **ret_name);
/* Link-time address of a defined symbol. */
bool br2_elf_symbol_address(const struct br2_elf *elf, const GElf_Sym *symbol, uint64_t *ret);
/* Whether a defined symbol of any type has this name: for one question. */
bool br2_elf_has_symbol(const struct br2_elf *elf, const char *name);

/* The same for many: an index of the names, which the ELF file owns. Zero-initialise. */
struct br2_elf_names {
    struct br2_elf_name {
        const char *text;
        size_t length;
    } * items; /* owned; sorted */
    size_t count;
    size_t capacity;
    bool ready;
};
/* BR2PGO_NO_MEMORY. */
int br2_elf_names_read(const struct br2_elf *elf, struct br2_elf_names *names,
                       struct br2pgo_error *err);
bool br2_elf_names_have(const struct br2_elf_names *names, const char *text);
void br2_elf_names_done(struct br2_elf_names *names);

/*
 * Makes the bytes writable: relocating writes into them, and libelf into section headers when it
 * decompresses. The pages become private copies; bytes that were read, not mapped, are writable as
 * they are. BR2PGO_IO.
 */
int br2_elf_make_writable(const struct br2_elf *elf, const char *path, struct br2pgo_error *err);
/* Puts `bytes`, which become the file's even when this fails, in place of a section's.
 * BR2PGO_NO_MEMORY.
 */
int br2_elf_replace(struct br2_elf *elf, const struct br2_elf_section *section, void *bytes,
                    size_t size, struct br2pgo_error *err);

/* Called by br2_elf_open. */
int br2_elf_relocate(struct br2_elf *elf, enum br2_elf_use use, struct br2pgo_error *err);
int br2_elf_decompress(struct br2_elf *elf, struct br2pgo_error *err);

#endif
