/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pre-aggregated addresses, for perf2bolt and llvm-bolt with --pa (bolt/docs/profiles.md). One line
 * for each distinct branch or straight run, numbers but counts hexadecimal:
 *   B from to count mispredicted     a branch; 0 is outside the program
 *   F start end count                a run behind a branch within its function
 *   f start end count                a run behind a return, or a branch from elsewhere: BOLT goes
 *                                    back from its start to the call before it
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converters/bolt/bolt.h"

static void write_run(struct br2_buf *out, char kind, const struct br2_block_run *run,
                      uint64_t count)
{
    if (count != 0) {
        br2_buf_printf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", kind, run->start, run->end,
                       count);
    }
}

static int write_flow(const struct br2_block_flow *flow, struct br2_buf *out,
                      struct br2pgo_error *err)
{
    for (size_t i = 0; i < flow->edge_count; i++) {
        const struct br2_block_edge *edge = &flow->edges[i];
        if (!edge->fall_through) { /* BOLT finds those in the runs */
            br2_buf_printf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", edge->from,
                           edge->to, edge->count, edge->mispredicted);
        }
    }
    for (size_t i = 0; i < flow->run_count; i++) {
        const struct br2_block_run *run = &flow->runs[i];
        write_run(out, 'F', run, run->count - run->resumed);
        write_run(out, 'f', run, run->resumed);
    }
    return out->failed ? br2_fail_memory(err) : 0;
}

/* One line taken apart. */
struct line {
    char kind;
    uint64_t from;
    uint64_t to;
    uint64_t count;
    uint64_t mispredicted; /* of branches */
};

struct reader {
    const char *at;
    const char *end;
    size_t number; /* of the line */
};

/* A space, and a number of digits below `base`. */
static bool take_number(struct reader *r, unsigned base, uint64_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    if (r->at == r->end || *r->at != ' ') {
        return false;
    }
    const char *start = ++r->at;
    *ret = 0;
    for (; r->at < r->end && *r->at != ' ' && *r->at != '\n'; r->at++) {
        const char *digit = memchr(digits, *r->at, base);
        if (digit == NULL || __builtin_mul_overflow(*ret, base, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(digit - digits), ret)) {
            return false;
        }
    }
    return r->at > start;
}

static bool take_line(struct reader *r, struct line *ret)
{
    *ret = (struct line){0};
    r->number++;
    ret->kind = r->at < r->end ? *r->at++ : '\0';
    bool ok = (ret->kind == 'B' || ret->kind == 'F' || ret->kind == 'f') &&
              take_number(r, 16, &ret->from) && take_number(r, 16, &ret->to) &&
              take_number(r, 10, &ret->count) &&
              (ret->kind != 'B' || take_number(r, 10, &ret->mispredicted));
    return ok && r->at < r->end && *r->at++ == '\n';
}

static bool is_line(struct reader *r, const struct line *wanted)
{
    struct line line;
    return take_line(r, &line) && line.kind == wanted->kind && line.from == wanted->from &&
           line.to == wanted->to && line.count == wanted->count &&
           line.mispredicted == wanted->mispredicted;
}

static bool has_run(struct reader *r, char kind, const struct br2_block_run *run, uint64_t count)
{
    struct line wanted = {.kind = kind, .from = run->start, .to = run->end, .count = count};
    return count == 0 || is_line(r, &wanted);
}

static bool has_all(struct reader *r, const struct br2_block_flow *flow)
{
    bool ok = true;
    for (size_t i = 0; ok && i < flow->edge_count; i++) {
        const struct br2_block_edge *edge = &flow->edges[i];
        struct line wanted = {'B', edge->from, edge->to, edge->count, edge->mispredicted};
        ok = edge->fall_through || is_line(r, &wanted);
    }
    for (size_t i = 0; ok && i < flow->run_count; i++) {
        const struct br2_block_run *run = &flow->runs[i];
        ok = has_run(r, 'F', run, run->count - run->resumed) && has_run(r, 'f', run, run->resumed);
    }
    return ok;
}

static int check_flow(const uint8_t *bytes, size_t size, const struct br2_block_flow *flow,
                      char *text, size_t text_size, struct br2pgo_error *err)
{
    (void)err;
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    text[0] = '\0';
    if (!has_all(&r, flow) || r.at != r.end) {
        snprintf(text, text_size, "line %zu", r.number);
    }
    return 0;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct line line;
    return take_line(&r, &line);
}

const struct br2_format br2_format_bolt_preagg = {
    .name = "bolt-preagg",
    .suffixes = {".preagg"},
    .description = "pre-aggregated addresses for llvm-bolt -p --pa",
    .product = BR2_PRODUCT_FLOW,
    .probe = probe,
    .write_flow = write_flow,
    .check_flow = check_flow,
};
