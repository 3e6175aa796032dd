/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the indirect jumps inside a function may go: the entries of its jump tables, and places
 * inside it whose addresses lie in data (computed goto).
 */
#ifndef BR2_IMAGE_JUMP_TABLES_H
#define BR2_IMAGE_JUMP_TABLES_H

#include "base/addresses.h"
#include "image/code.h"

struct br2_jump_tables;
/* Collects the code addresses that the image's relocations put into data. BR2PGO_NO_MEMORY. */
int br2_jump_tables_open(const struct br2_image *image, struct br2_jump_tables **ret,
                         struct br2pgo_error *err);
void br2_jump_tables_close(struct br2_jump_tables *tables);

/*
 * Replaces the contents of `ret` with the starts of instructions in `code` that its jump tables
 * hold, and places in a part of the function that was split off. Tables are found by the
 * instructions that use them, which is done for x86-64 only: on AArch64 BOLT 19 and 22 give up a
 * function with a jump table, so that nobody could use its edges. Found are tables of 4-byte
 * distances from the table (lea table(%rip), in a function with an indirect jump) and of 8-byte
 * addresses (table(,%index,8)). A table goes on as long as its entries are such places.
 * BR2PGO_NO_MEMORY.
 */
int br2_jump_tables_targets(const struct br2_jump_tables *tables, const struct br2_code *code,
                            struct br2_addresses *ret, struct br2pgo_error *err);

/* Whether data holds this code address, as far as relocations say. */
bool br2_jump_tables_in_data(const struct br2_jump_tables *tables, uint64_t address);

#endif
