/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "profile/build_private.h"

static bool is_gcc(const struct builder *builder)
{
    return builder->options->rules != BR2_RULES_LLVM;
}

int br2_build_name(struct builder *builder, const char *name, size_t length,
                   struct br2_debug_file file, uint32_t *ret, struct br2pgo_error *err)
{
    length = br2_canonical_length(name, length, builder->options->suffixes,
                                  builder->options->keep_unique);
    *ret = BR2_NO_STRING;
    if (length == 0) {
        return 0;
    }
    if (builder->options->rules == BR2_RULES_GCC_16) {
        return br2_build_file_name(builder, name, length, br2_debug_file_path(file), ret, err);
    }
    *ret = br2_profile_name(builder->profile, name, length);
    return *ret != BR2_NO_STRING ? 0 : br2_fail_memory(err);
}

/* The discriminator that a profile is keyed by, before lines are taken together. */
static struct br2_discriminator decode(const struct builder *builder,
                                       const struct source_function *function, uint32_t raw)
{
    struct br2_discriminator d = br2_discriminator_decode(function->scheme, raw);
    if (is_gcc(builder)) {
        d.base &= 0xffff; /* what a place in GCC's profiles has room for */
    }
    return d;
}

/* Line offsets are 16 bits; a line before the declaration wraps, and so it does in the compiler. */
struct br2_place br2_build_place(const struct builder *builder,
                                 const struct source_function *function,
                                 const struct br2_scope *scope, uint32_t line,
                                 uint32_t discriminator)
{
    bool ignored = builder->options->rules == BR2_RULES_GCC_5;
    return (struct br2_place){
        .offset = (line - scope->decl_line) & 0xffff,
        .discriminator = ignored ? 0 : decode(builder, function, discriminator).base,
    };
}

/* Where `scope` is inlined. Up to version 15, GCC looks for what it has inlined at discriminator
 * 0. */
static struct br2_place callsite_place(const struct builder *builder,
                                       const struct source_function *function,
                                       const struct br2_scope *scope)
{
    bool keyed =
        builder->options->rules == BR2_RULES_LLVM || builder->options->rules == BR2_RULES_GCC_16;
    return br2_build_place(builder, function, &function->debug->scopes[scope->parent],
                           scope->call_line, keyed ? scope->call_discriminator : 0);
}

/* GCC splits functions and may inline the part again, by a call that stands where the function is
 * declared. In the source, which is what it looks for, there is no such call. */
static bool is_own_part(const struct builder *builder, const struct br2_scope *scope,
                        const struct br2_scope *parent)
{
    return is_gcc(builder) && scope->call_line == parent->decl_line &&
           scope->call_column == parent->decl_column && scope->decl_line == parent->decl_line &&
           strcmp(scope->name, parent->name) == 0 &&
           strcmp(br2_debug_file_path(scope->decl_file), br2_debug_file_path(parent->decl_file)) ==
               0;
}

