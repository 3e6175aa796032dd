/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Order for profiles that were appended to: sort, then add up what stands there twice. Adding is
 * commutative, so the order in which equal elements meet does not matter. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "profile/profile.h"

static int compare_targets(const void *a, const void *b)
{
    uint32_t x = ((const struct br2_call_target *)a)->name;
    uint32_t y = ((const struct br2_call_target *)b)->name;
    return x < y ? -1 : x > y;
}

static int compare_samples(const void *a, const void *b)
{
    return br2_place_compare(((const struct br2_body_sample *)a)->place,
                             ((const struct br2_body_sample *)b)->place);
}

static int compare_callsites(const void *a, const void *b, void *profile)
{
    const struct br2_callsite *x = a, *y = b;
    int order = br2_place_compare(x->place, y->place);
    return order ? order : br2_profile_compare_names(profile, x->callee->name, y->callee->name);
}

static bool targets_in_order(const struct br2_body_sample *sample)
{
    for (size_t i = 1; i < sample->target_count; i++) {
        if (sample->targets[i - 1].name >= sample->targets[i].name) {
            return false;
        }
    }
    return true;
}

static void finish_targets(struct br2_body_sample *sample)
{
    if (targets_in_order(sample)) {
        return;
    }
    qsort(sample->targets, sample->target_count, sizeof *sample->targets, compare_targets);
    size_t kept = 0;
    for (size_t i = 1; i < sample->target_count; i++) {
        struct br2_call_target *last = &sample->targets[kept];
        const struct br2_call_target *next = &sample->targets[i];
        if (last->name == next->name) {
            last->count = br2_add_saturated(last->count, next->count);
        } else {
            sample->targets[++kept] = *next;
        }
    }
    sample->target_count = kept + 1;
}

/* Moves the count and the targets of `from` into `into`. */
static int absorb_sample(struct br2_body_sample *into, struct br2_body_sample *from,
                         struct br2pgo_error *err)
{
    into->count = br2_add_saturated(into->count, from->count);
    if (into->target_count == 0) {
        struct br2_call_target *empty = into->targets;
        into->targets = from->targets;
        into->target_count = from->target_count;
        into->target_capacity = from->target_capacity;
        from->targets = empty;
    } else {
        for (size_t i = 0; i < from->target_count; i++) {
            if (!br2_profile_append_target(into, from->targets[i].name, from->targets[i].count)) {
                return br2_fail_memory(err);
            }
        }
    }
    br2_free(from->targets);
    from->targets = NULL;
    from->target_count = 0;
    return BR2PGO_OK;
}

static bool samples_in_order(const struct br2_function_profile *function)
{
    for (size_t i = 1; i < function->sample_count; i++) {
        if (compare_samples(&function->samples[i - 1], &function->samples[i]) >= 0) {
            return false;
        }
    }
    return true;
}

/* Sorts samples by place; those of one place become one. */
static int sort_samples(struct br2_function_profile *function, struct br2pgo_error *err)
{
    qsort(function->samples, function->sample_count, sizeof *function->samples, compare_samples);
    size_t kept = 0;
    for (size_t i = 1; i < function->sample_count; i++) {
        struct br2_body_sample *last = &function->samples[kept];
        struct br2_body_sample *next = &function->samples[i];
        if (compare_samples(last, next) == 0) {
            int status = absorb_sample(last, next, err);
            if (status) {
                return status;
            }
        } else if (++kept != i) {
            function->samples[kept] = *next;
            memset(next, 0, sizeof *next); /* the targets have moved */
        }
    }
    function->sample_count = kept + 1;
    return BR2PGO_OK;
}

static int finish_samples(struct br2_function_profile *function, struct br2pgo_error *err)
{
    int status = samples_in_order(function) ? BR2PGO_OK : sort_samples(function, err);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < function->sample_count; i++) {
        finish_targets(&function->samples[i]);
    }
    return BR2PGO_OK;
}

/* Moves everything in `from` to the end of `into`. */
static int absorb_function(struct br2_function_profile *into, struct br2_function_profile *from,
                           struct br2pgo_error *err)
{
    into->total = br2_add_saturated(into->total, from->total);
    into->head = br2_add_saturated(into->head, from->head);
    into->attributes |= from->attributes;
    if (into->checksum < from->checksum) {
        into->checksum = from->checksum;
    }
    while (from->sample_count > 0) {
        if (!br2_grow(&into->samples, &into->sample_capacity, into->sample_count,
                      sizeof *into->samples)) {
            return br2_fail_memory(err);
        }
        into->samples[into->sample_count++] = from->samples[--from->sample_count];
    }
    while (from->callsite_count > 0) {
        if (!br2_grow(&into->callsites, &into->callsite_capacity, into->callsite_count,
                      sizeof *into->callsites)) {
            return br2_fail_memory(err);
        }
        into->callsites[into->callsite_count++] = from->callsites[--from->callsite_count];
    }
    return BR2PGO_OK;
}

static bool callsites_in_order(struct br2_profile *profile,
                               const struct br2_function_profile *function)
{
    for (size_t i = 1; i < function->callsite_count; i++) {
        if (compare_callsites(&function->callsites[i - 1], &function->callsites[i], profile) >= 0) {
            return false;
        }
    }
    return true;
}

static int merge_callsites(struct br2_profile *profile, struct br2_function_profile *function,
                           struct br2pgo_error *err)
{
    qsort_r(function->callsites, function->callsite_count, sizeof *function->callsites,
            compare_callsites, profile);
    size_t kept = 0;
    for (size_t i = 1; i < function->callsite_count; i++) {
        struct br2_callsite *last = &function->callsites[kept];
        struct br2_callsite *next = &function->callsites[i];
        if (compare_callsites(last, next, profile) == 0) {
            int status = absorb_function(last->callee, next->callee, err);
            if (status) {
                return status;
            }
        } else {
            function->callsites[++kept] = *next;
        }
    }
    function->callsite_count = kept + 1;
    return BR2PGO_OK;
}

/* Recursion: as deep as functions are inlined, which readers of files limit. */
static int finish_function(struct br2_profile *profile, struct br2_function_profile *function,
                           struct br2pgo_error *err)
{
    int status = finish_samples(function, err);
    if (!status && !callsites_in_order(profile, function)) {
        status = merge_callsites(profile, function, err);
    }
    for (size_t i = 0; !status && i < function->callsite_count; i++) {
        status = finish_function(profile, function->callsites[i].callee, err);
    }
    return status;
}

int br2_profile_finish(struct br2_profile *profile, struct br2pgo_error *err)
{
    int status = BR2PGO_OK;
    for (size_t i = 0; !status && i < profile->function_count; i++) {
        status = finish_function(profile, profile->functions[i], err);
    }
    return status;
}
