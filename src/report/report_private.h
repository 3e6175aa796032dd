/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the sections of a report. */
#ifndef BR2_REPORT_REPORT_PRIVATE_H
#define BR2_REPORT_REPORT_PRIVATE_H

#include "flow/blocks.h"
#include "report/report.h"

struct br2_report_maker {
    const struct br2_report_input *input;
    const struct br2_flow_graph *graph;
    struct br2_report *report;
    const char **names; /* owned array; of functions, as they are shown */
    bool *wanted;       /* owned; per function: whether it is asked for */
    uint64_t *executed; /* owned; per function: instructions */
    uint64_t all_executed;
    uint64_t all_taken; /* branches that start in the image */
};

/* names.c: names of functions, which are wanted, what ran; BR2PGO_INVALID: none has the name. */
int br2_report_prepare(struct br2_report_maker *maker, struct br2pgo_error *err);

/* A new table. The pointer is valid until the next one; rows may be added after that only by way
 * of the last table. NULL when memory runs out, which the next functions take. */
struct br2_report_table *br2_report_begin(struct br2_report_maker *maker,
                                          const struct br2_report_shape *shape);
/* The values of a new row, none known; never NULL. */
struct br2_report_value *br2_report_row(struct br2_report_maker *maker,
                                        struct br2_report_table *table, uint64_t weight);
/* Sorts the rows, numbers them in the first column, leaves out those beyond the limit. */
void br2_report_end(struct br2_report_maker *maker, struct br2_report_table *table);
/* The same for a table without numbers, whose rows of one weight belong together. */
void br2_report_end_grouped(struct br2_report_maker *maker, struct br2_report_table *table);
/* The same for a table whose rows are in order. */
void br2_report_end_sorted(struct br2_report_maker *maker, struct br2_report_table *table);

static inline struct br2_report_value br2_value_count(uint64_t count)
{
    return (struct br2_report_value){.known = true, .is = {.count = count}};
}
static inline struct br2_report_value br2_value_number(double number)
{
    return (struct br2_report_value){.known = true, .is = {.number = number}};
}
/* Unknown where `whole` is 0. */
static inline struct br2_report_value br2_value_share(uint64_t part, uint64_t whole)
{
    double share = whole != 0 ? (double)part / (double)whole : 0;
    return (struct br2_report_value){.known = whole != 0, .is = {.number = share}};
}
/* `text` must live as long as the report; NULL: unknown. */
static inline struct br2_report_value br2_value_text(const char *text)
{
    return (struct br2_report_value){.known = text != NULL, .is = {.text = text}};
}
/* A copy of the text. */
struct br2_report_value br2_value_copy(struct br2_report_maker *maker, const char *text);

/* Wilson's interval of 95 % for `hits` of `tries`: a share of few is known badly. Into two values,
 * unknown where nothing was tried. */
void br2_report_interval(const struct br2_report_maker *maker, uint64_t hits, uint64_t tries,
                         struct br2_report_value ret[2]);

/* A function's name as it is shown, "[outside]" for BR2_NO_FUNCTION. */
const char *br2_report_name(const struct br2_report_maker *maker, uint32_t function);
bool br2_report_wants(const struct br2_report_maker *maker, uint32_t function);

/* Where an instruction is in the source. */
struct br2_report_place {
    struct br2_report_value file;
    struct br2_report_value line;
    struct br2_report_value discriminator;
    struct br2_report_value inlined; /* the inlined function that it is of, unknown: none */
};
int br2_report_place(struct br2_report_maker *maker, uint64_t address, struct br2_report_place *ret,
                     struct br2pgo_error *err);

/* The numbers of the functions that ran most and are wanted, in that order, as many as the limit
 * says, or `usual`. Free with br2_free; NULL when memory runs out. */
uint32_t *br2_report_hottest(struct br2_report_maker *maker, size_t usual, size_t *ret_count);

/* blocks.c: how often a block ran: as often as its instruction that ran most, as histories may
 * begin and end in it. */
uint64_t br2_report_block_count(const struct br2_flow_function *function,
                                const struct br2_blocks *blocks, size_t block);
/* Adds the blocks, or source lines, of a function that ran to counts[0] and all it has to
 * counts[1]. */
int br2_report_count_blocks(const struct br2_report_maker *maker, uint32_t function,
                            uint64_t counts[2], struct br2pgo_error *err);
int br2_report_count_lines(const struct br2_report_maker *maker, uint32_t function,
                           uint64_t counts[2], struct br2pgo_error *err);

/* What histories counted, sorted. `of` and kind are `from` and `run` of the table's traces, values
 * are `to`. */
struct br2_point;
struct br2_report_counts {
    struct br2_trace *traces; /* owned */
    struct br2_point *points; /* owned; one for each */
    size_t count;
};
/* BR2PGO_NO_MEMORY; then there is nothing to be freed. */
int br2_report_count(const struct br2_trace_table *table, struct br2_report_counts *ret,
                     struct br2pgo_error *err);
/* The points of one, sorted by value. */
struct br2_point *br2_report_points(const struct br2_report_counts *counts, uint64_t of,
                                    uint32_t kind, size_t *ret_count);
void br2_report_counts_done(struct br2_report_counts *counts);

/* Appends a number, not below 0, with so many decimals; the same in every locale. The highest that
 * is told is UINT64_MAX of its last decimal. */
void br2_report_decimals(struct br2_buf *out, double number, unsigned decimals);

typedef int br2_report_section(struct br2_report_maker *maker, struct br2pgo_error *err);
br2_report_section br2_report_branches;
br2_report_section br2_report_targets;
br2_report_section br2_report_functions;
br2_report_section br2_report_loops;
br2_report_section br2_report_latency;
br2_report_section br2_report_paths;
br2_report_section br2_report_coverage;
br2_report_section br2_report_code;
br2_report_section br2_report_source;

#endif
