/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where split units are. libdw opens the file whose name the skeleton gives, and no other. For what
 * lies elsewhere, or is made in memory, the skeleton's reference to that name leads, while libdw
 * looks, to another string, which is added to .debug_str and names an open file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "image/debug_private.h"
#include "image/split_package.h"

/* The path of an open file, for any descriptor. */
#define PATH_SIZE sizeof "/proc/self/fd/-2147483648"

struct br2_debug_split {
    struct br2_split_package *package; /* owned; NULL: there is none */
    char *package_path;                /* owned; where it is, or was looked for */
    uint8_t *strings;                 /* of .debug_str; NULL: there is none, or none can be added */
    size_t slot;                      /* offset in it of the added string */
    struct br2_section_bytes offsets; /* .debug_str_offsets */
};

static bool is_skeleton(Dwarf_CU *cu)
{
    uint8_t type;
    return dwarf_cu_info(cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
           type == DW_UT_skeleton;
}

static bool has_skeletons(Dwarf *dwarf)
{
    Dwarf_CU *cu = NULL;
    Dwarf_CU *next = NULL;
    while (dwarf_get_units(dwarf, cu, &next, NULL, NULL, NULL, NULL) == 0) {
        if (is_skeleton(next)) {
            return true;
        }
        cu = next;
    }
    return false;
}

/* Opens the package beside the program, or beside its debug file. */
static int open_package(struct br2_debug *debug, struct br2pgo_error *err)
{
    struct br2_debug_split *split = debug->split;
    split->package_path = br2_format("%s.dwp", debug->path);
    if (split->package_path != NULL && !br2_file_is_regular(split->package_path)) {
        br2_free(split->package_path);
        split->package_path = br2_format("%s.dwp", debug->image->path);
    }
    if (split->package_path == NULL) {
        return br2_fail_memory(err);
    }
    debug->missing.package = split->package_path;
    if (!br2_file_is_regular(split->package_path)) {
        return 0;
    }
    split->package = br2_calloc(1, sizeof *split->package);
    if (split->package == NULL) {
        return br2_fail_memory(err);
    }
    debug->missing.has_package = true;
    return br2_split_package_open(split->package, split->package_path, err);
}

/* Makes .debug_str longer by one string. */
static int add_string(struct br2_debug *debug, struct br2pgo_error *err)
{
    const struct br2_elf_section *section = br2_elf_section(&debug->elf, ".debug_str");
    size_t size;
    const uint8_t *old = br2_elf_section_bytes(section, &size);
    if (old == NULL || size > UINT32_MAX - PATH_SIZE) {
        return 0;
    }
    uint8_t *bytes = br2_calloc(1, size + PATH_SIZE);
    if (bytes == NULL) {
        return br2_fail_memory(err);
    }
    memcpy(bytes, old, size);
    debug->split->strings = bytes;
    debug->split->slot = size;
    return br2_elf_replace(&debug->elf, section, bytes, size + PATH_SIZE, err);
}

int br2_debug_split_begin(struct br2_debug *debug, struct br2pgo_error *err)
{
    if (!has_skeletons(debug->dwarf)) {
        return 0;
    }
    debug->split = br2_calloc(1, sizeof *debug->split);
    if (debug->split == NULL) {
        return br2_fail_memory(err);
    }
    int status = open_package(debug, err);
    if (status == 0) {
        status = br2_elf_make_writable(&debug->elf, debug->path, err);
    }
    if (status == 0) {
        status = add_string(debug, err);
    }
    if (status != 0) {
        return status;
    }
    struct br2_section_bytes *offsets = &debug->split->offsets;
    offsets->bytes =
        br2_elf_section_bytes(br2_elf_section(&debug->elf, ".debug_str_offsets"), &offsets->size);
    dwarf_end(debug->dwarf);
    debug->dwarf = dwarf_begin_elf(debug->elf.elf, DWARF_C_READ, NULL);
    return 0;
}

void br2_debug_split_done(struct br2_debug *debug)
{
    struct br2_debug_split *split = debug->split;
    if (split == NULL) {
        return;
    }
    if (split->package != NULL) {
        br2_split_package_done(split->package);
    }
    br2_free(split->package);
    br2_free(split->package_path);
    br2_free(split);
}

static bool name_attribute(const struct br2_unit *unit, Dwarf_Attribute *ret)
{
    Dwarf_Die die = unit->die;
    return dwarf_attr(&die, DW_AT_dwo_name, ret) != NULL ||
           dwarf_attr(&die, DW_AT_GNU_dwo_name, ret) != NULL; /* before DWARF 5 */
}

static uint64_t read_le(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static void write_le(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

/* The number that a string form holds in place of an offset; false when it is another form. */
static bool string_index(const Dwarf_Attribute *attribute, uint64_t *ret)
{
    switch (attribute->form) {
    case DW_FORM_strx1:
        *ret = attribute->valp[0];
        return true;
    case DW_FORM_strx2:
        *ret = read_le(attribute->valp, 2);
        return true;
    case DW_FORM_strx3:
        *ret = read_le(attribute->valp, 3);
        return true;
    case DW_FORM_strx4:
        *ret = read_le(attribute->valp, 4);
        return true;
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index: /* at most 127 here: a skeleton has few strings */
        *ret = attribute->valp[0];
        return attribute->valp[0] < 0x80;
    default:
        return false;
    }
}

/* The place of the offset in .debug_str that the skeleton's name of the file is told by; NULL: it
 * is told otherwise. `*ret_size`: of the offset. */
static uint8_t *name_offset(struct br2_debug *debug, struct br2_unit *unit, size_t *ret_size)
{
    Dwarf_Attribute attribute;
    Dwarf_Die cu;
    uint8_t address_size;
    uint8_t offset_size;
    struct br2_debug_split *split = debug->split;
    if (split->strings == NULL || !name_attribute(unit, &attribute) ||
        dwarf_diecu(&unit->die, &cu, &address_size, &offset_size) == NULL) {
        return NULL;
    }
    const char *name = dwarf_formstring(&attribute);
    const uint8_t *at = attribute.form == DW_FORM_strp ? attribute.valp : NULL;
    uint64_t index;
    if (name != NULL && string_index(&attribute, &index)) {
        uint64_t base = offset_size == 8 ? 16 : 8; /* behind the table's header */
        br2_debug_number(&unit->die, DW_AT_str_offsets_base, &base);
        size_t left = base <= split->offsets.size ? split->offsets.size - (size_t)base : 0;
        at = index < left / offset_size ? split->offsets.bytes + base + index * offset_size : NULL;
    }
    /* Nothing is changed that does not lead to the name now. */
    if (at == NULL || name != (const char *)split->strings + read_le(at, offset_size)) {
        return NULL;
    }
    *ret_size = offset_size;
    return (uint8_t *)(uintptr_t)at;
}

static bool take_split(struct br2_debug *debug, const struct br2_unit *unit, Dwarf_Die *ret)
{
    size_t size;
    *ret = (Dwarf_Die){0};
    if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, ret, NULL, NULL, NULL) != 0 ||
        ret->addr == NULL || dwarf_tag(ret) != DW_TAG_compile_unit) {
        return false;
    }
    if (elf_rawfile(dwarf_getelf(dwarf_cu_getdwarf(ret->cu)), &size) != NULL) {
        br2_debug_add_budget(debug, size);
    }
    return true;
}

/* Has libdw look into the open file `fd`, which is closed. */
static bool take_from(struct br2_debug *debug, struct br2_unit *unit, int fd, Dwarf_Die *ret)
{
    size_t size = 0;
    uint8_t *place = name_offset(debug, unit, &size);
    uint64_t old = 0;
    if (place != NULL) {
        old = read_le(place, size);
        snprintf((char *)debug->split->strings + debug->split->slot, PATH_SIZE, "/proc/self/fd/%d",
                 fd);
        write_le(place, debug->split->slot, size);
    }
    bool found = take_split(debug, unit, ret); /* without a place: from where libdw finds it */
    if (place != NULL) {
        write_le(place, old, size);
    }
    close(fd);
    return found;
}

static bool take_from_package(struct br2_debug *debug, struct br2_unit *unit,
                              struct br2_split_package *package, Dwarf_Die *ret, int *ret_status)
{
    uint64_t id;
    struct br2_split_unit pieces;
    int fd = -1;
    if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0 ||
        !br2_split_package_find(package, id, &pieces)) {
        return false;
    }
    int status = br2_split_unit_file(package, &pieces, &fd, NULL);
    *ret_status = status == BR2PGO_NO_MEMORY ? status : 0;
    return status == 0 && take_from(debug, unit, fd, ret);
}

