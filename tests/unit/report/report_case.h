/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report of a small program's histories, and looking its rows up. */
#ifndef BR2_TESTS_UNIT_REPORT_REPORT_CASE_H
#define BR2_TESTS_UNIT_REPORT_REPORT_CASE_H

#include "../flow/flow_case.h"

#include "report/report.h"

/* Case A: the code of one function and what it calls. */
#define RC_CASE_A                                                                                  \
    ".globl _start\n.type leaf, @function\nleaf: .org 0x1cd, 0x90\nret\n.size leaf, .-leaf\n"      \
    ".org 0x3da10, 0x90\n.type _start, @function\n_start: mov %ecx, %eax\ntest %eax, %eax\n"       \
    "jns 1f\nmov %edx, %eax\nshl $2, %ecx\nlea 8(%rax), %edx\n1: call callee\nadd $16, %rdi\n"     \
    "mov %rax, %rsi\ncmp $1, %eax\njne _start\nret\n.size _start, .-_start\n"                      \
    ".org 0x3db26, 0x90\n.type callee, @function\ncallee: test %eax, %eax\nje leaf\nret\n"         \
    ".size callee, .-callee\n"
#define RC_CASE_A_AT UINT64_C(0x4b0000)

struct report_case {
    struct flow_case fc;
    struct br2_report_input input;
    struct br2_report *report; /* NULL until rc_make */
};

static inline void rc_make(struct report_case *rc, const char *sections)
{
    br2_report_free(rc->report);
    rc->input.graph = rc->fc.graph;
    rc->input.sections = sections;
    rc->input.evidence = 1;
    struct br2pgo_error err = {0};
    assert_int_equal(br2_report_make(&rc->input, &rc->report, &err), 0);
}

static inline void rc_close(struct report_case *rc)
{
    br2_report_free(rc->report);
    fc_close(&rc->fc);
}

static inline const struct br2_report_value *rc_value(const struct br2_report_table *table,
                                                      size_t row, const char *column)
{
    size_t number = br2_report_column(table, column);
    assert_string_equal(table->shape->columns[number].name, column);
    assert_true(row < table->row_count);
    return &table->rows[row].values[number];
}

/* The row whose column has that count or address. */
static inline size_t rc_row(const struct br2_report_table *table, const char *column,
                            uint64_t wanted)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const struct br2_report_value *value = rc_value(table, i, column);
        if (value->known && value->is.count == wanted) {
            return i;
        }
    }
    fail_msg("no row with %s 0x%llx", column, (unsigned long long)wanted);
    return 0;
}

static inline uint64_t rc_count(const struct br2_report_table *table, size_t row,
                                const char *column)
{
    assert_true(rc_value(table, row, column)->known);
    return rc_value(table, row, column)->is.count;
}

static inline double rc_number(const struct br2_report_table *table, size_t row, const char *column)
{
    assert_true(rc_value(table, row, column)->known);
    return rc_value(table, row, column)->is.number;
}

static inline const char *rc_text(const struct br2_report_table *table, size_t row,
                                  const char *column)
{
    const struct br2_report_value *value = rc_value(table, row, column);
    return value->known ? value->is.text : "-";
}

static inline void rc_near(double value, double wanted, double within)
{
    if (value < wanted - within || value > wanted + within) {
        fail_msg("%.6f is not %.6f", value, wanted);
    }
}

#endif
