/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "profile/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/discriminator.h"

/* A function of the debug information, while instructions are counted into it. */
struct source_function {
    const struct br2_debug_function *debug;
    enum br2_discriminator_scheme scheme;
    struct br2_function_profile **nodes; /* per scope; NULL: has no place in a profile */
    uint64_t *most; /* per location: the highest count of its instructions, times the factor */
};

struct builder {
    const struct br2_flow_graph *graph;
    struct br2_debug *debug;
    const struct br2_build_options *options;
    struct br2_profile *profile;
    struct br2_build_stats *stats;
    struct source_function *functions; /* in order of first hit */
    size_t count;
    size_t capacity;
    struct br2_strings known; /* debug function pointers as bytes: same numbers as functions */
    struct br2_arena arena;   /* what is needed only while building */
    bool fs_discriminators;
};

static uint32_t add_name(struct builder *builder, const char *name)
{
    size_t length = br2_canonical_length(name, strlen(name), builder->options->suffixes,
                                         builder->options->keep_unique);
    return br2_profile_name(builder->profile, name, length);
}

/* Line offsets are 16 bits; a line before the declaration wraps, and so it does in the compiler. */
static struct br2_place place_of(const struct source_function *function,
                                 const struct br2_scope *scope, uint32_t line,
                                 uint32_t discriminator)
{
    return (struct br2_place){
        .offset = (line - scope->decl_line) & 0xffff,
        .discriminator = br2_discriminator_decode(function->scheme, discriminator).base,
    };
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
        uint32_t name = add_name(builder, scope->name);
        if (name == BR2_NO_STRING) {
            return br2_fail_memory(err);
        }
        if (scope->parent == BR2_NO_SCOPE) {
            function->nodes[i] = br2_profile_function(builder->profile, name);
        } else if (function->nodes[scope->parent] == NULL || scope->call_line == 0) {
            continue;
        } else {
            struct br2_place place = place_of(function, &debug->scopes[scope->parent],
                                              scope->call_line, scope->call_discriminator);
            function->nodes[i] =
                br2_profile_inlinee(builder->profile, function->nodes[scope->parent], place, name);
        }
        if (function->nodes[i] == NULL) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

/* The function as far as its body was counted; NULL where no run hit it. */
static struct source_function *known_function(struct builder *builder,
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

/* One instruction that ran `count` times at a known location. */
static void count_location(struct builder *builder, struct source_function *function,
                           const struct br2_location *location, uint64_t count, uint8_t size)
{
    add_totals(function, location->scope, count * size);
    if (location->line == 0) {
        builder->stats->no_line += count;
        return;
    }
    if (function->nodes[location->scope] == NULL) {
        builder->stats->no_declaration += count;
        return;
    }
    builder->stats->kept += count;
    struct br2_discriminator discriminator =
        br2_discriminator_decode(function->scheme, location->discriminator);
    uint64_t scaled;
    if (__builtin_mul_overflow(count, discriminator.factor, &scaled)) {
        scaled = UINT64_MAX;
    }
    uint64_t *most = &function->most[location - function->debug->locations];
    *most = scaled > *most ? scaled : *most;
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
        builder->stats->executions += count;
        if (!holds(function, insn->address)) {
            int rc = source_function_at(builder, insn->address, &function, err);
            if (rc != 0) {
                return rc;
            }
        }
        const struct br2_location *location =
            function != NULL ? br2_debug_location(function->debug, insn->address) : NULL;
        if (function == NULL) {
            builder->stats->no_function += count;
        } else if (location == NULL) {
            builder->stats->no_line += count;
        } else {
            count_location(builder, function, location, count, insn->size);
        }
    }
    return 0;
}

/* What a location adds to the profile. */
struct contribution {
    struct br2_function_profile *node;
    struct br2_place place;
    uint64_t count;
};

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
    return a->count > b->count ? -1 : a->count < b->count; /* highest first */
}

