/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names and declaration places of DIEs. A concrete function says only what differs from its
 * abstract origin, and that only what differs from its declaration. */
#include <string.h>

#include "base/limits.h"
#include "image/debug_private.h"

/* The end of an inline string (DW_FORM_string) is not checked by libdw. */
static const char *checked_inline(struct br2_debug *debug, Dwarf_Die *die, const char *text)
{
    size_t size;
    const uint8_t *bytes = br2_debug_bytes_around(debug, die, text, &size);
    size_t left = bytes != NULL ? size - (size_t)((const uint8_t *)text - bytes) : 0;
    left = left < BR2_DEBUG_NAME_MAX ? left : BR2_DEBUG_NAME_MAX;
    return left != 0 && memchr(text, '\0', left) != NULL ? text : NULL;
}

static const char *string_of(struct br2_debug *debug, Dwarf_Die *die, Dwarf_Attribute *attribute)
{
    unsigned form = dwarf_whatform(attribute);
    bool shared = form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup;
    const char *text =
        shared ? br2_debug_shared_string(debug, attribute) : dwarf_formstring(attribute);
    if (text != NULL && form == DW_FORM_string) {
        return checked_inline(debug, die, text);
    }
    return text != NULL && strnlen(text, BR2_DEBUG_NAME_MAX) < BR2_DEBUG_NAME_MAX ? text : NULL;
}

const char *br2_debug_string(struct br2_debug *debug, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) != NULL ? string_of(debug, die, &attribute) : NULL;
}

bool br2_debug_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) != 0) {
        return false;
    }
    *ret = value;
    return true;
}

/* The DIE that an attribute refers to. libdw (up to 0.192) looks up references into the
 * supplementary file of DWARF 5 in the file that they are in. */
static bool refers_to(struct br2_debug *debug, Dwarf_Attribute *attribute, Dwarf_Die *ret)
{
    unsigned form = dwarf_whatform(attribute);
    if (form != DW_FORM_ref_sup4 && form != DW_FORM_ref_sup8) {
        return dwarf_formref_die(attribute, ret) != NULL;
    }
    /* In these units every value was seen to be inside. */
    if (debug->shared == NULL || dwarf_cu_getdwarf(attribute->cu) != debug->dwarf) {
        return false;
    }
    Dwarf_Off offset = 0;
    for (unsigned i = 0; i < (form == DW_FORM_ref_sup4 ? 4 : 8); i++) {
        offset |= (Dwarf_Off)attribute->valp[i] << (8 * i);
    }
    return dwarf_offdie(debug->shared, offset, ret) != NULL;
}

/* Moves `die` to what it refers to. */
static bool follow(struct br2_debug *debug, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(die, DW_AT_abstract_origin, &attribute) == NULL &&
        dwarf_attr(die, DW_AT_specification, &attribute) == NULL) {
        return false;
    }
    if (!refers_to(debug, &attribute, &next)) {
        return false;
    }
    *die = next;
    return true;
}

/* The first string of this name in the chain of references. */
static const char *string_in_chain(struct br2_debug *debug, const Dwarf_Die *die, unsigned name)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < BR2_DIE_CHAIN_MAX; i++) {
        const char *text = br2_debug_string(debug, &at, name);
        if (text != NULL) {
            return text;
        }
        if (!follow(debug, &at)) {
            break;
        }
    }
    return NULL;
}

static const char *linkage_name(struct br2_debug *debug, const Dwarf_Die *die)
{
    const char *name = string_in_chain(debug, die, DW_AT_linkage_name);
    return name != NULL ? name : string_in_chain(debug, die, DW_AT_MIPS_linkage_name);
}

const char *br2_debug_name(struct br2_debug *debug, Dwarf_Die *die)
{
    const char *name = linkage_name(debug, die);
    if (name == NULL) {
        name = string_in_chain(debug, die, DW_AT_name);
    }
    return name != NULL ? name : "";
}

