/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The supplementary file, to which `dwz -m` moves what several files have in common: named by
 * .gnu_debugaltlink with its build-id, or, in DWARF 5 (section 7.3.6), by .debug_sup with a
 * checksum that both files have. Looked for here and not by libdw, which knows no .debug_sup and no
 * sysroot, and takes a file of any build.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/debug_private.h"
#include "image/debuginfod.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct link {
    const char *name; /* NULL: there is none */
    const uint8_t *id;
    size_t id_size;
    bool checksum; /* of .debug_sup; false: a build-id */
};

/* .debug_sup, of the supplementary file or of one that needs it. */
static bool read_sup(const struct br2_elf *elf, bool supplementary, struct link *ret)
{
    size_t size;
    const uint8_t *bytes = br2_elf_section_bytes(br2_elf_section(elf, ".debug_sup"), &size);
    if (bytes == NULL) {
        return false;
    }
    struct br2_cursor c = br2_cursor_make(bytes, size, false);
    size_t length;
    uint16_t version = br2_cursor_u16(&c);
    bool is_supplementary = br2_cursor_u8(&c) != 0;
    *ret = (struct link){.name = br2_cursor_string(&c, &length), .checksum = true};
    uint64_t id_size = br2_cursor_uleb(&c);
    if (c.failed || version != 5 || is_supplementary != supplementary ||
        id_size > br2_cursor_left(&c)) {
        return false;
    }
    ret->id_size = (size_t)id_size;
    ret->id = br2_cursor_bytes(&c, ret->id_size);
    return ret->id_size != 0 && !c.failed;
}

static bool read_link(const struct br2_elf *elf, struct link *ret)
{
    size_t size;
    const uint8_t *bytes = br2_elf_section_bytes(br2_elf_section(elf, ".gnu_debugaltlink"), &size);
    if (bytes == NULL) {
        return read_sup(elf, false, ret);
    }
    struct br2_cursor c = br2_cursor_make(bytes, size, false);
    size_t length;
    ret->name = br2_cursor_string(&c, &length);
    ret->id_size = br2_cursor_left(&c);
    ret->id = c.at;
    return !c.failed && ret->id_size != 0;
}

/* Whether the file is the one that is meant. */
static bool matches(const struct br2_elf *elf, const struct link *link)
{
    struct link sup;
    struct br2_build_id id;
    if (link->checksum) {
        return read_sup(elf, true, &sup) && sup.id_size == link->id_size &&
               memcmp(sup.id, link->id, sup.id_size) == 0;
    }
    br2_elf_build_id(elf, &id);
    return id.size != 0 && id.size == link->id_size && memcmp(id.bytes, link->id, id.size) == 0;
}

/* Takes `path` (NULL: out of memory). 1: it is not the file; 0: it is, and open. */
static int try(struct br2_debug *debug, char *path, const struct link *link,
               struct br2pgo_error *err)
{
    if (path == NULL) {
        return br2_fail_memory(err);
    }
    int status = 1;
    if (br2_file_is_regular(path)) {
        status = br2_elf_open(&debug->shared_elf, path, BR2_ELF_DEBUG, err);
        bool good = status == 0 && matches(&debug->shared_elf, link);
        if (!good) {
            br2_elf_close(&debug->shared_elf);
            status = status == BR2PGO_NO_MEMORY ? status : 1;
        }
    }
    br2_free(path);
    return status;
}

/* The folders: of build-ids; where the name says, seen from the folder that the file is in; there
 * without the name's folders; and where distributions put such files. */
static char *candidate(size_t number, const char *folder, const char *sysroot,
                       const struct link *link)
{
    char hex[2 * BR2_BUILD_ID_MAX + 1];
    struct br2_build_id id = {.size = BR2_BUILD_ID_MAX};
    switch (number) {
    case 0:
        if (link->checksum || link->id_size < 2 || link->id_size > BR2_BUILD_ID_MAX) {
            return br2_strdup("");
        }
        id.size = (uint8_t)link->id_size;
        memcpy(id.bytes, link->id, link->id_size);
        br2_build_id_text(&id, hex);
        return br2_format("%s" DEBUG_ROOT "/.build-id/%.2s/%s.debug", sysroot, hex, hex + 2);
    case 1:
        return link->name[0] == '/' ? br2_format("%s%s", sysroot, link->name)
                                    : br2_format("%s/%s", folder, link->name);
    case 2:
        return br2_format("%s/%s", folder, br2_base_name(link->name));
    default:
        return br2_format("%s" DEBUG_ROOT "/.dwz/%s", sysroot, br2_base_name(link->name));
    }
}

