/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How much of the program was seen, and how much room the hot part takes. */
#include <stdlib.h>

#include "base/compare.h"
#include "report/report_private.h"

#define CACHE_BYTES     (32 * 1024) /* a usual first-level instruction cache */
#define CACHE_LINE      64
#define PAGE_BYTES      4096
#define HUGE_PAGE_BYTES (2 * 1024 * 1024)
#define HOT_SHARE       0.99 /* of the instructions executed */

enum {
    WHAT,
    SEEN,
    ALL,
    SHARE,
    UNIT,
    COLUMNS
};

static const struct br2_report_column columns[COLUMNS] = {
    [WHAT] = {"what", NULL, BR2_VALUE_TEXT, false},
    [SEEN] = {"seen", NULL, BR2_VALUE_COUNT, false},
    [ALL] = {"of", NULL, BR2_VALUE_COUNT, false},
    [SHARE] = {"share", NULL, BR2_VALUE_SHARE, false},
    [UNIT] = {"unit", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape shape = {
    .name = "coverage",
    .section = "coverage",
    .title = "How much of the code was seen to run",
    .note = "What was not seen may have run: this is a sample. Hot is the smallest part that has "
            "99 % of the instructions executed.",
    .columns = columns,
    .column_count = COLUMNS,
};

static void add(struct br2_report_maker *maker, struct br2_report_table *table, const char *what,
                uint64_t seen, uint64_t all, const char *unit)
{
    struct br2_report_value *row = br2_report_row(maker, table, 0);
    row[WHAT] = br2_value_text(what);
    row[SEEN] = br2_value_count(seen);
    if (all != 0) {
        row[ALL] = br2_value_count(all);
        row[SHARE] = br2_value_share(seen, all);
    }
    row[UNIT] = br2_value_text(unit);
}

/* An instruction that ran. */
struct ran {
    uint64_t address;
    uint64_t count;
    uint64_t size;
};

static int compare_counts(const void *left, const void *right)
{
    const struct ran *a = left;
    const struct ran *b = right;
    int order = br2_compare_u64(b->count, a->count);
    return order != 0 ? order : br2_compare_u64(a->address, b->address);
}

static int compare_addresses(const void *left, const void *right)
{
    const struct ran *a = left;
    const struct ran *b = right;
    return br2_compare_u64(a->address, b->address);
}

struct sums {
    uint64_t functions;
    uint64_t function_bytes; /* of functions that ran */
    uint64_t ran_bytes;
    struct ran *ran; /* owned */
    size_t ran_count;
};

static bool sum_up(const struct br2_report_maker *maker, struct sums *sums)
{
    size_t insns = 0;
    for (size_t i = 0; i < maker->graph->function_count; i++) {
        insns += maker->wanted[i] ? maker->graph->functions[i].code.count : 0;
    }
    sums->ran = br2_calloc(insns + 1, sizeof *sums->ran);
    for (size_t i = 0; sums->ran != NULL && i < maker->graph->function_count; i++) {
        const struct br2_flow_function *function = &maker->graph->functions[i];
        if (!maker->wanted[i] || maker->executed[i] == 0) {
            continue;
        }
        sums->functions += !function->range->plt;
        sums->function_bytes += function->range->end - function->range->start;
        for (size_t k = 0; k < function->code.count; k++) {
            const struct br2_insn *insn = &function->code.insns[k];
            if (function->counts[k] != 0) {
                sums->ran_bytes += insn->size;
                sums->ran[sums->ran_count++] =
                    (struct ran){insn->address, function->counts[k], insn->size};
            }
        }
    }
    return sums->ran != NULL;
}

/* Leaves the instructions that run most, with a share of all; sorted by address. */
static void keep_hot(struct sums *sums)
{
    uint64_t all = 0;
    uint64_t some = 0;
    size_t hot = 0;
    for (size_t i = 0; i < sums->ran_count; i++) {
        all += sums->ran[i].count;
    }
    qsort(sums->ran, sums->ran_count, sizeof *sums->ran, compare_counts);
    while (hot < sums->ran_count && (double)some < HOT_SHARE * (double)all) {
        some += sums->ran[hot++].count;
    }
    sums->ran_count = hot;
    qsort(sums->ran, sums->ran_count, sizeof *sums->ran, compare_addresses);
}

/* How many pieces of memory of one size hold the instructions. */
static uint64_t count_pieces(const struct sums *sums, uint64_t size)
{
    uint64_t count = 0;
    uint64_t next = 0; /* the first one not counted */
    for (size_t i = 0; i < sums->ran_count; i++) {
        uint64_t first = sums->ran[i].address / size;
        uint64_t last = (sums->ran[i].address + sums->ran[i].size - 1) / size;
        first = first < next ? next : first;
        count += last >= first ? last - first + 1 : 0;
        next = last + 1;
    }
    return count;
}

static void add_hot(struct br2_report_maker *maker, struct br2_report_table *table,
                    struct sums *sums)
{
    uint64_t bytes = 0;
    keep_hot(sums);
    for (size_t i = 0; i < sums->ran_count; i++) {
        bytes += sums->ran[i].size;
    }
    uint64_t lines = count_pieces(sums, CACHE_LINE);
    add(maker, table, "hot code, of a cache of 32 KiB", bytes, CACHE_BYTES, "bytes");
    add(maker, table, "its 64-byte lines, of the same cache", lines * CACHE_LINE, CACHE_BYTES,
        "bytes");
    add(maker, table, "4 KiB pages with hot code", count_pieces(sums, PAGE_BYTES), 0, "pages");
    add(maker, table, "4 KiB pages that hot code alone would fill",
        (bytes + PAGE_BYTES - 1) / PAGE_BYTES, 0, "pages");
    add(maker, table, "2 MiB pages with hot code", count_pieces(sums, HUGE_PAGE_BYTES), 0, "pages");
}

static uint64_t text_bytes(const struct br2_image *image)
{
    const struct br2_segment *segments;
    size_t count = br2_image_segments(image, &segments);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += segments[i].file_size;
    }
    return bytes;
}

static uint64_t count_functions(const struct br2_image *image)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(image, &ranges);
    uint64_t functions = 0;
    for (size_t i = 0; i < count; i++) {
        functions += !ranges[i].plt;
    }
    return functions;
}

