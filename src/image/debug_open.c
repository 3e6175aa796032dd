/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening debug information and asking it. */
#include <stdio.h>
#include <string.h>

#include "image/debug_private.h"

/* Whether the file at hand belongs to the image. */
static int check_file(const struct br2_debug *debug, struct br2pgo_error *err)
{
    struct br2_build_id id;
    const struct br2_build_id *wanted = br2_image_build_id(debug->image);
    br2_elf_build_id(&debug->elf, &id);
    bool other = id.size != 0 && wanted->size != 0 && !br2_build_id_equal(&id, wanted);
    bool same_layout;
    int status = br2_elf_same_layout(&debug->image->elf, &debug->elf, &same_layout, err);
    if (status == 0 && (other || !same_layout)) {
        br2_fail(err, BR2PGO_USELESS, "'%s' is the debug file of another build than '%s' (%s)",
                 debug->path, debug->image->path,
                 other ? "the build-ids differ" : "their sections have other addresses");
        br2_hint(err, "give the debug file made together with the program");
        return BR2PGO_USELESS;
    }
    return status;
}

/* libdw 0.188 takes it for granted that the last string of a string section ends in it. */
static bool strings_end(const struct br2_elf *elf)
{
    static const char *const names[] = {".debug_str", ".debug_line_str"};
    for (size_t i = 1; i < elf->section_count; i++) {
        const struct br2_elf_section *section = &elf->sections[i];
        if (strcmp(section->name, names[0]) != 0 && strcmp(section->name, names[1]) != 0) {
            continue;
        }
        /* Uncompressed by now: dwarf_begin_elf has seen to that. */
        const Elf_Data *data = elf_getdata(section->scn, NULL);
        if (data != NULL && data->d_size != 0 && data->d_buf != NULL &&
            ((const char *)data->d_buf)[data->d_size - 1] != '\0') {
            return false;
        }
    }
    return true;
}

static int begin(struct br2_debug *debug, const char *sysroot, struct br2pgo_error *err)
{
    if (!br2_elf_has_debug_info(&debug->elf)) {
        return 0;
    }
    debug->dwarf = dwarf_begin_elf(debug->elf.elf, DWARF_C_READ, NULL);
    int status = debug->dwarf != NULL ? br2_debug_split_begin(debug, err) : 0;
    if (status != 0) {
        return status;
    }
    if (debug->dwarf == NULL) {
        br2_fail(err, BR2PGO_CORRUPT, "'%s': cannot read the debug information: %s", debug->path,
                 dwarf_errmsg(-1));
        br2_hint(err, "build the program again with -g");
        return BR2PGO_CORRUPT;
    }
    status = br2_debug_shared_open(debug, sysroot, err);
    if (status != 0) {
        return status;
    }
    if (!strings_end(&debug->elf) || !strings_end(&debug->shared_elf)) {
        br2_fail(err, BR2PGO_CORRUPT,
                 "'%s': a string of the debug information does not end in its section",
                 debug->path);
        br2_hint(err, "build the program again with -g");
        return BR2PGO_CORRUPT;
    }
    return 0;
}

/* The first unit with code tells the compiler; start-up code in assembly only where there is no
 * other. */
static int set_producer(struct br2_debug *debug, struct br2pgo_error *err)
{
    const char *producer = "";
    for (size_t i = 0; i < debug->unit_count; i++) {
        struct br2_unit *unit = &debug->units[i];
        if (unit->has_code && unit->skeleton) { /* its split file tells */
            int status = br2_debug_load_unit(debug, unit, err);
            if (status != 0) {
                return status;
            }
        }
        if (!unit->has_code || unit->producer[0] == '\0') {
            continue;
        }
        if (!unit->assembly || producer[0] == '\0') {
            producer = unit->producer;
        }
        if (!unit->assembly) {
            break;
        }
    }
    snprintf(debug->quality.producer, sizeof debug->quality.producer, "%s", producer);
    return 0;
}

static int set_quality(struct br2_debug *debug, struct br2pgo_error *err)
{
    struct br2_debug_quality *quality = &debug->quality;
    static const char marker[] = "__llvm_fs_discriminator__";
    quality->has_units = debug->unit_count > 0;
    quality->fs_discriminators =
        br2_elf_has_symbol(&debug->image->elf, marker) || br2_elf_has_symbol(&debug->elf, marker);
    for (size_t i = 0; i < debug->unit_count && !quality->has_line_table; i++) {
        const struct br2_line_table *lines;
        if (!debug->units[i].has_code) {
            continue;
        }
        int status = br2_debug_load_lines(debug, &debug->units[i], &lines, err);
        if (status != 0) {
            return status;
        }
        quality->has_line_table = lines->sequence_count > 0;
    }
    return set_producer(debug, err);
}

