/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Checks a unit's DIEs before libdw walks them. libdw bounds its reads but takes a DW_AT_sibling
 * that points forward at its word, and before it compared the two offsets ran forever on one that
 * points back. A wrong one would make DIEs, and so counts, out of the middle of others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/limits.h"
#include "image/debug_private.h"

struct abbreviation {
    uint64_t code;
    uint64_t tag;
    size_t attributes; /* offset of their list in the section */
    bool has_children;
};

struct check {
    struct br2_debug *debug;
    struct br2_cursor c; /* from the unit's header to the unit's end */
    struct br2_cursor abbreviations;
    struct abbreviation *items; /* owned; sorted by code */
    size_t count;
    size_t capacity;
    uint16_t version;
    uint8_t address_size;
    uint8_t offset_size;
    bool no_memory;
    size_t root;           /* offset of the unit's DIE in the unit ... */
    Dwarf_Off unit_offset; /* ... and of the unit in its section */
    struct br2_die_list *functions;
};

/* The section of `elf` that has `at` among its bytes. libelf makes none of its own of those of this
 * type, which debug information has, so that looking takes no memory. */
static const uint8_t *section_around(Elf *elf, const void *at, size_t *ret_size)
{
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_PROGBITS) {
            continue;
        }
        Elf_Data *data = elf_getdata(scn, NULL);
        uintptr_t start = data != NULL ? (uintptr_t)data->d_buf : 0;
        if (start != 0 && (uintptr_t)at >= start && (uintptr_t)at - start < data->d_size) {
            *ret_size = data->d_size;
            return data->d_buf;
        }
    }
    return NULL;
}

const uint8_t *br2_debug_bytes_around(struct br2_debug *debug, Dwarf_Die *die, const void *at,
                                      size_t *ret_size)
{
    struct br2_debug_sections *sections = &debug->sections;
    for (size_t i = 0; i < sizeof sections->found / sizeof sections->found[0]; i++) {
        const struct br2_section_bytes *known = &sections->found[i];
        uintptr_t start = (uintptr_t)known->bytes;
        if (start != 0 && (uintptr_t)at >= start && (uintptr_t)at - start < known->size) {
            *ret_size = known->size;
            return known->bytes;
        }
    }
    *ret_size = 0;
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
    const uint8_t *bytes = elf != NULL ? section_around(elf, at, ret_size) : NULL;
    if (bytes != NULL) {
        sections->found[sections->next] = (struct br2_section_bytes){bytes, *ret_size};
        sections->next = (sections->next + 1) % (sizeof sections->found / sizeof *sections->found);
    }
    return bytes;
}

static struct br2_section_bytes abbreviation_section(Elf *elf)
{
    static const char *const names[] = {".debug_abbrev", ".zdebug_abbrev", ".debug_abbrev.dwo"};
    size_t strings;
    Elf_Scn *scn = NULL;
    if (elf == NULL || elf_getshdrstrndx(elf, &strings) != 0) {
        return (struct br2_section_bytes){0};
    }
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(scn, &header) != NULL ? elf_strptr(elf, strings, header.sh_name) : NULL;
        for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
            Elf_Data *data = strcmp(name, names[i]) == 0 ? elf_getdata(scn, NULL) : NULL;
            if (data != NULL && data->d_buf != NULL) {
                return (struct br2_section_bytes){data->d_buf, data->d_size};
            }
        }
    }
    return (struct br2_section_bytes){0};
}

/* Those of the file that `die` is in. */
static struct br2_section_bytes abbreviations_of(struct br2_debug *debug, Dwarf_Die *die)
{
    struct br2_debug_sections *sections = &debug->sections;
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
    if (sections->elf != elf) {
        sections->elf = elf;
        sections->abbreviations = abbreviation_section(elf);
    }
    return sections->abbreviations;
}

/* Passes one attribute of an abbreviation; false at the end of the list. */
static bool next_attribute(struct br2_cursor *c, uint64_t *ret_name, uint64_t *ret_form)
{
    *ret_name = br2_cursor_uleb(c);
    *ret_form = br2_cursor_uleb(c);
    if (*ret_form == DW_FORM_implicit_const) {
        while ((br2_cursor_u8(c) & 0x80) != 0) {
        }
    }
    return !c->failed && (*ret_name != 0 || *ret_form != 0);
}

