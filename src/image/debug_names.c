/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names and declaration places of DIEs. A concrete function says only what differs from its
 * abstract origin, and that only what differs from its declaration. */
#include <string.h>

#include "image/debug_private.h"

#define CHAIN_MAX  16                  /* references followed; a cycle must end */
#define STRING_MAX ((size_t)64 * 1024) /* many DIEs may refer to one long name */

/* The end of an inline string (DW_FORM_string) is not checked by libdw. */
static const char *checked_inline(struct br2_debug *debug, Dwarf_Die *die, const char *text)
{
    size_t size;
    const uint8_t *bytes = br2_debug_bytes_around(debug, die, text, &size);
    size_t left = bytes != NULL ? size - (size_t)((const uint8_t *)text - bytes) : 0;
    left = left < STRING_MAX ? left : STRING_MAX;
    return left != 0 && memchr(text, '\0', left) != NULL ? text : NULL;
}

const char *br2_debug_string(struct br2_debug *debug, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr(die, name, &attribute) == NULL) {
        return NULL;
    }
    const char *text = dwarf_formstring(&attribute);
    if (text != NULL && dwarf_whatform(&attribute) == DW_FORM_string) {
        return checked_inline(debug, die, text);
    }
    return text != NULL && strnlen(text, STRING_MAX) < STRING_MAX ? text : NULL;
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

/* Moves `die` to what it refers to. */
static bool follow(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(die, DW_AT_abstract_origin, &attribute) == NULL &&
        dwarf_attr(die, DW_AT_specification, &attribute) == NULL) {
        return false;
    }
    if (dwarf_formref_die(&attribute, &next) == NULL) {
        return false;
    }
    *die = next;
    return true;
}

/* The first string of this name in the chain of references. */
static const char *string_in_chain(struct br2_debug *debug, const Dwarf_Die *die, unsigned name)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < CHAIN_MAX; i++) {
        const char *text = br2_debug_string(debug, &at, name);
        if (text != NULL) {
            return text;
        }
        if (!follow(&at)) {
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

/* A line or a column, 0 where it is unknown. */
static uint32_t decl_number(const Dwarf_Die *die, unsigned name)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < CHAIN_MAX; i++) {
        uint64_t number;
        if (br2_debug_number(&at, name, &number)) {
            return number <= UINT32_MAX ? (uint32_t)number : 0;
        }
        if (!follow(&at)) {
            break;
        }
    }
    return 0;
}

static const char *file_of_unit(Dwarf_Die *die, uint64_t number)
{
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_diecu(die, &unit, NULL, NULL) == NULL ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count) {
        return "";
    }
    const char *path = dwarf_filesrc(files, (size_t)number, NULL, NULL);
    return path != NULL ? path : "";
}

/* The number is one of the table of the unit that holds the attribute. */
static const char *decl_file(const Dwarf_Die *die)
{
    Dwarf_Die at = *die;
    for (int i = 0; i < CHAIN_MAX; i++) {
        uint64_t number;
        if (br2_debug_number(&at, DW_AT_decl_file, &number)) {
            return file_of_unit(&at, number);
        }
        if (!follow(&at)) {
            break;
        }
    }
    return "";
}

void br2_debug_describe(struct br2_debug *debug, Dwarf_Die *die, struct br2_scope *scope)
{
    const char *plain = string_in_chain(debug, die, DW_AT_name);
    scope->plain_name = plain != NULL ? plain : "";
    const char *linkage = linkage_name(debug, die);
    scope->name = linkage != NULL ? linkage : scope->plain_name;
    scope->decl_line = decl_number(die, DW_AT_decl_line);
    scope->decl_column = decl_number(die, DW_AT_decl_column);
    scope->decl_file = decl_file(die);
}