static int open_debug(struct br2_debug *debug, const char *path, bool given, const char *sysroot,
                      struct br2pgo_error *err)
{
    debug->path = br2_strdup(path);
    if (debug->path == NULL) {
        return br2_fail_memory(err);
    }
    int status = br2_elf_open(&debug->elf, path, BR2_ELF_DEBUG, err);
    if (status == 0) {
        status = check_file(debug, err);
    }
    if (status == 0) {
        status = begin(debug, sysroot, err);
    }
    if (status == 0 && debug->dwarf == NULL && given) {
        br2_fail(err, BR2PGO_USELESS, "'%s' has no debug information", path);
        br2_hint(err, "give a file that 'readelf -S' shows a .debug_info section of");
        return BR2PGO_USELESS;
    }
    if (status == 0 && debug->dwarf != NULL) {
        debug->budget = 4096;
        br2_debug_add_budget(debug, debug->elf.size);
        br2_debug_add_budget(debug, debug->shared_elf.size);
        status = br2_debug_index_units(debug, err);
    }
    return status == 0 ? set_quality(debug, err) : status;
}

int br2_debug_open(const struct br2_image *image, const char *debug_path, const char *sysroot,
                   struct br2_debug **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    struct br2_debug *debug = br2_calloc(1, sizeof *debug);
    if (debug == NULL) {
        return br2_fail_memory(err);
    }
    debug->image = image;
    const char *path = debug_path;
    if (path == NULL) {
        path = br2_image_debug_file(image, sysroot);
    }
    if (path == NULL) {
        path = image->path;
    }
    int status = open_debug(debug, path, debug_path != NULL, sysroot, err);
    if (status != 0) {
        br2_debug_close(debug);
        return status;
    }
    *ret = debug;
    return 0;
}

void br2_debug_close(struct br2_debug *debug)
{
    if (debug == NULL) {
        return;
    }
    br2_debug_units_done(debug);
    br2_debug_split_done(debug);
    if (debug->dwarf != NULL) {
        dwarf_end(debug->dwarf);
    }
    br2_debug_shared_close(debug);
    br2_elf_close(&debug->elf);
    br2_free(debug->path);
    br2_free(debug);
}

const struct br2_debug_quality *br2_debug_quality(const struct br2_debug *debug)
{
    return &debug->quality;
}

const char *br2_debug_path(const struct br2_debug *debug)
{
    return debug->path;
}

const struct br2_debug_missing *br2_debug_missing(const struct br2_debug *debug)
{
    return &debug->missing;
}

size_t br2_debug_broken_units(const struct br2_debug *debug)
{
    return debug->broken_units;
}

static int function_in_unit(struct br2_debug *debug, struct br2_unit *unit, uint64_t address,
                            const struct br2_debug_function **ret, struct br2pgo_error *err)
{
    int status = br2_debug_load_unit(debug, unit, err);
    if (status != 0) {
        return status;
    }
    size_t at = br2_interval_find(&unit->ranges, address, SIZE_MAX);
    if (at == SIZE_MAX) {
        return 0;
    }
    struct br2_unit_function *function = &unit->functions[unit->ranges.items[at].item];
    if (function->built == NULL && !function->broken) {
        status = br2_debug_build(debug, unit, &function->die, &function->built, err);
        if (status > 0) {
            function->broken = true;
            br2_debug_unit_is_broken(debug, unit);
            status = 0;
        }
    }
    *ret = function->built;
    return status;
}

int br2_debug_function_at(struct br2_debug *debug, uint64_t address,
                          const struct br2_debug_function **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    size_t at = SIZE_MAX;
    while (*ret == NULL && (at = br2_interval_find(&debug->ranges, address, at)) != SIZE_MAX) {
        struct br2_unit *unit = &debug->units[debug->ranges.items[at].item];
        int status = function_in_unit(debug, unit, address, ret, err);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

int br2_debug_each_name(struct br2_debug *debug, int (*sink)(void *user, const char *name),
                        void *user, struct br2pgo_error *err)
{
    for (size_t i = 0; i < debug->unit_count; i++) {
        struct br2_unit *unit = &debug->units[i];
        int status = unit->has_code ? br2_debug_load_unit(debug, unit, err) : 0;
        for (size_t k = 0; status == 0 && k < unit->function_count; k++) {
            const char *name = br2_debug_name(debug, &unit->functions[k].die);
            status = name[0] != '\0' ? sink(user, name) : 0;
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

const struct br2_location *br2_debug_location(const struct br2_debug_function *function,
                                              uint64_t address)
{
    size_t low = 0;
    size_t high = function->location_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (function->locations[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool inside = low < function->location_count && function->locations[low].start <= address;
    return inside ? &function->locations[low] : NULL;
}
