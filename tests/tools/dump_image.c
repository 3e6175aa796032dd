/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what src/image reads from an ELF file, for tests to compare with other tools:
 *   dump_image [--step N] [--debug-file FILE] [--no-debug] FILE
 * R start end name plt|symbol|frame     each code range
 * I address size kind target compares   each of its instructions (every Nth of the file)
 * F address file frame|frame|...        name of its line's file, "-" where unknown, and its frames,
 *                                       outermost first: name:line:decl_line:disc
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/code.h"
#include "image/debug.h"
#include "image/image.h"

static const char *const kinds[] = {
    "plain",         "cond",   "jump",    "call", "indirect-call",
    "indirect-jump", "return", "syscall", "stop", "invalid",
};

struct dump {
    struct br2_image *image;
    struct br2_debug *debug;
    struct br2_decoder *decoder;
    struct br2pgo_error err;
    unsigned long step;
    unsigned long seen;
};

/* Frames from the outermost in: each with the place in it, which for all but the innermost is that
 * of the call to the next. */
static void print_frames(const struct br2_debug_function *function,
                         const struct br2_location *location)
{
    const struct br2_scope *path[512];
    size_t count = 0;
    for (uint32_t at = location->scope; at != BR2_NO_SCOPE && count < 512;
         at = function->scopes[at].parent) {
        path[count++] = &function->scopes[at];
    }
    while (count-- > 0) {
        const struct br2_scope *inner = count > 0 ? path[count - 1] : NULL;
        uint32_t line = inner != NULL ? inner->call_line : location->line;
        uint32_t disc = inner != NULL ? inner->call_discriminator : location->discriminator;
        printf("%s:%" PRIu32 ":%" PRIu32 ":%" PRIu32 "%s", path[count]->name, line,
               path[count]->decl_line, disc, inner != NULL ? "|" : "\n");
    }
}

static int dump_frames(struct dump *d, uint64_t address)
{
    const struct br2_debug_function *function;
    int status = br2_debug_function_at(d->debug, address, &function, &d->err);
    if (status != 0) {
        return status;
    }
    const struct br2_location *location =
        function != NULL ? br2_debug_location(function, address) : NULL;
    const char *file = location != NULL ? br2_debug_location_file(function, location) : "";
    file = strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file;
    printf("F %" PRIx64 " %s ", address, file[0] != '\0' ? file : "-");
    if (location != NULL) {
        print_frames(function, location);
    } else {
        printf("-\n");
    }
    return 0;
}

static int dump_range(struct dump *d, const struct br2_code_range *range)
{
    const char *from = range->from_symbol ? "symbol" : "frame";
    printf("R %" PRIx64 " %" PRIx64 " %s %s\n", range->start, range->end,
           range->name[0] != '\0' ? range->name : "-", range->plt ? "plt" : from);
    if (d->decoder == NULL) {
        return 0;
    }
    struct br2_code code;
    int status = br2_code_decode(d->decoder, d->image, range->start, range->end, &code, &d->err);
    for (size_t i = 0; status == 0 && i < code.count; i++) {
        const struct br2_insn *insn = &code.insns[i];
        if (d->seen++ % d->step != 0) {
            continue;
        }
        printf("I %" PRIx64 " %u %s %" PRIx64 " %u\n", insn->address, insn->size, kinds[insn->kind],
               insn->target, insn->compares);
        if (d->debug != NULL) {
            status = dump_frames(d, insn->address);
        }
    }
    br2_code_done(&code);
    return status;
}

static int dump_all(struct dump *d)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(d->image, &ranges);
    for (size_t i = 0; i < count; i++) {
        int status = dump_range(d, &ranges[i]);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static void print_summary(const struct dump *d, const char *path)
{
    const struct br2_build_id *id = br2_image_build_id(d->image);
    fprintf(stderr, "%s: build-id ", path);
    for (unsigned i = 0; i < id->size; i++) {
        fprintf(stderr, "%02x", id->bytes[i]);
    }
    if (d->debug != NULL) {
        const struct br2_debug_quality *q = br2_debug_quality(d->debug);
        fprintf(stderr, ", debug %s, units %d, lines %d, fs %d, broken units %zu, producer %s",
                br2_debug_path(d->debug), q->has_units, q->has_line_table, q->fs_discriminators,
                br2_debug_broken_units(d->debug), q->producer);
    }
    fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
    struct dump d = {.step = 1};
    const char *path = NULL;
    const char *debug_path = NULL;
    bool with_debug = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--step") == 0 && i + 1 < argc) {
            d.step = strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--debug-file") == 0 && i + 1 < argc) {
            debug_path = argv[++i];
        } else if (strcmp(argv[i], "--no-debug") == 0) {
            with_debug = false;
        } else {
            path = argv[i];
        }
    }
    if (path == NULL || d.step == 0) {
        fprintf(stderr, "usage: dump_image [--step N] [--debug-file FILE] [--no-debug] FILE\n");
        return 2;
    }
    int status = br2_image_open(path, &d.image, &d.err);
    if (status == 0 && with_debug) {
        status = br2_debug_open(d.image, debug_path, NULL, &d.debug, &d.err);
    }
    if (status == 0) {
        status = br2_decoder_new(br2_image_machine(d.image), &d.decoder, &d.err);
    }
    if (status == 0) {
        status = dump_all(&d);
        print_summary(&d, path);
    }
    if (status != 0) {
        fprintf(stderr, "%s (%s)\n", d.err.message, d.err.hint);
    }
    br2_decoder_free(d.decoder);
    br2_debug_close(d.debug);
    br2_image_close(d.image);
    return status != 0;
}
