/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compilation units and their functions: which unit has an address, and which function of it. */
#include <stdlib.h>
#include <string.h>

#include "image/debug_private.h"

bool br2_debug_spend(struct br2_debug *debug)
{
    if (debug->budget == 0) {
        return false;
    }
    debug->budget--;
    return true;
}

void br2_debug_add_budget(struct br2_debug *debug, size_t size)
{
    size_t more = size < SIZE_MAX / 16 ? 16 * size : SIZE_MAX;
    debug->budget = more < SIZE_MAX - debug->budget ? debug->budget + more : SIZE_MAX;
}

void br2_debug_unit_is_broken(struct br2_debug *debug, struct br2_unit *unit)
{
    if (!unit->broken) {
        unit->broken = true;
        debug->broken_units++;
    }
}

bool br2_debug_ranges(struct br2_debug *debug, Dwarf_Die *die, struct br2_interval_list *list,
                      uint32_t item, uint64_t *ret_first)
{
    ptrdiff_t offset = 0;
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    bool first = true;
    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0 &&
           br2_debug_spend(debug)) {
        /* Code that the linker threw away is at 0, 1 or -1: not in an executable section. */
        if (start >= end || br2_image_area_at(debug->image, start) == NULL) {
            continue;
        }
        if (!br2_interval_add(list, start, end, item)) {
            return false;
        }
        if (first && ret_first != NULL) {
            *ret_first = start;
        }
        first = false;
    }
    return true;
}

/* What says how to read the unit; a skeleton leaves it to the split file. */
static void describe_unit(struct br2_debug *debug, struct br2_unit *unit)
{
    const char *producer = br2_debug_string(debug, &unit->body, DW_AT_producer);
    unit->producer = producer != NULL ? producer : "";
    uint64_t language;
    unit->assembly = br2_debug_number(&unit->body, DW_AT_language, &language) &&
                     (language == DW_LANG_Mips_Assembler || language == BR2_LANG_ASSEMBLY);
}

static int add_unit(struct br2_debug *debug, const Dwarf_Die *die, bool skeleton,
                    struct br2pgo_error *err)
{
    if (!br2_grow(&debug->units, &debug->unit_capacity, debug->unit_count, sizeof *debug->units)) {
        return br2_fail_memory(err);
    }
    struct br2_unit *unit = &debug->units[debug->unit_count];
    *unit = (struct br2_unit){.die = *die, .body = *die, .producer = "", .skeleton = skeleton};
    describe_unit(debug, unit);
    size_t before = debug->ranges.count;
    if (!br2_debug_ranges(debug, &unit->die, &debug->ranges, (uint32_t)debug->unit_count, NULL)) {
        return br2_fail_memory(err);
    }
    unit->has_code = debug->ranges.count > before;
    debug->unit_count++;
    return 0;
}

/* A unit that does not say where its code is may still have some: its functions say so. */
static int ranges_from_functions(struct br2_debug *debug, struct br2_unit *unit, uint32_t item,
                                 struct br2pgo_error *err)
{
    int status = br2_debug_load_unit(debug, unit, err);
    for (size_t i = 0; status == 0 && i < unit->ranges.count; i++) {
        const struct br2_interval *range = &unit->ranges.items[i];
        if (!br2_interval_add(&debug->ranges, range->start, range->end, item)) {
            status = br2_fail_memory(err);
        }
    }
    unit->has_code = unit->ranges.count > 0;
    return status;
}

static int collect_units(struct br2_debug *debug, struct br2pgo_error *err)
{
    Dwarf_CU *cu = NULL;
    Dwarf_CU *next = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;
    int more;
    while ((more = dwarf_get_units(debug->dwarf, cu, &next, &version, &type, &die, NULL)) == 0 &&
           debug->unit_count < UINT32_MAX) {
        bool skeleton = type == DW_UT_skeleton;
        bool wanted = type == DW_UT_compile || skeleton;
        if (wanted &&
            (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit)) {
            int status = add_unit(debug, &die, skeleton, err);
            if (status != 0) {
                return status;
            }
        }
        cu = next;
    }
    if (more < 0) {
        debug->broken_units++; /* where the next one would start is unknown */
    }
    return 0;
}

/* Index of the unit whose DIE is at `offset`, or SIZE_MAX. */
static size_t unit_of(const struct br2_debug *debug, Dwarf_Off offset)
{
    size_t low = 0;
    size_t high = debug->unit_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dwarf_dieoffset(&debug->units[middle].die) < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < debug->unit_count && dwarf_dieoffset(&debug->units[low].die) == offset;
    return found ? low : SIZE_MAX;
}

