/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adding one profile to another. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "profile/profile.h"

struct merge {
    struct br2_profile *into;
    const struct br2_profile *from;
    uint64_t weight;
    br2_profile_rename rename;
    uint32_t *names; /* by name number in `from`: the number in `into`, BR2_NO_STRING before use */
};

/* Profiles that disagree say nothing about where a function is declared. */
static bool merge_file(struct merge *merge, uint32_t from, uint32_t into)
{
    size_t length;
    size_t other_length;
    const char *file = br2_profile_file(merge->from, from, &length);
    const char *other = br2_profile_file(merge->into, into, &other_length);
    if (!file) {
        return true;
    }
    if (other && (length != other_length || memcmp(file, other, length) != 0)) {
        br2_profile_dispute_file(merge->into, into);
        return true;
    }
    return br2_profile_set_file(merge->into, into, file, length);
}

static uint32_t map_name(struct merge *merge, uint32_t name)
{
    if (merge->names[name] != BR2_NO_STRING) {
        return merge->names[name];
    }
    size_t length;
    const char *text = br2_strings_get(&merge->from->names, name, &length);
    br2_profile_rename rename = merge->rename ? merge->rename : br2_profile_name;
    uint32_t number = rename(merge->into, text, length);
    if (number == BR2_NO_STRING || (!merge->rename && !merge_file(merge, name, number))) {
        return BR2_NO_STRING;
    }
    merge->names[name] = number;
    return number;
}

static int merge_samples(struct merge *merge, struct br2_function_profile *into,
                         const struct br2_function_profile *from, struct br2pgo_error *err)
{
    for (size_t i = 0; i < from->sample_count; i++) {
        const struct br2_body_sample *sample = &from->samples[i];
        struct br2_body_sample *sum = br2_profile_append_sample(into, sample->place);
        if (!sum) {
            return br2_fail_memory(err);
        }
        sum->count = br2_multiply_saturated(sample->count, merge->weight);
        for (size_t t = 0; t < sample->target_count; t++) {
            uint32_t name = map_name(merge, sample->targets[t].name);
            uint64_t count = br2_multiply_saturated(sample->targets[t].count, merge->weight);
            if (name == BR2_NO_STRING || !br2_profile_append_target(sum, name, count)) {
                return br2_fail_memory(err);
            }
        }
    }
    return BR2PGO_OK;
}

static int merge_function(struct merge *merge, struct br2_function_profile *into,
                          const struct br2_function_profile *from, struct br2pgo_error *err)
{
    if (into->checksum != 0 && from->checksum != 0 && into->checksum != from->checksum) {
        br2_fail(err, BR2PGO_INVALID,
                 "the profiles are of different code: '%s' has checksum %" PRIu64
                 " in one and %" PRIu64 " in the other",
                 br2_strings_get(&merge->from->names, from->name, NULL), into->checksum,
                 from->checksum);
        br2_hint(err, "merge only profiles of the same source code");
        return BR2PGO_INVALID;
    }
    if (into->checksum == 0) {
        into->checksum = from->checksum;
    }
    into->attributes |= from->attributes;
    into->total =
        br2_add_saturated(into->total, br2_multiply_saturated(from->total, merge->weight));
    into->head = br2_add_saturated(into->head, br2_multiply_saturated(from->head, merge->weight));
    br2_profile_see(into, from->first_seen);
    int status = merge_samples(merge, into, from, err);
    for (size_t i = 0; !status && i < from->callsite_count; i++) {
        const struct br2_callsite *callsite = &from->callsites[i];
        uint32_t name = map_name(merge, callsite->callee->name);
        struct br2_function_profile *callee = NULL;
        if (name != BR2_NO_STRING) {
            callee = br2_profile_inlinee(merge->into, into, callsite->place, name);
        }
        if (!callee) {
            return br2_fail_memory(err);
        }
        status = merge_function(merge, callee, callsite->callee, err);
    }
    return status;
}

static int check_compatible(const struct merge *merge, struct br2pgo_error *err)
{
    struct br2_profile *into = merge->into;
    const struct br2_profile *from = merge->from;
    if (into->function_count == 0) {
        if (!merge->rename) {
            into->md5_names = from->md5_names;
        }
        into->fs_discriminators = from->fs_discriminators;
    }
    if (from->function_count == 0) {
        return BR2PGO_OK;
    }
    if (!merge->rename && from->md5_names != into->md5_names) {
        br2_fail(err, BR2PGO_INVALID, "one profile has names, the other only MD5 hashes of names");
        br2_hint(err, "merge only profiles that have names, or only profiles that have hashes");
        return BR2PGO_INVALID;
    }
    if (into->function_count != 0 && from->has_checksums != into->has_checksums) {
        br2_fail(err, BR2PGO_INVALID, "one profile is of pseudo probes, the other of lines");
        br2_hint(err, "merge only profiles of programs that were built the same way");
        return BR2PGO_INVALID;
    }
    if (from->fs_discriminators != into->fs_discriminators) {
        return br2_fail(err, BR2PGO_INVALID,
                        "one profile has flow-sensitive discriminators, the other has not");
    }
    return BR2PGO_OK;
}

static int merge_symbol_list(struct br2_profile *into, const struct br2_profile *from,
                             struct br2pgo_error *err)
{
    into->has_symbol_list |= from->has_symbol_list;
    for (size_t i = 0; i < from->symbol_list.count; i++) {
        size_t length;
        const char *text = br2_strings_get(&from->symbol_list, (uint32_t)i, &length);
        if (br2_strings_add(&into->symbol_list, text, length) == BR2_NO_STRING) {
            return br2_fail_memory(err);
        }
    }
    return BR2PGO_OK;
}

int br2_profile_merge(struct br2_profile *into, const struct br2_profile *from, uint64_t weight,
                      br2_profile_rename rename, struct br2pgo_error *err)
{
    struct merge merge = {.into = into, .from = from, .weight = weight, .rename = rename};
    int status = check_compatible(&merge, err);
    if (status) {
        return status;
    }
    size_t count = from->names.count;
    merge.names = br2_realloc_array(NULL, count ? count : 1, sizeof *merge.names);
    if (!merge.names) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        merge.names[i] = BR2_NO_STRING;
    }
    into->partial |= from->partial;
    into->has_checksums |= from->has_checksums;
    into->derived_totals |= from->derived_totals;
    for (size_t i = 0; !status && i < from->function_count; i++) {
        uint32_t name = map_name(&merge, from->functions[i]->name);
        struct br2_function_profile *function = NULL;
        if (name != BR2_NO_STRING) {
            function = br2_profile_function(into, name);
        }
        status = function ? merge_function(&merge, function, from->functions[i], err)
                          : br2_fail_memory(err);
    }
    br2_free(merge.names);
    if (!status) {
        status = merge_symbol_list(into, from, err);
    }
    return status ? status : br2_profile_finish(into, err);
}
