/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether the debug information is good enough for a profile, and what to do where it is not. */
#include "image/bolt_table.h"
#include "lib/conversion.h"

/* Share of the executions that may lie in functions without a declaration line. A program built
 * with -g1 has nearly all of them there. */
#define UNDECLARED_MAX 0.1

/* So many functions without one discriminator between them were not built to have any. */
#define TELLING_FUNCTIONS 20

static int refuse_debug(const struct br2pgo_conversion *conversion, const char *what,
                        const char *hint, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_USELESS, "'%s' %s", br2_debug_path(conversion->debug), what);
    br2_hint(err, "%s", hint);
    return BR2PGO_USELESS;
}

int br2_open_debug(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_find_debug(conversion, err);
    if (rc != 0) {
        return rc;
    }
    if (!br2_debug_quality(conversion->debug)->has_line_table &&
        br2_bolt_rewrote(conversion->image)) {
        return refuse_debug(conversion, "was rewritten by llvm-bolt, without its line table",
                            "build the program with -g and rewrite it with -update-debug-sections; "
                            "'-f fdata' needs -enable-bat, '-f edges' neither",
                            err);
    }
    if (!br2_debug_quality(conversion->debug)->has_line_table) {
        return refuse_debug(conversion,
                            "has no line table: its code cannot be told in terms of source lines",
                            "build it with -g (clang: -gline-tables-only "
                            "-fdebug-info-for-profiling), or give its debug file with "
                            "--debug-binary; '-f edges' needs none",
                            err);
    }
    return 0;
}

static const char split_hint[] =
    "keep the .dwo files where the compiler wrote them, or their package "
    "beside the program, or build without -gsplit-dwarf";

static const char *package_state(const struct br2_debug_missing *missing)
{
    return missing->has_package ? "has other ones" : "does not exist";
}

static int refuse_split(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const struct br2_debug_missing *missing = br2_debug_missing(conversion->debug);
    br2_fail(err, BR2PGO_USELESS,
             "'%s' has its debug information in .dwo files that are missing, or of another build: "
             "'%s', %zu in all; their package '%s' %s",
             br2_debug_path(conversion->debug), missing->name, missing->units, missing->package,
             package_state(missing));
    br2_hint(err, "%s", split_hint);
    return BR2PGO_USELESS;
}

/* Warns of units that had to be left out. */
static void note_broken_units(struct br2pgo_conversion *conversion)
{
    const struct br2_debug_missing *missing = br2_debug_missing(conversion->debug);
    size_t broken = br2_debug_broken_units(conversion->debug) - missing->units;
    const char *path = br2_debug_path(conversion->debug);
    if (missing->units != 0) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s': code of %zu units is left out: their .dwo files are missing, or of "
                 "another build: '%s' and so on; their package '%s' %s; %s",
                 path, missing->units, missing->name, missing->package, package_state(missing),
                 split_hint);
    }
    if (broken != 0) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s': code of %zu units is left out: their debug information is damaged; build "
                 "the program again with -g",
                 path, broken);
    }
}

int br2_check_profile(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const struct br2_build_stats *stats = &conversion->build_stats;
    if ((double)stats->no_declaration > UNDECLARED_MAX * (double)stats->executions) {
        return refuse_debug(conversion,
                            "has debug information that does not say where functions are declared "
                            "(-g1, -gline-tables-only)",
                            "build it with -g, or add -fdebug-info-for-profiling to -g1", err);
    }
    if (stats->kept == 0 && br2_debug_missing(conversion->debug)->units != 0) {
        return refuse_split(conversion, err);
    }
    if (stats->kept == 0 && stats->assembly > stats->executions / 2) {
        return refuse_debug(conversion, "has the code that ran in assembly language",
                            "no compiler uses a profile of that; '-f fdata' is for llvm-bolt", err);
    }
    if (stats->kept == 0) {
        return refuse_debug(
            conversion,
            "has debug information, but neither functions nor a line table for the code that ran",
            "build all of it with -g (-g1 of clang leaves functions out: add "
            "-fdebug-info-for-profiling), or give its debug file with --debug-binary",
            err);
    }
    if (stats->discriminators == 0 && stats->llvm && stats->functions >= TELLING_FUNCTIONS) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s' has no discriminators: several blocks on one line count as one; build it "
                 "with -fdebug-info-for-profiling",
                 br2_debug_path(conversion->debug));
    }
    note_broken_units(conversion);
    return 0;
}