/* All of a function's places, also those that never ran: a place with 0 is known to be cold. */
static size_t collect(const struct source_function *function, struct contribution *items)
{
    size_t count = 0;
    for (size_t i = 0; i < function->debug->location_count; i++) {
        const struct br2_location *location = &function->debug->locations[i];
        if (location->line == 0 || function->nodes[location->scope] == NULL) {
            continue;
        }
        items[count++] = (struct contribution){
            .node = function->nodes[location->scope],
            .place = place_of(function, &function->debug->scopes[location->scope], location->line,
                              location->discriminator),
            .count = function->most[i],
        };
    }
    return count;
}

/* Within one function a place has the count of its busiest instruction; functions of the same name
 * (static ones, clones) add up. */
static int write_function(const struct source_function *function, struct br2pgo_error *err)
{
    struct contribution *items = br2_calloc(function->debug->location_count, sizeof *items);
    if (items == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = collect(function, items);
    qsort(items, count, sizeof *items, compare_contributions);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (i != 0 && items[i].node == items[i - 1].node &&
            br2_place_compare(items[i].place, items[i - 1].place) == 0) {
            continue;
        }
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

/* The top-level node of a function; *ret is NULL where it has none. */
static int entered_node(struct builder *builder, const struct br2_debug_function *debug,
                        struct br2_function_profile **ret, struct br2pgo_error *err)
{
    const struct source_function *function = known_function(builder, debug);
    const struct br2_scope *scope = &debug->scopes[0];
    *ret = function != NULL ? function->nodes[0] : NULL;
    if (function != NULL || scope->name[0] == '\0' || scope->decl_line == 0) {
        return 0;
    }
    uint32_t name = add_name(builder, scope->name);
    if (name != BR2_NO_STRING) {
        *ret = br2_profile_function(builder->profile, name);
    }
    return *ret != NULL ? 0 : br2_fail_memory(err);
}

/* The head count of a function is that of the code range it starts with. */
static int add_head(struct builder *builder, const struct br2_flow_function *flow,
                    struct br2pgo_error *err)
{
    const struct br2_debug_function *debug;
    int rc = br2_debug_function_at(builder->debug, flow->range->start, &debug, err);
    if (rc != 0 || debug == NULL || debug->entry != flow->range->start) {
        return rc;
    }
    /* Also where no run was seen in it: a function that is entered is not cold. */
    struct br2_function_profile *node = NULL;
    rc = entered_node(builder, debug, &node, err);
    if (rc == 0 && node != NULL) {
        node->head = br2_add_saturated(node->head, flow->entered);
    }
    return rc;
}

/* The name of what a call to `address` calls; NULL when it is no entry of anything in the image. */
static int callee_name(struct builder *builder, const struct br2_flow_edge *edge, const char **ret,
                       size_t *ret_length, struct br2pgo_error *err)
{
    *ret = NULL;
    if (edge->to_function == BR2_NO_FUNCTION) {
        return 0;
    }
    const struct br2_code_range *range = builder->graph->functions[edge->to_function].range;
    if (range->start != edge->to) {
        return 0;
    }
    *ret_length = strlen(range->name);
    if (range->plt) {
        /* A call through the PLT to a function of this very image. */
        const char *at = strstr(range->name, "@plt");
        *ret_length = at != NULL ? (size_t)(at - range->name) : 0;
        char *name = br2_arena_strndup(&builder->arena, range->name, *ret_length);
        if (name == NULL) {
            return br2_fail_memory(err);
        }
        *ret = *ret_length != 0 && br2_image_has_symbol(builder->graph->image, name) ? name : NULL;
        return 0;
    }
    const struct br2_debug_function *debug;
    int rc = br2_debug_function_at(builder->debug, edge->to, &debug, err);
    if (rc == 0 && debug == NULL && *ret_length != 0) {
        *ret = range->name;
    } else if (rc == 0 && debug != NULL && debug->entry == edge->to) {
        /* Not the entry: another part of a function, such as .cold, is jumped to, not called. */
        *ret = debug->scopes[0].name[0] != '\0' ? debug->scopes[0].name : NULL;
        *ret_length = strlen(debug->scopes[0].name);
    }
    return rc;
}

/* The body sample that `address` counts for; *ret is NULL where it has none. */
static int sample_of(struct builder *builder, uint64_t address, struct br2_body_sample **ret,
                     struct br2pgo_error *err)
{
    const struct br2_debug_function *debug;
    *ret = NULL;
    int rc = br2_debug_function_at(builder->debug, address, &debug, err);
    if (rc != 0 || debug == NULL) {
        return rc;
    }
    const struct source_function *function = known_function(builder, debug);
    const struct br2_location *location = br2_debug_location(debug, address);
    if (function == NULL || location == NULL || location->line == 0 ||
        function->nodes[location->scope] == NULL) {
        return 0;
    }
    struct br2_place place = place_of(function, &debug->scopes[location->scope], location->line,
                                      location->discriminator);
    *ret = br2_profile_sample(function->nodes[location->scope], place);
    return *ret != NULL ? 0 : br2_fail_memory(err);
}

static bool is_call(const struct br2_flow_edge *edge)
{
    bool call = edge->kind == BR2_EDGE_CALL || edge->kind == BR2_EDGE_INDIRECT_CALL;
    bool leaves = edge->kind != BR2_EDGE_RETURN && edge->from_function != edge->to_function;
    return call || leaves;
}

/* Adds the target of one call; `*ret_counted` is what it added, 0 where the callee has no name. */
static int add_call_target(struct builder *builder, const struct br2_flow_edge *edge,
                           struct br2_body_sample *sample, uint64_t *ret_counted,
                           struct br2pgo_error *err)
{
    const char *name = NULL;
    size_t length = 0;
    *ret_counted = 0;
    int rc = callee_name(builder, edge, &name, &length, err);
    if (rc != 0 || name == NULL) {
        return rc;
    }
    length = br2_canonical_length(name, length, builder->options->suffixes,
                                  builder->options->keep_unique);
    uint32_t number = br2_profile_name(builder->profile, name, length);
    if (number == BR2_NO_STRING || !br2_profile_target(sample, number, edge->count)) {
        return br2_fail_memory(err);
    }
    *ret_counted = edge->count;
    return 0;
}

/* The calls of one instruction, edges[0..count). It ran at least as often as it reached its
 * targets, and unlike a run a branch record is never lost for what follows it. */
static int add_calls(struct builder *builder, const struct br2_flow_edge *edges, size_t count,
                     struct br2pgo_error *err)
{
    struct br2_body_sample *sample;
    uint64_t calls = 0;
    int rc = sample_of(builder, edges[0].from, &sample, err);
    for (size_t i = 0; rc == 0 && sample != NULL && i < count; i++) {
        uint64_t counted = 0;
        if (is_call(&edges[i])) {
            rc = add_call_target(builder, &edges[i], sample, &counted, err);
        }
        calls += counted;
    }
    if (rc == 0 && sample != NULL && calls > sample->count) {
        sample->count = calls;
    }
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
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = count_function(builder, &graph->functions[i], err);
    }
    builder->stats->functions = builder->count;
    for (size_t i = 0; rc == 0 && i < builder->count; i++) {
        rc = write_function(&builder->functions[i], err);
    }
    return rc;
}

static int build_calls(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        if (graph->functions[i].entered != 0) {
            rc = add_head(builder, &graph->functions[i], err);
        }
    }
    size_t end;
    for (size_t i = 0; rc == 0 && i < graph->edge_count; i = end) {
        end = i + 1;
        while (end < graph->edge_count && graph->edges[end].from == graph->edges[i].from) {
            end++;
        }
        if (graph->edges[i].from != 0) {
            rc = add_calls(builder, graph->edges + i, end - i, err);
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
        rc = build_calls(&builder, err);
    }
    if (rc == 0 && options->symbol_list) {
        builder.profile->has_symbol_list = true;
        rc = br2_debug_each_name(debug, add_listed_name, &builder, err);
        rc = rc != 0 ? br2_fail_memory(err) : 0;
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
