/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The edge table: rows, their order, their comparison. */
#include "flow/edge_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"

const char *const br2_edge_kind_names[BR2_EDGE_KINDS] = {
    "cond", "jump", "call", "icall", "ijump", "return", "fallthrough",
};

struct br2_edge *br2_edge_table_add(struct br2_edge_table *table)
{
    if (!br2_grow(&table->edges, &table->capacity, table->count, sizeof *table->edges)) {
        return NULL;
    }
    struct br2_edge *edge = &table->edges[table->count++];
    memset(edge, 0, sizeof *edge);
    return edge;
}

void br2_edge_set_share(struct br2_edge *edge, uint64_t of, uint64_t outcomes)
{
    edge->probability_known = outcomes != 0;
    edge->probability = outcomes != 0 ? (double)of / (double)outcomes : 0;
    edge->outcomes = outcomes;
    edge->outcomes_known = outcomes != 0;
}

void br2_edge_set_conditional(struct br2_edge *edge, uint64_t taken, uint64_t after_run,
                              uint64_t passed)
{
    uint64_t of = after_run != 0 ? after_run : taken;
    br2_edge_set_share(edge, edge->kind == BR2_EDGE_COND ? of : passed,
                       br2_add_saturated(of, passed));
    edge->outcomes = br2_add_saturated(after_run, passed);
    edge->outcomes_known = true;
}

void br2_edge_table_done(struct br2_edge_table *table)
{
    br2_strings_done(&table->names);
    br2_free(table->edges);
    *table = (struct br2_edge_table){0};
}

static int compare_names(const struct br2_strings *a_names, uint32_t a,
                         const struct br2_strings *b_names, uint32_t b)
{
    if (a_names == b_names && a == b) {
        return 0;
    }
    size_t a_length, b_length;
    const char *a_text = br2_strings_get(a_names, a, &a_length);
    const char *b_text = br2_strings_get(b_names, b, &b_length);
    int order = memcmp(a_text, b_text, a_length < b_length ? a_length : b_length);
    if (order) {
        return order;
    }
    return a_length < b_length ? -1 : a_length > b_length;
}

/* The last three only make the order of equal outcomes the same on every run. */
static int compare_edges(const void *a, const void *b, void *user)
{
    const struct br2_strings *names = &((const struct br2_edge_table *)user)->names;
    const struct br2_edge *x = a, *y = b;
    int order = compare_names(names, x->image, names, y->image);
    if (!order) {
        order = br2_compare_u64(x->from, y->from);
    }
    if (!order) {
        order = br2_compare_u64(x->kind, y->kind);
    }
    if (!order) {
        order = br2_compare_u64(x->to, y->to);
    }
    if (!order) {
        order = compare_names(names, x->function, names, y->function);
    }
    if (!order) {
        order = br2_compare_u64(x->count, y->count);
    }
    return order ? order : br2_compare_u64(x->mispredicted, y->mispredicted);
}

void br2_edge_table_sort(struct br2_edge_table *table)
{
    if (table->count > 1) {
        qsort_r(table->edges, table->count, sizeof *table->edges, compare_edges, table);
    }
}

/* The first field that differs, or NULL. */
static const char *differing_field(const struct br2_edge_table *a, const struct br2_edge *x,
                                   const struct br2_edge_table *b, const struct br2_edge *y)
{
    if (compare_names(&a->names, x->image, &b->names, y->image) != 0) {
        return "image";
    }
    if (compare_names(&a->names, x->function, &b->names, y->function) != 0) {
        return "function";
    }
    if (x->from != y->from) {
        return "from";
    }
    if (x->to != y->to) {
        return "to";
    }
    if (x->kind != y->kind) {
        return "kind";
    }
    if (x->count != y->count) {
        return "count";
    }
    if (x->prediction_known != y->prediction_known ||
        (x->prediction_known && x->mispredicted != y->mispredicted)) {
        return "mispredicted";
    }
    if (x->probability_known != y->probability_known ||
        (x->probability_known && !(fabs(x->probability - y->probability) <= 1e-6))) {
        return "probability";
    }
    if (x->outcomes_known != y->outcomes_known ||
        (x->outcomes_known && x->outcomes != y->outcomes)) {
        return "outcomes";
    }
    return NULL;
}

const char *br2_edge_table_difference(const struct br2_edge_table *a,
                                      const struct br2_edge_table *b, char *text, size_t size)
{
    if (a->count != b->count) {
        snprintf(text, size, "one has %zu rows, the other %zu", a->count, b->count);
        return text;
    }
    for (size_t i = 0; i < a->count; i++) {
        const char *field = differing_field(a, &a->edges[i], b, &b->edges[i]);
        if (field) {
            snprintf(text, size, "row %zu differs in '%s'", i + 1, field);
            return text;
        }
    }
    return NULL;
}
