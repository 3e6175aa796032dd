/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is mapped in one address space at one time: disjoint mappings, sorted by address, in chunks,
 * so that one more among a million costs little wherever it goes. */
#ifndef BR2_PROCESS_MAPPING_SET_H
#define BR2_PROCESS_MAPPING_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct br2_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset; /* of `start` */
    uint32_t dso;
};

/* Zero-initialise, then use. */
struct br2_mapping_set {
    struct br2_mapping_chunk {
        struct br2_mapping *items; /* owned, sorted, at least one */
        size_t count;
        size_t capacity;
    } * chunks; /* sorted */
    size_t chunk_count;
    size_t chunk_capacity;
    size_t count; /* mappings in all chunks */
};

/* Maps [start, end), over whatever lies there: what reaches over an edge is cut. At most two more
 * mappings than before. False when memory runs out; the set is then still sound. */
bool br2_mapping_set_put(struct br2_mapping_set *set, const struct br2_mapping *mapping);

/* The first mapping that ends after `address`, or NULL. */
const struct br2_mapping *br2_mapping_set_after(const struct br2_mapping_set *set,
                                                uint64_t address);

/* Makes the empty set `copy` one with the same mappings. False when memory runs out. */
bool br2_mapping_set_copy(struct br2_mapping_set *copy, const struct br2_mapping_set *set);
void br2_mapping_set_done(struct br2_mapping_set *set);

#endif
