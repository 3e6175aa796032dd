/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of image*.c and the decoder share. */
#ifndef BR2_IMAGE_IMAGE_PRIVATE_H
#define BR2_IMAGE_IMAGE_PRIVATE_H

#include "base/mem.h"
#include "image/elf_file.h"
#include "image/image.h"

struct br2_text_area { /* an executable section, or a segment of a file without sections */
    uint64_t start, end;
    const char *name; /* of the section; NULL: a segment */
};

/* Found on demand, so not part of what is immutable. */
struct br2_debug_lookup {
    char *path; /* owned */
    struct br2_elf_names names;
};

struct br2_image {
    char *path;
    struct br2_elf elf;
    struct br2_build_id build_id;
    enum br2_machine machine;
    struct br2_segment *segments;
    size_t segment_count;
    struct br2_text_area *areas; /* sorted by start, disjoint, each inside one segment's bytes */
    size_t area_count;
    struct br2_code_range *ranges;
    size_t range_count;
    struct br2_arena names;
    struct br2_debug_lookup *lookup;
};

/* Code ranges while they are collected. */
struct br2_range_list {
    struct br2_code_range *items; /* owned */
    size_t count;
    size_t capacity;
};

/* The executable area that contains `address`, or NULL. */
const struct br2_text_area *br2_image_area_at(const struct br2_image *image, uint64_t address);

/* Whether the direct branch in [start, end) leads into another file (kernel modules). */
bool br2_image_is_unresolved(const struct br2_image *image, uint64_t start, uint64_t end);

bool br2_range_list_add(struct br2_range_list *list, const struct br2_code_range *range);

/* Function symbols, PLT stubs and call-frame ranges: each sorted and without overlap. Errors:
 * BR2PGO_NO_MEMORY only, what is broken is left out. */
int br2_image_read_symbols(struct br2_image *image, struct br2_range_list *ret,
                           struct br2pgo_error *err);
int br2_image_read_plt(struct br2_image *image, struct br2_range_list *ret,
                       struct br2pgo_error *err);
int br2_image_read_frames(struct br2_image *image, struct br2_range_list *ret,
                          struct br2pgo_error *err);
/* What a call-frame entry says of a function; in the order of the file. */
struct br2_frame {
    uint64_t start;
    uint64_t end;
    uint64_t lsda; /* address of its language-specific data; 0: none */
};
struct br2_frames {
    struct br2_frame *items; /* owned */
    size_t count;
    size_t capacity;
};
/* BR2PGO_NO_MEMORY only, what is broken is left out. */
int br2_image_frames(const struct br2_image *image, struct br2_frames *ret,
                     struct br2pgo_error *err);
/* Sets image->ranges from all three. */
int br2_image_read_ranges(struct br2_image *image, struct br2pgo_error *err);

#endif