const char *br2_debug_file_path(struct br2_debug_file file)
{
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    if (file.unit == NULL ||
        dwarf_cu_die(file.unit, &unit, NULL, NULL, NULL, NULL, NULL, NULL) == NULL ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || file.number >= count) {
        return "";
    }
    const char *path = dwarf_filesrc(files, (size_t)file.number, NULL, NULL);
    return path != NULL ? path : "";
}

const char *br2_debug_location_file(const struct br2_debug_function *function,
                                    const struct br2_location *location)
{
    struct br2_debug_file file = {function->lines_unit, location->file};
    return location->line != 0 ? br2_debug_file_path(file) : "";
}

/* What a DIE and those it refers to say: of each the first. */
struct description {
    struct br2_debug *debug;
    Dwarf_Die die; /* the one being read */
    const char *name;
    const char *linkage_name;
    const char *mips_linkage_name;
    struct br2_debug_file file;
    uint64_t line;
    uint64_t column;
    bool has_line, has_column;
    Dwarf_Attribute origin; /* what it refers to ... */
    Dwarf_Attribute specification;
    bool has_origin, has_specification; /* ... if it does */
};

static void take_string(struct description *d, Dwarf_Attribute *attribute, const char **text)
{
    if (*text == NULL) {
        *text = string_of(d->debug, &d->die, attribute);
    }
}

static void take_number(Dwarf_Attribute *attribute, bool *has, uint64_t *number)
{
    Dwarf_Word value;
    if (!*has && dwarf_formudata(attribute, &value) == 0) {
        *has = true;
        *number = value;
    }
}

static int take_attribute(Dwarf_Attribute *attribute, void *user)
{
    struct description *d = user;
    bool has_file = d->file.unit != NULL;
    switch (dwarf_whatattr(attribute)) {
    case DW_AT_name:
        take_string(d, attribute, &d->name);
        break;
    case DW_AT_linkage_name:
        take_string(d, attribute, &d->linkage_name);
        break;
    case DW_AT_MIPS_linkage_name:
        take_string(d, attribute, &d->mips_linkage_name);
        break;
    case DW_AT_decl_line:
        take_number(attribute, &d->has_line, &d->line);
        break;
    case DW_AT_decl_column:
        take_number(attribute, &d->has_column, &d->column);
        break;
    case DW_AT_decl_file: /* one of the table of the unit that holds the attribute */
        take_number(attribute, &has_file, &d->file.number);
        d->file.unit = has_file && d->file.unit == NULL ? d->die.cu : d->file.unit;
        break;
    case DW_AT_abstract_origin:
        d->origin = *attribute;
        d->has_origin = true;
        break;
    case DW_AT_specification:
        d->specification = *attribute;
        d->has_specification = true;
        break;
    default:
        break;
    }
    return DWARF_CB_OK;
}

/* Takes in what the DIE says, and moves to what it refers to; false: to nothing. */
static bool describe_one(struct description *d)
{
    Dwarf_Die next;
    d->has_origin = d->has_specification = false;
    if (dwarf_getattrs(&d->die, take_attribute, d, 0) < 0 ||
        (!d->has_origin && !d->has_specification) ||
        !refers_to(d->debug, d->has_origin ? &d->origin : &d->specification, &next)) {
        return false;
    }
    d->die = next;
    return true;
}

static uint32_t number_of(bool has, uint64_t number)
{
    return has && number <= UINT32_MAX ? (uint32_t)number : 0;
}

void br2_debug_describe(struct br2_debug *debug, Dwarf_Die *die, struct br2_scope *scope)
{
    struct description d = {.debug = debug, .die = *die};
    for (int i = 0; i < BR2_DIE_CHAIN_MAX && describe_one(&d); i++) {
    }
    const char *linkage = d.linkage_name != NULL ? d.linkage_name : d.mips_linkage_name;
    scope->plain_name = d.name != NULL ? d.name : "";
    scope->name = linkage != NULL ? linkage : scope->plain_name;
    scope->decl_line = number_of(d.has_line, d.line);
    scope->decl_column = number_of(d.has_column, d.column);
    scope->decl_file = d.file;
}
