/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a program: segments, code ranges, instructions, jump tables, names of symbols,
 * llvm-bolt's table, debug information. */
#include "fuzz.h"
#include "image/bolt_table.h"
#include "image/code.h"
#include "image/debug.h"
#include "image/jump_tables.h"
#include "image/landing_pads.h"
#include "image/symbol_names.h"

/* A small file can describe a lot of code; so much of it is looked at. */
#define RANGES_MAX      64
#define RANGE_BYTES_MAX 4096

static void look_at_tables(const struct br2_image *image, const struct br2_code *code)
{
    struct br2_jump_tables *tables;
    struct br2_addresses targets = {0};
    if (br2_jump_tables_open(image, &tables, NULL) == 0) {
        br2_jump_tables_targets(tables, code, &targets, NULL);
        br2_addresses_done(&targets);
        br2_jump_tables_close(tables);
    }
}

static void look_at_pads(const struct br2_image *image)
{
    struct br2_addresses pads = {0};
    br2_landing_pads_read(image, &pads, NULL);
    br2_addresses_done(&pads);
}

static void look_at_names(const struct br2_image *image)
{
    struct br2_symbol_names names;
    if (br2_symbol_names_read(image, &names, NULL) == 0) {
        for (size_t i = 0; i < names.count; i++) {
            fuzz_require(br2_symbol_names_at(&names, names.items[i].address) != NULL,
                         "every symbol is found");
        }
        br2_symbol_names_done(&names);
    }
}

static void look_at_bolt_table(const struct br2_image *image)
{
    struct br2_bolt_table table;
    if (br2_bolt_table_read(image, &table, NULL) != 0) {
        return;
    }
    for (size_t i = 0; i < table.fragment_count; i++) {
        const struct br2_bolt_fragment *fragment = &table.fragments[i];
        fuzz_require(br2_bolt_fragment_at(&table, fragment->start) == fragment,
                     "every fragment is found");
        fuzz_require(table.fragments[fragment->parent].parent == fragment->parent,
                     "a function begins with its parent");
        for (size_t k = 0; k < fragment->count; k++) {
            const struct br2_bolt_place *place = &table.places[fragment->first + k];
            const struct br2_bolt_place *found =
                place->branch ? br2_bolt_branch(&table, fragment, place->output)
                              : br2_bolt_block(&table, fragment, place->output);
            fuzz_require(found != NULL && found->output == place->output, "every place is found");
        }
    }
    br2_bolt_table_done(&table);
}

static void look_at_range(const struct br2_image *image, struct br2_debug *debug,
                          struct br2_decoder *decoder, const struct br2_code_range *range)
{
    fuzz_require(range->start < range->end, "a range is not empty");
    struct br2_code code;
    uint64_t end =
        range->end - range->start > RANGE_BYTES_MAX ? range->start + RANGE_BYTES_MAX : range->end;
    if (br2_code_decode(decoder, image, range->start, end, &code, NULL) == 0) {
        uint64_t at = range->start;
        for (size_t i = 0; i < code.count; i++) {
            fuzz_require(code.insns[i].address == at, "instructions follow each other");
            at += code.insns[i].size;
        }
        look_at_tables(image, &code);
        br2_code_done(&code);
    }
    const struct br2_debug_function *function = NULL;
    if (debug != NULL && br2_debug_function_at(debug, range->start, &function, NULL) == 0 &&
        function != NULL) {
        for (size_t i = 1; i < function->location_count; i++) {
            fuzz_require(function->locations[i - 1].end <= function->locations[i].start,
                         "locations are sorted and disjoint");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = fuzz_file(data, size, path);
    struct br2_image *image;
    if (br2_image_open(path, &image, NULL) == 0) {
        struct br2_debug *debug = NULL;
        struct br2_decoder *decoder;
        look_at_names(image);
        look_at_pads(image);
        look_at_bolt_table(image);
        if (br2_debug_open(image, NULL, NULL, &debug, NULL) != 0) {
            debug = NULL;
        }
        if (br2_decoder_new(br2_image_machine(image), &decoder, NULL) == 0) {
            const struct br2_code_range *ranges;
            size_t count = br2_image_ranges(image, &ranges);
            for (size_t i = 0; i < count && i < RANGES_MAX; i++) {
                look_at_range(image, debug, decoder, &ranges[i]);
            }
            br2_decoder_free(decoder);
        }
        br2_debug_close(debug);
        br2_image_close(image);
    }
    close(fd);
    return 0;
}
