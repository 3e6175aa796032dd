/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fdata: building, merging, writing, and the format's table of operations. */
#include "converters/bolt/fdata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"
#include "converters/bolt/bolt.h"
#include "profile/profile.h"

void br2_fdata_done(struct br2_fdata *fdata)
{
    br2_strings_done(&fdata->names);
    br2_buf_done(&fdata->events);
    br2_free(fdata->records);
    *fdata = (struct br2_fdata){0};
}

bool br2_fdata_add(struct br2_fdata *fdata, const struct br2_fdata_record *record)
{
    if (!br2_grow(&fdata->records, &fdata->capacity, fdata->count, sizeof *fdata->records)) {
        return false;
    }
    fdata->records[fdata->count++] = *record;
    return true;
}

static const char *name_of(const struct br2_fdata *fdata, uint32_t number)
{
    size_t length;
    return br2_strings_get(&fdata->names, number, &length);
}

/* A record beside the names that its numbers stand for: qsort has no argument for them. */
struct sorted {
    struct br2_fdata_record record;
    const char *from;
    const char *to;
};

static int compare_places(const struct br2_fdata_place *a, const char *a_name,
                          const struct br2_fdata_place *b, const char *b_name)
{
    int order = br2_compare_u64(a->symbol, b->symbol);
    order = order != 0 ? order : strcmp(a_name, b_name);
    return order != 0 ? order : br2_compare_u64(a->offset, b->offset);
}

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left;
    const struct sorted *b = right;
    int order = br2_compare_u64(a->record.class, b->record.class);
    order = order != 0 ? order : compare_places(&a->record.from, a->from, &b->record.from, b->from);
    return order != 0 ? order : compare_places(&a->record.to, a->to, &b->record.to, b->to);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int br2_fdata_sort(struct br2_fdata *fdata, struct br2pgo_error *err)
{
    struct sorted *items = br2_calloc(fdata->count, sizeof *items);
    if (items == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < fdata->count; i++) {
        const struct br2_fdata_record *record = &fdata->records[i];
        items[i] = (struct sorted){
            .record = *record,
            .from = name_of(fdata, record->from.name),
            .to = record->class != BR2_FDATA_SAMPLE ? name_of(fdata, record->to.name) : "",
        };
    }
    if (fdata->count != 0) {
        qsort(items, fdata->count, sizeof *items, compare);
    }
    size_t kept = 0;
    for (size_t i = 0; i < fdata->count; i++) {
        struct br2_fdata_record *last = kept != 0 ? &fdata->records[kept - 1] : NULL;
        if (last != NULL && compare(&items[i - 1], &items[i]) == 0) {
            last->count = add_saturated(last->count, items[i].record.count);
            last->mispredicted = add_saturated(last->mispredicted, items[i].record.mispredicted);
        } else {
            fdata->records[kept++] = items[i].record;
        }
    }
    fdata->count = kept;
    br2_free(items);
    return 0;
}

/* The number in `to` of the name that has `number` in `from`. */
static bool move_name(struct br2_fdata *to, const struct br2_fdata *from, uint32_t *number)
{
    size_t length;
    const char *name = br2_strings_get(&from->names, *number, &length);
    *number = br2_strings_add(&to->names, name, length);
    return *number != BR2_NO_STRING;
}

static int add_all(struct br2_fdata *fdata, const struct br2_fdata *other, struct br2pgo_error *err)
{
    for (size_t i = 0; i < other->count; i++) {
        struct br2_fdata_record record = other->records[i];
        bool ok = move_name(fdata, other, &record.from.name);
        if (record.class != BR2_FDATA_SAMPLE) {
            ok = ok && move_name(fdata, other, &record.to.name);
        }
        if (!ok || !br2_fdata_add(fdata, &record)) {
            return br2_fail_memory(err);
        }
    }
    return br2_fdata_sort(fdata, err);
}

int br2_fdata_merge(struct br2_fdata *fdata, const struct br2_fdata *other,
                    struct br2pgo_error *err)
{
    bool empty = fdata->count == 0 && !fdata->no_lbr && !fdata->bolted;
    if (empty) {
        fdata->no_lbr = other->no_lbr;
        fdata->bolted = other->bolted;
        br2_buf_put(&fdata->events, other->events.bytes, other->events.size);
    }
    if (fdata->events.failed) {
        return br2_fail_memory(err);
    }
    if (fdata->no_lbr != other->no_lbr) {
        br2_fail(err, BR2PGO_INVALID, "one profile has branches, the other samples (no_lbr)");
        br2_hint(err, "merge profiles of one kind");
        return BR2PGO_INVALID;
    }
    if (fdata->bolted != other->bolted) {
        br2_fail(err, BR2PGO_INVALID,
                 "one profile was collected in a binary rewritten by BOLT (boltedcollection), the "
                 "other not");
        br2_hint(err, "merge profiles of one kind");
        return BR2PGO_INVALID;
    }
    if (fdata->events.size != other->events.size ||
        (other->events.size != 0 &&
         memcmp(fdata->events.bytes, other->events.bytes, other->events.size) != 0)) {
        br2_fail(err, BR2PGO_INVALID, "the profiles have samples of different events");
        br2_hint(err, "merge profiles of one event: the header line no_lbr names it");
        return BR2PGO_INVALID;
    }
    return add_all(fdata, other, err);
}

