/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which functions a report is of, what they are called, and where their code is in the source. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "image/demangle.h"
#include "report/report_private.h"

struct br2_report_value br2_value_copy(struct br2_report_maker *maker, const char *text)
{
    char *copy = br2_arena_strndup(&maker->report->arena, text, strlen(text));
    maker->report->failed = maker->report->failed || copy == NULL;
    return br2_value_text(copy);
}

/* The name as it is shown; the symbol's own where it is not mangled. */
static const char *shown_name(struct br2_report_maker *maker, const char *name)
{
    char *readable = maker->input->raw_names ? NULL : br2_demangle(name);
    if (readable == NULL) {
        return name[0] != '\0' ? name : "[no name]";
    }
    struct br2_report_value copy = br2_value_copy(maker, readable);
    br2_free(readable);
    return copy.known ? copy.is.text : name;
}

/* Whether a function's name is the one asked for: the symbol's, or the shown one with or without
 * its parameters. */
static bool is_called(const char *symbol, const char *shown, const char *name)
{
    size_t length = strlen(name);
    return strcmp(symbol, name) == 0 || strcmp(shown, name) == 0 ||
           (strncmp(shown, name, length) == 0 && shown[length] == '(');
}

static int refuse_function(const struct br2_report_maker *maker, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "no branch record is in a function '%s'", maker->input->function);
    br2_hint(err, "the functions that ran are in --section functions, --raw-names shows their "
                  "symbols");
    return BR2PGO_INVALID;
}

static uint64_t count_executed(const struct br2_flow_function *function)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < function->code.count; i++) {
        sum += function->counts[i];
    }
    return sum;
}

int br2_report_prepare(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = maker->graph;
    maker->names = br2_calloc(graph->function_count, sizeof(char *));
    maker->wanted = br2_calloc(graph->function_count, sizeof *maker->wanted);
    maker->executed = br2_calloc(graph->function_count, sizeof *maker->executed);
    if (maker->names == NULL || maker->wanted == NULL || maker->executed == NULL) {
        return br2_fail_memory(err);
    }
    const char *name = maker->input->function;
    bool any = name == NULL;
    for (size_t i = 0; i < graph->function_count; i++) {
        const char *symbol = graph->functions[i].range->name;
        maker->names[i] = shown_name(maker, symbol);
        maker->wanted[i] = name == NULL || is_called(symbol, maker->names[i], name);
        maker->executed[i] = count_executed(&graph->functions[i]);
        maker->all_executed += maker->executed[i];
        any = any || maker->wanted[i];
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        maker->all_taken += graph->edges[i].from != 0 ? graph->edges[i].count : 0;
    }
    return any ? 0 : refuse_function(maker, err);
}

const char *br2_report_name(const struct br2_report_maker *maker, uint32_t function)
{
    return function != BR2_NO_FUNCTION ? maker->names[function] : "[outside]";
}

bool br2_report_wants(const struct br2_report_maker *maker, uint32_t function)
{
    return function != BR2_NO_FUNCTION && maker->wanted[function];
}

/* Wilson, Probable inference, the law of succession, and statistical inference (1927). */
void br2_report_interval(const struct br2_report_maker *maker, uint64_t hits, uint64_t tries,
                         struct br2_report_value ret[2])
{
    const double z = 1.959964; /* 97.5 % of a normal distribution */
    if (tries == 0) {
        return;
    }
    double n = (double)tries * maker->input->evidence;
    double p = (double)hits / (double)tries;
    double middle = p + z * z / (2 * n);
    double width = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double scale = 1 + z * z / n;
    double low = (middle - width) / scale;
    double high = (middle + width) / scale;
    ret[0] = br2_value_number(hits != 0 && low > 0 ? low : 0);
    ret[1] = br2_value_number(hits != tries && high < 1 ? high : 1);
}

static void take_scope(struct br2_report_maker *maker, const struct br2_debug_function *function,
                       const struct br2_location *location, struct br2_report_place *ret)
{
    const struct br2_scope *scope = &function->scopes[location->scope];
    const char *file = br2_debug_location_file(function, location);
    if (file[0] != '\0') {
        ret->file = br2_value_copy(maker, file);
    }
    if (location->scope != 0) {
        const char *name = shown_name(maker, scope->name);
        ret->inlined = br2_value_copy(maker, name);
    }
}

int br2_report_place(struct br2_report_maker *maker, uint64_t address, struct br2_report_place *ret,
                     struct br2pgo_error *err)
{
    *ret = (struct br2_report_place){0};
    if (maker->input->debug == NULL) {
        return 0;
    }
    const struct br2_debug_function *function;
    int rc = br2_debug_function_at(maker->input->debug, address, &function, err);
    if (rc != 0 || function == NULL) {
        return rc;
    }
    const struct br2_location *location = br2_debug_location(function, address);
    if (location == NULL || location->line == 0) {
        return 0;
    }
    ret->line = br2_value_count(location->line);
    ret->discriminator = br2_value_count(location->discriminator);
    if (location->scope < function->scope_count) {
        take_scope(maker, function, location, ret);
    }
    return 0;
}

struct ranked {
    uint64_t executed;
    uint32_t function;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    int order = br2_compare_u64(b->executed, a->executed);
    return order != 0 ? order : br2_compare_u64(a->function, b->function);
}

uint32_t *br2_report_hottest(struct br2_report_maker *maker, size_t usual, size_t *ret_count)
{
    size_t all = maker->graph->function_count;
    struct ranked *ranked = br2_calloc(all + 1, sizeof *ranked);
    uint32_t *numbers = br2_calloc(all + 1, sizeof *numbers);
    size_t count = 0;
    for (uint32_t i = 0; ranked != NULL && i < all; i++) {
        if (maker->wanted[i]) {
            ranked[count++] = (struct ranked){maker->executed[i], i};
        }
    }
    if (ranked == NULL || numbers == NULL) {
        br2_free(ranked);
        br2_free(numbers);
        return NULL;
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    size_t limit = maker->input->top != 0 ? (size_t)maker->input->top : usual;
    bool cut = maker->input->function == NULL && count > limit;
    *ret_count = cut ? limit : count;
    for (size_t i = 0; i < *ret_count; i++) {
        numbers[i] = ranked[i].function;
    }
    br2_free(ranked);
    return numbers;
}
