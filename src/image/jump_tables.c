/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/jump_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/cold_parts.h"
#include "image/image_private.h"

/* A section with data. */
struct data {
    uint64_t start;
    size_t size;
    const uint8_t *bytes;
};

struct br2_jump_tables {
    const struct br2_image *image;
    struct br2_addresses in_data; /* code addresses that data holds */
    struct data *data;            /* owned; sorted by start */
    size_t data_count;
    size_t data_capacity;
};

/* What a function says about its tables. */
struct evidence {
    struct br2_addresses near; /* addresses it takes relative to the program counter */
    struct br2_addresses far;  /* of tables of absolute addresses */
    bool jumps;                /* indirectly */
};

/* The value a relocation puts into data, where that is an address. */
static bool value_of(const struct br2_elf *elf, const struct br2_elf_symbols *symbols,
                     const GElf_Rela *rela, uint64_t *ret)
{
    uint64_t type = GELF_R_TYPE(rela->r_info);
    uint64_t relative;
    uint64_t absolute;
    switch (elf->header.e_machine) {
    case EM_X86_64:
        relative = R_X86_64_RELATIVE;
        absolute = R_X86_64_64;
        break;
    case EM_AARCH64:
        relative = R_AARCH64_RELATIVE;
        absolute = R_AARCH64_ABS64;
        break;
    default:
        relative = R_RISCV_RELATIVE;
        absolute = R_RISCV_64;
        break;
    }
    if (type == relative) {
        *ret = (uint64_t)rela->r_addend;
        return true;
    }
    GElf_Sym symbol;
    const char *name;
    uint64_t base;
    if (type != absolute || !br2_elf_symbol(symbols, GELF_R_SYM(rela->r_info), &symbol, &name) ||
        !br2_elf_symbol_address(elf, &symbol, &base)) {
        return false;
    }
    *ret = base + (uint64_t)rela->r_addend;
    return true;
}

/* Whether the relocations of a section are of data that the program sees. */
static bool is_of_data(const struct br2_elf *elf, const struct br2_elf_section *section)
{
    if (section->type != SHT_RELA) {
        return false;
    }
    if ((section->flags & SHF_ALLOC) != 0) {
        return true; /* for the dynamic linker */
    }
    return section->info != 0 && section->info < elf->section_count &&
           (elf->sections[section->info].flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_ALLOC;
}

static bool add_section(struct br2_jump_tables *tables, const struct br2_elf_section *section)
{
    const struct br2_elf *elf = &tables->image->elf;
    Elf_Data *data = elf_getdata(section->scn, NULL);
    if (data == NULL || data->d_buf == NULL || data->d_type != ELF_T_RELA) {
        return true;
    }
    struct br2_elf_symbols symbols = {0};
    if (section->link < elf->section_count) {
        br2_elf_symbols_of(elf, &elf->sections[section->link], &symbols);
    }
    size_t count = data->d_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Rela rela;
        uint64_t value;
        if (gelf_getrela(data, (int)i, &rela) != NULL && value_of(elf, &symbols, &rela, &value) &&
            br2_image_area_at(tables->image, value) != NULL &&
            !br2_addresses_add(&tables->in_data, value)) {
            return false;
        }
    }
    return true;
}

