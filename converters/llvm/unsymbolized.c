/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * llvm-profgen's profile before it is symbolised (--skip-symbolization writes it,
 * --unsymbolized-profile reads it): the number of ranges, then "start-end:count" for each, the
 * number of branches, then "from->to:count" for each. Addresses are hexadecimal distances from the
 * page where the first executable segment starts (llvm-profgen's --use-offset, its default). For
 * what is outside of the image it has the address 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converters/llvm/llvm.h"

#define OUTSIDE 1

static uint64_t distance(const struct br2_range_table *table, uint64_t address)
{
    return (address != 0 ? address : OUTSIDE) - table->base; /* wraps, and back when it is read */
}

static void write_list(struct br2_buf *out, const struct br2_range_table *table,
                       const struct br2_range *items, size_t count)
{
    const char *between = items == table->branches ? "->" : "-";
    br2_buf_printf(out, "%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        br2_buf_printf(out, "%" PRIX64 "%s%" PRIX64 ":%" PRIu64 "\n",
                       distance(table, items[i].first), between, distance(table, items[i].second),
                       items[i].count);
    }
}

static int write_ranges(const struct br2_range_table *table, struct br2_buf *out,
                        struct br2pgo_error *err)
{
    write_list(out, table, table->runs, table->run_count);
    write_list(out, table, table->branches, table->branch_count);
    return out->failed ? br2_fail_memory(err) : 0;
}

struct reader {
    const char *at;
    const char *end;
    size_t line;
};

static bool take(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static bool take_number(struct reader *r, unsigned base, uint64_t *ret)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *start = r->at;
    *ret = 0;
    for (; r->at < r->end; r->at++) {
        const char *digit = memchr(digits, *r->at, base);
        if (digit == NULL) {
            break;
        }
        if (__builtin_mul_overflow(*ret, base, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(digit - digits), ret)) {
            return false;
        }
    }
    return r->at > start;
}

static bool take_line(struct reader *r, const char *between, struct br2_range *ret)
{
    r->line++;
    return take_number(r, 16, &ret->first) && take(r, between) &&
           take_number(r, 16, &ret->second) && take(r, ":") && take_number(r, 10, &ret->count) &&
           take(r, "\n");
}

static bool has_list(struct reader *r, const struct br2_range_table *table,
                     const struct br2_range *items, size_t count)
{
    const char *between = items == table->branches ? "->" : "-";
    uint64_t number;
    r->line++;
    bool ok = take_number(r, 10, &number) && number == count && take(r, "\n");
    for (size_t i = 0; ok && i < count; i++) {
        struct br2_range line;
        ok = take_line(r, between, &line) && line.first == distance(table, items[i].first) &&
             line.second == distance(table, items[i].second) && line.count == items[i].count;
    }
    return ok;
}

static int check_ranges(const uint8_t *bytes, size_t size, const struct br2_range_table *table,
                        char *text, size_t text_size)
{
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    bool same = has_list(&r, table, table->runs, table->run_count) &&
                has_list(&r, table, table->branches, table->branch_count) && r.at == r.end;
    text[0] = '\0';
    if (!same) {
        snprintf(text, text_size, "line %zu", r.line);
    }
    return 0;
}

/* A number of ranges, and the first of them; or none, and a number of branches. */
static bool probe(const uint8_t *bytes, size_t size)
{
    struct reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct br2_range line;
    uint64_t number;
    return take_number(&r, 10, &number) && take(&r, "\n") &&
           (number != 0 ? take_line(&r, "-", &line)
                        : take_number(&r, 10, &number) && take(&r, "\n"));
}

const struct br2_format br2_format_unsymbolized = {
    .name = "unsymbolized",
    .suffixes = {".unsymbolized"},
    .description = "counts of ranges and branches for llvm-profgen --unsymbolized-profile",
    .product = BR2_PRODUCT_RANGES,
    .probe = probe,
    .write_ranges = write_ranges,
    .check_ranges = check_ranges,
};
