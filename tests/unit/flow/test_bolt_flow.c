/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bolt_flow.c: edges of a program that llvm-bolt rewrote, in terms of what it read. */
#include "flow_case.h"

#include "base/mem.h"
#include "flow/block_flow.h"
#include "image/bolt_table.h"

#define TEXT UINT64_C(0x401000)

/* A block of the table: distance from the last place, change of the input's offset, twice. */
#define BLOCK(step, change)  ".uleb128 " step "\n.sleb128 " change "\n.quad 0\n.uleb128 0\n"
#define BRANCH(step, change) ".uleb128 " step "\n.sleb128 " change "\n"
/* Of the first list: address as a step, places. */
#define FUNCTION(step, places) ".uleb128 " step "\n.quad 0\n.uleb128 9, 0, " places ", 0\n"

/* Input of `first`: blocks 0, 10 (a loop), 14 (empty), 16, 20 (split off), 40 (a tail call only).
 */
static const char program[] =
    ".file \"a.c\"\n.type first, @function\n.globl first, _start\n"
    "_start: first: cmp $1, %eax\n" /* 401000 */
    "jg second\n"                   /* 401003: was a jump to 40, and the tail call there */
    "1: dec %edx\n"                 /* 401005 */
    "jne 1b\n"                      /* 401007 */
    "2: nop\n"                      /* 401009 */
    "jmp first.cold.0\n"            /* 40100a: new */
    ".size first, .-first\n.org 0x20, 0x90\n.type second, @function\n"
    "second: ret\n" /* 401020 */
    "nop\n.size second, .-second\n.org 0x30, 0x90\n.type first.cold.0, @function\n"
    "first.cold.0: inc %eax\n" /* 401030 */
    "je 2b\n"                  /* 401032: to 14 or 16 */
    "jmp new\n"                /* 401034 */
    ".size first.cold.0, .-first.cold.0\n.org 0x40, 0x90\n.type new, @function\n"
    "new: jmp new\n.size new, .-new\n" /* 401040: llvm-bolt's own */
    ".section .bolt.org.text,\"ax\"\nnop\n"
    ".section .note.bolt_bat,\"\",@note\n.long 5, 2f-1f, 1\n.asciz \"BOLT\"\n.balign 4\n"
    "1: .uleb128 2\n" FUNCTION("0x401000", "7") BLOCK("0", "0") BRANCH("3", "0x81")
        BLOCK("2", "-0x61") BRANCH("2", "5") BLOCK("2", "3") BLOCK("0", "4") BLOCK("0x10", "0x54")
            FUNCTION("7", "1") BLOCK("0", "0") ".uleb128 1, 0x10, 0, 0, 3, 0\n" BLOCK("0", "0x40")
                BRANCH("2", "5") BRANCH("2", "4") "2:\n";

static const struct br2_branch_record history[] = {
    {FC_OTHER, TEXT, 0},           {TEXT + 0x03, TEXT + 0x20, BR2_RECORD_MISPREDICTED},
    {TEXT + 0x20, FC_OTHER, 0},    {FC_OTHER, TEXT, 0},
    {TEXT + 0x07, TEXT + 0x05, 0}, {TEXT + 0x0a, TEXT + 0x30, 0},
    {TEXT + 0x32, TEXT + 0x09, 0}, {TEXT + 0x0a, TEXT + 0x30, 0},
    {TEXT + 0x34, TEXT + 0x40, 0}, {TEXT + 0x40, TEXT + 0x40, 0},
};
/* Back to the middle of a block, from outside. */
static const struct br2_branch_record back = {FC_OTHER, TEXT + 0x0a, 0};

struct wanted {
    const char *from;
    uint64_t from_offset;
    const char *to;
    uint64_t to_offset;
    uint64_t count;
    uint64_t mispredicted;
};
static const struct wanted wanted[] = {
    {"", 0, "first", 0, 2, 0},
    {"first", 0, "first", 0x40, 1, 1}, /* one branch is two again */
    {"first", 0x40, "second", 0, 1, 0},
    {"first", 0, "first", 0x10, 1, 0}, /* not from 40, which is another block's */
    {"first", 0x12, "first", 0x10, 1, 0},
    {"first", 0x12, "first", 0x14, 1, 0},
    {"first", 0x14, "first", 0x16, 1, 0},
    {"first", 0x16, "first", 0x20, 2, 0}, /* the jump is new: from its block */
    {"first", 0x24, "", 0, 1, 0},
};
#define WANTED (sizeof wanted / sizeof wanted[0])

