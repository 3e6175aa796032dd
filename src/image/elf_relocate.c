/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Relocations of a relocatable file (kernel module), as far as the addresses inside it are
 * concerned: in debug information, call frames and the direct branches of the code. A value that
 * depends on another file stays as it is; for code its place is remembered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "image/elf_file.h"

/* How a relocated field is written. */
enum field {
    FIELD_NONE,
    FIELD_WORD64,
    FIELD_WORD32,
    FIELD_BRANCH26, /* AArch64 immediates, in instructions */
    FIELD_BRANCH19,
    FIELD_BRANCH14,
};

struct how {
    enum field field;
    bool relative;
    bool branch; /* the target of a direct branch, when it is in code */
};

static struct how how_x86_64(uint32_t type)
{
    switch (type) {
    case R_X86_64_64:
        return (struct how){FIELD_WORD64, false, false};
    case R_X86_64_32:
    case R_X86_64_32S:
        return (struct how){FIELD_WORD32, false, false};
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return (struct how){FIELD_WORD32, true, true};
    case R_X86_64_PC64:
        return (struct how){FIELD_WORD64, true, false};
    default:
        return (struct how){0};
    }
}

static struct how how_aarch64(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ABS64:
        return (struct how){FIELD_WORD64, false, false};
    case R_AARCH64_ABS32:
        return (struct how){FIELD_WORD32, false, false};
    case R_AARCH64_PREL64:
        return (struct how){FIELD_WORD64, true, false};
    case R_AARCH64_PREL32:
        return (struct how){FIELD_WORD32, true, false};
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        return (struct how){FIELD_BRANCH26, true, true};
    case R_AARCH64_CONDBR19:
        return (struct how){FIELD_BRANCH19, true, true};
    case R_AARCH64_TSTBR14:
        return (struct how){FIELD_BRANCH14, true, true};
    default:
        return (struct how){0};
    }
}

static void put_le(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put_branch(uint8_t *bytes, uint64_t value, unsigned bits, unsigned at)
{
    uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24;
    uint32_t mask = ((UINT32_C(1) << bits) - 1) << at;
    word = (word & ~mask) | ((uint32_t)(value >> 2) << at & mask);
    put_le(bytes, word, 4);
}

static void put_field(uint8_t *bytes, enum field field, uint64_t value)
{
    switch (field) {
    case FIELD_WORD64:
        put_le(bytes, value, 8);
        break;
    case FIELD_WORD32:
        put_le(bytes, value, 4);
        break;
    case FIELD_BRANCH26:
        put_branch(bytes, value, 26, 0);
        break;
    case FIELD_BRANCH19:
        put_branch(bytes, value, 19, 5);
        break;
    case FIELD_BRANCH14:
        put_branch(bytes, value, 14, 5);
        break;
    case FIELD_NONE:
        break;
    }
}

static bool is_wanted(const struct br2_elf_section *target, enum br2_elf_use use)
{
    bool code = (target->flags & SHF_EXECINSTR) != 0 || strcmp(target->name, ".eh_frame") == 0;
    bool debug =
        strncmp(target->name, ".debug_", 7) == 0 || strncmp(target->name, ".zdebug_", 8) == 0;
    return (code || (debug && use >= BR2_ELF_DEBUG)) && target->type != SHT_NOBITS &&
           target->type != SHT_NULL;
}

static int remember(struct br2_elf *elf, uint64_t address, struct br2pgo_error *err)
{
    if (!br2_grow(&elf->unresolved, &elf->unresolved_capacity, elf->unresolved_count,
                  sizeof *elf->unresolved)) {
        return br2_fail_memory(err);
    }
    elf->unresolved[elf->unresolved_count++] = address;
    return 0;
}

/* Applies one relocation to `bytes` of `target`. */
static int apply(struct br2_elf *elf, const struct br2_elf_section *target, uint8_t *bytes,
                 size_t size, const struct br2_elf_symbols *symbols, const GElf_Rela *rela,
                 struct br2pgo_error *err)
{
    uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);
    struct how how = elf->header.e_machine == EM_AARCH64 ? how_aarch64(type) : how_x86_64(type);
    bool code = (target->flags & SHF_EXECINSTR) != 0;
    size_t width = how.field == FIELD_WORD64 ? 8 : 4;
    if (how.field == FIELD_NONE || (code && !how.branch) || rela->r_offset > size ||
        size - rela->r_offset < width) {
        return 0;
    }
    GElf_Sym symbol;
    const char *name;
    uint64_t value;
    uint64_t place = target->address + rela->r_offset;
    if (!br2_elf_symbol(symbols, GELF_R_SYM(rela->r_info), &symbol, &name) ||
        !br2_elf_symbol_address(elf, &symbol, &value)) {
        return code ? remember(elf, place, err) : 0;
    }
    value += (uint64_t)rela->r_addend;
    put_field(bytes + rela->r_offset, how.field, how.relative ? value - place : value);
    return 0;
}

static int apply_section(struct br2_elf *elf, const struct br2_elf_section *section,
                         enum br2_elf_use use, size_t *room, struct br2pgo_error *err)
{
    if (section->info == 0 || section->info >= elf->section_count ||
        section->link >= elf->section_count || !is_wanted(&elf->sections[section->info], use) ||
        !br2_elf_take(room, section->size)) {
        return 0;
    }
    const struct br2_elf_section *target = &elf->sections[section->info];
    if ((target->flags & SHF_COMPRESSED) != 0 && elf_compress(target->scn, 0, 0) < 0) {
        return 0; /* the reader of the debug information finds and reports it again */
    }
    Elf_Data *to = elf_getdata(target->scn, NULL);
    Elf_Data *from = elf_getdata(section->scn, NULL);
    struct br2_elf_symbols symbols;
    if (to == NULL || to->d_buf == NULL || from == NULL || from->d_type != ELF_T_RELA ||
        !br2_elf_symbols_of(elf, &elf->sections[section->link], &symbols)) {
        return 0;
    }
    size_t count = from->d_size / sizeof(Elf64_Rela);
    int status = 0;
    for (size_t i = 0; i < count && i < INT32_MAX && status == 0; i++) {
        GElf_Rela rela;
        if (gelf_getrela(from, (int)i, &rela) != NULL) {
            status = apply(elf, target, to->d_buf, to->d_size, &symbols, &rela, err);
        }
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int br2_elf_relocate(struct br2_elf *elf, enum br2_elf_use use, struct br2pgo_error *err)
{
    if (elf->header.e_machine != EM_X86_64 && elf->header.e_machine != EM_AARCH64) {
        return 0;
    }
    size_t room = br2_elf_room(elf);
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct br2_elf_section *section = &elf->sections[i];
        int status = section->type == SHT_RELA ? apply_section(elf, section, use, &room, err) : 0;
        if (status != 0) {
            return status;
        }
    }
    if (elf->unresolved_count > 1) {
        qsort(elf->unresolved, elf->unresolved_count, sizeof *elf->unresolved, by_value);
    }
    return 0;
}
