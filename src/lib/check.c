/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether a recording, or a profile, is good enough. */
#include "lib/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lib/side.h"
#include "lib/text.h"
#include "profile/overlap.h"

/* Densities that the tools themselves ask for: llvm-profgen 19 and llvm-bolt 20. */
#define LLVM_DENSITY 50.0
#define BOLT_DENSITY 60.0

/* What a figure is and takes; `preset`: the limit where none is given, below 0: none. */
struct figure_shape {
    const char *name;
    const char *about;
    bool share;
    bool at_least;
    bool of_profile; /* also a finished profile has it */
    double preset;
};

/* Presets: docs/guide/quality.md says what they were measured on. */
static const struct figure_shape shapes[BR2PGO_CHECK_FIGURES] = {
    [BR2PGO_CHECK_DENSITY] = {"density", "counts by place, in all but the coldest 1%", false, true,
                              true, 2},
    [BR2PGO_CHECK_BOLT_DENSITY] = {"bolt-density", "executed bytes by byte of code, the same",
                                   false, true, false, -1},
    [BR2PGO_CHECK_COVERAGE] = {"coverage", "of the baseline's samples, at places that ran again",
                               true, true, true, -1},
    [BR2PGO_CHECK_SIMILARITY] = {"similarity", "to the baseline", true, true, true, -1},
    [BR2PGO_CHECK_LOST] = {"lost", "contradicts the program's code", true, false, false, 0.01},
    [BR2PGO_CHECK_UNATTRIBUTED] =
        {"unattributed", "of executed instructions, in functions without debug information", true,
         false, false, 0.1},
    [BR2PGO_CHECK_IMBALANCE] = {"imbalance", "of what enters functions does not leave them", true,
                                false, false, -1},
    [BR2PGO_CHECK_NEWEST_BIAS] = {"newest-bias", "of the samples, taken at the wrong branch", true,
                                  false, false, -1},
    [BR2PGO_CHECK_BEAT] = {"beat", "of the samples, at the wrong one of branches that run as often",
                           true, false, false, -1},
    [BR2PGO_CHECK_REPEATED] = {"repeated", "of the samples, newest record logged twice", true,
                               false, false, -1},
    [BR2PGO_CHECK_STALE] = {"stale", "of executed instructions, in functions that changed", true,
                            false, false, -1},
    [BR2PGO_CHECK_STALE_LINES] = {"stale-lines",
                                  "of executed instructions, at other lines of the same code", true,
                                  false, false, -1},
    [BR2PGO_CHECK_STALE_OPERANDS] = {"stale-operands",
                                     "of executed instructions, in functions with other operands",
                                     true, false, false, -1},
};

struct br2_check_figure *br2_check_set(struct br2_check *check, enum br2pgo_check_figure figure,
                                       double value, const char *note, ...)
{
    struct br2_check_figure *set = &check->figures[figure];
    va_list args;
    va_start(args, note);
    vsnprintf(set->note, sizeof set->note, note, args);
    va_end(args);
    set->value = value;
    set->known = true;
    return set;
}

/* What else a limit needs that was not given; NULL: nothing. */
static const char *missing_for(const struct br2pgo_check_options *options,
                               enum br2pgo_check_figure figure, bool recording)
{
    if (!recording && !shapes[figure].of_profile) {
        return "a recording";
    }
    if ((figure == BR2PGO_CHECK_COVERAGE || figure == BR2PGO_CHECK_SIMILARITY) &&
        options->baseline == NULL) {
        return "a baseline profile";
    }
    bool against = figure == BR2PGO_CHECK_STALE || figure == BR2PGO_CHECK_STALE_LINES ||
                   figure == BR2PGO_CHECK_STALE_OPERANDS;
    return against && options->against == NULL ? "an image to hold it against" : NULL;
}

static int take_limits(struct br2_check *check, bool recording, struct br2pgo_error *err)
{
    const struct br2pgo_check_options *options = check->options;
    if (!recording && options->against != NULL) {
        br2_fail(err, BR2PGO_INVALID, "a finished profile cannot be held against an image");
        br2_hint(err, "it does not say what code it is of: check the recording");
        return BR2PGO_INVALID;
    }
    for (int i = 0; i < BR2PGO_CHECK_FIGURES; i++) {
        const struct figure_shape *shape = &shapes[i];
        bool given = options->limits[i] >= 0;
        const char *missing = missing_for(options, (enum br2pgo_check_figure)i, recording);
        if (given && missing != NULL) {
            br2_fail(err, BR2PGO_INVALID, "the limit of '%s' needs %s", shape->name, missing);
            br2_hint(err, "leave the limit out, or give %s", missing);
            return BR2PGO_INVALID;
        }
        check->figures[i] = (struct br2_check_figure){
            .name = shape->name,
            .about = shape->about,
            .share = shape->share,
            .at_least = shape->at_least,
            .limited = given || shape->preset >= 0,
            .limit = given ? options->limits[i] : shape->preset,
        };
    }
    return 0;
}

/* How many times more samples the tools ask for. */
static void note_density(struct br2_check_figure *figure, const char *tool, double wanted)
{
    if (figure->known && figure->value > 0 && figure->value < wanted) {
        snprintf(figure->note, sizeof figure->note, "%s asks for %.0f, %.1f times more samples",
                 tool, wanted, wanted / figure->value);
    }
}

static int check_profile(struct br2_check *check, const struct br2_side *side,
                         struct br2pgo_error *err)
{
    double density;
    int rc = br2_tally_density(&side->tally, BR2_HOT_CUTOFF, &density, err);
    if (rc == 0 && side->format->product == BR2_PRODUCT_PROFILE) {
        br2_check_set(check, BR2PGO_CHECK_DENSITY, density, "%s", "");
    }
    return rc;
}