static int by_code(const void *a, const void *b)
{
    const struct abbreviation *x = a;
    const struct abbreviation *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

static bool read_abbreviations(struct check *check, uint64_t offset)
{
    struct br2_cursor *c = &check->abbreviations;
    if (offset >= br2_cursor_left(c)) {
        return false;
    }
    br2_cursor_skip(c, (size_t)offset);
    for (;;) {
        uint64_t code = br2_cursor_uleb(c);
        if (c->failed || code == 0) {
            break;
        }
        uint64_t tag = br2_cursor_uleb(c);
        bool has_children = br2_cursor_u8(c) != 0;
        struct abbreviation item = {code, tag, br2_cursor_offset(c), has_children};
        uint64_t name;
        uint64_t form;
        while (next_attribute(c, &name, &form)) {
        }
        if (c->failed || !br2_debug_spend(check->debug)) {
            break;
        }
        if (!br2_grow(&check->items, &check->capacity, check->count, sizeof *check->items)) {
            check->no_memory = true;
            return false;
        }
        check->items[check->count++] = item;
    }
    c->failed = false;
    if (check->count == 0) {
        return false;
    }
    qsort(check->items, check->count, sizeof *check->items, by_code);
    return true;
}

static const struct abbreviation *find(const struct check *check, uint64_t code)
{
    /* Every producer numbers them from 1 on. */
    if (code <= check->count && check->items[code - 1].code == code) {
        return &check->items[code - 1];
    }
    struct abbreviation key = {.code = code};
    return bsearch(&key, check->items, check->count, sizeof *check->items, by_code);
}

/* Size of a value that the form alone tells; SIZE_MAX: it does not. */
static size_t fixed_size(const struct check *check, uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return check->address_size;
    case DW_FORM_ref_addr:
        return check->version == 2 ? check->address_size : check->offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return check->offset_size;
    default:
        return SIZE_MAX;
    }
}

static void skip_value(struct check *check, uint64_t form)
{
    struct br2_cursor *c = &check->c;
    uint64_t size = fixed_size(check, form);
    if (size == SIZE_MAX) {
        size_t length;
        switch (form) {
        case DW_FORM_string:
            c->failed = br2_cursor_string(c, &length) == NULL || c->failed;
            return;
        case DW_FORM_sdata:
        case DW_FORM_udata:
        case DW_FORM_ref_udata:
        case DW_FORM_strx:
        case DW_FORM_addrx:
        case DW_FORM_loclistx:
        case DW_FORM_rnglistx:
        case DW_FORM_GNU_addr_index:
        case DW_FORM_GNU_str_index:
            while ((br2_cursor_u8(c) & 0x80) != 0) {
            }
            return;
        case DW_FORM_block1:
            size = br2_cursor_u8(c);
            break;
        case DW_FORM_block2:
            size = br2_cursor_u16(c);
            break;
        case DW_FORM_block4:
            size = br2_cursor_u32(c);
            break;
        case DW_FORM_block:
        case DW_FORM_exprloc:
            size = br2_cursor_uleb(c);
            break;
        default:
            c->failed = true; /* unknown, so its end is too */
            return;
        }
    }
    br2_cursor_skip(c, (size_t)size);
}

/* The offset from the unit's start that a sibling attribute gives; false when it is of a form that
 * it cannot have. */
static bool read_sibling(struct check *check, uint64_t form, uint64_t *ret)
{
    struct br2_cursor *c = &check->c;
    switch (form) {
    case DW_FORM_ref1:
        *ret = br2_cursor_u8(c);
        return true;
    case DW_FORM_ref2:
        *ret = br2_cursor_u16(c);
        return true;
    case DW_FORM_ref4:
        *ret = br2_cursor_u32(c);
        return true;
    case DW_FORM_ref8:
        *ret = br2_cursor_u64(c);
        return true;
    case DW_FORM_ref_udata:
        *ret = br2_cursor_uleb(c);
        return true;
    default:
        return false;
    }
}

/* Passes the attributes of one DIE; `*ret_sibling` is 0 when it does not say. */
static bool pass_attributes(struct check *check, const struct abbreviation *abbreviation,
                            uint64_t *ret_sibling)
{
    struct br2_cursor list = check->abbreviations;
    list.at = list.base + abbreviation->attributes;
    uint64_t name;
    uint64_t form;
    *ret_sibling = 0;
    while (next_attribute(&list, &name, &form)) {
        if (form == DW_FORM_indirect) {
            form = br2_cursor_uleb(&check->c);
            if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) {
                return false;
            }
        }
        if (name == DW_AT_sibling) {
            if (!read_sibling(check, form, ret_sibling)) {
                return false;
            }
        } else {
            skip_value(check, form);
        }
        if (check->c.failed) {
            return false;
        }
    }
    return true;
}

/* What can have a function in it. */
static bool may_hold_functions(uint64_t tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_common_block:
        return true;
    default:
        return false;
    }
}

/* The DIEs whose children are being passed. */
struct nesting {
    uint64_t siblings[BR2_DIE_DEPTH_MAX]; /* their sibling references; 0 where there is none */
    bool holds[BR2_DIE_DEPTH_MAX];        /* whether functions in them are functions of the unit */
    size_t depth;
};