/* The profile node of each scope. A scope without what a place needs has none, nor have its own. */
static int make_nodes(struct builder *builder, struct source_function *function,
                      struct br2pgo_error *err)
{
    const struct br2_debug_function *debug = function->debug;
    for (size_t i = 0; i < debug->scope_count; i++) {
        const struct br2_scope *scope = &debug->scopes[i];
        if (scope->name[0] == '\0' || scope->decl_line == 0) {
            continue;
        }
        uint32_t name;
        int rc =
            br2_build_name(builder, scope->name, strlen(scope->name), scope->decl_file, &name, err);
        if (rc != 0) {
            return rc;
        }
        if (name == BR2_NO_STRING) {
            continue;
        }
        if (scope->parent == BR2_NO_SCOPE) {
            function->nodes[i] = br2_profile_function(builder->profile, name);
        } else if (function->nodes[scope->parent] == NULL || scope->call_line == 0) {
            continue;
        } else if (is_own_part(builder, scope, &debug->scopes[scope->parent])) {
            function->nodes[i] = function->nodes[scope->parent];
        } else {
            function->nodes[i] =
                br2_profile_inlinee(builder->profile, function->nodes[scope->parent],
                                    callsite_place(builder, function, scope), name);
        }
        if (function->nodes[i] == NULL) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

struct source_function *br2_build_known(struct builder *builder,
                                        const struct br2_debug_function *debug)
{
    uint32_t number = br2_strings_find(&builder->known, (const char *)&debug, sizeof debug);
    return number != BR2_NO_STRING ? &builder->functions[number] : NULL;
}

static int add_source_function(struct builder *builder, const struct br2_debug_function *debug,
                               struct source_function **ret, struct br2pgo_error *err)
{
    if (!br2_grow(&builder->functions, &builder->capacity, builder->count,
                  sizeof *builder->functions)) {
        return br2_fail_memory(err);
    }
    struct source_function *function = &builder->functions[builder->count++];
    *function = (struct source_function){
        .debug = debug,
        .scheme = br2_discriminator_scheme_of(debug->producer, builder->fs_discriminators),
    };
    function->nodes = br2_arena_alloc(&builder->arena,
                                      debug->scope_count * sizeof(struct br2_function_profile *));
    function->most =
        br2_arena_alloc(&builder->arena, debug->location_count * sizeof *function->most);
    if (function->nodes == NULL || function->most == NULL) {
        return br2_fail_memory(err);
    }
    *ret = function;
    builder->stats->llvm = builder->stats->llvm || function->scheme == BR2_DISCRIMINATOR_LLVM;
    for (size_t i = 0; i < debug->location_count; i++) {
        builder->stats->discriminators += debug->locations[i].discriminator != 0;
    }
    return make_nodes(builder, function, err);
}

/* The hit function of the debug information at `address`; *ret is NULL where it knows none. The hot
 * and the cold part of one function are one. */
static int source_function_at(struct builder *builder, uint64_t address,
                              struct source_function **ret, struct br2pgo_error *err)
{
    const struct br2_debug_function *debug;
    *ret = NULL;
    int rc = br2_debug_function_at(builder->debug, address, &debug, err);
    if (rc != 0 || debug == NULL) {
        return rc;
    }
    uint32_t number = br2_strings_add(&builder->known, (const char *)&debug, sizeof debug);
    if (number == BR2_NO_STRING) {
        return br2_fail_memory(err);
    }
    if (number < builder->count) {
        *ret = &builder->functions[number];
        return 0;
    }
    return add_source_function(builder, debug, ret, err);
}

/* llvm-profgen's function totals: executions times size in bytes, for the function and everything
 * it is inlined in. */
static void add_totals(struct source_function *function, uint32_t scope, uint64_t total)
{
    for (; scope != BR2_NO_SCOPE; scope = function->debug->scopes[scope].parent) {
        struct br2_function_profile *node = function->nodes[scope];
        if (node != NULL) {
            node->total = br2_add_saturated(node->total, total);
        }
    }
}

static void add(uint64_t *sum, uint64_t count)
{
    *sum = br2_add_saturated(*sum, count);
}

/* One instruction that ran `count` times at a known location. */
static int count_location(struct builder *builder, struct source_function *function,
                          const struct br2_location *location, uint64_t count,
                          const struct br2_insn *insn)
{
    add_totals(function, location->scope, br2_multiply_saturated(count, insn->size));
    if (location->line == 0) {
        add(&builder->stats->no_line, count);
        return 0;
    }
    if (function->nodes[location->scope] == NULL) {
        add(&builder->stats->no_declaration, count);
        return 0;
    }
    add(&builder->stats->kept, count);
    struct br2_discriminator discriminator =
        br2_discriminator_decode(function->scheme, location->discriminator);
    uint64_t scaled = br2_multiply_saturated(count, discriminator.factor);
    uint64_t *most = &function->most[location - function->debug->locations];
    *most = scaled > *most ? scaled : *most;
    return builder->options->flow_inference && insn->kind == BR2_INSN_COND
               ? br2_build_note_branch(builder, function, location, insn, scaled)
               : 0;
}

static bool holds(const struct source_function *function, uint64_t address)
{
    for (size_t i = 0; function != NULL && i < function->debug->range_count; i++) {
        if (address >= function->debug->ranges[i].start &&
            address < function->debug->ranges[i].end) {
            return true;
        }
    }
    return false;
}

/* Which functions of the debug information ran, before any is named. */
static int note_files(struct builder *builder, const struct br2_flow_function *flow,
                      struct br2pgo_error *err)
{
    const struct br2_debug_function *debug = NULL;
    for (size_t i = 0; i < flow->code.count; i++) {
        if (flow->counts[i] == 0) {
            continue;
        }
        const struct br2_debug_function *next;
        int rc = br2_debug_function_at(builder->debug, flow->code.insns[i].address, &next, err);
        if (rc == 0 && next != NULL && next != debug) {
            debug = next;
            rc = br2_build_note_files(builder, debug, err);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int count_function(struct builder *builder, const struct br2_flow_function *flow,
                          struct br2pgo_error *err)
{
    struct source_function *function = NULL;
    for (size_t i = 0; i < flow->code.count; i++) {
        const struct br2_insn *insn = &flow->code.insns[i];
        uint64_t count = flow->counts[i];
        if (count == 0) {
            continue;
        }
        add(&builder->stats->executions, count);
        if (!holds(function, insn->address)) {
            int rc = source_function_at(builder, insn->address, &function, err);
            if (rc != 0) {
                return rc;
            }
        }
        const struct br2_location *location =
            function != NULL ? br2_debug_location(function->debug, insn->address) : NULL;
        if (function == NULL) {
            add(&builder->stats->no_function, count);
        } else if (function->debug->assembly) {
            add(&builder->stats->assembly, count);
        } else if (location == NULL) {
            add(&builder->stats->no_line, count);
        } else if (count_location(builder, function, location, count, insn) != 0) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

/* What a location adds to the profile. */
struct contribution {
    struct br2_function_profile *node;
    struct br2_place place;
    uint32_t copy; /* of the code: unrolled, vectorised */
    uint64_t count;
};

static bool same_place(const struct contribution *a, const struct contribution *b)
{
    return a->node == b->node && br2_place_compare(a->place, b->place) == 0;
}

static int compare_contributions(const void *left, const void *right)
{
    const struct contribution *a = left;
    const struct contribution *b = right;
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    int order = br2_place_compare(a->place, b->place);
    if (order != 0) {
        return order;
    }
    if (a->copy != b->copy) {
        return a->copy < b->copy ? -1 : 1;
    }
    return a->count > b->count ? -1 : a->count < b->count; /* highest first */
}

/* All of a function's places, also those that never ran: a place with 0 is known to be cold. In the
 * end the highest count of a place is taken, so that of a loop's condition stands for it. */
static size_t collect(const struct builder *builder, const struct source_function *function,
                      struct contribution *items)
{
    size_t count = 0;
    bool copies = is_gcc(builder) && function->scheme == BR2_DISCRIMINATOR_GCC;
    for (size_t i = 0; i < function->debug->location_count; i++) {
        const struct br2_location *location = &function->debug->locations[i];
        if (location->line == 0 || function->nodes[location->scope] == NULL) {
            continue;
        }
        struct br2_discriminator d = decode(builder, function, location->discriminator);
        const struct br2_scope *scope = &function->debug->scopes[location->scope];
        items[count++] = (struct contribution){
            .node = function->nodes[location->scope],
            .place = {.offset = (location->line - scope->decl_line) & 0xffff,
                      .discriminator = d.base},
            .copy = copies ? d.copy : 0,
            .count = function->most[i],
        };
    }
    for (size_t i = 0; i < function->branch_count; i++) {
        const struct source_branch *branch = &function->branches[i];
        items[count++] = (struct contribution){
            .node = branch->node, .place = branch->place, .count = branch->count};
    }
    return count;
}

/* Of sorted items, leaves one of each place: the count of its busiest instruction, the sum of those
 * where the code is there in copies, of which each ran instead of the others. */
static size_t join_instructions(struct contribution *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct contribution *last = kept != 0 ? &items[kept - 1] : NULL;
        if (last == NULL || !same_place(last, &items[i])) {
            items[kept++] = items[i];
        } else if (last->copy != items[i].copy) {
            last->copy = items[i].copy;
            last->count = br2_add_saturated(last->count, items[i].count);
        }
    }
    return kept;
}

/* For a compiler that knows no discriminators: a line has its least busy block's count (fit.h). */
static size_t join_lines(struct contribution *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct contribution *last = kept != 0 ? &items[kept - 1] : NULL;
        items[i].place.discriminator = 0;
        if (last == NULL || !same_place(last, &items[i])) {
            items[kept++] = items[i];
        } else if (items[i].count < last->count) {
            last->count = items[i].count;
        }
    }
    return kept;
}

/* Functions of the same name (static ones, clones) add up. */
static int write_function(const struct builder *builder, struct source_function *function,
                          struct br2pgo_error *err)
{
    br2_build_join_branches(function);
    struct contribution *items =
        br2_calloc(function->debug->location_count + function->branch_count, sizeof *items);
    if (items == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = collect(builder, function, items);
    qsort(items, count, sizeof *items, compare_contributions);
    count = join_instructions(items, count);
    if (builder->options->rules == BR2_RULES_GCC_5) {
        count = join_lines(items, count);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct br2_body_sample *sample = br2_profile_sample(items[i].node, items[i].place);
        if (sample == NULL) {
            rc = br2_fail_memory(err);
        } else {
            sample->count = br2_add_saturated(sample->count, items[i].count);
        }
    }
    br2_free(items);
    return rc;
}

static int add_listed_name(void *user, const char *name)
{
    struct builder *builder = user;
    size_t length = br2_canonical_length(name, strlen(name), builder->options->suffixes,
                                         builder->options->keep_unique);
    struct br2_strings *list = &builder->profile->symbol_list;
    return br2_strings_add(list, name, length) != BR2_NO_STRING ? 0 : BR2PGO_NO_MEMORY;
}

static int build_bodies(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = 0;
    for (size_t i = 0;
         rc == 0 && builder->options->rules == BR2_RULES_GCC_16 && i < graph->function_count; i++) {
        rc = note_files(builder, &graph->functions[i], err);
    }
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = count_function(builder, &graph->functions[i], err);
    }
    builder->stats->functions = builder->count;
    for (size_t i = 0; rc == 0 && i < builder->count; i++) {
        rc = write_function(builder, &builder->functions[i], err);
        if (rc == 0 && builder->options->rules == BR2_RULES_GCC_13) {
            rc = br2_build_second_callsites(builder, &builder->functions[i], err);
        }
    }
    return rc;
}

int br2_profile_build(const struct br2_flow_graph *graph, struct br2_debug *debug,
                      const struct br2_build_options *options, struct br2_profile **ret,
                      struct br2_build_stats *ret_stats, struct br2pgo_error *err)
{
    *ret_stats = (struct br2_build_stats){0};
    struct builder builder = {
        .graph = graph,
        .debug = debug,
        .options = options,
        .profile = br2_profile_new(),
        .stats = ret_stats,
        .fs_discriminators = br2_debug_quality(debug)->fs_discriminators,
    };
    if (builder.profile == NULL) {
        return br2_fail_memory(err);
    }
    builder.profile->fs_discriminators = builder.fs_discriminators;
    int rc = build_bodies(&builder, err);
    if (rc == 0) {
        rc = br2_build_calls(&builder, err);
    }
    if (rc == 0 && options->rules == BR2_RULES_GCC_5) {
        rc = br2_build_labels(&builder, err);
    }
    if (rc == 0 && is_gcc(&builder)) {
        rc = br2_build_finish_gcc(&builder, err);
    }
    if (rc == 0 && options->symbol_list) {
        builder.profile->has_symbol_list = true;
        rc = br2_debug_each_name(debug, add_listed_name, &builder, err);
        rc = rc != 0 ? br2_fail_memory(err) : 0;
    }
    br2_build_gcc_done(&builder);
    for (size_t i = 0; i < builder.count; i++) {
        br2_free(builder.functions[i].branches);
    }
    br2_free(builder.functions);
    br2_strings_done(&builder.known);
    br2_arena_done(&builder.arena);
    if (rc != 0) {
        br2_profile_free(builder.profile);
        return rc;
    }
    *ret = builder.profile;
    return 0;
}
