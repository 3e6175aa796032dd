/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the taken branches add to a source profile: head counts and call targets. */
#include <string.h>

#include "base/number.h"
#include "profile/build_private.h"

/* The top-level node of a function; *ret is NULL where it has none. */
static int entered_node(struct builder *builder, const struct br2_debug_function *debug,
                        struct br2_function_profile **ret, struct br2pgo_error *err)
{
    const struct source_function *function = br2_build_known(builder, debug);
    const struct br2_scope *scope = &debug->scopes[0];
    *ret = function != NULL ? function->nodes[0] : NULL;
    /* To GCC a function that has counts nowhere never ran, whatever its head count says. */
    if (function != NULL || builder->options->rules != BR2_RULES_LLVM || scope->name[0] == '\0' ||
        scope->decl_line == 0) {
        return 0;
    }
    uint32_t name;
    int rc =
        br2_build_name(builder, scope->name, strlen(scope->name), scope->decl_file, &name, err);
    if (rc == 0 && name != BR2_NO_STRING) {
        *ret = br2_profile_function(builder->profile, name);
        rc = *ret != NULL ? 0 : br2_fail_memory(err);
    }
    return rc;
}

/* So many branches on the scale of runs. A history has one run fewer than branches: these count
 * more than the runs around them, by a 32nd part where histories are of 32, and the compiler takes
 * what is left over for the count of another branch. */
static uint64_t as_runs(const struct builder *builder, uint64_t count)
{
    if (!builder->options->flow_inference || builder->runs == 0 ||
        builder->runs >= builder->branches || count == 0) {
        return count;
    }
    unsigned __int128 product = count;
    uint64_t scaled =
        (uint64_t)((product * builder->runs + builder->branches / 2) / builder->branches);
    return scaled != 0 ? scaled : 1;
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
        node->head = br2_add_saturated(node->head, as_runs(builder, flow->entered));
    }
    return rc;
}

/* A function was first seen when the earliest of its parts was. */
static int add_first_seen(struct builder *builder, const struct br2_flow_function *flow,
                          struct br2pgo_error *err)
{
    const struct br2_debug_function *debug;
    int rc = br2_debug_function_at(builder->debug, flow->range->start, &debug, err);
    if (rc != 0 || debug == NULL) {
        return rc;
    }
    const struct source_function *function = br2_build_known(builder, debug);
    if (function != NULL && function->nodes[0] != NULL) {
        br2_profile_see(function->nodes[0], flow->first_seen);
    }
    return 0;
}

/* What a call calls. */
struct callee {
    const char *name; /* NULL: no entry of anything in the image */
    size_t length;
    struct br2_debug_file file; /* that declares it */
};

static int find_callee(struct builder *builder, const struct br2_flow_edge *edge,
                       struct callee *ret, struct br2pgo_error *err)
{
    *ret = (struct callee){0};
    if (edge->to_function == BR2_NO_FUNCTION) {
        return 0;
    }
    const struct br2_code_range *range = builder->graph->functions[edge->to_function].range;
    if (range->start != edge->to) {
        return 0;
    }
    ret->length = strlen(range->name);
    if (range->plt) {
        /* A call through the PLT to a function of this very image. */
        const char *at = strstr(range->name, "@plt");
        ret->length = at != NULL ? (size_t)(at - range->name) : 0;
        char *name = br2_arena_strndup(&builder->arena, range->name, ret->length);
        if (name == NULL) {
            return br2_fail_memory(err);
        }
        ret->name =
            ret->length != 0 && br2_image_has_symbol(builder->graph->image, name) ? name : NULL;
        return 0;
    }
    const struct br2_debug_function *debug;
    int rc = br2_debug_function_at(builder->debug, edge->to, &debug, err);
    if (rc == 0 && debug == NULL && ret->length != 0) {
        ret->name = range->name;
    } else if (rc == 0 && debug != NULL && debug->entry == edge->to) {
        /* Not the entry: another part of a function, such as .cold, is jumped to, not called. */
        ret->name = debug->scopes[0].name[0] != '\0' ? debug->scopes[0].name : NULL;
        ret->length = strlen(debug->scopes[0].name);
        ret->file = debug->scopes[0].decl_file;
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
    const struct source_function *function = br2_build_known(builder, debug);
    const struct br2_location *location = br2_debug_location(debug, address);
    if (function == NULL || location == NULL || location->line == 0 ||
        function->nodes[location->scope] == NULL) {
        return 0;
    }
    struct br2_place place = br2_build_place(builder, function, &debug->scopes[location->scope],
                                             location->line, location->discriminator);
    *ret = br2_profile_sample(function->nodes[location->scope], place);
    return *ret != NULL ? 0 : br2_fail_memory(err);
}

static bool is_call(const struct br2_flow_edge *edge)
{
    bool call = edge->kind == BR2_EDGE_CALL || edge->kind == BR2_EDGE_INDIRECT_CALL;
    bool leaves = edge->kind != BR2_EDGE_RETURN && edge->from_function != edge->to_function;
    return call || leaves;
}

/* GCC has a place for the targets of indirect calls only. */
static bool has_targets(const struct builder *builder, const struct br2_flow_edge *edge)
{
    return builder->options->rules == BR2_RULES_LLVM || edge->kind == BR2_EDGE_INDIRECT_CALL ||
           edge->kind == BR2_EDGE_INDIRECT_JUMP;
}

/* Adds the target of one call; `*ret_counted` is what it added, 0 where the callee has no name. */
static int add_call_target(struct builder *builder, const struct br2_flow_edge *edge,
                           struct br2_body_sample *sample, uint64_t *ret_counted,
                           struct br2pgo_error *err)
{
    struct callee callee;
    *ret_counted = 0;
    int rc = find_callee(builder, edge, &callee, err);
    if (rc != 0 || callee.name == NULL) {
        return rc;
    }
    if (has_targets(builder, edge)) {
        uint32_t name;
        rc = br2_build_name(builder, callee.name, callee.length, callee.file, &name, err);
        if (rc != 0 || name == BR2_NO_STRING) {
            return rc;
        }
        if (!br2_profile_target(sample, name, edge->count)) {
            return br2_fail_memory(err);
        }
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
    calls = as_runs(builder, calls);
    if (rc == 0 && sample != NULL && calls > sample->count) {
        sample->count = calls;
    }
    return rc;
}

/* What counts of branches and those of runs are to each other: behind each branch into the image
 * was a run, unless it was the newest of its history. */
static void count_records(struct builder *builder)
{
    const struct br2_flow_graph *graph = builder->graph;
    for (size_t i = 0; i < graph->run_count; i++) {
        builder->runs = br2_add_saturated(builder->runs, graph->runs[i].count);
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        if (graph->edges[i].to != 0) {
            builder->branches = br2_add_saturated(builder->branches, graph->edges[i].count);
        }
    }
}

int br2_build_calls(struct builder *builder, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = builder->graph;
    int rc = 0;
    count_records(builder);
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        if (graph->functions[i].entered != 0) {
            rc = add_head(builder, &graph->functions[i], err);
        }
        rc = rc == 0 ? add_first_seen(builder, &graph->functions[i], err) : rc;
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