static const char *name_of(const struct br2_block_flow *flow, uint32_t function)
{
    return function == BR2_OUTSIDE
               ? ""
               : br2_strings_get(&flow->names, flow->functions[function].name, NULL);
}

static bool is_edge(const struct br2_block_flow *flow, const struct br2_block_edge *edge,
                    const struct wanted *w)
{
    return strcmp(name_of(flow, edge->from_function), w->from) == 0 &&
           strcmp(name_of(flow, edge->to_function), w->to) == 0 &&
           (w->from[0] == '\0' || edge->from == w->from_offset) &&
           (w->to[0] == '\0' || edge->to == w->to_offset) && edge->count == w->count &&
           edge->mispredicted == w->mispredicted;
}

static void make(struct flow_case *fc, struct br2_bolt_table *table)
{
    fc_open(fc, program, TEXT);
    fc_history(fc, history, sizeof history / sizeof history[0]);
    fc_history(fc, &back, 1);
    fc_build(fc);
    assert_int_equal(br2_bolt_table_read(fc->image, table, NULL), 0);
}

static void test_edges(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_bolt_table table;
    struct br2_block_flow flow = {0};
    make(&fc, &table);
    assert_int_equal(br2_block_flow_build(fc.graph, &table, &flow, NULL), 0);
    assert_true(flow.bolted);
    for (size_t i = 0; i < WANTED; i++) {
        size_t found = 0;
        for (size_t k = 0; k < flow.edge_count; k++) {
            found += is_edge(&flow, &flow.edges[k], &wanted[i]) ? 1 : 0;
        }
        print_message("%s %llx\n", wanted[i].from, (unsigned long long)wanted[i].from_offset);
        assert_int_equal(found, 1);
    }
    assert_int_equal(flow.edge_count, WANTED);
    br2_block_flow_done(&flow);
    br2_bolt_table_done(&table);
    fc_close(&fc);
}

static void test_names_and_losses(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_bolt_table table;
    struct br2_block_flow flow = {0};
    make(&fc, &table);
    assert_int_equal(br2_block_flow_build(fc.graph, &table, &flow, NULL), 0);
    for (size_t i = 0; i < flow.function_count; i++) {
        const struct br2_block_function *function = &flow.functions[i];
        bool local = strcmp(name_of(&flow, (uint32_t)i), "second") == 0;
        bool moved = fc.graph->functions[i].range->start != TEXT + 0x40;
        assert_int_equal(function->start, moved ? 0 : TEXT + 0x40);
        if (moved) {
            assert_int_equal(function->local, local ? 1 : 0);
            assert_string_equal(br2_strings_get(&flow.names, function->file, NULL),
                                local ? "a.c" : "");
        }
    }
    assert_int_equal(flow.verdicts[BR2_BLOCK_RETURN], 2);   /* one is `back` */
    assert_int_equal(flow.verdicts[BR2_BLOCK_NO_INPUT], 1); /* within `new` */
    assert_int_equal(flow.verdicts[BR2_BLOCK_NO_NAME], 0);
    assert_int_equal(flow.verdicts[BR2_BLOCK_EMPTY], 1);
    assert_int_equal(flow.verdicts[BR2_BLOCK_KEPT], 9); /* before one became two, and one two */
    br2_block_flow_done(&flow);
    br2_bolt_table_done(&table);
    fc_close(&fc);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct flow_case fc;
    struct br2_bolt_table table;
    make(&fc, &table);
    int rc = BR2PGO_NO_MEMORY;
    size_t nth = 0;
    while (rc == BR2PGO_NO_MEMORY && nth < 200) {
        struct br2_block_flow flow = {0};
        br2_mem_fail_at(++nth);
        rc = br2_block_flow_build(fc.graph, &table, &flow, NULL);
        br2_mem_fail_at(0);
        br2_block_flow_done(&flow);
    }
    assert_int_equal(rc, 0);
    br2_bolt_table_done(&table);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_names_and_losses),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
