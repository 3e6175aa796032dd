/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of debug_*.c share. */
#ifndef BR2_IMAGE_DEBUG_PRIVATE_H
#define BR2_IMAGE_DEBUG_PRIVATE_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/mem.h"
#include "image/debug.h"
#include "image/elf_file.h"
#include "image/image_private.h"

/* Not in the dwarf.h of older elfutils; LLVM and GCC 16 write it. */
#define BR2_AT_GNU_DISCRIMINATOR 0x2136

/* Of DWARF 6, whose codes producers already write. */
#define BR2_LANG_ASSEMBLY 0x31

/* Address intervals that may overlap; those of `item`. */
struct br2_interval {
    uint64_t start, end;
    uint64_t max_end; /* of this and all before it, once sorted */
    uint32_t item;
};
struct br2_interval_list {
    struct br2_interval *items; /* owned */
    size_t count;
    size_t capacity;
};
bool br2_interval_add(struct br2_interval_list *list, uint64_t start, uint64_t end, uint32_t item);
/* Sorts by start, then the longer first, then by item. */
void br2_interval_sort(struct br2_interval_list *list);
/* Index of the last interval before `below` that contains `address`, or SIZE_MAX. Start with
 * SIZE_MAX to get the innermost, go on with the last result for those around it. */
size_t br2_interval_find(const struct br2_interval_list *list, uint64_t address, size_t below);

struct br2_line_row {
    uint64_t address;
    uint32_t file; /* number in the unit's table of files */
    uint32_t line;
    uint32_t discriminator;
};
/* Rows [first, first + count) describe [start, end). */
struct br2_line_sequence {
    uint64_t start, end;
    size_t first, count;
};
struct br2_line_table {
    struct br2_line_row *rows; /* owned */
    size_t row_count;
    size_t row_capacity;
    struct br2_line_sequence *sequences; /* owned; sorted, disjoint */
    size_t sequence_count;
    size_t sequence_capacity;
};

/* .debug_line. Its tables share no bytes, so that all of them together have at most one opcode for
 * each byte; those of a hostile file may overlap, so opcodes are counted. */
struct br2_line_section {
    const uint8_t *bytes; /* NULL: there is none */
    size_t size;
    size_t steps; /* opcodes that may still be run */
};

/*
 * Reads the line program at `offset` of .debug_line. Sequences that do not start in the image's
 * code (what the linker threw away) are left out; of rows with the same address the last counts.
 * BR2PGO_CORRUPT when it is broken; BR2PGO_NO_MEMORY.
 */
int br2_line_table_read(struct br2_line_table *table, const struct br2_image *image,
                        struct br2_line_section *section, uint64_t offset,
                        struct br2pgo_error *err);
void br2_line_table_done(struct br2_line_table *table);
/* Index of the first sequence that ends behind `address`. */
size_t br2_line_table_sequence(const struct br2_line_table *table, uint64_t address);

struct br2_unit_function {
    Dwarf_Die die;
    struct br2_debug_function *built; /* owned; NULL until asked for */
    bool broken;
};

struct br2_unit {
    Dwarf_Die die;  /* of the unit in the file: has ranges and lines */
    Dwarf_Die body; /* where the functions are: `die`, or the unit of the .dwo file */
    const char *producer;
    bool assembly;
    bool skeleton;
    bool has_code;
    bool loaded; /* the functions */
    bool broken;
    struct br2_unit_function *functions; /* owned; in DIE order */
    size_t function_count;
    size_t function_capacity;
    struct br2_interval_list ranges; /* item: index into functions */
    struct br2_shared_lines *lines;  /* NULL: none */
};

/* One line table: of a unit, or of several that say they have the same. */
struct br2_shared_lines {
    uint64_t offset; /* in .debug_line */
    bool loaded;
    bool broken;
    struct br2_line_table table;
};

/* The sections last looked for, so that not every question goes through all of a file. Questions
 * alternate between .debug_info and .debug_types of a file and of a split one at most. */
struct br2_debug_sections {
    struct br2_section_bytes {
        const uint8_t *bytes;
        size_t size;
    } found[4];
    size_t next; /* entry to replace */
    Elf *elf;    /* whose abbreviations follow */
    struct br2_section_bytes abbreviations;
};

struct br2_debug_split;

struct br2_debug {
    const struct br2_image *image;
    char *path;
    struct br2_elf elf;
    Dwarf *dwarf;
    struct br2_elf shared_elf; /* the supplementary file of dwz, if there is one ... */
    Dwarf *shared;             /* ... and what libdw has of it; NULL: no units */
    struct br2_unit *units;
    size_t unit_count;
    size_t unit_capacity;
    struct br2_interval_list ranges; /* item: index into units */
    struct br2_line_section line_section;
    struct br2_shared_lines *lines; /* owned; sorted by offset, each offset once */
    size_t line_count;
    struct br2_debug_sections sections;
    size_t broken_units;
    struct br2_debug_split *split; /* owned; NULL: no unit is split */
    struct br2_debug_missing missing;
    size_t budget; /* steps left, so that a small hostile file cannot make much work */
    struct br2_debug_quality quality;
};

