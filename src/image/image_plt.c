/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PLT stubs. A stub jumps through a slot of the global offset table; the relocation of that slot
 * names the function. The lazy stubs of x86 with branch tracking load the relocation's number
 * instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/image_private.h"

struct slot {
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *sorted; /* owned, by address */
    size_t count;
    size_t capacity;
    const char **plt; /* owned: names of .rela.plt in its order, NULL where there is none */
    size_t plt_count;
};

struct plt {
    struct br2_image *image;
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    uint64_t entry_size;
    bool has_header;
    struct slots slots;
    size_t room; /* for names */
};

static const char *name_of(const struct br2_elf_symbols *symbols, uint64_t index)
{
    GElf_Sym symbol;
    const char *name;
    bool found = index != 0 && br2_elf_symbol(symbols, index, &symbol, &name) && name[0] != '\0';
    return found ? name : NULL;
}

static int add_slots(const struct br2_elf *elf, const struct br2_elf_section *section,
                     struct slots *slots, struct br2pgo_error *err)
{
    struct br2_elf_symbols symbols = {0};
    Elf_Data *data = section->type == SHT_RELA ? elf_getdata(section->scn, NULL) : NULL;
    if (data == NULL || data->d_type != ELF_T_RELA) {
        return 0;
    }
    if (section->link < elf->section_count) {
        br2_elf_symbols_of(elf, &elf->sections[section->link], &symbols);
    }
    bool plt = strcmp(section->name, ".rela.plt") == 0 && slots->plt == NULL;
    size_t count = data->d_size / sizeof(Elf64_Rela);
    if (plt && count > 0) {
        slots->plt = br2_calloc(count, sizeof *slots->plt);
        if (slots->plt == NULL) {
            return br2_fail_memory(err);
        }
        slots->plt_count = count;
    }
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Rela rela;
        if (gelf_getrela(data, (int)i, &rela) == NULL) {
            continue;
        }
        const char *name = name_of(&symbols, GELF_R_SYM(rela.r_info));
        if (plt) {
            slots->plt[i] = name;
        }
        if (name == NULL) {
            continue;
        }
        if (!br2_grow(&slots->sorted, &slots->capacity, slots->count, sizeof *slots->sorted)) {
            return br2_fail_memory(err);
        }
        slots->sorted[slots->count++] = (struct slot){rela.r_offset, name};
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a;
    const struct slot *y = b;
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

static int read_slots(const struct br2_elf *elf, struct slots *slots, struct br2pgo_error *err)
{
    size_t room = br2_elf_room(elf);
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct br2_elf_section *section = &elf->sections[i];
        bool wanted =
            strcmp(section->name, ".rela.plt") == 0 || strcmp(section->name, ".rela.dyn") == 0;
        if (wanted && br2_elf_take(&room, section->size)) {
            int status = add_slots(elf, section, slots, err);
            if (status != 0) {
                return status;
            }
        }
    }
    if (slots->count > 1) {
        qsort(slots->sorted, slots->count, sizeof *slots->sorted, by_address);
    }
    return 0;
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
    size_t low = 0;
    size_t high = slots->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slots->sorted[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < slots->count && slots->sorted[low].address == address;
    return found ? slots->sorted[low].name : NULL;
}

static uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* [endbr64] [bnd] jmp *slot(%rip), or [endbr64] push number; [bnd] jmp header. */
static const char *name_x86(const struct plt *plt, size_t offset, size_t size)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *p = plt->bytes + offset;
    size_t at = size >= 4 && memcmp(p, endbr64, sizeof endbr64) == 0 ? 4 : 0;
    if (at < size && p[at] == 0xf2) {
        at++;
    }
    if (size - at >= 6 && p[at] == 0xff && p[at + 1] == 0x25) {
        uint64_t next = plt->address + offset + at + 6;
        return slot_name(&plt->slots, next + (uint64_t)(int32_t)load_le32(p + at + 2));
    }
    if (size - at >= 5 && p[at] == 0x68) {
        uint32_t number = load_le32(p + at + 1);
        return number < plt->slots.plt_count ? plt->slots.plt[number] : NULL;
    }
    return NULL;
}

#define WORD_BTI_C 0xd503245fu
#define WORD_STP   0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! begins the header */