/* Blocks and lines are counted in functions that ran: the others are not decoded. */
static int add_parts(struct br2_report_maker *maker, struct br2_report_table *table,
                     struct br2pgo_error *err)
{
    uint64_t blocks[2] = {0};
    uint64_t lines[2] = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < maker->graph->function_count; i++) {
        if (maker->wanted[i] && maker->executed[i] != 0) {
            rc = br2_report_count_blocks(maker, i, blocks, err);
            rc = rc != 0 ? rc : br2_report_count_lines(maker, i, lines, err);
        }
    }
    add(maker, table, "blocks of functions that ran", blocks[0], blocks[1], "blocks");
    if (maker->input->debug != NULL) {
        add(maker, table, "source lines of functions that ran", lines[0], lines[1], "lines");
    }
    return rc;
}

int br2_report_coverage(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    const struct br2_image *image = maker->graph->image;
    struct br2_report_table *table = br2_report_begin(maker, &shape);
    struct sums sums = {0};
    if (!sum_up(maker, &sums)) {
        return br2_fail_memory(err);
    }
    if (maker->input->function == NULL) {
        add(maker, table, "code of the file", sums.ran_bytes, text_bytes(image), "bytes");
        add(maker, table, "functions", sums.functions, count_functions(image), "functions");
    }
    add(maker, table, "code of functions that ran", sums.ran_bytes, sums.function_bytes, "bytes");
    int rc = add_parts(maker, table, err);
    add_hot(maker, table, &sums);
    br2_free(sums.ran);
    return rc;
}
