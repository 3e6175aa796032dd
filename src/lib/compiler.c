/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which compiler built the image, and which ones its profiles are for. */
#include <stdio.h>
#include <string.h>

#include "converters/gcc/gcc.h"
#include "lib/conversion.h"
#include "profile/discriminator.h"

/* The first GCC that reads profiles, and the newest whose profiles are known. */
#define GCC_FIRST  5
#define GCC_NEWEST 16

static const char *producer_of(const struct br2pgo_conversion *conversion)
{
    return br2_debug_quality(conversion->debug)->producer;
}

/* Its name and version, without the options or the commit that follow: "GNU C17 12.2.0". */
static const char *builder_of(const struct br2pgo_conversion *conversion, char text[128])
{
    const char *producer = producer_of(conversion);
    size_t length = strlen(producer);
    const char *const ends[] = {strstr(producer, " -"), strstr(producer, " (")};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i] != NULL && (size_t)(ends[i] - producer) < length) {
            length = (size_t)(ends[i] - producer);
        }
    }
    snprintf(text, 128, "%.*s", length != 0 ? (int)length : 127,
             length != 0 ? producer : "an unknown compiler");
    return text;
}

static bool built_by_llvm(const struct br2pgo_conversion *conversion)
{
    return br2_discriminator_scheme_of(producer_of(conversion), false) == BR2_DISCRIMINATOR_LLVM;
}

/* Options of formats that GCC's has no place for. */
static int check_options(const struct br2_target *target, struct br2pgo_error *err)
{
    const struct br2_write_options *options = &target->options;
    if (!options->compress && !options->md5 && !options->partial && !options->symbol_list) {
        return 0;
    }
    br2_fail(err, BR2PGO_INVALID,
             "'%s' becomes a GCC profile, which has no place for the symbol list, compression, MD5 "
             "names or a partial mark",
             target->path);
    br2_hint(err, "leave these options out, or name the format with -f");
    return BR2PGO_INVALID;
}

static int settle(struct br2pgo_conversion *conversion, struct br2_target *target,
                  struct br2pgo_error *err)
{
    char builder[128];
    const char *producer = producer_of(conversion);
    const char *reason = "the image was built by";
    if (conversion->options.gcc_version != 0 || br2_gcc_major(producer) != 0) {
        target->format = &br2_format_gcov;
        reason = conversion->options.gcc_version != 0 ? "GCC was asked for; the image was built by"
                                                      : reason;
    } else if (!built_by_llvm(conversion)) {
        br2_fail(err, BR2PGO_AMBIGUOUS,
                 "cannot tell which compiler '%s' is for: the image was built by %s", target->path,
                 builder_of(conversion, builder));
        br2_hint(err, "name the format: -f llvm-extbinary -o '%s', or -f gcov", target->path);
        return BR2PGO_AMBIGUOUS;
    }
    br2_note(conversion, BR2PGO_NOTE_CHOICE, "'%s' is written as %s: %s %s", target->path,
             target->format->name, reason, builder_of(conversion, builder));
    return target->format->gcc_rules ? check_options(target, err) : 0;
}

int br2_settle_formats(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < conversion->target_count; i++) {
        if (conversion->targets[i].by_producer) {
            rc = settle(conversion, &conversion->targets[i], err);
        }
    }
    return rc;
}

static enum br2_rules rules_of(int major)
{
    if (major <= 12) {
        return BR2_RULES_GCC_5;
    }
    return major <= 15 ? BR2_RULES_GCC_13 : BR2_RULES_GCC_16;
}

static unsigned format_version(int major)
{
    if (major <= 11) {
        return 1;
    }
    return major <= 15 ? 2 : 3;
}

/* Discriminators were numbered anew in 13, 15 and 16; up to 12 they do not count. */
static int numbering(int major)
{
    return major <= 12 ? 12 : major <= 14 ? 13 : major == 15 ? 15 : 16;
}

