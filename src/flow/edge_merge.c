/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/edge_merge.h"

#include <inttypes.h>

#include "base/number.h"

/* The end of the rows of one branch, or of all that comes from outside an image. */
static size_t branch_end(const struct br2_edge_table *table, size_t first)
{
    const struct br2_edge *edges = table->edges;
    size_t end = first + 1;
    while (end < table->count && edges[end].image == edges[first].image &&
           edges[end].from == edges[first].from) {
        end++;
    }
    return end;
}

/* Outcomes of a branch whose table has no such column: the passed ones were counted one by one, and
 * their share is known to six digits. */
static uint64_t derive_outcomes(const struct br2_edge *edges, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        const struct br2_edge *edge = &edges[i];
        if (edge->kind == BR2_EDGE_FALLTHROUGH && edge->probability_known && edge->count != 0 &&
            edge->probability > 0) {
            double outcomes = (double)edge->count / edge->probability + 0.5;
            return outcomes < 0x1p63 ? (uint64_t)outcomes : UINT64_MAX;
        }
        all = br2_add_saturated(all, edge->count);
    }
    return all;
}

static uint64_t outcomes_of(const struct br2_edge *edges, size_t count)
{
    bool known = false;
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        known |= edges[i].outcomes_known;
        most = edges[i].outcomes > most ? edges[i].outcomes : most;
    }
    return known ? most : derive_outcomes(edges, count);
}

static bool copy_name(struct br2_edge_table *to, const struct br2_edge_table *from, uint32_t name,
                      uint32_t *ret)
{
    size_t length;
    const char *text = br2_strings_get(&from->names, name, &length);
    *ret = br2_strings_add(&to->names, text, length);
    return *ret != BR2_NO_STRING;
}

/* Appends the rows of a branch. */
static bool append_branch(struct br2_edge_table *sum, const struct br2_edge_table *other,
                          const struct br2_edge *edges, size_t count, uint64_t factor)
{
    uint64_t outcomes = br2_multiply_saturated(outcomes_of(edges, count), factor);
    for (size_t i = 0; i < count; i++) {
        struct br2_edge *edge = br2_edge_table_add(sum);
        if (edge == NULL) {
            return false;
        }
        *edge = edges[i];
        edge->count = br2_multiply_saturated(edges[i].count, factor);
        edge->mispredicted = br2_multiply_saturated(edges[i].mispredicted, factor);
        edge->outcomes = edges[i].from != 0 ? outcomes : 0;
        edge->outcomes_known = edges[i].from != 0;
        if (!copy_name(sum, other, edges[i].image, &edge->image) ||
            !copy_name(sum, other, edges[i].function, &edge->function)) {
            return false;
        }
    }
    return true;
}

static bool is_direct(enum br2_edge_kind kind)
{
    return kind == BR2_EDGE_COND || kind == BR2_EDGE_JUMP || kind == BR2_EDGE_CALL;
}

/* Whether both can be outcomes of one instruction; the first is of the lower kind. */
static bool belong_together(const struct br2_edge *a, const struct br2_edge *b)
{
    if (a->kind == b->kind) {
        return !is_direct(a->kind) || a->to == b->to;
    }
    return b->kind == BR2_EDGE_FALLTHROUGH &&
           (a->kind == BR2_EDGE_COND || a->kind == BR2_EDGE_INDIRECT_JUMP);
}

static int refuse_other_build(const struct br2_edge_table *table, const struct br2_edge *edge,
                              struct br2pgo_error *err)
{
    size_t length;
    br2_fail(err, BR2PGO_INVALID,
             "it is of another build of '%s' than what came before: at 0x%" PRIx64
             " is another branch",
             br2_strings_get(&table->names, edge->image, &length), edge->from);
    br2_hint(err,
             "merge tables of one build; profiles by source lines can be merged across builds");
    return BR2PGO_INVALID;
}