/* An entry of .debug_aranges that is code of a unit that does not know it. */
static bool missing_range(const struct br2_debug *debug, Dwarf_Arange *arange,
                          struct br2_interval *ret)
{
    Dwarf_Addr start;
    Dwarf_Word length;
    Dwarf_Off offset;
    if (arange == NULL || dwarf_getarangeinfo(arange, &start, &length, &offset) != 0 ||
        length == 0 || length > UINT64_MAX - start ||
        br2_image_area_at(debug->image, start) == NULL ||
        br2_interval_find(&debug->ranges, start, SIZE_MAX) != SIZE_MAX) {
        return false;
    }
    size_t unit = unit_of(debug, offset);
    *ret = (struct br2_interval){.start = start, .end = start + length, .item = (uint32_t)unit};
    return unit != SIZE_MAX;
}

/* .debug_aranges, where the units leave code out: DWARF 2 has no way to say that a unit has two
 * stretches of code. */
static int ranges_from_table(struct br2_debug *debug, struct br2pgo_error *err)
{
    Dwarf_Aranges *table;
    size_t count;
    struct br2_interval_list more = {0};
    if (dwarf_getaranges(debug->dwarf, &table, &count) != 0) {
        return 0;
    }
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        struct br2_interval range;
        if (!missing_range(debug, dwarf_onearange(table, i), &range)) {
            continue;
        }
        debug->units[range.item].has_code = true;
        if (!br2_interval_add(&more, range.start, range.end, range.item)) {
            status = br2_fail_memory(err);
        }
    }
    for (size_t i = 0; status == 0 && i < more.count; i++) {
        const struct br2_interval *range = &more.items[i];
        if (!br2_interval_add(&debug->ranges, range->start, range->end, range->item)) {
            status = br2_fail_memory(err);
        }
    }
    br2_free(more.items);
    return status;
}

static int add_function(struct br2_debug *debug, struct br2_unit *unit, Dwarf_Die *die,
                        struct br2pgo_error *err)
{
    size_t before = unit->ranges.count;
    if (!br2_debug_ranges(debug, die, &unit->ranges, (uint32_t)unit->function_count, NULL)) {
        return br2_fail_memory(err);
    }
    if (unit->ranges.count == before) {
        return 0; /* a declaration, an abstract instance, or thrown away */
    }
    if (!br2_grow(&unit->functions, &unit->function_capacity, unit->function_count,
                  sizeof *unit->functions)) {
        return br2_fail_memory(err);
    }
    unit->functions[unit->function_count++] = (struct br2_unit_function){.die = *die};
    return 0;
}

