/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/pt_code.h"

#include <string.h>

#include "base/mem.h"

/* What libipt keeps of sections that no decoder uses. */
#define CACHE_BYTES (UINT64_C(256) << 20)

/* Called where no section of the image has the address: gives its bytes, and has the section added
 * when the decoder rests. */
static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
                       void *context)
{
    struct br2_pt_code *code = context;
    (void)asid;
    const struct br2_trace_section *section =
        code->used->view != BR2_VIEW_UNKNOWN ? br2_trace_walk_section(code->walk, ip) : NULL;
    if (section == NULL) {
        code->missing = ip;
        return -pte_nomap;
    }
    uint64_t left = section->end - ip;
    size = size < left ? size : (size_t)left;
    memcpy(buffer, section->bytes + (ip - section->start), size);
    code->wanted = *section;
    return (int)size;
}

int br2_pt_code_begin(struct br2_pt_code *code, struct br2_trace_walk *walk,
                      struct br2pgo_error *err)
{
    *code = (struct br2_pt_code){.walk = walk};
    code->cache = pt_iscache_alloc(NULL);
    if (code->cache == NULL || pt_iscache_set_limit(code->cache, CACHE_BYTES) < 0) {
        return br2_fail_memory(err);
    }
    return 0;
}

void br2_pt_code_done(struct br2_pt_code *code)
{
    for (unsigned i = 0; i < BR2_PT_VIEWS; i++) {
        pt_image_free(code->views[i].image);
    }
    pt_iscache_free(code->cache);
}

static struct br2_pt_view *find_view(struct br2_pt_code *code, uint32_t view)
{
    for (unsigned i = 0; i < BR2_PT_VIEWS; i++) {
        if (code->views[i].image != NULL && code->views[i].view == view) {
            return &code->views[i];
        }
    }
    return NULL;
}

/* A view that is not kept takes the place of the oldest, unless the decoder has that one. */
static struct br2_pt_view *add_view(struct br2_pt_code *code, uint32_t view)
{
    struct br2_pt_view *oldest = &code->views[code->next];
    if (oldest == code->used) {
        code->next = (code->next + 1) % BR2_PT_VIEWS;
        oldest = &code->views[code->next];
    }
    code->next = (code->next + 1) % BR2_PT_VIEWS;
    pt_image_free(oldest->image);
    oldest->view = view;
    oldest->image = pt_image_alloc(NULL);
    if (oldest->image == NULL || pt_image_set_callback(oldest->image, read_memory, code) < 0) {
        return NULL;
    }
    return oldest;
}

int br2_pt_code_use(struct br2_pt_code *code, struct pt_block_decoder *decoder, uint32_t view,
                    struct br2pgo_error *err)
{
    struct br2_pt_view *found = find_view(code, view);
    found = found != NULL ? found : add_view(code, view);
    if (found == NULL || pt_blk_set_image(decoder, found->image) < 0) {
        return br2_fail_memory(err);
    }
    code->used = found;
    code->wanted.bytes = NULL;
    return 0;
}

int br2_pt_code_grow(struct br2_pt_code *code, struct br2pgo_error *err)
{
    const struct br2_trace_section *wanted = &code->wanted;
    if (wanted->bytes == NULL) {
        return 0;
    }
    int number = pt_iscache_add_file(code->cache, wanted->path, wanted->file_offset,
                                     wanted->end - wanted->start, wanted->start);
    code->wanted.bytes = NULL;
    if (number == -pte_nomem) {
        return br2_fail_memory(err);
    }
    /* A file that libipt does not take is read by the callback for ever. */
    if (number > 0 &&
        pt_image_add_cached(code->used->image, code->cache, number, NULL) == -pte_nomem) {
        return br2_fail_memory(err);
    }
    return 0;
}
