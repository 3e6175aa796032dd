/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether two profiles say the same. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

struct compare {
    const struct br2_profile *a;
    const struct br2_profile *b;
    bool checksums;
    bool attributes;
    bool totals;
    bool files;
    char *text;
    size_t size;
};

/* Says what differs; always false. */
__attribute__((format(printf, 2, 3))) static bool differ(struct compare *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->text, c->size, format, args);
    va_end(args);
    return false;
}

static const char *name_of(const struct br2_profile *profile, uint32_t name)
{
    return br2_strings_get(&profile->names, name, NULL);
}

/* The number in `b` of the name with this number in `a`, or BR2_NO_STRING. */
static uint32_t counterpart(const struct compare *c, uint32_t name)
{
    size_t length;
    const char *text = br2_strings_get(&c->a->names, name, &length);
    return br2_strings_find(&c->b->names, text, length);
}

static bool same_number(struct compare *c, const struct br2_function_profile *function,
                        const char *what, uint64_t a, uint64_t b)
{
    if (a == b) {
        return true;
    }
    return differ(c, "%s of '%s' is %" PRIu64 " in one and %" PRIu64 " in the other", what,
                  name_of(c->a, function->name), a, b);
}

/* The count of target `name` (a number in `b`); false where there is none. */
static bool find_target(const struct br2_body_sample *sample, uint32_t name, uint64_t *ret)
{
    size_t low = 0, high = sample->target_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_call_target *target = &sample->targets[middle];
        if (target->name == name) {
            *ret = target->count;
            return true;
        }
        if (target->name < name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static bool same_sample(struct compare *c, const struct br2_function_profile *function,
                        const struct br2_body_sample *a, const struct br2_body_sample *b)
{
    if (br2_place_compare(a->place, b->place) != 0) {
        return differ(c, "'%s' has a sample at %u.%u in one and at %u.%u in the other",
                      name_of(c->a, function->name), a->place.offset, a->place.discriminator,
                      b->place.offset, b->place.discriminator);
    }
    if (!same_number(c, function, "a body count", a->count, b->count) ||
        !same_number(c, function, "a number of call targets", a->target_count, b->target_count)) {
        return false;
    }
    for (size_t i = 0; i < a->target_count; i++) {
        uint64_t count = 0;
        uint32_t name = counterpart(c, a->targets[i].name);
        if (name == BR2_NO_STRING || !find_target(b, name, &count)) {
            return differ(c, "'%s' calls '%s' in one but not in the other",
                          name_of(c->a, function->name), name_of(c->a, a->targets[i].name));
        }
        if (!same_number(c, function, "a call target count", a->targets[i].count, count)) {
            return false;
        }
    }
    return true;
}

static bool same_file(struct compare *c, uint32_t a, uint32_t b)
{
    size_t a_length = 0;
    size_t b_length = 0;
    const char *x = c->files ? br2_profile_file(c->a, a, &a_length) : NULL;
    const char *y = c->files ? br2_profile_file(c->b, b, &b_length) : NULL;
    if (x == NULL && y == NULL) {
        return true;
    }
    if (x == NULL || y == NULL || a_length != b_length || memcmp(x, y, a_length) != 0) {
        return differ(c, "'%s' is declared in '%s' in one and in '%s' in the other",
                      name_of(c->a, a), x != NULL ? x : "", y != NULL ? y : "");
    }
    return true;
}

static bool same_function(struct compare *c, const struct br2_function_profile *a,
                          const struct br2_function_profile *b)
{
    if ((c->totals && !same_number(c, a, "the total", a->total, b->total)) ||
        !same_file(c, a->name, b->name) ||
        !same_number(c, a, "the number of samples", a->sample_count, b->sample_count) ||
        !same_number(c, a, "the number of callsites", a->callsite_count, b->callsite_count) ||
        (c->checksums && !same_number(c, a, "the checksum", a->checksum, b->checksum)) ||
        (c->attributes && !same_number(c, a, "the attributes", a->attributes, b->attributes))) {
        return false;
    }
    for (size_t i = 0; i < a->sample_count; i++) {
        if (!same_sample(c, a, &a->samples[i], &b->samples[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < a->callsite_count; i++) {
        const struct br2_callsite *x = &a->callsites[i], *y = &b->callsites[i];
        if (br2_place_compare(x->place, y->place) != 0 ||
            counterpart(c, x->callee->name) != y->callee->name) {
            return differ(c, "'%s' inlines '%s' at %u.%u in one, '%s' at %u.%u in the other",
                          name_of(c->a, a->name), name_of(c->a, x->callee->name), x->place.offset,
                          x->place.discriminator, name_of(c->b, y->callee->name), y->place.offset,
                          y->place.discriminator);
        }
        if (!same_function(c, x->callee, y->callee)) {
            return false;
        }
    }
    return true;
}

static bool has_attributes(const struct br2_profile *profile)
{
    for (const struct br2_function_profile *f = profile->made_last; f; f = f->made_before) {
        if (f->attributes != 0) {
            return true;
        }
    }
    return false;
}

static bool same_functions(struct compare *c)
{
    if (c->a->md5_names != c->b->md5_names) {
        return differ(c, "one has names, the other MD5 hashes of names");
    }
    if (c->a->function_count != c->b->function_count) {
        return differ(c, "one has %zu functions, the other %zu", c->a->function_count,
                      c->b->function_count);
    }
    for (size_t i = 0; i < c->a->function_count; i++) {
        const struct br2_function_profile *a = c->a->functions[i];
        const struct br2_function_profile *b = NULL;
        uint32_t name = counterpart(c, a->name);
        if (name != BR2_NO_STRING) {
            b = br2_profile_find(c->b, name);
        }
        if (!b) {
            return differ(c, "only one has '%s'", name_of(c->a, a->name));
        }
        if (!same_number(c, a, "the head count", a->head, b->head) || !same_function(c, a, b)) {
            return false;
        }
    }
    return true;
}

const char *br2_profile_difference(const struct br2_profile *a, const struct br2_profile *b,
                                   char *text, size_t size)
{
    struct compare c = {.a = a, .b = b, .size = size};
    c.text = text;
    c.checksums = a->has_checksums && b->has_checksums;
    c.attributes = has_attributes(a) && has_attributes(b);
    c.totals = !a->derived_totals && !b->derived_totals;
    c.files = a->files.count != 0 && b->files.count != 0;
    return same_functions(&c) ? NULL : text;
}