/* The functions whose DIEs are listed; 1 when the unit is broken. */
static int add_functions(struct br2_debug *debug, struct br2_unit *unit,
                         const struct br2_die_list *list, struct br2pgo_error *err)
{
    Dwarf *dwarf = dwarf_cu_getdwarf(unit->body.cu);
    for (size_t i = 0; i < list->count; i++) {
        Dwarf_Die die;
        if (!br2_debug_spend(debug) || dwarf_offdie(dwarf, list->offsets[i], &die) == NULL) {
            return 1;
        }
        int status = add_function(debug, unit, &die, err);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static void note_missing(struct br2_debug *debug, struct br2_unit *unit)
{
    const char *name = br2_debug_string(debug, &unit->die, DW_AT_dwo_name);
    if (name == NULL) { /* DWARF 4 */
        name = br2_debug_string(debug, &unit->die, DW_AT_GNU_dwo_name);
    }
    if (debug->missing.units == 0) {
        debug->missing.name = name != NULL ? name : "";
    }
    debug->missing.units++;
}

/* The functions of a split unit are in another file, which may be missing. */
static bool find_body(struct br2_debug *debug, struct br2_unit *unit, int *ret_status)
{
    Dwarf_Die split;
    if (!unit->skeleton) {
        return true;
    }
    if (!br2_debug_split_find(debug, unit, &split, ret_status)) {
        if (*ret_status == 0) {
            note_missing(debug, unit);
        }
        return false;
    }
    unit->body = split;
    return true;
}

/* Fills a unit that is empty; BR2PGO_NO_MEMORY. */
static int fill_unit(struct br2_debug *debug, struct br2_unit *unit, struct br2pgo_error *err)
{
    bool no_memory = false;
    int status = 0;
    struct br2_die_list functions = {0};
    if (!find_body(debug, unit, &status) ||
        !br2_debug_unit_is_sound(debug, unit, &functions, &no_memory)) {
        br2_free(functions.offsets);
        if (no_memory || status != 0) {
            return br2_fail_memory(err);
        }
        br2_debug_unit_is_broken(debug, unit);
        return 0;
    }
    if (unit->skeleton) {
        describe_unit(debug, unit);
    }
    status = add_functions(debug, unit, &functions, err);
    br2_free(functions.offsets);
    if (status < 0) {
        return status;
    }
    if (status > 0) {
        br2_debug_unit_is_broken(debug, unit);
    }
    br2_interval_sort(&unit->ranges);
    return 0;
}

int br2_debug_load_unit(struct br2_debug *debug, struct br2_unit *unit, struct br2pgo_error *err)
{
    if (unit->loaded) {
        return 0;
    }
    size_t budget = debug->budget;
    int status = fill_unit(debug, unit, err);
    if (status != 0) { /* as if not asked: whoever has memory again may ask again */
        unit->function_count = 0;
        unit->ranges.count = 0;
        debug->budget = budget;
        return status;
    }
    unit->loaded = true;
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct br2_shared_lines *x = a;
    const struct br2_shared_lines *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The places of all line tables, each once. */
static int collect_lines(struct br2_debug *debug, struct br2pgo_error *err)
{
    debug->lines = br2_calloc(debug->unit_count + 1, sizeof *debug->lines);
    if (debug->lines == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < debug->unit_count; i++) {
        uint64_t offset;
        if (br2_debug_number(&debug->units[i].die, DW_AT_stmt_list, &offset)) {
            debug->lines[count++].offset = offset;
        }
    }
    qsort(debug->lines, count, sizeof *debug->lines, by_offset);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || debug->lines[i].offset != debug->lines[i - 1].offset) {
            debug->lines[debug->line_count++] = debug->lines[i];
        }
    }
    return 0;
}

static void read_line_section(struct br2_debug *debug)
{
    const struct br2_elf_section *section = br2_elf_section(&debug->elf, ".debug_line");
    if (section == NULL) {
        section = br2_elf_section(&debug->elf, ".zdebug_line");
    }
    struct br2_line_section *lines = &debug->line_section;
    lines->bytes = br2_elf_section_bytes(section, &lines->size);
    lines->steps = lines->size;
}

static int index_lines(struct br2_debug *debug, struct br2pgo_error *err)
{
    int status = collect_lines(debug, err);
    for (size_t i = 0; status == 0 && i < debug->unit_count; i++) {
        struct br2_unit *unit = &debug->units[i];
        struct br2_shared_lines key = {0};
        if (br2_debug_number(&unit->die, DW_AT_stmt_list, &key.offset)) {
            unit->lines =
                bsearch(&key, debug->lines, debug->line_count, sizeof *debug->lines, by_offset);
        }
    }
    read_line_section(debug);
    return status;
}

int br2_debug_load_lines(struct br2_debug *debug, struct br2_unit *unit,
                         const struct br2_line_table **ret, struct br2pgo_error *err)
{
    static const struct br2_line_table none;
    struct br2_shared_lines *lines = unit->lines;
    *ret = lines != NULL ? &lines->table : &none;
    if (lines == NULL) {
        return 0;
    }
    if (!lines->loaded) {
        int status = br2_line_table_read(&lines->table, debug->image, &debug->line_section,
                                         lines->offset, NULL);
        if (status == BR2PGO_NO_MEMORY) {
            return br2_fail_memory(err);
        }
        lines->loaded = true;
        lines->broken = status != 0;
    }
    if (lines->broken) {
        br2_debug_unit_is_broken(debug, unit);
    }
    return 0;
}

int br2_debug_index_units(struct br2_debug *debug, struct br2pgo_error *err)
{
    int status = collect_units(debug, err);
    if (status == 0) {
        status = index_lines(debug, err);
    }
    for (size_t i = 0; status == 0 && i < debug->unit_count; i++) {
        Dwarf_Attribute attribute;
        struct br2_unit *unit = &debug->units[i];
        bool says = dwarf_attr(&unit->die, DW_AT_ranges, &attribute) != NULL ||
                    dwarf_attr(&unit->die, DW_AT_high_pc, &attribute) != NULL;
        if (!unit->has_code && !says) {
            status = ranges_from_functions(debug, unit, (uint32_t)i, err);
        }
    }
    br2_interval_sort(&debug->ranges);
    if (status == 0) {
        status = ranges_from_table(debug, err);
        br2_interval_sort(&debug->ranges);
    }
    return status;
}

void br2_debug_units_done(struct br2_debug *debug)
{
    for (size_t i = 0; i < debug->unit_count; i++) {
        struct br2_unit *unit = &debug->units[i];
        for (size_t k = 0; k < unit->function_count; k++) {
            br2_debug_function_free(unit->functions[k].built);
        }
        br2_free(unit->functions);
        br2_free(unit->ranges.items);
    }
    for (size_t i = 0; i < debug->line_count; i++) {
        br2_line_table_done(&debug->lines[i].table);
    }
    br2_free(debug->lines);
    br2_free(debug->units);
    br2_free(debug->ranges.items);
}
