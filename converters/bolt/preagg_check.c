/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading pre-aggregated addresses back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/mem.h"
#include "base/number.h"
#include "converters/bolt/preagg.h"

/* One line taken apart. */
struct line {
    char kind;
    uint64_t from; /* start of a run */
    uint64_t to;   /* its end */
    uint64_t end;  /* of traces: of the run */
    uint64_t count;
    uint64_t mispredicted; /* of branches */
};

struct lines {
    struct line *items; /* owned */
    size_t count;
    size_t capacity;
    bool traces; /* some came from traces; then returns are among them, as lines R */
};

struct reader {
    const char *at;
    const char *end;
};

/* A space and a number. */
static bool take_number(struct reader *r, unsigned base, uint64_t *ret)
{
    if (r->at == r->end || *r->at != ' ') {
        return false;
    }
    const char *start = ++r->at;
    while (r->at < r->end && *r->at != ' ' && *r->at != '\n') {
        r->at++;
    }
    *ret = 0;
    return br2_parse_number(start, (size_t)(r->at - start), base, ret);
}

static bool take_line(struct reader *r, struct line *ret)
{
    *ret = (struct line){0};
    ret->kind = r->at < r->end ? *r->at++ : '\0';
    bool trace = ret->kind == 'T' || ret->kind == 'R';
    bool branch = ret->kind == 'B';
    bool ok = (trace || branch || ret->kind == 'F' || ret->kind == 'f') &&
              take_number(r, 16, &ret->from) && take_number(r, 16, &ret->to) &&
              (!trace || take_number(r, 16, &ret->end)) && take_number(r, 10, &ret->count) &&
              (!branch || take_number(r, 10, &ret->mispredicted));
    return ok && r->at < r->end && *r->at++ == '\n';
}

bool br2_preagg_probe(const uint8_t *bytes, size_t size)
{
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct line line;
    return take_line(&r, &line);
}

static int compare(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    int order = br2_compare_u64((uint64_t)a->kind, (uint64_t)b->kind);
    order = order != 0 ? order : br2_compare_u64(a->from, b->from);
    return order != 0 ? order : br2_compare_u64(a->to, b->to);
}

/* Sorts, and makes one of lines that differ in counts alone. */
static void merge(struct lines *lines)
{
    if (lines->count != 0) {
        qsort(lines->items, lines->count, sizeof *lines->items, compare);
    }
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++) {
        struct line *line = &lines->items[i];
        if (kept != 0 && compare(&lines->items[kept - 1], line) == 0) {
            lines->items[kept - 1].count += line->count;
            lines->items[kept - 1].mispredicted += line->mispredicted;
        } else {
            lines->items[kept++] = *line;
        }
    }
    lines->count = kept;
}

static bool add(struct lines *lines, char kind, uint64_t from, uint64_t to, uint64_t count)
{
    if (!br2_grow(&lines->items, &lines->capacity, lines->count, sizeof *lines->items)) {
        return false;
    }
    lines->items[lines->count++] =
        (struct line){.kind = kind, .from = from, .to = to, .count = count};
    return true;
}

/* The last function that starts at or before `address`: its own, of an address that is in one. */
static size_t function_of(const struct br2_block_flow *flow, uint64_t address)
{
    size_t low = 0;
    size_t high = flow->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flow->functions[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool add_trace(struct lines *lines, const struct br2_block_flow *flow,
                      const struct line *line)
{
    bool inside = line->kind == 'T' && line->from != 0 &&
                  function_of(flow, line->from) == function_of(flow, line->to);
    lines->traces = true;
    return add(lines, line->kind == 'T' ? 'B' : 'R', line->from, line->to, line->count) &&
           add(lines, inside ? 'F' : 'f', line->to, line->end, line->count);
}

static bool add_line(struct lines *lines, const struct br2_block_flow *flow,
                     const struct line *line)
{
    if (line->kind == 'T' || line->kind == 'R') {
        return add_trace(lines, flow, line);
    }
    bool ok = add(lines, line->kind, line->from, line->to, line->count);
    if (ok) {
        lines->items[lines->count - 1].mispredicted = line->mispredicted;
    }
    return ok;
}

/* Returns the number of the first line that is none; 0: all are. */
static size_t read_lines(struct lines *lines, const struct br2_block_flow *flow, struct reader *r,
                         bool *ret_memory)
{
    size_t number = 0;
    while (*ret_memory && r->at < r->end) {
        struct line line;
        number++;
        if (!take_line(r, &line)) {
            return number;
        }
        *ret_memory = add_line(lines, flow, &line);
    }
    return 0;
}

/* The lines that the flow comes to, with returns or without. */
static bool make_lines(struct lines *lines, const struct br2_block_flow *flow, bool traces)
{
    bool ok = true;
    for (size_t i = 0; ok && i < flow->edge_count; i++) {
        const struct br2_block_edge *edge = &flow->edges[i];
        struct line line = {'B', edge->from, edge->to, 0, edge->count, edge->mispredicted};
        ok = edge->fall_through || add_line(lines, flow, &line);
    }
    for (size_t i = 0; ok && i < flow->run_count; i++) {
        const struct br2_block_run *run = &flow->runs[i];
        uint64_t others = run->count - run->resumed;
        ok = (others == 0 || add(lines, 'F', run->start, run->end, others)) &&
             (run->resumed == 0 || add(lines, 'f', run->start, run->end, run->resumed));
    }
    for (size_t i = 0; ok && traces && i < flow->trace_count; i++) {
        const struct br2_block_trace *trace = &flow->traces[i];
        ok = !trace->returns || add(lines, 'R', trace->from, trace->to, trace->count);
    }
    return ok;
}

/* Writes where the two differ first. */
static void find_difference(const struct lines *read, const struct lines *wanted, char *text,
                            size_t size)
{
    size_t i = 0;
    while (i < read->count && i < wanted->count) {
        const struct line *a = &read->items[i];
        const struct line *b = &wanted->items[i];
        if (compare(a, b) != 0 || a->count != b->count || a->mispredicted != b->mispredicted) {
            break;
        }
        i++;
    }
    const struct line *extra = i < read->count ? &read->items[i] : NULL;
    const struct line *missing = i < wanted->count ? &wanted->items[i] : NULL;
    const struct line *first = extra;
    if (extra == NULL || (missing != NULL && compare(missing, extra) < 0)) {
        first = missing;
    }
    if (first != NULL) {
        snprintf(text, size, "line %c %" PRIx64 " %" PRIx64, first->kind, first->from, first->to);
    }
}

int br2_preagg_check(const uint8_t *bytes, size_t size, const struct br2_block_flow *flow,
                     char *text, size_t text_size, struct br2pgo_error *err)
{
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct lines read = {0};
    struct lines wanted = {0};
    text[0] = '\0';
    bool memory = true;
    size_t bad = read_lines(&read, flow, &r, &memory);
    memory = memory && make_lines(&wanted, flow, read.traces);
    if (memory && bad != 0) {
        snprintf(text, text_size, "line %zu", bad);
    } else if (memory) {
        merge(&read);
        merge(&wanted);
        find_difference(&read, &wanted, text, text_size);
    }
    br2_free(read.items);
    br2_free(wanted.items);
    return memory ? 0 : br2_fail_memory(err);
}