static bool is_adrp_x16(uint32_t word)
{
    return (word & 0x9f00001f) == 0x90000010;
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #slot]; ... */
static const char *name_aarch64(const struct plt *plt, size_t offset, size_t size)
{
    const uint8_t *p = plt->bytes + offset;
    size_t at = size >= 4 && load_le32(p) == WORD_BTI_C ? 4 : 0;
    if (size - at < 8 || !is_adrp_x16(load_le32(p + at))) {
        return NULL;
    }
    uint32_t adrp = load_le32(p + at);
    uint32_t ldr = load_le32(p + at + 4);
    if ((ldr & 0xffc003ff) != 0xf9400211) {
        return NULL;
    }
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if ((pages & (UINT64_C(1) << 20)) != 0) {
        pages |= ~((UINT64_C(1) << 21) - 1);
    }
    uint64_t page = ((plt->address + offset + at) & ~UINT64_C(0xfff)) + (pages << 12);
    return slot_name(&plt->slots, page + (uint64_t)(ldr >> 10 & 0xfff) * 8);
}

/* auipc t3, pages; ld t3, slot(t3); jalr t1, t3; nop */
static const char *name_riscv(const struct plt *plt, size_t offset, size_t size)
{
    const uint8_t *p = plt->bytes + offset;
    uint32_t auipc = size >= 8 ? load_le32(p) : 0;
    uint32_t ld = size >= 8 ? load_le32(p + 4) : 0;
    if ((auipc & 0xfff) != 0xe17 || (ld & 0xfffff) != 0xe3e03) {
        return NULL;
    }
    uint64_t pages = (uint64_t)(int32_t)(auipc & ~UINT32_C(0xfff));
    uint64_t distance = ((uint64_t)(ld >> 20) ^ 0x800) - 0x800;
    return slot_name(&plt->slots, plt->address + offset + pages + distance);
}

/* The header of RISC-V's is as large as two stubs. */
static size_t stub_size_riscv(const struct plt *plt, size_t offset)
{
    size_t size = plt->has_header && offset == 0 ? 32 : 16;
    size_t left = plt->size - offset;
    return size < left ? size : left;
}

/* Size of the stub at `offset`. */
static size_t stub_size_x86(const struct plt *plt, size_t offset)
{
    size_t size = plt->entry_size == 8 ? 8 : 16;
    size_t left = plt->size - offset;
    return size < left ? size : left;
}

/* AArch64 stubs differ in size with the protections asked for: up to where the next one begins. */
static size_t stub_size_aarch64(const struct plt *plt, size_t offset)
{
    size_t at = offset;
    uint32_t previous = 0;
    for (; plt->size - at >= 4; at += 4) {
        uint32_t word = load_le32(plt->bytes + at);
        bool begins = word == WORD_BTI_C || ((is_adrp_x16(word) || word == WORD_STP) &&
                                             previous != WORD_BTI_C && previous != WORD_STP);
        if (begins && at != offset) {
            return at - offset;
        }
        previous = word;
    }
    return plt->size - offset;
}

static const struct stubs {
    size_t (*size)(const struct plt *plt, size_t offset);
    const char *(*name)(const struct plt *plt, size_t offset, size_t size);
} stubs[] = {
    [BR2_MACHINE_X86_64] = {stub_size_x86, name_x86},
    [BR2_MACHINE_AARCH64] = {stub_size_aarch64, name_aarch64},
    [BR2_MACHINE_RISCV64] = {stub_size_riscv, name_riscv},
};

static int add_stub(struct plt *plt, size_t offset, size_t size, struct br2_range_list *ret,
                    struct br2pgo_error *err)
{
    const char *target = NULL;
    if (!(plt->has_header && offset == 0)) {
        target = stubs[plt->image->machine].name(plt, offset, size);
    }
    const char *name = "plt";
    size_t length = target != NULL ? strlen(target) : 0;
    if (target != NULL && br2_elf_take(&plt->room, length)) {
        char *text = br2_arena_alloc(&plt->image->names, length + sizeof "@plt");
        if (text == NULL) {
            return br2_fail_memory(err);
        }
        memcpy(text, target, length);
        memcpy(text + length, "@plt", sizeof "@plt");
        name = text;
    }
    uint64_t start = plt->address + offset;
    struct br2_code_range range = {start, start + size, name, true, false};
    return br2_range_list_add(ret, &range) ? 0 : br2_fail_memory(err);
}

static int read_section(struct plt *plt, const struct br2_elf_section *section,
                        struct br2_range_list *ret, struct br2pgo_error *err)
{
    const struct br2_text_area *area = br2_image_area_at(plt->image, section->address);
    plt->bytes = br2_elf_section_bytes(section, &plt->size);
    if (plt->bytes == NULL || area == NULL || area->start != section->address) {
        return 0;
    }
    if (plt->size > area->end - area->start) {
        plt->size = (size_t)(area->end - area->start);
    }
    plt->address = section->address;
    plt->entry_size = section->entry_size;
    plt->has_header = strcmp(section->name, ".plt") == 0;
    for (size_t offset = 0; offset < plt->size;) {
        size_t size = stubs[plt->image->machine].size(plt, offset);
        int status = add_stub(plt, offset, size, ret, err);
        if (status != 0) {
            return status;
        }
        offset += size;
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct br2_code_range *x = a;
    const struct br2_code_range *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

int br2_image_read_plt(struct br2_image *image, struct br2_range_list *ret,
                       struct br2pgo_error *err)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
    struct plt plt = {.image = image, .room = br2_elf_room(&image->elf)};
    if (image->elf.header.e_type == ET_REL) {
        return 0;
    }
    int status = read_slots(&image->elf, &plt.slots, err);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == 0; i++) {
        const struct br2_elf_section *section = br2_elf_section(&image->elf, names[i]);
        if (section != NULL) {
            status = read_section(&plt, section, ret, err);
        }
    }
    if (ret->count > 0) {
        qsort(ret->items, ret->count, sizeof *ret->items, by_start);
    }
    br2_free(plt.slots.sorted);
    br2_free(plt.slots.plt);
    return status;
}