/* Fills units and ranges. BR2PGO_NO_MEMORY. */
int br2_debug_index_units(struct br2_debug *debug, struct br2pgo_error *err);
void br2_debug_units_done(struct br2_debug *debug);
/* Makes the table of functions of a unit that has none yet; a broken unit is marked and counted.
 * BR2PGO_NO_MEMORY. */
int br2_debug_load_unit(struct br2_debug *debug, struct br2_unit *unit, struct br2pgo_error *err);
/* The line table of a unit, empty where it has none or a broken one. BR2PGO_NO_MEMORY. */
int br2_debug_load_lines(struct br2_debug *debug, struct br2_unit *unit,
                         const struct br2_line_table **ret, struct br2pgo_error *err);
void br2_debug_unit_is_broken(struct br2_debug *debug, struct br2_unit *unit);

/*
 * Split units. The first is called with the debug information just opened by libdw, looks whether
 * there are any, and then opens it anew, prepared for them. Errors: BR2PGO_NO_MEMORY; BR2PGO_IO and
 * BR2PGO_CORRUPT: of the package of split units (.dwp), where there is one.
 */
int br2_debug_split_begin(struct br2_debug *debug, struct br2pgo_error *err);
void br2_debug_split_done(struct br2_debug *debug);
/* Finds the unit that the skeleton `unit` stands for: in the package, else in the .dwo file where
 * the compiler wrote it, else beside the program. False: nowhere; BR2PGO_NO_MEMORY in
 * `*ret_status`, then it may be asked again. */
bool br2_debug_split_find(struct br2_debug *debug, struct br2_unit *unit, Dwarf_Die *ret,
                          int *ret_status);

/* Opens the supplementary file, where the debug information needs one. BR2PGO_USELESS: it is not
 * there; BR2PGO_CORRUPT, BR2PGO_NO_MEMORY. Closed after what refers to it. */
int br2_debug_shared_open(struct br2_debug *debug, const char *sysroot, struct br2pgo_error *err);
void br2_debug_shared_close(struct br2_debug *debug);
/* A string of the supplementary file; NULL when there is none. libdw opens no file that has strings
 * only, as of small programs. */
const char *br2_debug_shared_string(struct br2_debug *debug, Dwarf_Attribute *attribute);

/* Takes one step from the budget. */
bool br2_debug_spend(struct br2_debug *debug);
/* Adds what there is to do with so many bytes: every DIE and range is looked at a few times, and
 * takes a byte at least. */
void br2_debug_add_budget(struct br2_debug *debug, size_t size);

/* Adds the address ranges of `die` that are in the image's code, and says where the first one
 * listed starts (`ret_first` may be NULL). False when memory runs out. */
bool br2_debug_ranges(struct br2_debug *debug, Dwarf_Die *die, struct br2_interval_list *list,
                      uint32_t item, uint64_t *ret_first);

/* Offsets of DIEs in their section. */
struct br2_die_list {
    Dwarf_Off *offsets; /* owned */
    size_t count;
    size_t capacity;
};

/*
 * Whether the DIEs of a unit can be walked: known abbreviations and forms, everything inside the
 * unit, every sibling reference right, no nesting beyond BR2_DIE_DEPTH_MAX. False also when memory
 * runs out, which `*ret_no_memory` says. Adds the DIEs of all functions in it to `functions`, also
 * where the unit is not sound.
 */
bool br2_debug_unit_is_sound(struct br2_debug *debug, const struct br2_unit *unit,
                             struct br2_die_list *functions, bool *ret_no_memory);

/* The bytes of the section (of the file that `die` is in) that `at` points into; NULL: into none.
 */
const uint8_t *br2_debug_bytes_around(struct br2_debug *debug, Dwarf_Die *die, const void *at,
                                      size_t *ret_size);

/* Builds the scopes and locations of a function. 1 when its DIEs are broken; BR2PGO_NO_MEMORY. */
int br2_debug_build(struct br2_debug *debug, struct br2_unit *unit, Dwarf_Die *die,
                    struct br2_debug_function **ret, struct br2pgo_error *err);
void br2_debug_function_free(struct br2_debug_function *function);

/* Attributes, also through DW_AT_abstract_origin and DW_AT_specification. */
void br2_debug_describe(struct br2_debug *debug, Dwarf_Die *die, struct br2_scope *scope);
const char *br2_debug_name(struct br2_debug *debug, Dwarf_Die *die);
/* A string attribute whose end was checked; NULL when there is none. */
const char *br2_debug_string(struct br2_debug *debug, Dwarf_Die *die, unsigned name);
bool br2_debug_number(Dwarf_Die *die, unsigned name, uint64_t *ret);

#endif
