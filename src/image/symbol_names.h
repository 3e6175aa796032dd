/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a linker or a binary rewriter calls a function: the first symbol at its address, and of
 * local symbols, which may share a name, the how manyth of that name it is.
 */
#ifndef BR2_IMAGE_SYMBOL_NAMES_H
#define BR2_IMAGE_SYMBOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addresses.h"
#include "image/image.h"

struct br2_symbol_name {
    uint64_t address;
    uint64_t size;    /* as the symbol table says */
    const char *name; /* of the image, valid as long as that */
    uint32_t local;   /* 1, 2, ... in the order of addresses among the local symbols of the name,
                         whatever they stand for; 0: not local */
    const char *file; /* of a local symbol: of the file symbol before it, NULL where that has no
                         name */
    bool alone;       /* not local, or the only local symbol of its name and file */
};

/* The function symbols, sorted by address; of one address in the order of the symbol table. */
struct br2_symbol_names {
    struct br2_symbol_name *items; /* owned */
    size_t count;
    struct br2_addresses labels; /* sorted; symbols of no type and size in code: assembly's */
};

/* From .symtab; without one there are none. BR2PGO_NO_MEMORY. */
int br2_symbol_names_read(const struct br2_image *image, struct br2_symbol_names *ret,
                          struct br2pgo_error *err);
void br2_symbol_names_done(struct br2_symbol_names *names);

/* The first function symbol at `address`, or NULL. */
const struct br2_symbol_name *br2_symbol_names_at(const struct br2_symbol_names *names,
                                                  uint64_t address);
/* Index of the first symbol at or behind `address`. */
size_t br2_symbol_names_from(const struct br2_symbol_names *names, uint64_t address);

#endif
