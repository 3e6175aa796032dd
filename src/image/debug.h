/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Debug information in the shape that profiles need: for one function, the tree of inlined scopes
 * and, over all its code, which scope, line and discriminator each stretch belongs to. Only
 * functions that are asked for are read, so one br2_debug is for one thread at a time. DWARF 2 to
 * 5, own or separate debug file.
 */
#ifndef BR2_IMAGE_DEBUG_H
#define BR2_IMAGE_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

#define BR2_NO_SCOPE UINT32_MAX

/* A file that debug information names. Its path is looked up when it is asked for: for that, libdw
 * reads all of the unit's line table. */
struct br2_debug_file {
    void *unit; /* NULL: unknown */
    uint64_t number;
};
/* "" where it is unknown. */
const char *br2_debug_file_path(struct br2_debug_file file);

/* The function itself (index 0) or one inlined instance of a function in it. */
struct br2_scope {
    const char *name;       /* linkage name, else name, else "" */
    const char *plain_name; /* DW_AT_name, "" where missing */
    struct br2_debug_file decl_file;
    uint32_t decl_line;          /* 0: unknown */
    uint32_t parent;             /* BR2_NO_SCOPE for index 0 */
    uint32_t decl_column;        /* 0: unknown */
    uint32_t call_line;          /* in the parent; 0: unknown */
    uint32_t call_column;        /* 0: unknown */
    uint32_t call_discriminator; /* raw DW_AT_GNU_discriminator */
    bool call_has_discriminator;
};

/* [start, end) with one innermost scope and one line-table row. */
struct br2_location {
    uint64_t start;
    uint64_t end;
    uint32_t scope;
    uint32_t line;          /* 0: compiler generated or no row */
    uint32_t discriminator; /* raw */
    uint32_t file;          /* for br2_debug_location_file */
};

struct br2_debug_function {
    struct br2_scope *scopes; /* [0] is the function */
    size_t scope_count;
    struct br2_location *locations; /* sorted, disjoint, inside the ranges */
    size_t location_count;
    struct br2_address_range {
        uint64_t start, end;
    } * ranges; /* DW_AT_ranges or low/high pc, sorted; entry first in no particular way */
    size_t range_count;
    uint64_t entry; /* DW_AT_entry_pc, else low_pc, else the start of the first range listed that
                       has the symbol of a function, else of the first one */
    const char *producer; /* DW_AT_producer of the unit, "" where missing */
    bool assembly;        /* written in assembly language: assemblers give no declarations */
    void *lines_unit;     /* whose line table the locations are of */
};

/* What the whole image's debug information can be used for. */
struct br2_debug_quality {
    bool has_line_table; /* some unit has rows */
    bool has_units;
    bool fs_discriminators; /* __llvm_fs_discriminator__ symbol: raw values are the key */
    char producer[128];     /* of the first unit with code not in assembly, cut short */
};

struct br2_debug;

/*
 * Opens the debug information of `image`: of `debug_path` if not NULL, else of the image or, where
 * it has none, the separate file by build-id folder or .gnu_debuglink (below `sysroot` if not
 * NULL). Having none is no error: see the quality. Errors: BR2PGO_IO (debug_path), BR2PGO_CORRUPT,
 * BR2PGO_NO_MEMORY, BR2PGO_USELESS (debug_path is of another build or has none).
 */
int br2_debug_open(const struct br2_image *image, const char *debug_path, const char *sysroot,
                   struct br2_debug **ret, struct br2pgo_error *err);
void br2_debug_close(struct br2_debug *debug);
const struct br2_debug_quality *br2_debug_quality(const struct br2_debug *debug);
/* Path of the file the debug information came from. */
const char *br2_debug_path(const struct br2_debug *debug);

/*
 * The (not inlined) function whose ranges contain `address`; `*ret` is NULL when the debug
 * information has none. The same pointer for every address of one function; valid until close.
 * Broken debug information of one unit is no error: the function is then absent and counted.
 */
int br2_debug_function_at(struct br2_debug *debug, uint64_t address,
                          const struct br2_debug_function **ret, struct br2pgo_error *err);

/* Names of all (not inlined) functions with code, for the profile symbol list. Calls `sink` once
 * per function in DIE order; a non-zero return stops and is passed on. */
int br2_debug_each_name(struct br2_debug *debug, int (*sink)(void *user, const char *name),
                        void *user, struct br2pgo_error *err);

/* Units that could not be read. */
size_t br2_debug_broken_units(const struct br2_debug *debug);

/* Of those, the ones whose functions are in a file of their own (-gsplit-dwarf) that is neither
 * where the compiler wrote it nor beside the program, or of another build. */
struct br2_debug_missing {
    size_t units;
    const char
        *name; /* of the first unit's file, as the compiler wrote it; NULL: none is missing */
    const char *package; /* the file of all of them that was looked for; NULL: there are no split
                            units */
    bool has_package;    /* it is there, but has not those that are missing */
};
const struct br2_debug_missing *br2_debug_missing(const struct br2_debug *debug);

/* The file of a location's line, which is not its scope's where code is included; "" where it is
 * unknown. */
const char *br2_debug_location_file(const struct br2_debug_function *function,
                                    const struct br2_location *location);

/* The location that contains `address`, or NULL. */
const struct br2_location *br2_debug_location(const struct br2_debug_function *function,
                                              uint64_t address);

#endif
