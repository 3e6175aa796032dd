/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Name tables, name hashes, and the orders LLVM writes things in. */
#include <inttypes.h>
#include <md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converters/llvm/internal.h"

uint64_t br2_llvm_guid(const char *text, size_t length)
{
    uint8_t digest[MD5_DIGEST_LENGTH];
    MD5_CTX context;
    MD5Init(&context);
    MD5Update(&context, (const uint8_t *)text, length);
    MD5Final(digest, &context);
    return br2_load_le64(digest);
}

static uint32_t rename_to_hash(struct br2_profile *into, const char *text, size_t length)
{
    char hash[24];
    int size = snprintf(hash, sizeof hash, "%" PRIu64, br2_llvm_guid(text, length));
    return br2_profile_name(into, hash, (size_t)size);
}

int br2_llvm_hash_names(struct br2_profile *into, const struct br2_profile *from,
                        struct br2pgo_error *err)
{
    into->md5_names = true;
    return br2_profile_merge(into, from, 1, from->md5_names ? NULL : rename_to_hash, err);
}

static int compare_names(const void *a, const void *b, void *user)
{
    const struct br2_profile *profile = user;
    return br2_profile_compare_names(profile, *(const uint32_t *)a, *(const uint32_t *)b);
}

#define UNUSED UINT32_MAX

static void use(struct br2_llvm_names *names, uint32_t name)
{
    if (names->places[name] == UNUSED) {
        names->places[name] = 0;
        names->order[names->count++] = name;
    }
}

static void use_function(struct br2_llvm_names *names, const struct br2_function_profile *function)
{
    use(names, function->name);
    for (size_t i = 0; i < function->sample_count; i++) {
        for (size_t t = 0; t < function->samples[i].target_count; t++) {
            use(names, function->samples[i].targets[t].name);
        }
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        use_function(names, function->callsites[i].callee);
    }
}

int br2_llvm_names_init(struct br2_llvm_names *names, const struct br2_profile *profile,
                        struct br2pgo_error *err)
{
    size_t room = profile->names.count ? profile->names.count : 1;
    *names = (struct br2_llvm_names){.profile = profile};
    names->order = br2_realloc_array(NULL, room, sizeof *names->order);
    names->places = br2_realloc_array(NULL, room, sizeof *names->places);
    if (!names->order || !names->places) {
        return br2_fail_memory(err);
    }
    memset(names->places, 0xff, room * sizeof *names->places);
    for (size_t i = 0; i < profile->function_count; i++) {
        use_function(names, profile->functions[i]);
    }
    qsort_r(names->order, names->count, sizeof *names->order, compare_names,
            (void *)(uintptr_t)profile);
    for (size_t i = 0; i < names->count; i++) {
        names->places[names->order[i]] = (uint32_t)i;
    }
    return BR2PGO_OK;
}

void br2_llvm_names_done(struct br2_llvm_names *names)
{
    br2_free(names->order);
    br2_free(names->places);
}

int br2_llvm_names_write(const struct br2_llvm_names *names, struct br2_buf *out,
                         struct br2pgo_error *err)
{
    br2_buf_uleb(out, names->count);
    for (size_t i = 0; i < names->count; i++) {
        size_t length;
        const char *text = br2_strings_get(&names->profile->names, names->order[i], &length);
        if (memchr(text, '\0', length)) {
            return br2_fail(err, BR2PGO_UNSUPPORTED,
                            "the function name '%s...' contains a NUL byte, which LLVM's formats "
                            "cannot hold",
                            text);
        }
        br2_buf_put(out, text, length + 1);
    }
    return BR2PGO_OK;
}

/* A hash from its decimal digits. */
static uint64_t parse_hash(const char *text, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++) {
        hash = hash * 10 + (uint64_t)(text[i] - '0');
    }
    return hash;
}

void br2_llvm_names_write_md5(const struct br2_llvm_names *names, struct br2_buf *out)
{
    br2_buf_uleb(out, names->count);
    for (size_t i = 0; i < names->count; i++) {
        size_t length;
        const char *text = br2_strings_get(&names->profile->names, names->order[i], &length);
        br2_buf_le64(out, names->profile->md5_names ? parse_hash(text, length)
                                                    : br2_llvm_guid(text, length));
    }
}

bool br2_llvm_names_have_uniq(const struct br2_llvm_names *names)
{
    static const char uniq[] = ".__uniq.";
    for (size_t i = 0; i < names->count; i++) {
        size_t length;
        const char *text = br2_strings_get(&names->profile->names, names->order[i], &length);
        if (memmem(text, length, uniq, sizeof uniq - 1)) {
            return true;
        }
    }
    return false;
}

static int compare_functions(const void *a, const void *b, void *user)
{
    const struct br2_profile *profile = user;
    const struct br2_function_profile *x = *(const struct br2_function_profile *const *)a;
    const struct br2_function_profile *y = *(const struct br2_function_profile *const *)b;
    if (x->total != y->total) {
        return x->total > y->total ? -1 : 1;
    }
    return br2_profile_compare_names(profile, x->name, y->name);
}

const struct br2_function_profile **br2_llvm_function_order(const struct br2_profile *profile)
{
    size_t count = profile->function_count;
    const struct br2_function_profile **order = br2_calloc(count, sizeof(*order));
    if (!order) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = profile->functions[i];
    }
    qsort_r(order, count, sizeof(*order), compare_functions, (void *)(uintptr_t)profile);
    return order;
}

static int compare_targets(const void *a, const void *b, void *user)
{
    const struct br2_profile *profile = user;
    const struct br2_call_target *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return br2_profile_compare_names(profile, x->name, y->name);
}

const struct br2_call_target *br2_llvm_target_order(const struct br2_profile *profile,
                                                    const struct br2_body_sample *sample,
                                                    struct br2_llvm_targets *scratch)
{
    size_t count = sample->target_count;
    if (count <= 1 && count > 0) {
        return sample->targets;
    }
    if (scratch->capacity < count || !scratch->items) {
        size_t capacity = count < 16 ? 16 : count;
        struct br2_call_target *grown =
            br2_realloc_array(scratch->items, capacity, sizeof *scratch->items);
        if (!grown) {
            return NULL;
        }
        scratch->items = grown;
        scratch->capacity = capacity;
    }
    if (count > 0) {
        memcpy(scratch->items, sample->targets, count * sizeof *scratch->items);
    }
    qsort_r(scratch->items, count, sizeof *scratch->items, compare_targets,
            (void *)(uintptr_t)profile);
    return scratch->items;
}