/* Whether both may be rows of one table; the first is the one before. */
static bool agree(const struct br2_edge_table *table, const struct br2_edge *a,
                  const struct br2_edge *b)
{
    if (a->image != b->image || a->from != b->from) {
        return true;
    }
    if (a->from != 0 && !belong_together(a, b)) {
        return false;
    }
    size_t known, length;
    br2_strings_get(&table->names, a->function, &known);
    br2_strings_get(&table->names, b->function, &length);
    bool same_outcome = a->kind == b->kind && a->to == b->to;
    return !same_outcome || known == 0 || length == 0 || a->function == b->function;
}

/* A table, sorted, that would not even go with itself. */
static int check_table(const struct br2_edge_table *table, struct br2pgo_error *err)
{
    for (size_t i = 1; i < table->count; i++) {
        const struct br2_edge *edge = &table->edges[i];
        if (!agree(table, &table->edges[i - 1], edge)) {
            size_t length;
            br2_fail(err, BR2PGO_CORRUPT, "it has two branches at 0x%" PRIx64 " of '%s'",
                     edge->from, br2_strings_get(&table->names, edge->image, &length));
            br2_hint(err, "make it again from the recording: it was changed");
            return BR2PGO_CORRUPT;
        }
    }
    return 0;
}

/* Makes one row of two of the same outcome. A function's name may be unknown to one table. */
static void combine(const struct br2_edge_table *table, struct br2_edge *to,
                    const struct br2_edge *edge)
{
    size_t known;
    br2_strings_get(&table->names, to->function, &known);
    to->function = known != 0 ? to->function : edge->function;
    to->count = br2_add_saturated(to->count, edge->count);
    to->mispredicted = br2_add_saturated(to->mispredicted, edge->mispredicted);
    to->outcomes = br2_add_saturated(to->outcomes, edge->outcomes);
    to->prediction_known = to->prediction_known && edge->prediction_known;
}

/* Of sorted rows those of the same outcome become one. */
static int combine_all(struct br2_edge_table *table, struct br2pgo_error *err)
{
    struct br2_edge *edges = table->edges;
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct br2_edge *last = kept != 0 ? &edges[kept - 1] : NULL;
        if (last != NULL && !agree(table, last, &edges[i])) {
            return refuse_other_build(table, &edges[i], err);
        }
        if (last == NULL || last->image != edges[i].image || last->from != edges[i].from ||
            last->kind != edges[i].kind || last->to != edges[i].to) {
            edges[kept++] = edges[i];
        } else {
            combine(table, last, &edges[i]);
        }
    }
    table->count = kept;
    return 0;
}

/* Probabilities of a branch's rows. Of a conditional one, what is left of all outcomes that a run
 * leads to are those taken; of any other all count. */
static void share_out(struct br2_edge *edges, size_t count)
{
    uint64_t all = 0;
    uint64_t passed = 0;
    for (size_t i = 0; i < count; i++) {
        all = br2_add_saturated(all, edges[i].count);
        passed = edges[i].kind == BR2_EDGE_FALLTHROUGH ? edges[i].count : passed;
    }
    bool conditional = edges[0].kind == BR2_EDGE_COND;
    uint64_t outcomes = conditional ? outcomes_of(edges, count) : all;
    uint64_t after_run = outcomes > passed ? outcomes - passed : 0;
    for (size_t i = 0; i < count; i++) {
        if (conditional) {
            br2_edge_set_conditional(&edges[i], edges[0].count, after_run, passed);
        } else {
            br2_edge_set_share(&edges[i], edges[i].count, outcomes);
        }
    }
}

int br2_edge_table_merge(struct br2_edge_table *sum, struct br2_edge_table *other, uint64_t factor,
                         struct br2pgo_error *err)
{
    br2_edge_table_sort(other);
    int rc = check_table(other, err);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0, end; i < other->count; i = end) {
        end = branch_end(other, i);
        if (!append_branch(sum, other, &other->edges[i], end - i, factor)) {
            return br2_fail_memory(err);
        }
    }
    br2_edge_table_sort(sum);
    rc = combine_all(sum, err);
    for (size_t i = 0, end; rc == 0 && i < sum->count; i = end) {
        end = branch_end(sum, i);
        if (sum->edges[i].from != 0) {
            share_out(&sum->edges[i], end - i);
        }
    }
    return rc;
}
