/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An ELF file as branch analysis sees it: build-id, executable segments, code bytes, functions.
 * Addresses are link-time virtual addresses everywhere. Immutable once open. */
#ifndef BR2_IMAGE_IMAGE_H
#define BR2_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"

enum br2_machine {
    BR2_MACHINE_X86_64,
    BR2_MACHINE_AARCH64,
    BR2_MACHINE_RISCV64,
};

/* A PT_LOAD with PF_X; for a relocatable kernel module, its text sections in file order. */
struct br2_segment {
    uint64_t file_offset;
    uint64_t file_size;
    uint64_t address;
    uint64_t memory_size;
    /* What "address - mapping's start + mapping's file offset" comes to at the segment's start: its
     * file offset; in a module, which is loaded section by section, the distance from its first. */
    uint64_t mapped_offset;
};

/*
 * A stretch of code that control enters at its start: a function symbol, a PLT stub, or, where
 * there is no symbol, a call-frame (.eh_frame) range. Ranges are sorted by start and do not
 * overlap: of aliases the best name is kept (global before weak before local, then the shorter,
 * then the smaller), a symbol inside another's range is left out unless it has a size of its own
 * that ends at or beyond the other's end, in which case the first is cut short.
 */
struct br2_code_range {
    uint64_t start;
    uint64_t end;
    const char *name; /* as in the symbol table, mangled; "" where none; PLT: "puts@plt" */
    bool plt;
    bool from_symbol; /* false: from .eh_frame only */
};

struct br2_image;

/*
 * Opens the ELF file at `path`. Errors: BR2PGO_IO; BR2PGO_UNSUPPORTED (not ELF, 32-bit,
 * another machine, no executable code); BR2PGO_CORRUPT; BR2PGO_NO_MEMORY.
 */
int br2_image_open(const char *path, struct br2_image **ret, struct br2pgo_error *err);
void br2_image_close(struct br2_image *image);

const char *br2_image_path(const struct br2_image *image);
const struct br2_build_id *br2_image_build_id(const struct br2_image *image);
enum br2_machine br2_image_machine(const struct br2_image *image);
/* Whether a defined symbol (of any type) has this name. The first question makes an index. */
bool br2_image_has_symbol(const struct br2_image *image, const char *name);

/* Whether the file has a section of this name. */
bool br2_image_has_section(const struct br2_image *image, const char *name);
/* The executable section that contains `address`; false where none does. */
struct br2_code_section {
    const char *name;
    uint64_t start;
    uint64_t end;
};
bool br2_image_section_at(const struct br2_image *image, uint64_t address,
                          struct br2_code_section *ret);

/* Executable segments, sorted by address. */
size_t br2_image_segments(const struct br2_image *image, const struct br2_segment **ret);

/* The file's code bytes from `address` to the end of its segment; NULL when not in one. */
const uint8_t *br2_image_code(const struct br2_image *image, uint64_t address, size_t *ret_size);

/* Whether a number in the code may be an address: the file is loaded at a fixed place, and it is in
 * one of its segments. */
bool br2_image_is_address(const struct br2_image *image, uint64_t number);

/* All code ranges, sorted; and the one that contains `address`, or NULL. */
size_t br2_image_ranges(const struct br2_image *image, const struct br2_code_range **ret);
const struct br2_code_range *br2_image_range_at(const struct br2_image *image, uint64_t address);

/* For the debug reader: path of the debug file found by build-id folder or .gnu_debuglink (owned
 * by the image, until the next call), NULL when the image itself is to be used. */
const char *br2_image_debug_file(const struct br2_image *image, const char *sysroot);

#endif