/* What is less than it could be when the compiler that built the image is another. */
static void note_builder(struct br2pgo_conversion *conversion, int major)
{
    char builder[128];
    int built = br2_gcc_major(producer_of(conversion));
    if (built == 0 || (major > 12 && numbering(built) != numbering(major))) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "the image was built by %s: GCC %d will find less of this profile in the source "
                 "than of one of its own programs",
                 builder_of(conversion, builder), major);
    }
    if (br2_gcc_is_unknown(major) && conversion->options.gcov_version == 0) {
        br2_note(
            conversion, BR2PGO_NOTE_WARNING,
            "GCC %d is newer than what is known of GCC: written as for GCC %d (--gcc FILE asks "
            "the compiler)",
            major, GCC_NEWEST);
    }
}

int br2_gcc_reads(int major, enum br2_rules *ret_rules, unsigned *ret_version,
                  struct br2pgo_error *err)
{
    if (major < GCC_FIRST) {
        br2_fail(err, BR2PGO_INVALID, "GCC %d reads no profiles of this kind: GCC %d is the first",
                 major, GCC_FIRST);
        br2_hint(err, "say with --gcc-version N which GCC will use the profile");
        return BR2PGO_INVALID;
    }
    *ret_rules = rules_of(major);
    *ret_version = format_version(major);
    return 0;
}

bool br2_gcc_is_unknown(int major)
{
    return major > GCC_NEWEST;
}

int br2_gcc_newest(unsigned version)
{
    return version == 1 ? 11 : version == 2 ? 15 : GCC_NEWEST;
}

/* The GCC that is meant where only the format's version is asked for: the one that built the image,
 * or the nearest to it that reads that version; of an unknown builder, the newest that does. */
static int gcc_for_version(int built, unsigned version)
{
    if (built >= GCC_FIRST && format_version(built) == version) {
        return built;
    }
    return version == 2 && built != 0 && built < 12 ? 12 : br2_gcc_newest(version);
}

int br2_choose_gcc(struct br2pgo_conversion *conversion, enum br2_rules *ret,
                   struct br2pgo_error *err)
{
    int major = conversion->options.gcc_version;
    if (major == 0) {
        major = br2_gcc_major(producer_of(conversion));
        if (conversion->options.gcov_version != 0) {
            major = gcc_for_version(major, (unsigned)conversion->options.gcov_version);
        }
    }
    char builder[128];
    if (major == 0) {
        br2_fail(err, BR2PGO_AMBIGUOUS, "which GCC is the profile for? The image was built by %s",
                 builder_of(conversion, builder));
        br2_hint(err,
                 "say it with --gcc-version N or --gcc FILE; a profile for clang: -o app.prof");
        return BR2PGO_AMBIGUOUS;
    }
    unsigned version = 0;
    int rc = br2_gcc_reads(major, ret, &version, err);
    if (rc != 0) {
        return rc;
    }
    if (conversion->options.gcov_version != 0) {
        version = (unsigned)conversion->options.gcov_version;
    }
    for (size_t i = 0; i < conversion->target_count; i++) {
        conversion->targets[i].options.gcov_version = version;
    }
    br2_note(conversion, BR2PGO_NOTE_DETAIL, "GCC profile for GCC %d, version %u of the format",
             major, version);
    note_builder(conversion, major);
    return 0;
}

void br2_note_llvm_builder(struct br2pgo_conversion *conversion)
{
    char builder[128];
    bool for_clang = false; /* a text is for people */
    for (size_t i = 0; i < conversion->target_count; i++) {
        const struct br2_format *format = conversion->targets[i].format;
        for_clang = for_clang || (format->product == BR2_PRODUCT_PROFILE && format->binary &&
                                  !format->gcc_rules);
    }
    if (for_clang && br2_image_has_section(conversion->image, ".pseudo_probe")) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "the image has pseudo-probes: the profile is by lines all the same, and for a "
                 "build without -fpseudo-probe-for-profiling");
    }
    if (for_clang && br2_gcc_major(producer_of(conversion)) != 0) {
        br2_note(
            conversion, BR2PGO_NOTE_WARNING,
            "the image was built by %s: clang will find less of this profile in the source than "
            "of one of its own programs; for GCC: -o app.gcov",
            builder_of(conversion, builder));
    }
}
