/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The product for llvm-bolt, and which images it can be made for. */
#include "image/bolt_table.h"
#include "lib/conversion.h"

/* What llvm-bolt wrote is not what it reads: it takes a profile in terms of its input only. */
static int check_rewritten(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const char *path = conversion->image_path;
    if (!br2_bolt_table_exists(conversion->image)) {
        br2_fail(err, BR2PGO_UNSUPPORTED,
                 "'%s' was rewritten by llvm-bolt, and has no table that says what its code was "
                 "before",
                 path);
        br2_hint(err, "rewrite the program with -enable-bat and record it again, or record the "
                      "program as the linker wrote it");
        return BR2PGO_UNSUPPORTED;
    }
    for (size_t i = 0; i < conversion->target_count; i++) {
        const struct br2_target *target = &conversion->targets[i];
        if (target->format->product == BR2_PRODUCT_FLOW && target->format->runs) {
            br2_fail(err, BR2PGO_UNSUPPORTED,
                     "%s holds addresses, and those of '%s' are not those of the program before "
                     "llvm-bolt rewrote it",
                     target->format->name, path);
            br2_hint(err, "write an fdata file, which holds functions and offsets");
            return BR2PGO_UNSUPPORTED;
        }
    }
    return 0;
}

int br2_check_image_for_bolt(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const struct br2_image *image = conversion->image;
    const char *path = conversion->image_path;
    bool rewritten = br2_bolt_rewrote(image);
    if (rewritten && check_rewritten(conversion, err) != 0) {
        return BR2PGO_UNSUPPORTED;
    }
    if (!br2_image_has_section(image, ".symtab")) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s' has no symbol table: llvm-bolt knows functions by their symbols", path);
        br2_hint(err, "give the file as it was before strip with --binary");
        return BR2PGO_USELESS;
    }
    if (!rewritten && !br2_image_has_section(image, ".rela.text")) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s' has no relocations: llvm-bolt will not move its functions; link it with "
                 "-Wl,--emit-relocs",
                 path);
    }
    return 0;
}

static int build_block_flow(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct br2_block_flow *flow = &conversion->block_flow;
    struct br2_bolt_table table = {0};
    bool rewritten = br2_bolt_rewrote(conversion->image);
    int rc = rewritten ? br2_bolt_table_read(conversion->image, &table, err) : 0;
    if (rc == 0) {
        rc = br2_block_flow_build(conversion->graph, rewritten ? &table : NULL, flow, err);
    }
    br2_bolt_table_done(&table);
    return rc;
}

int br2_make_block_flow(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = build_block_flow(conversion, err);
    const struct br2_block_flow *flow = &conversion->block_flow;
    if (rc == 0 && flow->edge_count == 0) {
        br2_fail(err, BR2PGO_USELESS, "'%s': nothing but returns was recorded",
                 conversion->image_path);
        br2_hint(err, "record all branches, not a selection: perf record -j any,u");
        rc = BR2PGO_USELESS;
    }
    return rc;
}
