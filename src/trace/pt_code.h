/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code as libipt's decoder gets it: an image for each view, in which sections of files come as they
 * are needed. Sections are what makes it fast: it keeps what it knows of their blocks. */
#ifndef BR2_TRACE_PT_CODE_H
#define BR2_TRACE_PT_CODE_H

#include <intel-pt.h>

#include "trace/walk.h"

#define BR2_PT_VIEWS 32u /* images kept; of more the oldest goes */

struct br2_pt_code {
    struct br2_trace_walk *walk;
    struct pt_image_section_cache *cache; /* owned */
    struct br2_pt_view {
        uint32_t view;
        struct pt_image *image; /* owned; NULL: free */
    } views[BR2_PT_VIEWS];
    unsigned next; /* the oldest */
    struct br2_pt_view *used;
    struct br2_trace_section wanted; /* read, and not yet in the image; `bytes` NULL: none */
    uint64_t missing;                /* the last address without code */
};

int br2_pt_code_begin(struct br2_pt_code *code, struct br2_trace_walk *walk,
                      struct br2pgo_error *err);
void br2_pt_code_done(struct br2_pt_code *code);
/* Gives the decoder the code of a view. */
int br2_pt_code_use(struct br2_pt_code *code, struct pt_block_decoder *decoder, uint32_t view,
                    struct br2pgo_error *err);
/* While the decoder rests: adds what it wanted to the image. */
int br2_pt_code_grow(struct br2_pt_code *code, struct br2pgo_error *err);

#endif