void br2_fdata_multiply(struct br2_fdata *fdata, uint64_t factor)
{
    for (size_t i = 0; i < fdata->count; i++) {
        struct br2_fdata_record *record = &fdata->records[i];
        record->count = br2_multiply_saturated(record->count, factor);
        record->mispredicted = br2_multiply_saturated(record->mispredicted, factor);
    }
}

/* The name that BOLT gives a function. */
static int name_function(struct br2_fdata *fdata, const struct br2_block_flow *flow,
                         const struct br2_block_function *function, uint32_t *ret,
                         struct br2pgo_error *err)
{
    size_t length;
    const char *name = br2_strings_get(&flow->names, function->name, &length);
    struct br2_buf text = {0};
    if (length == 0) {
        br2_buf_printf(&text, "__BOLT_FDE_FUNCat%" PRIx64, function->start);
    } else {
        br2_buf_str(&text, function->section ? "__BOLT_PSEUDO_" : "");
        br2_buf_str(&text, strncmp(name, ".L", 2) == 0 ? "PG" : "");
        br2_buf_put(&text, name, length);
    }
    if (function->local != 0) {
        const char *file = br2_strings_get(&flow->names, function->file, NULL);
        br2_buf_printf(&text, "%s%s/%" PRIu32, file[0] != '\0' ? "/" : "", file, function->local);
    }
    br2_buf_str(&text, function->plt ? "@PLT" : "");
    *ret = text.failed ? BR2_NO_STRING
                       : br2_strings_add(&fdata->names, (const char *)text.bytes, text.size);
    br2_buf_done(&text);
    return *ret != BR2_NO_STRING ? 0 : br2_fail_memory(err);
}

static int name_functions(struct br2_fdata *fdata, const struct br2_block_flow *flow,
                          uint32_t *names, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < flow->function_count; i++) {
        rc = name_function(fdata, flow, &flow->functions[i], &names[i], err);
    }
    return rc;
}

