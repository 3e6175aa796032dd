/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What GCC asks of a profile. */
#include "profile/fit.h"

#include "base/mem.h"
#include "profile/constructor.h"
#include "profile/suffix.h"

void br2_profile_floor_head(struct br2_function_profile *function)
{
    uint64_t least = 1; /* a long-running one may never have been entered while it was recorded */
    if (function->sample_count != 0 && function->samples[0].count > least) {
        least = function->samples[0].count; /* the lowest line: what runs at its start */
    }
    if (function->head < least) {
        function->head = least;
    }
}

void br2_profile_drop_targets(struct br2_function_profile *function)
{
    for (size_t i = 0; i < function->callsite_count; i++) {
        size_t low = 0;
        size_t high = function->sample_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            struct br2_body_sample *sample = &function->samples[middle];
            int order = br2_place_compare(sample->place, function->callsites[i].place);
            if (order == 0) {
                sample->target_count = 0;
            }
            low = order < 0 ? middle + 1 : low;
            high = order < 0 ? high : middle;
        }
        br2_profile_drop_targets(function->callsites[i].callee);
    }
}

/* A name of which nothing would be left is of no function of a source: it stays as it is. */
static uint32_t add_cut(struct br2_profile *into, const char *text, size_t length,
                        enum br2_suffix_policy policy)
{
    size_t kept = br2_canonical_length(text, length, policy, 0);
    return br2_profile_name(into, text, kept != 0 ? kept : length);
}

static uint32_t cut_at_dot(struct br2_profile *into, const char *text, size_t length)
{
    return add_cut(into, text, length, BR2_SUFFIX_GCC);
}

static uint32_t name_for_16(struct br2_profile *into, const char *text, size_t length)
{
    char *copy = br2_strndup(text, length);
    if (copy == NULL) {
        return BR2_NO_STRING;
    }
    br2_make_concrete(copy, length);
    uint32_t number = add_cut(into, copy, length, BR2_SUFFIX_GCC_16);
    br2_free(copy);
    return number;
}

/* Whether a call site is a copy of the one under discriminator 0, made for GCC 13 to 15, which look
 * for one call under several discriminators: it has the same lines and counts. */
static bool is_copy(const struct br2_profile *profile, const struct br2_function_profile *caller,
                    const struct br2_callsite *callsite)
{
    const struct br2_function_profile *copy = callsite->callee;
    struct br2_place line = {.offset = callsite->place.offset};
    const struct br2_function_profile *first =
        br2_profile_find_inlinee(profile, caller, line, copy->name);
    if (callsite->place.discriminator == 0 || first == NULL ||
        first->sample_count != copy->sample_count) {
        return false;
    }
    for (size_t i = 0; i < copy->sample_count; i++) {
        if (br2_place_compare(first->samples[i].place, copy->samples[i].place) != 0 ||
            first->samples[i].count != copy->samples[i].count) {
            return false;
        }
    }
    return true;
}

/* A line has its least busy block's count. */
static bool join_lines(struct br2_function_profile *function)
{
    size_t kept = 0;
    for (size_t i = 0; i < function->sample_count; i++) {
        struct br2_body_sample sample = function->samples[i];
        struct br2_body_sample *last = kept != 0 ? &function->samples[kept - 1] : NULL;
        sample.place.discriminator = 0;
        function->samples[i] = (struct br2_body_sample){0};
        if (last == NULL || last->place.offset != sample.place.offset) {
            function->samples[kept++] = sample;
            continue;
        }
        last->count = sample.count < last->count ? sample.count : last->count;
        bool added = true;
        for (size_t t = 0; added && t < sample.target_count; t++) {
            added =
                br2_profile_append_target(last, sample.targets[t].name, sample.targets[t].count);
        }
        br2_free(sample.targets);
        if (!added) {
            function->sample_count = kept;
            return false;
        }
    }
    function->sample_count = kept;
    return true;
}

/* Takes the discriminators away; br2_profile_finish then adds up several calls on one line.
 * Recursion: as deep as functions are inlined, which readers of files limit. */
static bool fold_discriminators(const struct br2_profile *profile,
                                struct br2_function_profile *function)
{
    size_t kept = 0;
    size_t count = function->callsite_count;
    for (size_t i = 0; i < count; i++) { /* discriminator 0 comes first */
        if (!is_copy(profile, function, &function->callsites[i])) {
            function->callsites[kept++] = function->callsites[i];
        }
    }
    function->callsite_count = kept;
    bool folded = join_lines(function);
    for (size_t i = 0; folded && i < kept; i++) {
        function->callsites[i].place.discriminator = 0;
        folded = fold_discriminators(profile, function->callsites[i].callee);
    }
    return folded;
}

static int fold_all(struct br2_profile *profile, struct br2pgo_error *err)
{
    for (size_t i = 0; i < profile->function_count; i++) {
        if (!fold_discriminators(profile, profile->functions[i])) {
            return br2_fail_memory(err);
        }
    }
    return br2_profile_finish(profile, err);
}

/* How names are changed; NULL: not. */
static br2_profile_rename renaming(const struct br2_profile *profile, enum br2_rules rules)
{
    if (rules != BR2_RULES_GCC_16) {
        return cut_at_dot;
    }
    return profile->files.count == 0 ? name_for_16 : NULL;
}

int br2_profile_fit(const struct br2_profile *from, enum br2_rules rules, struct br2_profile **ret,
                    struct br2pgo_error *err)
{
    struct br2_profile *profile = br2_profile_new();
    if (profile == NULL) {
        return br2_fail_memory(err);
    }
    int rc = br2_profile_merge(profile, from, 1, renaming(from, rules), err);
    if (rc == 0 && rules == BR2_RULES_GCC_5) {
        rc = fold_all(profile, err);
    }
    if (rc != 0) {
        br2_profile_free(profile);
        return rc;
    }
    br2_profile_derive_totals(profile);
    for (size_t i = 0; i < profile->function_count; i++) {
        br2_profile_floor_head(profile->functions[i]);
        if (rules == BR2_RULES_GCC_16) {
            br2_profile_drop_targets(profile->functions[i]);
        }
    }
    *ret = profile;
    return 0;
}
