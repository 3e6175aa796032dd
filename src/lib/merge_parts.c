/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/merge_parts.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/number.h"
#include "lib/conversion.h"

int br2_weight_read(const char *text, uint64_t *ret, struct br2pgo_error *err)
{
    const char *at = text;
    if (!br2_decimal_read(&at, BR2_WEIGHT_ONE, ret) || *at != '\0' || *ret == 0 ||
        *ret > BR2_WEIGHT_ONE * BR2_WEIGHT_MAX) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is no weight", text);
        br2_hint(err, "it is a number above 0 and up to %u, with up to 6 decimals, like 3 or 0.25",
                 BR2_WEIGHT_MAX);
        return BR2PGO_INVALID;
    }
    return 0;
}

int br2_merge_factors(const char *const *weights, size_t count, uint64_t *ret,
                      struct br2pgo_error *err)
{
    uint64_t divisor = BR2_WEIGHT_ONE;
    for (size_t i = 0; i < count; i++) {
        ret[i] = BR2_WEIGHT_ONE;
        if (weights != NULL && weights[i] != NULL) {
            int rc = br2_weight_read(weights[i], &ret[i], err);
            if (rc != 0) {
                return rc;
            }
        }
        divisor = br2_greatest_divisor(ret[i], divisor);
    }
    for (size_t i = 0; i < count; i++) {
        ret[i] /= divisor;
    }
    return 0;
}

static int refuse_all_trimmed(double share, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_USELESS, "no function has %g %% of all samples: trimming leaves nothing",
             100 * share);
    br2_hint(err, "trim less");
    return BR2PGO_USELESS;
}

int br2_trim_profile(struct br2_profile *profile, double share, struct br2pgo_error *err)
{
    uint64_t all = 0;
    for (size_t i = 0; i < profile->function_count; i++) {
        all = br2_add_saturated(all, profile->functions[i]->total);
    }
    bool *keep = br2_calloc(profile->function_count + 1, sizeof *keep);
    if (keep == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        keep[i] = (double)profile->functions[i]->total >= share * (double)all;
    }
    br2_profile_keep(profile, keep);
    br2_free(keep);
    return profile->function_count != 0 ? 0 : refuse_all_trimmed(share, err);
}

int br2_trim_fdata(struct br2_fdata *fdata, double share, struct br2pgo_error *err)
{
    uint64_t all = 0;
    uint64_t *sums = br2_calloc(fdata->names.count + 1, sizeof *sums);
    if (sums == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < fdata->count; i++) {
        const struct br2_fdata_record *record = &fdata->records[i];
        /* What data it touches says nothing of how often it runs. */
        uint64_t count = record->class != BR2_FDATA_MEMORY ? record->count : 0;
        sums[record->from.name] = br2_add_saturated(sums[record->from.name], count);
        all = br2_add_saturated(all, count);
    }
    size_t kept = 0;
    for (size_t i = 0; i < fdata->count; i++) {
        if ((double)sums[fdata->records[i].from.name] >= share * (double)all) {
            fdata->records[kept++] = fdata->records[i];
        }
    }
    fdata->count = kept;
    br2_free(sums);
    return kept != 0 ? 0 : refuse_all_trimmed(share, err);
}

static bool has_function(const struct br2_edge_table *table, const struct br2_edge *edge)
{
    size_t length;
    br2_strings_get(&table->names, edge->function, &length);
    return length != 0;
}

/* Moves the rows of one image that stay to `to`, and returns how many. `sums`, by name, are of
 * zeros before and after. */
static size_t keep_edges(const struct br2_edge_table *table, size_t first, size_t end, size_t to,
                         double least, uint64_t *sums)
{
    size_t kept = 0;
    for (size_t i = first; i < end; i++) {
        const struct br2_edge *edge = &table->edges[i];
        sums[edge->function] = br2_add_saturated(sums[edge->function], edge->count);
    }
    for (size_t i = first; i < end; i++) {
        const struct br2_edge *edge = &table->edges[i];
        if (!has_function(table, edge) || (double)sums[edge->function] >= least) {
            table->edges[to + kept++] = *edge;
        }
    }
    for (size_t i = 0; i < table->names.count; i++) {
        sums[i] = 0;
    }
    return kept;
}

int br2_trim_edges(struct br2_edge_table *table, double share, struct br2pgo_error *err)
{
    uint64_t all = 0;
    uint64_t *sums = br2_calloc(table->names.count + 1, sizeof *sums);
    if (sums == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < table->count; i++) {
        all = br2_add_saturated(all, table->edges[i].count);
    }
    size_t kept = 0;
    for (size_t i = 0, end; i < table->count; i = end) {
        end = i + 1;
        while (end < table->count && table->edges[end].image == table->edges[i].image) {
            end++;
        }
        kept += keep_edges(table, i, end, kept, share * (double)all, sums);
    }
    table->count = kept;
    br2_free(sums);
    return kept != 0 ? 0 : refuse_all_trimmed(share, err);
}
