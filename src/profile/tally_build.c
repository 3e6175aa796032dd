/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tallies of source profiles and of edge tables. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profile/tally.h"

struct builder {
    struct br2_tally *tally;
    const struct br2_profile *profile;
    uint32_t *names; /* by name number in the profile: the number in the tally */
    uint32_t function;
};

/* Inlined functions are nested no deeper than readers allow. */
static bool add_function(const struct builder *builder, const struct br2_function_profile *function,
                         uint32_t path, bool copied)
{
    struct br2_tally_item item = {.function = builder->function, .path = path, .copied = copied};
    for (size_t i = 0; i < function->sample_count; i++) {
        item.first = function->samples[i].place.offset;
        item.second = function->samples[i].place.discriminator;
        item.count = function->samples[i].count;
        if (!br2_tally_add_item(builder->tally, &item)) {
            return false;
        }
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        const struct br2_callsite *site = &function->callsites[i];
        const uint64_t place[2] = {site->place.offset, site->place.discriminator};
        uint32_t inner =
            br2_tally_path(builder->tally->names, path, place, builder->names[site->callee->name]);
        bool inner_copied = copied || (site->callee->attributes & BR2_DUPLICATED_INTO_BASE) != 0;
        if (inner == BR2_NO_PATH || !add_function(builder, site->callee, inner, inner_copied)) {
            return false;
        }
    }
    return true;
}

static bool add_functions(struct builder *builder)
{
    const struct br2_profile *profile = builder->profile;
    for (size_t i = 0; i < profile->names.count; i++) {
        size_t length;
        const char *text = br2_strings_get(&profile->names, (uint32_t)i, &length);
        builder->names[i] = br2_strings_add(&builder->tally->names->names, text, length);
        if (builder->names[i] == BR2_NO_STRING) {
            return false;
        }
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct br2_function_profile *function = profile->functions[i];
        builder->function = builder->names[function->name];
        if (!br2_tally_add_function(builder->tally, builder->function, function->head) ||
            !add_function(builder, function, BR2_NO_PATH, false)) {
            return false;
        }
    }
    return true;
}

int br2_tally_profile(struct br2_tally *ret, const struct br2_profile *profile,
                      struct br2pgo_error *err)
{
    struct builder builder = {.tally = ret, .profile = profile};
    ret->terms = BR2_TALLY_LINES;
    builder.names = br2_calloc(profile->names.count + 1, sizeof *builder.names);
    bool ok = builder.names != NULL && add_functions(&builder);
    br2_free(builder.names);
    return ok ? br2_tally_finish(ret, err) : br2_fail_memory(err);
}

/* The name of the function that an edge starts in. */
static uint32_t edge_function(struct br2_tally *tally, const struct br2_edge_table *table,
                              const struct br2_edge *edge)
{
    size_t length;
    const char *name = br2_strings_get(&table->names, edge->function, &length);
    if (length != 0) {
        return br2_strings_add(&tally->names->names, name, length);
    }
    name = br2_strings_get(&table->names, edge->image, &length);
    char *text = br2_format("[%s]", name);
    uint32_t number =
        text != NULL ? br2_strings_add(&tally->names->names, text, strlen(text)) : BR2_NO_STRING;
    br2_free(text);
    return number;
}

int br2_tally_edges(struct br2_tally *ret, const struct br2_edge_table *table,
                    struct br2pgo_error *err)
{
    ret->terms = BR2_TALLY_ADDRESSES;
    for (size_t i = 0; i < table->count; i++) {
        const struct br2_edge *edge = &table->edges[i];
        struct br2_tally_item item = {
            .function = edge_function(ret, table, edge),
            .path = BR2_NO_PATH,
            .first = edge->from,
            .second = edge->to,
            .count = edge->count,
        };
        if (item.function == BR2_NO_STRING || !br2_tally_add_item(ret, &item)) {
            return br2_fail_memory(err);
        }
    }
    return br2_tally_finish(ret, err);
}