static int find(struct br2_debug *debug, const char *sysroot, const struct link *link,
                struct br2pgo_error *err)
{
    char *real = realpath(debug->path, NULL);
    char *slash = real != NULL ? strrchr(real, '/') : NULL;
    int status = 1;
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; i < 4 && status > 0 && slash != NULL; i++) {
        status = try(debug, candidate(i, real, sysroot, link), link, err);
    }
    free(real); /* allocated by malloc */
    return status;
}

/* Asks debuginfod, where the user has named servers. */
static int download(struct br2_debug *debug, const struct link *link, struct br2pgo_error *err)
{
    char *path = NULL;
    struct br2_build_id id = {.size = (uint8_t)link->id_size};
    if (link->checksum || link->id_size > BR2_BUILD_ID_MAX || !br2_debuginfod_wanted()) {
        return 1;
    }
    memcpy(id.bytes, link->id, link->id_size);
    int status = br2_debuginfod_fetch(&id, BR2_DEBUGINFOD_DEBUG, &path, err);
    if (status == 0) {
        return try(debug, path, link, err);
    }
    return status == BR2PGO_NO_MEMORY ? status : 1;
}

int br2_debug_shared_open(struct br2_debug *debug, const char *sysroot, struct br2pgo_error *err)
{
    struct link link = {0};
    if (!read_link(&debug->elf, &link)) {
        return 0;
    }
    /* Without it functions lack names and lines, and the profile would lack them unsaid. */
    int status = find(debug, sysroot != NULL ? sysroot : "", &link, err);
    if (status > 0) {
        status = download(debug, &link, err);
    }
    if (status > 0) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s': the part of the debug information that dwz moved to '%s' is not there, or "
                 "of another build",
                 debug->path, link.name);
        br2_hint(err, "put that file back, or build the program again with -g");
        return BR2PGO_USELESS;
    }
    if (status < 0) {
        return status;
    }
    if (!br2_elf_has_debug_info(&debug->shared_elf)) {
        return 0; /* strings only */
    }
    debug->shared = dwarf_begin_elf(debug->shared_elf.elf, DWARF_C_READ, NULL);
    if (debug->shared == NULL) {
        br2_fail(err, BR2PGO_CORRUPT, "'%s', which belongs to '%s': %s", link.name, debug->path,
                 dwarf_errmsg(-1));
        br2_hint(err, "put the right file there, or build the program again with -g");
        return BR2PGO_CORRUPT;
    }
    dwarf_setalt(debug->dwarf, debug->shared);
    return 0;
}

const char *br2_debug_shared_string(struct br2_debug *debug, Dwarf_Attribute *attribute)
{
    Dwarf_Die die;
    uint8_t width;
    size_t size;
    const uint8_t *strings =
        br2_elf_section_bytes(br2_elf_section(&debug->shared_elf, ".debug_str"), &size);
    /* In these units every value was seen to be inside. */
    if (strings == NULL || dwarf_cu_getdwarf(attribute->cu) != debug->dwarf ||
        dwarf_cu_die(attribute->cu, &die, NULL, NULL, NULL, &width, NULL, NULL) == NULL) {
        return NULL;
    }
    uint64_t offset = 0;
    for (unsigned i = 0; i < width; i++) {
        offset |= (uint64_t)attribute->valp[i] << (8 * i);
    }
    return offset < size ? (const char *)strings + offset : NULL;
}

void br2_debug_shared_close(struct br2_debug *debug)
{
    if (debug->shared != NULL) {
        dwarf_end(debug->shared);
    }
    br2_elf_close(&debug->shared_elf);
}