static bool add_data(struct br2_jump_tables *tables, const struct br2_elf_section *section)
{
    size_t size;
    const uint8_t *bytes = br2_elf_section_bytes(section, &size);
    if ((section->flags & (SHF_ALLOC | SHF_EXECINSTR)) != SHF_ALLOC || bytes == NULL) {
        return true;
    }
    if (!br2_grow(&tables->data, &tables->data_capacity, tables->data_count,
                  sizeof *tables->data)) {
        return false;
    }
    tables->data[tables->data_count++] =
        (struct data){.start = section->address, .size = size, .bytes = bytes};
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct data *a = left;
    const struct data *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

int br2_jump_tables_open(const struct br2_image *image, struct br2_jump_tables **ret,
                         struct br2pgo_error *err)
{
    struct br2_jump_tables *tables = br2_calloc(1, sizeof *tables);
    if (tables == NULL) {
        return br2_fail_memory(err);
    }
    tables->image = image;
    const struct br2_elf *elf = &image->elf;
    bool ok = true;
    for (size_t i = 1; ok && i < elf->section_count; i++) {
        ok = add_data(tables, &elf->sections[i]);
        if (ok && is_of_data(elf, &elf->sections[i])) {
            ok = add_section(tables, &elf->sections[i]);
        }
    }
    if (!ok) {
        br2_jump_tables_close(tables);
        return br2_fail_memory(err);
    }
    br2_addresses_sort(&tables->in_data);
    if (tables->data_count != 0) {
        qsort(tables->data, tables->data_count, sizeof *tables->data, by_start);
    }
    *ret = tables;
    return 0;
}

void br2_jump_tables_close(struct br2_jump_tables *tables)
{
    if (tables != NULL) {
        br2_addresses_done(&tables->in_data);
        br2_free(tables->data);
        br2_free(tables);
    }
}

static uint64_t signed32(const uint8_t *p)
{
    uint32_t value =
        (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return (uint64_t)(int64_t)(int32_t)value;
}

/* Opcode, ModRM and SIB byte of an instruction with a 4-byte displacement behind them. */
static bool take_x86(struct evidence *evidence, const struct br2_insn *insn, const uint8_t *p)
{
    size_t size = insn->size;
    size_t at = 0;
    if (size > 1 && p[at] == 0x3e) { /* notrack */
        at++;
    }
    bool wide = false;
    if (at < size && (p[at] & 0xf0) == 0x40) {
        wide = (p[at] & 8) != 0;
        at++;
    }
    if (size - at < 3) {
        return true;
    }
    uint8_t opcode = p[at];
    uint8_t modrm = p[at + 1];
    uint8_t sib = p[at + 2];
    if (opcode == 0x8d && wide && (modrm & 0xc7) == 0x05 && size - at == 6) { /* lea x(%rip) */
        return br2_addresses_add(&evidence->near, insn->address + size + signed32(p + at + 2));
    }
    bool indexed = (modrm & 0xc7) == 0x04;
    bool jumps = opcode == 0xff && (modrm >> 3 & 7) == 4;
    bool loads = opcode == 0x8b && wide;
    if (indexed && (jumps || loads) && sib >> 6 == 3 && (sib & 7) == 5 && size - at == 7) {
        return br2_addresses_add(&evidence->far, signed32(p + at + 3)); /* x(,%index,8) */
    }
    return true;
}

/* The bytes of data from `address` to the end of its section; NULL: there are none. */
static const uint8_t *data_at(const struct br2_jump_tables *tables, uint64_t address,
                              size_t *ret_size)
{
    size_t low = 0; /* of the first section behind `address` */
    size_t high = tables->data_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tables->data[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct data *data = low != 0 ? &tables->data[low - 1] : NULL;
    if (data == NULL || address - data->start >= data->size) {
        return NULL;
    }
    size_t offset = (size_t)(address - data->start);
    *ret_size = data->size - offset;
    return data->bytes + offset;
}

/* Whether `target` is in a part of the function that was split off, or the function is the part. */
static bool is_in_other_part(const struct br2_image *image, const struct br2_code *code,
                             uint64_t target)
{
    const struct br2_code_range *own = br2_image_range_at(image, code->start);
    const struct br2_code_range *other = br2_image_range_at(image, target);
    return own != NULL && other != NULL && br2_are_parts_of_one(own, other);
}

/* Adds the entries of one table; `size` is that of an entry, `end` where another one begins. */
static bool add_table(const struct br2_jump_tables *tables, const struct br2_code *code,
                      uint64_t table, uint64_t end, size_t size, struct br2_addresses *ret)
{
    size_t left = 0;
    const uint8_t *p = data_at(tables, table, &left);
    for (uint64_t at = table; p != NULL && left >= size && at != end; at += size) {
        uint64_t target = size == 4 ? table + signed32(p) : br2_load_le64(p);
        /* Where the compiler saw that nothing gets, the entry is the function's end. */
        bool inside = br2_code_find(code, target) != SIZE_MAX;
        if (!inside && target != code->end && !is_in_other_part(tables->image, code, target)) {
            break;
        }
        if (target != code->end && !br2_addresses_add(ret, target)) {
            return false;
        }
        p += size;
        left -= size;
    }
    return true;
}

static bool add_tables(const struct br2_jump_tables *tables, const struct br2_code *code,
                       const struct br2_addresses *starts, size_t size, struct br2_addresses *ret)
{
    bool ok = true;
    for (size_t i = 0; ok && i < starts->count; i++) {
        uint64_t end = i + 1 < starts->count ? starts->items[i + 1] : 0;
        ok = add_table(tables, code, starts->items[i], end, size, ret);
    }
    return ok;
}

static bool collect(const struct br2_jump_tables *tables, const struct br2_code *code,
                    struct evidence *evidence, struct br2_addresses *ret)
{
    const struct br2_image *image = tables->image;
    size_t size;
    const uint8_t *bytes = br2_image_code(image, code->start, &size);
    bool ok = true;
    for (size_t i = 0; ok && i < code->count; i++) {
        uint64_t offset = code->insns[i].address - code->start;
        evidence->jumps = evidence->jumps || code->insns[i].kind == BR2_INSN_INDIRECT_JUMP;
        if (bytes != NULL && image->machine == BR2_MACHINE_X86_64) {
            ok = take_x86(evidence, &code->insns[i], bytes + offset);
        }
    }
    br2_addresses_sort(&evidence->near);
    br2_addresses_sort(&evidence->far);
    if (ok && evidence->jumps) {
        ok = add_tables(tables, code, &evidence->near, 4, ret);
    }
    return ok && add_tables(tables, code, &evidence->far, 8, ret);
}

int br2_jump_tables_targets(const struct br2_jump_tables *tables, const struct br2_code *code,
                            struct br2_addresses *ret, struct br2pgo_error *err)
{
    struct evidence evidence = {0};
    ret->count = 0;
    bool ok = collect(tables, code, &evidence, ret);
    br2_addresses_done(&evidence.near);
    br2_addresses_done(&evidence.far);
    br2_addresses_sort(ret);
    return ok ? 0 : br2_fail_memory(err);
}

bool br2_jump_tables_in_data(const struct br2_jump_tables *tables, uint64_t address)
{
    return br2_addresses_have(&tables->in_data, address);
}