/* Takes the unit from the .dwo file at `path`. libdw before 0.189 knows no zstd: what is compressed
 * is unpacked first. */
static bool take_from_file(struct br2_debug *debug, struct br2_unit *unit, const char *path,
                           Dwarf_Die *ret, int *ret_status)
{
    struct br2_split_package file;
    Dwarf_Half version = 0;
    bool found = false;
    int status = br2_split_package_open(&file, path, NULL);
    *ret_status = status == BR2PGO_NO_MEMORY ? status : 0;
    if (status == 0 && file.compressed) {
        dwarf_cu_info(unit->die.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
        file.whole.dwarf5 = version >= 5;
        found = take_from_package(debug, unit, &file, ret, ret_status);
    } else if (status == 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        found = fd >= 0 && take_from(debug, unit, fd, ret);
    }
    br2_split_package_done(&file);
    return found;
}

/* The path of the .dwo file: where the compiler wrote it, else beside the program, where it may be
 * moved to with or without its folder. NULL: in none of these places, or out of memory. */
static char *find_file(struct br2_debug *debug, struct br2_unit *unit, int *ret_status)
{
    Dwarf_Attribute attribute;
    const char *name = name_attribute(unit, &attribute) ? dwarf_formstring(&attribute) : NULL;
    const char *folder = br2_debug_string(debug, &unit->die, DW_AT_comp_dir);
    if (name == NULL) {
        return NULL;
    }
    bool absolute = name[0] == '/' || folder == NULL;
    const char *path = debug->image->path;
    int length = (int)(br2_base_name(path) - path);
    char *candidates[] = {
        absolute ? br2_strdup(name) : br2_format("%s/%s", folder, name),
        br2_format("%.*s%s", length, path, name),
        br2_format("%.*s%s", length, path, br2_base_name(name)),
    };
    char *found = NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        *ret_status = candidates[i] == NULL ? BR2PGO_NO_MEMORY : *ret_status;
        if (found == NULL && candidates[i] != NULL && br2_file_is_regular(candidates[i])) {
            found = candidates[i];
        } else {
            br2_free(candidates[i]);
        }
    }
    return found;
}

bool br2_debug_split_find(struct br2_debug *debug, struct br2_unit *unit, Dwarf_Die *ret,
                          int *ret_status)
{
    *ret_status = 0;
    if (debug->split == NULL) {
        return false;
    }
    if (debug->split->package != NULL &&
        take_from_package(debug, unit, debug->split->package, ret, ret_status)) {
        return true;
    }
    char *path = *ret_status == 0 ? find_file(debug, unit, ret_status) : NULL;
    bool found =
        path != NULL && *ret_status == 0 && take_from_file(debug, unit, path, ret, ret_status);
    br2_free(path);
    return found;
}
