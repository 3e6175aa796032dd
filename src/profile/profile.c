/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Building a source profile, place by place. */
#include "profile/profile.h"
#include "base/number.h"

#include <string.h>

/* Names are small dense numbers, so the index is an array: slots[name] is the function's position
 * in `functions` + 1, 0 where the name has no top-level function. */
struct br2_profile_index {
    uint32_t *slots;
    size_t count;
};

/* Stands in `name_files` for a name that is said to be of several files. */
#define DISPUTED UINT32_MAX

struct br2_profile *br2_profile_new(void)
{
    struct br2_profile *profile = br2_calloc(1, sizeof *profile);
    if (!profile) {
        return NULL;
    }
    profile->index = br2_calloc(1, sizeof *profile->index);
    if (!profile->index) {
        br2_free(profile);
        return NULL;
    }
    return profile;
}

static void function_done(struct br2_function_profile *function)
{
    for (size_t i = 0; i < function->sample_count; i++) {
        br2_free(function->samples[i].targets);
    }
    br2_free(function->samples);
    br2_free(function->callsites);
}

void br2_profile_free(struct br2_profile *profile)
{
    if (!profile) {
        return;
    }
    for (struct br2_function_profile *f = profile->made_last; f; f = f->made_before) {
        function_done(f);
    }
    br2_free(profile->functions);
    br2_strings_done(&profile->names);
    br2_strings_done(&profile->symbol_list);
    br2_strings_done(&profile->files);
    br2_free(profile->name_files);
    br2_free(profile->index->slots);
    br2_free(profile->index);
    br2_arena_done(&profile->arena);
    br2_free(profile);
}

uint32_t br2_profile_name(struct br2_profile *profile, const char *text, size_t length)
{
    return br2_strings_add(&profile->names, text, length);
}

bool br2_profile_set_file(struct br2_profile *profile, uint32_t name, const char *text,
                          size_t length)
{
    if (name >= profile->name_file_capacity) {
        size_t count = profile->name_file_capacity != 0 ? profile->name_file_capacity : 64;
        while (count <= name) {
            count *= 2;
        }
        uint32_t *grown = br2_realloc_array(profile->name_files, count, sizeof *grown);
        if (!grown) {
            return false;
        }
        memset(grown + profile->name_file_capacity, 0,
               (count - profile->name_file_capacity) * sizeof *grown);
        profile->name_files = grown;
        profile->name_file_capacity = count;
    }
    if (profile->name_files[name] == 0) {
        uint32_t file = br2_strings_add(&profile->files, text, length);
        if (file == BR2_NO_STRING) {
            return false;
        }
        profile->name_files[name] = file + 1;
    }
    return true;
}

void br2_profile_dispute_file(struct br2_profile *profile, uint32_t name)
{
    profile->name_files[name] = DISPUTED;
}

const char *br2_profile_file(const struct br2_profile *profile, uint32_t name, size_t *ret_length)
{
    uint32_t place = name < profile->name_file_capacity ? profile->name_files[name] : 0;
    if (place == 0 || place == DISPUTED) {
        return NULL;
    }
    return br2_strings_get(&profile->files, place - 1, ret_length);
}

int br2_place_compare(struct br2_place a, struct br2_place b)
{
    if (a.offset != b.offset) {
        return a.offset < b.offset ? -1 : 1;
    }
    if (a.discriminator != b.discriminator) {
        return a.discriminator < b.discriminator ? -1 : 1;
    }
    return 0;
}

int br2_profile_compare_names(const struct br2_profile *profile, uint32_t a, uint32_t b)
{
    if (a == b) {
        return 0;
    }
    size_t a_length, b_length;
    const char *a_text = br2_strings_get(&profile->names, a, &a_length);
    const char *b_text = br2_strings_get(&profile->names, b, &b_length);
    /* Decimal numbers without leading zeros: the longer one is larger. */
    if (profile->md5_names && a_length != b_length) {
        return a_length < b_length ? -1 : 1;
    }
    int order = memcmp(a_text, b_text, a_length < b_length ? a_length : b_length);
    if (order) {
        return order;
    }
    return a_length < b_length ? -1 : a_length > b_length;
}

static struct br2_function_profile *new_function(struct br2_profile *profile, uint32_t name)
{
    struct br2_function_profile *function = br2_arena_alloc(&profile->arena, sizeof *function);
    if (!function) {
        return NULL;
    }
    function->name = name;
    function->made_before = profile->made_last;
    profile->made_last = function;
    return function;
}