static int check_baseline(struct br2_check *check, const struct br2_side sides[2],
                          struct br2pgo_error *err)
{
    struct br2_overlap overlap = {0};
    int rc = br2_overlap_compute(&overlap, &sides[1].tally, &sides[0].tally, err);
    if (rc == 0) {
        br2_check_set(check, BR2PGO_CHECK_COVERAGE, overlap.covered,
                      "%zu functions are gone, %zu new", overlap.functions.base_only,
                      overlap.functions.test_only);
        br2_check_set(check, BR2PGO_CHECK_SIMILARITY, overlap.similarity, "%s", "");
    }
    br2_overlap_done(&overlap);
    return rc;
}

/* `sides`: what is checked, and the baseline. */
static int check_all(struct br2_check *check, struct br2_side sides[2],
                     const struct br2pgo_source *source, struct br2pgo_error *err)
{
    const struct br2pgo_source baseline = {.profile = check->options->baseline};
    struct br2_tally_names names = {0};
    int rc = baseline.profile != NULL ? br2_sides_open(sides, source, &baseline, &names, err)
                                      : br2_side_open(&sides[0], source, &names, err);
    rc = rc != 0 ? rc : check_profile(check, &sides[0], err);
    if (rc == 0 && baseline.profile != NULL) {
        rc = check_baseline(check, sides, err);
    }
    if (rc == 0 && source->conversion != NULL) {
        rc = br2_check_recording(check, source->conversion, err);
    }
    note_density(&check->figures[BR2PGO_CHECK_DENSITY], "llvm-profgen", LLVM_DENSITY);
    note_density(&check->figures[BR2PGO_CHECK_BOLT_DENSITY], "llvm-bolt", BOLT_DENSITY);
    br2_tally_names_done(&names);
    return rc;
}

/* What to do where a figure is not known. */
static const char *hint_unknown(enum br2pgo_check_figure figure)
{
    switch (figure) {
    case BR2PGO_CHECK_STALE_LINES:
        return "lines are compared where both builds have debug information, and in terms of a "
               "compiler's profile (-f)";
    case BR2PGO_CHECK_STALE_OPERANDS:
        return "leave the limit out: operands are compared of x86-64 and AArch64";
    case BR2PGO_CHECK_NEWEST_BIAS:
    case BR2PGO_CHECK_BEAT:
    case BR2PGO_CHECK_REPEATED:
        return "leave the limit out: it is of samples, and traces and texts of counts have none";
    default:
        return "leave the limit out, or choose another format with -f";
    }
}

/* A limit of what nothing is known of is not met. */
static int refuse_unknown(const struct br2_check *check, const struct br2_side *side,
                          struct br2pgo_error *err)
{
    bool any = false;
    for (int i = 0; i < BR2PGO_CHECK_FIGURES; i++) {
        any = any || check->figures[i].known;
        if (check->options->limits[i] >= 0 && !check->figures[i].known) {
            br2_fail(err, BR2PGO_INVALID, "'%s' (%s) does not tell '%s', which has a limit",
                     side->path, side->format->name, shapes[i].name);
            br2_hint(err, "%s", hint_unknown((enum br2pgo_check_figure)i));
            return BR2PGO_INVALID;
        }
    }
    if (!any) {
        br2_fail(err, BR2PGO_INVALID, "'%s' (%s) tells nothing that it could be judged by alone",
                 side->path, side->format->name);
        br2_hint(err, "compare it with a baseline, or check the recording");
        return BR2PGO_INVALID;
    }
    return 0;
}

static int print(const struct br2_check *check, const struct br2_side *side, struct br2_buf *out,
                 struct br2pgo_error *err)
{
    const struct br2_check_report report = {
        .path = side->path,
        .format = side->format->name,
        .figures = check->figures,
        .figure_count = BR2PGO_CHECK_FIGURES,
        .losses = check->losses,
        .loss_count = check->loss_count,
    };
    if (check->options->json != 0) {
        return br2_check_json(&report, out, err);
    }
    br2_check_text(&report, out);
    br2_printable_lines(out);
    return 0;
}

const char *br2pgo_check_figure_name(size_t index, int *ret_at_least)
{
    if (index >= BR2PGO_CHECK_FIGURES) {
        return NULL;
    }
    *ret_at_least = shapes[index].at_least;
    return shapes[index].name;
}

int br2pgo_check(const struct br2pgo_source *source, const struct br2pgo_check_options *options,
                 char **ret, int *ret_missed, struct br2pgo_error *err)
{
    static const struct br2pgo_source none = {0}; /* refused with the words for one */
    struct br2pgo_check_options taken = BR2PGO_CHECK_OPTIONS_INIT;
    struct br2_check check = {.options = &taken};
    struct br2_side sides[2] = {0};
    struct br2_buf out = {0};
    *ret = NULL;
    *ret_missed = 0;
    int rc = 0;
    if (options != NULL) {
        rc = br2_check_size(options->size, sizeof taken, "struct br2pgo_check_options", err);
        taken = rc == 0 ? *options : taken;
    }
    source = source != NULL ? source : &none;
    rc = rc != 0 ? rc : take_limits(&check, source->conversion != NULL, err);
    rc = rc != 0 ? rc : check_all(&check, sides, source, err);
    rc = rc != 0 ? rc : refuse_unknown(&check, &sides[0], err);
    rc = rc != 0 ? rc : print(&check, &sides[0], &out, err);
    for (int i = 0; rc == 0 && i < BR2PGO_CHECK_FIGURES; i++) {
        *ret_missed += br2_check_missed(&check.figures[i]);
    }
    br2_free(check.losses);
    br2_side_done(&sides[0]);
    br2_side_done(&sides[1]);
    return br2_take_text(rc, &out, ret, err);
}