static int add_edges(struct br2_fdata *fdata, const struct br2_block_flow *flow,
                     const uint32_t *names, struct br2pgo_error *err)
{
    uint32_t unknown = br2_strings_add(&fdata->names, BR2_FDATA_UNKNOWN, strlen(BR2_FDATA_UNKNOWN));
    if (unknown == BR2_NO_STRING) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < flow->edge_count; i++) {
        const struct br2_block_edge *edge = &flow->edges[i];
        struct br2_fdata_record record = {
            .class = BR2_FDATA_BRANCH,
            .from = {.name = unknown},
            .to = {.name = unknown},
            .count = edge->count,
            .mispredicted = edge->mispredicted,
        };
        if (edge->from_function != BR2_OUTSIDE) {
            uint64_t start = flow->functions[edge->from_function].start;
            record.from =
                (struct br2_fdata_place){true, names[edge->from_function], edge->from - start};
        }
        if (edge->to_function != BR2_OUTSIDE) {
            uint64_t start = flow->functions[edge->to_function].start;
            record.to = (struct br2_fdata_place){true, names[edge->to_function], edge->to - start};
        }
        if (!br2_fdata_add(fdata, &record)) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

int br2_fdata_build(struct br2_fdata *ret, const struct br2_block_flow *flow,
                    struct br2pgo_error *err)
{
    uint32_t *names = br2_calloc(flow->function_count, sizeof *names);
    ret->bolted = flow->bolted;
    int rc = names != NULL ? name_functions(ret, flow, names, err) : br2_fail_memory(err);
    rc = rc != 0 ? rc : add_edges(ret, flow, names, err);
    rc = rc != 0 ? rc : br2_fdata_sort(ret, err);
    br2_free(names);
    return rc;
}

static void write_place(const struct br2_fdata *fdata, const struct br2_fdata_place *place,
                        bool memory, struct br2_buf *out)
{
    int kind = (place->symbol ? 1 : 0) + (memory ? 3 : 0);
    br2_buf_printf(out, "%d ", kind);
    for (const char *c = name_of(fdata, place->name); *c != '\0'; c++) {
        if (*c == ' ' || *c == '\\') {
            br2_buf_u8(out, '\\');
        }
        br2_buf_u8(out, (uint8_t)*c);
    }
    br2_buf_printf(out, " %" PRIx64 " ", place->offset);
}

void br2_fdata_write(const struct br2_fdata *fdata, struct br2_buf *out)
{
    if (fdata->no_lbr) {
        br2_buf_str(out, "no_lbr");
        br2_buf_put(out, fdata->events.bytes, fdata->events.size);
        br2_buf_u8(out, '\n');
    }
    if (fdata->bolted) {
        br2_buf_str(out, "boltedcollection\n");
    }
    for (size_t i = 0; i < fdata->count; i++) {
        const struct br2_fdata_record *record = &fdata->records[i];
        bool memory = record->class == BR2_FDATA_MEMORY;
        write_place(fdata, &record->from, memory, out);
        if (record->class != BR2_FDATA_SAMPLE) {
            write_place(fdata, &record->to, memory, out);
        }
        if (record->class == BR2_FDATA_BRANCH) {
            br2_buf_printf(out, "%" PRIu64 " ", record->mispredicted);
        }
        br2_buf_printf(out, "%" PRIu64 "\n", record->count);
    }
}

static bool same_place(const struct br2_fdata *a, const struct br2_fdata_place *x,
                       const struct br2_fdata *b, const struct br2_fdata_place *y)
{
    return x->symbol == y->symbol && x->offset == y->offset &&
           strcmp(name_of(a, x->name), name_of(b, y->name)) == 0;
}

static bool same_record(const struct br2_fdata *a, const struct br2_fdata_record *x,
                        const struct br2_fdata *b, const struct br2_fdata_record *y)
{
    return x->class == y->class && x->count == y->count && x->mispredicted == y->mispredicted &&
           same_place(a, &x->from, b, &y->from) &&
           (x->class == BR2_FDATA_SAMPLE || same_place(a, &x->to, b, &y->to));
}

static bool same_header(const struct br2_fdata *a, const struct br2_fdata *b)
{
    return a->no_lbr == b->no_lbr && a->bolted == b->bolted && a->events.size == b->events.size &&
           (a->events.size == 0 || memcmp(a->events.bytes, b->events.bytes, a->events.size) == 0);
}

bool br2_fdata_difference(const struct br2_fdata *a, const struct br2_fdata *b, char *text,
                          size_t size)
{
    if (!same_header(a, b)) {
        snprintf(text, size, "the header");
        return true;
    }
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (!same_record(a, &a->records[i], b, &b->records[i])) {
            snprintf(text, size, "record %zu", i + 1);
            return true;
        }
    }
    if (a->count != b->count) {
        snprintf(text, size, "%zu and %zu records", a->count, b->count);
    }
    return a->count != b->count;
}

static int write_flow(const struct br2_block_flow *flow, const struct br2_write_options *options,
                      struct br2_buf *out, struct br2pgo_error *err)
{
    (void)options;
    struct br2_fdata fdata = {0};
    int rc = br2_fdata_build(&fdata, flow, err);
    if (rc == 0) {
        br2_fdata_write(&fdata, out);
        rc = out->failed ? br2_fail_memory(err) : 0;
    }
    br2_fdata_done(&fdata);
    return rc;
}

static int check_flow(const uint8_t *bytes, size_t size, const struct br2_block_flow *flow,
                      char *text, size_t text_size, struct br2pgo_error *err)
{
    struct br2_fdata wanted = {0};
    struct br2_fdata read = {0};
    text[0] = '\0';
    int rc = br2_fdata_build(&wanted, flow, err);
    rc = rc != 0 ? rc : br2_fdata_read(&read, bytes, size, err);
    if (rc == 0) {
        br2_fdata_difference(&wanted, &read, text, text_size);
    }
    br2_fdata_done(&wanted);
    br2_fdata_done(&read);
    return rc;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size != 0 ? memchr(bytes, '\n', size) : NULL;
    struct br2_fdata fdata = {0};
    bool is = end != NULL && br2_fdata_read(&fdata, bytes, (size_t)(end - bytes) + 1, NULL) == 0;
    br2_fdata_done(&fdata);
    return is;
}

const struct br2_format br2_format_fdata = {
    .name = "fdata",
    .suffixes = {".fdata"},
    .description = "branch profile for llvm-bolt -data",
    .product = BR2_PRODUCT_FLOW,
    .probe = probe,
    .write_flow = write_flow,
    .check_flow = check_flow,
};