static bool reserve_index(struct br2_profile_index *index, uint32_t name)
{
    if (name < index->count) {
        return true;
    }
    size_t count = index->count ? index->count : 64;
    while (count <= name) {
        count *= 2;
    }
    uint32_t *slots = br2_realloc_array(index->slots, count, sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(slots + index->count, 0, (count - index->count) * sizeof *slots);
    index->slots = slots;
    index->count = count;
    return true;
}

struct br2_function_profile *br2_profile_find(const struct br2_profile *profile, uint32_t name)
{
    const struct br2_profile_index *index = profile->index;
    if (name >= index->count || index->slots[name] == 0) {
        return NULL;
    }
    return profile->functions[index->slots[name] - 1];
}

struct br2_function_profile *br2_profile_function(struct br2_profile *profile, uint32_t name)
{
    struct br2_function_profile *function = br2_profile_find(profile, name);
    if (function) {
        return function;
    }
    if (profile->function_count >= UINT32_MAX || !reserve_index(profile->index, name) ||
        !br2_grow(&profile->functions, &profile->function_capacity, profile->function_count,
                  sizeof(struct br2_function_profile *))) {
        return NULL;
    }
    function = new_function(profile, name);
    if (!function) {
        return NULL;
    }
    profile->functions[profile->function_count++] = function;
    profile->index->slots[name] = (uint32_t)profile->function_count;
    return function;
}

/* Order of `callsite` against place and name. */
static int compare_callsite(const struct br2_profile *profile, const struct br2_callsite *callsite,
                            struct br2_place place, uint32_t name)
{
    int order = br2_place_compare(callsite->place, place);
    return order ? order : br2_profile_compare_names(profile, callsite->callee->name, name);
}

/* Where the callsite is, or where it belongs; `*ret_found` says which. */
static size_t search_callsite(const struct br2_profile *profile,
                              const struct br2_function_profile *function, struct br2_place place,
                              uint32_t name, bool *ret_found)
{
    size_t low = 0, high = function->callsite_count;
    *ret_found = false;
    if (high > 0 && compare_callsite(profile, &function->callsites[high - 1], place, name) < 0) {
        return high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_callsite(profile, &function->callsites[middle], place, name);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void br2_profile_see(struct br2_function_profile *function, uint64_t time)
{
    if (time != 0 && (function->first_seen == 0 || time < function->first_seen)) {
        function->first_seen = time;
    }
}

struct br2_function_profile *br2_profile_find_inlinee(const struct br2_profile *profile,
                                                      const struct br2_function_profile *function,
                                                      struct br2_place place, uint32_t name)
{
    bool found;
    size_t at = search_callsite(profile, function, place, name, &found);
    return found ? function->callsites[at].callee : NULL;
}

static struct br2_function_profile *insert_inlinee(struct br2_profile *profile,
                                                   struct br2_function_profile *function, size_t at,
                                                   struct br2_place place, uint32_t name)
{
    if (!br2_grow(&function->callsites, &function->callsite_capacity, function->callsite_count,
                  sizeof *function->callsites)) {
        return NULL;
    }
    struct br2_function_profile *callee = new_function(profile, name);
    if (!callee) {
        return NULL;
    }
    struct br2_callsite *callsite = function->callsites + at;
    memmove(callsite + 1, callsite, (function->callsite_count - at) * sizeof *callsite);
    *callsite = (struct br2_callsite){.place = place, .callee = callee};
    function->callsite_count++;
    return callee;
}

struct br2_function_profile *br2_profile_inlinee(struct br2_profile *profile,
                                                 struct br2_function_profile *function,
                                                 struct br2_place place, uint32_t name)
{
    bool found;
    size_t at = search_callsite(profile, function, place, name, &found);
    if (found) {
        return function->callsites[at].callee;
    }
    return insert_inlinee(profile, function, at, place, name);
}

struct br2_function_profile *br2_profile_append_inlinee(struct br2_profile *profile,
                                                        struct br2_function_profile *function,
                                                        struct br2_place place, uint32_t name)
{
    return insert_inlinee(profile, function, function->callsite_count, place, name);
}

static struct br2_body_sample *insert_sample(struct br2_function_profile *function, size_t at,
                                             struct br2_place place)
{
    if (!br2_grow(&function->samples, &function->sample_capacity, function->sample_count,
                  sizeof *function->samples)) {
        return NULL;
    }
    struct br2_body_sample *sample = function->samples + at;
    memmove(sample + 1, sample, (function->sample_count - at) * sizeof *sample);
    *sample = (struct br2_body_sample){.place = place};
    function->sample_count++;
    return sample;
}

struct br2_body_sample *br2_profile_append_sample(struct br2_function_profile *function,
                                                  struct br2_place place)
{
    return insert_sample(function, function->sample_count, place);
}

struct br2_body_sample *br2_profile_sample(struct br2_function_profile *function,
                                           struct br2_place place)
{
    size_t low = 0, high = function->sample_count;
    if (high > 0 && br2_place_compare(function->samples[high - 1].place, place) < 0) {
        low = high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = br2_place_compare(function->samples[middle].place, place);
        if (order == 0) {
            return &function->samples[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return insert_sample(function, low, place);
}

static bool insert_target(struct br2_body_sample *sample, size_t at, uint32_t name, uint64_t count)
{
    if (!br2_grow(&sample->targets, &sample->target_capacity, sample->target_count,
                  sizeof *sample->targets)) {
        return false;
    }
    struct br2_call_target *target = sample->targets + at;
    memmove(target + 1, target, (sample->target_count - at) * sizeof *target);
    *target = (struct br2_call_target){.name = name, .count = count};
    sample->target_count++;
    return true;
}

bool br2_profile_append_target(struct br2_body_sample *sample, uint32_t name, uint64_t count)
{
    return insert_target(sample, sample->target_count, name, count);
}

bool br2_profile_target(struct br2_body_sample *sample, uint32_t name, uint64_t count)
{
    size_t low = 0, high = sample->target_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct br2_call_target *target = &sample->targets[middle];
        if (target->name == name) {
            target->count = br2_add_saturated(target->count, count);
            return true;
        }
        if (target->name < name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return insert_target(sample, low, name, count);
}

void br2_profile_keep(struct br2_profile *profile, const bool *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->function_count; i++) {
        struct br2_function_profile *function = profile->functions[i];
        if (keep[i]) {
            profile->functions[kept++] = function;
        }
        if (function->name < profile->index->count) {
            profile->index->slots[function->name] = keep[i] ? (uint32_t)kept : 0;
        }
    }
    profile->function_count = kept;
}
