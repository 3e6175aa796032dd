/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Split debug information (-gsplit-dwarf): a .dwo file has one unit, a .dwp file a package of many
 * with an index by unit id (DWARF 5 section 7.3.5; before that the GNU extension, index version 2,
 * https://gcc.gnu.org/wiki/DebugFissionDWP). libdw before 0.191 knows no packages; it gets each
 * unit as a .dwo file of its own, made in memory.
 */
#ifndef BR2_IMAGE_SPLIT_PACKAGE_H
#define BR2_IMAGE_SPLIT_PACKAGE_H

#include "image/elf_file.h"

/* The sections that functions, lines and inlining are told from. */
enum br2_split_part {
    BR2_SPLIT_INFO,
    BR2_SPLIT_ABBREV,
    BR2_SPLIT_LINE,
    BR2_SPLIT_STR_OFFSETS,
    BR2_SPLIT_RNGLISTS,
    BR2_SPLIT_STR,
    BR2_SPLIT_PARTS
};

/* Bytes of each section; NULL where there are none. */
struct br2_split_unit {
    struct br2_split_piece {
        const uint8_t *bytes;
        size_t size;
    } parts[BR2_SPLIT_PARTS];
    bool dwarf5;
};

struct br2_split_package {
    struct br2_elf elf;
    struct br2_split_unit whole; /* the sections of the file */
    bool indexed;                /* false: it is a .dwo file */
    bool compressed;
    uint32_t columns, units, slots;
    const uint8_t *ids;     /* 8 bytes for each slot */
    const uint8_t *rows;    /* 4 bytes for each slot; 0: empty, 1: the first row */
    const uint8_t *kinds;   /* 4 bytes for each column: which section */
    const uint8_t *offsets; /* rows of 4 bytes for each column */
    const uint8_t *sizes;
    size_t room; /* bytes that units may still have in all: pieces of a hostile file overlap */
};

/* Opens the .dwp or .dwo file at `path`. Errors: as br2_elf_open; BR2PGO_CORRUPT: no debug
 * information in it, or a broken index. End with br2_split_package_done, also after a failure. */
int br2_split_package_open(struct br2_split_package *package, const char *path,
                           struct br2pgo_error *err);
void br2_split_package_done(struct br2_split_package *package);

/* The pieces of the unit with this id, valid as long as the package; of a .dwo file, which has one,
 * everything. False: not there, or broken. */
bool br2_split_package_find(const struct br2_split_package *package, uint64_t id,
                            struct br2_split_unit *ret);

/*
 * Makes a .dwo file of the unit, in memory, with only the strings that it names; `*ret_fd` is the
 * caller's to close. BR2PGO_CORRUPT: a broken string table, or more bytes than the package has;
 * BR2PGO_IO; BR2PGO_NO_MEMORY.
 */
int br2_split_unit_file(struct br2_split_package *package, const struct br2_split_unit *unit,
                        int *ret_fd, struct br2pgo_error *err);

#endif
