/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The product for llvm-bolt, and which images it can be made for. */
#include "lib/conversion.h"

int br2_check_image_for_bolt(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const struct br2_image *image = conversion->image;
    const char *path = conversion->image_path;
    if (br2_image_has_section(image, ".note.bolt_bat") ||
        br2_image_has_section(image, ".note.bolt_info")) {
        br2_fail(err, BR2PGO_UNSUPPORTED,
                 "'%s' was rewritten by llvm-bolt, which does not take its own output again", path);
        br2_hint(err, "record the program as the linker wrote it");
        return BR2PGO_UNSUPPORTED;
    }
    if (!br2_image_has_section(image, ".symtab")) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s' has no symbol table: llvm-bolt knows functions by their symbols", path);
        br2_hint(err, "give the file as it was before strip with --binary");
        return BR2PGO_USELESS;
    }
    if (!br2_image_has_section(image, ".rela.text")) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s' has no relocations: llvm-bolt will not move its functions; link it with "
                 "-Wl,--emit-relocs",
                 path);
    }
    return 0;
}

int br2_make_block_flow(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_block_flow_build(conversion->graph, &conversion->block_flow, err);
    if (rc == 0 && conversion->block_flow.edge_count == 0) {
        br2_fail(err, BR2PGO_USELESS, "'%s': nothing but returns was recorded",
                 conversion->image_path);
        br2_hint(err, "record all branches, not a selection: perf record -j any,u");
        rc = BR2PGO_USELESS;
    }
    return rc;
}