/* Whether a function among the DIEs being passed is one of the unit. */
static bool is_held(const struct nesting *nesting)
{
    return nesting->depth > 0 && nesting->holds[nesting->depth - 1];
}

/* Notes a DIE that is a function; `at` is its offset in the unit. */
static bool note_function(struct check *check, size_t at)
{
    struct br2_die_list *list = check->functions;
    if (!br2_grow(&list->offsets, &list->capacity, list->count, sizeof *list->offsets)) {
        check->no_memory = true;
        return false;
    }
    list->offsets[list->count++] = check->unit_offset + at;
    return true;
}

/* Begins with the children of a DIE; `root`: of the unit's. */
static bool nest(struct nesting *nesting, uint64_t tag, uint64_t sibling, bool root)
{
    if (nesting->depth == BR2_DIE_DEPTH_MAX) {
        return false;
    }
    nesting->holds[nesting->depth] = root || (is_held(nesting) && may_hold_functions(tag));
    nesting->siblings[nesting->depth++] = sibling;
    return true;
}

/* Passes one DIE, or the end of a list of them. A sibling reference must lead to the end of the DIE
 * and its children. */
static bool pass_entry(struct check *check, struct nesting *nesting)
{
    struct br2_cursor *c = &check->c;
    uint64_t sibling = 0;
    size_t start = br2_cursor_offset(c);
    uint64_t code = br2_cursor_uleb(c);
    if (c->failed) {
        return false;
    }
    if (code == 0) {
        sibling = nesting->depth > 0 ? nesting->siblings[--nesting->depth] : 0;
    } else {
        const struct abbreviation *abbreviation = find(check, code);
        if (abbreviation == NULL || !pass_attributes(check, abbreviation, &sibling)) {
            return false;
        }
        if (abbreviation->tag == DW_TAG_subprogram && is_held(nesting) &&
            !note_function(check, start)) {
            return false;
        }
        if (abbreviation->has_children) {
            return nest(nesting, abbreviation->tag, sibling, start == check->root);
        }
    }
    return sibling == 0 || sibling == br2_cursor_offset(c);
}

static bool pass_entries(struct check *check)
{
    struct nesting nesting = {.depth = 0};
    do {
        if (!pass_entry(check, &nesting)) {
            return false;
        }
    } while (br2_cursor_left(&check->c) > 0);
    return true;
}

/* Reads the unit's header; `unit_offset` is the header's place in the section. */
static bool read_header(struct check *check, const uint8_t *bytes, size_t size,
                        uint64_t *ret_abbreviations)
{
    struct br2_cursor *c = &check->c;
    *c = br2_cursor_make(bytes, size, false);
    uint64_t length = br2_cursor_u32(c);
    check->offset_size = 4;
    if (length == UINT32_MAX) {
        length = br2_cursor_u64(c);
        check->offset_size = 8;
    }
    if (c->failed || length > br2_cursor_left(c)) {
        return false;
    }
    c->end = c->at + length;
    check->version = br2_cursor_u16(c);
    if (check->version >= 5) {
        br2_cursor_u8(c); /* type */
        check->address_size = br2_cursor_u8(c);
    }
    *ret_abbreviations = check->offset_size == 8 ? br2_cursor_u64(c) : br2_cursor_u32(c);
    if (check->version < 5) {
        check->address_size = br2_cursor_u8(c);
    }
    return !c->failed && check->version >= 2 && check->version <= 5;
}

bool br2_debug_unit_is_sound(struct br2_debug *debug, const struct br2_unit *unit,
                             struct br2_die_list *functions, bool *ret_no_memory)
{
    *ret_no_memory = false;
    struct check check = {.debug = debug, .functions = functions};
    Dwarf_Die die = unit->body;
    size_t size;
    const uint8_t *bytes = br2_debug_bytes_around(debug, &die, die.addr, &size);
    Dwarf_Off inside = dwarf_cuoffset(&die);
    size_t die_at = bytes != NULL ? (size_t)((const uint8_t *)die.addr - bytes) : 0;
    if (bytes == NULL || inside > die_at) {
        return false;
    }
    size_t start = die_at - (size_t)inside;
    check.root = (size_t)inside;
    check.unit_offset = dwarf_dieoffset(&die) - inside;
    uint64_t offset;
    struct br2_section_bytes abbreviations = abbreviations_of(debug, &die);
    check.abbreviations = br2_cursor_make(abbreviations.bytes, abbreviations.size, false);
    bool sound = read_header(&check, bytes + start, size - start, &offset) &&
                 inside >= br2_cursor_offset(&check.c) &&
                 inside <= (size_t)(check.c.end - check.c.base) &&
                 read_abbreviations(&check, offset);
    if (sound) {
        check.c.at = check.c.base + inside;
        sound = pass_entries(&check);
    }
    br2_free(check.items);
    *ret_no_memory = check.no_memory;
    return sound;
}
