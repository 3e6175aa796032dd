/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build_gcc.c and what build.c and build_calls.c do by the rules of GCC. */
#include "../flow/flow_case.h"

#include "base/buf.h"
#include "base/mem.h"
#include "profile/build.h"

#define SPAN(start, end) ".quad " start ", " end " - " start "\n"
#define FUNCTION(name, file, line, start)                                                          \
    ".string \"" name "\"\n.byte " file ", " line "\n" SPAN(start, start "_end")
#define ABSTRACT(name, line) name ": .uleb128 4\n.string \"" name "\"\n.byte 1, " line ", 1\n"
#define INLINED(abbreviation, name, start, end, line, discriminator)                               \
    ".uleb128 " abbreviation "\n.long " name                                                       \
    " - .Linfo\n" SPAN(start, end) ".byte 1, " line ", " discriminator "\n"

/*
 *   _start  401000 call work; 401005 hlt                      no debug information
 *   work    declared in a.c:10
 *     401010 nop                                              12
 *     401011 nop                                              12, discriminator 2
 *     401012 nop                                              13, discriminator 1
 *       in, declared in line 30, inlined in line 13: 401013 nop  31; 401015 nop  32
 *         deep, declared in line 50, inlined in line 32: 401014 nop  51
 *     401016 call *rdx                                        14
 *       gone, declared in line 60, inlined in line 14: 401018 nop  61
 *     401019 nop                                              9, before the declaration
 *     40101a nop                                              15, base 1, 4 times, copy 1
 *     40101b nop                                              15, base 1, twice, copy 3
 *     40101c jne 401011; 40101e ret                           16
 *   same    401020 nop; 401021 ret                            a.c:21, declared in a.c:20
 *   same    401030 nop; 401031 ret                            b.c:21, declared in b.c:20
 *   same.part.0  401040 call same1; 401045 ret                       b.c:22, declared in b.c:20
 */
#define PROGRAM(producer)                                                                                                          \
    ".text\n.file 1 \"a.c\"\n.file 2 \"src/b.c\"\n.globl _start\n.type _start, @function\n"                                        \
    "_start: call work\nhlt\n.size _start, .-_start\n.org 0x10, 0x90\n.type work, @function\n"                                     \
    "work:\n.loc 1 12\nnop\nagain:\n.loc 1 12 0 discriminator 2\nnop\n"                                                            \
    ".loc 1 13 0 discriminator 1\nnop\nin_at:\n.loc 1 31\nnop\ndeep_at:\n.loc 1 51\nnop\n"                                         \
    "deep_end:\n.loc 1 32\nnop\nin_end:\n.loc 1 14\ncall *%rdx\ngone_at:\n.loc 1 61\nnop\n"                                        \
    "gone_end:\n.loc 1 9\nnop\n.loc 1 15 0 discriminator 0x8401\nnop\n"                                                            \
    ".loc 1 15 0 discriminator 0x18201\nnop\n.loc 1 16\njne again\nret\nwork_end:\n"                                               \
    ".size work, .-work\n.org 0x20, 0x90\n.type same1, @function\nsame1:\n.loc 1 21\nnop\nret\n"                                   \
    "same1_end: .size same1, .-same1\n.org 0x30, 0x90\n.type same2, @function\nsame2:\n"                                           \
    ".loc 2 21\nnop\nret\nsame2_end: .size same2, .-same2\n.org 0x40, 0x90\n"                                                      \
    ".type part, @function\npart:\n.loc 2 22\ncall same1\nret\npart_end: .size part, .-part\n"                                     \
    ".section .debug_abbrev\n"                                                                                                     \
    ".uleb128 1, 0x11, 1, 0x25, 8, 0x13, 11, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0\n"                                                 \
    ".uleb128 2, 0x2e, 1, 3, 8, 0x3a, 11, 0x3b, 11, 0x11, 1, 0x12, 7, 0, 0\n"                                                      \
    ".uleb128 3, 0x2e, 0, 3, 8, 0x3a, 11, 0x3b, 11, 0x11, 1, 0x12, 7, 0, 0\n"                                                      \
    ".uleb128 4, 0x2e, 0, 3, 8, 0x3a, 11, 0x3b, 11, 0x20, 11, 0, 0\n"                                                              \
    ".uleb128 5, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 7, 0x58, 11, 0x59, 11, 0x2136, 11, 0, 0\n"                                    \
    ".uleb128 6, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 7, 0x58, 11, 0x59, 11, 0x2136, 11, 0, 0\n"                                    \
    ".uleb128 0\n.section .debug_info\n.Linfo: .long unit_end - 1f\n1: .short 4\n"                                                 \
    ".long .debug_abbrev\n.byte 8\n.uleb128 1\n.string \"" producer "\"\n.byte 29\n"                                               \
    ".long .debug_line\n" SPAN("work", "part_end") ABSTRACT("in", "30") ABSTRACT(                                                  \
        "deep", "50") ABSTRACT("gone",                                                                                             \
                               "60") ".uleb128 2\n" FUNCTION("work", "1", "10",                                                    \
                                                             "work") INLINED("5", "in", "in_at",                                   \
                                                                             "in_end", "13", "1")                                  \
        INLINED("6", "deep", "deep_at", "deep_end", "32", "1") ".byte 0\n" INLINED(                                                \
            "6", "gone", "gone_at", "gone_end", "14",                                                                              \
            "0") ".byte 0\n.uleb128 3\n" FUNCTION("same", "1", "20",                                                               \
                                                  "same1") ".uleb128 3\n" FUNCTION("same", "2",                                    \
                                                                                   "20",                                           \
                                                                                   "same2") ".uleb128 3\n" FUNCTION("same.part.0", \
                                                                                                                    "2",           \
                                                                                                                    "20",          \
                                                                                                                    "part") ".byte 0\nunit_end:\n"

/* Three rounds of the loop, oldest first; each calls another function. */
static const struct br2_branch_record history[] = {
    {FC_OTHER, 0x401000, 0}, {0x401000, 0x401010, 0}, {0x401016, 0x401020, 0},
    {0x401021, 0x401018, 0}, {0x40101c, 0x401011, 0}, {0x401016, 0x401030, 0},
    {0x401031, 0x401018, 0}, {0x40101c, 0x401011, 0}, {0x401016, 0x401040, 0},
    {0x401040, 0x401020, 0}, {0x401021, 0x401045, 0}, {0x401045, 0x401018, 0},
    {0x40101e, 0x401005, 0}};

struct build_case {
    struct flow_case flow;
    struct br2_debug *debug;
};

static void make(struct build_case *c, const char *program)
{
    fc_open(&c->flow, program, FC_TEXT);
    fc_history(&c->flow, history, sizeof history / sizeof *history);
    fc_build(&c->flow);
    assert_int_equal(br2_debug_open(c->flow.image, NULL, NULL, &c->debug, NULL), 0);
}

static void done(struct build_case *c)
{
    br2_debug_close(c->debug);
    fc_close(&c->flow);
}

static void print_place(struct br2_buf *out, unsigned depth, struct br2_place place)
{
    br2_buf_printf(out, "%*s%u", (int)depth, "", place.offset);
    if (place.discriminator != 0) {
        br2_buf_printf(out, ".%u", place.discriminator);
    }
}

static void print_body(struct br2_buf *out, const struct br2_profile *profile,
                       const struct br2_function_profile *function, unsigned depth)
{
    for (size_t i = 0; i < function->sample_count; i++) {
        const struct br2_body_sample *sample = &function->samples[i];
        print_place(out, depth, sample->place);
        br2_buf_printf(out, ": %llu", (unsigned long long)sample->count);
        for (size_t t = 0; t < sample->target_count; t++) {
            br2_buf_printf(out, " %s:%llu",
                           br2_strings_get(&profile->names, sample->targets[t].name, NULL),
                           (unsigned long long)sample->targets[t].count);
        }
        br2_buf_str(out, "\n");
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        const struct br2_function_profile *callee = function->callsites[i].callee;
        print_place(out, depth, function->callsites[i].place);
        br2_buf_printf(out, ": %s:%llu\n", br2_strings_get(&profile->names, callee->name, NULL),
                       (unsigned long long)callee->total);
        print_body(out, profile, callee, depth + 1);
    }
}

/* The profile as LLVM's text has it, behind each function's head count its file. */
static void assert_profile(const struct build_case *c, enum br2_rules rules,
                           enum br2_suffix_policy suffixes, const char *wanted)
{
    struct br2_build_options options = {.rules = rules, .suffixes = suffixes};
    struct br2_build_stats stats;
    struct br2_profile *profile;
    struct br2_buf out = {0};
    assert_int_equal(br2_profile_build(c->flow.graph, c->debug, &options, &profile, &stats, NULL),
                     0);
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct br2_function_profile *function = profile->functions[i];
        const char *file = br2_profile_file(profile, function->name, NULL);
        br2_buf_printf(&out, "%s:%llu:%llu%s%s\n",
                       br2_strings_get(&profile->names, function->name, NULL),
                       (unsigned long long)function->total, (unsigned long long)function->head,
                       file != NULL ? " " : "", file != NULL ? file : "");
        print_body(&out, profile, function, 1);
    }
    br2_buf_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, wanted);
    assert_int_equal(stats.kept + stats.no_function, stats.executions);
    br2_buf_done(&out);
    br2_profile_free(profile);
}

#define IN " 3: in:9\n  1: 3\n  2: 3\n  2: deep:3\n   1: 3\n"
/* Two static ones of different files and a part of one of them; its direct call has no target. */
#define SAME "same:4:4\n 1: 3\n 2: 1\n"

/* Lines have their least busy block's count: the loop's line that of what runs before the loop. */
static void up_to_12_there_are_no_discriminators(void **state)
{
    (void)state;
    struct build_case c;
    make(&c, PROGRAM("GNU C17 12.2.0 -O2"));
    assert_profile(&c, BR2_RULES_GCC_5, BR2_SUFFIX_GCC,
                   "work:28:1\n 2: 1\n 3: 3\n 4: 3 same:3\n 5: 3\n 6: 3\n 65535: 3\n" IN
                   " 4: gone:3\n  1: 3\n" SAME);
    done(&c);
}

/* The second copy of a call site says of what is inlined in it only how hot it is. */
static void from_13_to_15_call_sites_are_there_twice(void **state)
{
    (void)state;
    struct build_case c;
    make(&c, PROGRAM("GNU C17 14.2.0 -O2"));
    assert_profile(&c, BR2_RULES_GCC_13, BR2_SUFFIX_GCC,
                   "work:43:1\n 2: 1\n 2.2: 3\n 3.1: 3\n 4: 3 same:3\n 5.33281: 3\n 5.33793: 3\n"
                   " 6: 3\n 65535: 3\n" IN " 3.1: in:9\n  1: 3\n  2: 3\n  2: deep:3\n   0: 3\n"
                   " 4: gone:3\n  1: 3\n" SAME);
    done(&c);
}

/* 3 * 4 in one copy of line 15 and 3 * 2 in another are 18; no targets beside an inlined function;
 * functions of one name have two files. */
static void in_16_discriminators_have_parts(void **state)
{
    (void)state;
    struct build_case c;
    make(&c, PROGRAM("GNU C17 16.2.0 -O2"));
    assert_profile(&c, BR2_RULES_GCC_16, BR2_SUFFIX_GCC_16,
                   "work:46:1 a.c\n 2: 1\n 2.2: 3\n 3.1: 3\n 4: 3\n 5.1: 18\n 6: 3\n 65535: 3\n"
                   " 3.1: in:9\n  1: 3\n  2: 3\n  2.1: deep:3\n   1: 3\n 4: gone:3\n  1: 3\n"
                   "same.lto_priv.0:2:2 a.c\n 1: 2\n"
                   "same.lto_priv.1:2:2 src/b.c\n 1: 1\n 2: 1\n");
    done(&c);
}

/* f, of which a part was split off and inlined again; and a call of f by itself in line 12:
 *   401010 nop  11;  401011 nop  12, the part;  401012 nop  13, the inlined call;  401013 ret  14
 */
#define OF_F(code, inlined)                                                                        \
    ".text\n.file 1 \"a.c\"\n.globl _start\n.type _start, @function\n_start: call work\nhlt\n"     \
    ".size _start, .-_start\n.org 0x10, 0x90\n.type work, @function\nwork:\n.loc 1 11\n" code      \
    "call_end:\n.loc 1 14\nover: ret\nwork_end:\n"                                                 \
    ".size work, .-work\n.section .debug_abbrev\n"                                                 \
    ".uleb128 1, 0x11, 1, 0x25, 8, 0x13, 11, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0\n"                 \
    ".uleb128 2, 0x2e, 1, 3, 8, 0x3a, 11, 0x3b, 11, 0x11, 1, 0x12, 7, 0, 0\n"                      \
    ".uleb128 4, 0x2e, 0, 3, 8, 0x3a, 11, 0x3b, 11, 0x20, 11, 0, 0\n"                              \
    ".uleb128 6, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 7, 0x58, 11, 0x59, 11, 0x2136, 11, 0, 0\n"    \
    ".uleb128 0\n.section .debug_info\n.Linfo: .long unit_end - 1f\n1: .short 4\n"                 \
    ".long .debug_abbrev\n.byte 8\n.uleb128 1\n.string \"GNU C17 16.2.0 -O2\"\n.byte 29\n"         \
    ".long .debug_line\n" SPAN("work", "work_end")                                                 \
        ABSTRACT("f", "10") ".uleb128 2\n" FUNCTION("f", "1", "10", "work") inlined INLINED(       \
            "6", "f", "call_at", "call_end", "12", "0") ".byte 0\n.byte 0\nunit_end:\n"
#define SPLIT                                                                                      \
    OF_F("nop\npart_at:\n.loc 1 12\nnop\ncall_at:\n.loc 1 13\nnop\n",                              \
         INLINED("6", "f", "part_at", "call_at", "10", "0"))
/* 401010 jne, over the inlined call of f in 401012, to 401013 ret. */
#define IDLE OF_F("jne over\ncall_at:\n.loc 1 13\nnop\n", "")
/* The same with an indirect jump; nothing is in line 13 of f but in the inlined call's. */
#define LABEL OF_F("jmp *%rdx\ncall_at:\n.loc 1 13\nnop\n", "")

static void a_part_inlined_again_is_no_call(void **state)
{
    (void)state;
    static const struct br2_branch_record once[] = {
        {FC_OTHER, 0x401000, 0}, {0x401000, 0x401010, 0}, {0x401013, 0x401005, 0}};
    struct build_case c;
    fc_open(&c.flow, SPLIT, FC_TEXT);
    fc_history(&c.flow, once, sizeof once / sizeof *once);
    fc_build(&c.flow);
    assert_int_equal(br2_debug_open(c.flow.image, NULL, NULL, &c.debug, NULL), 0);
    assert_profile(&c, BR2_RULES_GCC_5, BR2_SUFFIX_GCC,
                   "f:4:1\n 1: 1\n 2: 1\n 4: 1\n 2: f:1\n  3: 1\n");
    assert_profile(&c, BR2_RULES_GCC_16, BR2_SUFFIX_GCC_16,
                   "f:4:1 a.c\n 1: 1\n 2: 1\n 4: 1\n 2: f:1\n  3: 1\n");
    assert_profile(&c, BR2_RULES_LLVM, BR2_SUFFIX_ALL,
                   "f:4:1\n 1: 1\n 4: 1\n 0: f:1\n  2: 1\n 2: f:1\n  3: 1\n");
    done(&c);
}

/* GCC up to 15 may not inline a call that never ran: its line, too, is known not to run. */
static void the_line_of_an_idle_call_is_idle(void **state)
{
    (void)state;
    static const struct br2_branch_record past[] = {{FC_OTHER, 0x401000, 0},
                                                    {0x401000, 0x401010, 0},
                                                    {0x401010, 0x401013, 0},
                                                    {0x401013, 0x401005, 0}};
    struct build_case c;
    fc_open(&c.flow, IDLE, FC_TEXT);
    fc_history(&c.flow, past, sizeof past / sizeof *past);
    fc_build(&c.flow);
    assert_int_equal(br2_debug_open(c.flow.image, NULL, NULL, &c.debug, NULL), 0);
    assert_profile(&c, BR2_RULES_GCC_5, BR2_SUFFIX_GCC,
                   "f:2:1\n 1: 1\n 2: 0\n 4: 1\n 2: f:0\n  3: 0\n");
    assert_profile(&c, BR2_RULES_GCC_13, BR2_SUFFIX_GCC,
                   "f:2:1\n 1: 1\n 2: 0\n 4: 1\n 2: f:0\n  3: 0\n");
    assert_profile(&c, BR2_RULES_GCC_16, BR2_SUFFIX_GCC_16,
                   "f:2:1 a.c\n 1: 1\n 4: 1\n 2: f:0\n  3: 0\n");
    done(&c);
}

/* Up to GCC 12, lines without code above that of a label have its count, down from the last line
 * that has code, or a call that was inlined. */
static void lines_of_a_label_have_the_count_of_its_code(void **state)
{
    (void)state;
    static const struct br2_branch_record jump[] = {{FC_OTHER, 0x401000, 0},
                                                    {0x401000, 0x401010, 0},
                                                    {0x401010, 0x401013, 0},
                                                    {0x401013, 0x401005, 0}};
    struct build_case c;
    fc_open(&c.flow, LABEL, FC_TEXT);
    fc_history(&c.flow, jump, sizeof jump / sizeof *jump);
    fc_build(&c.flow);
    assert_int_equal(br2_debug_open(c.flow.image, NULL, NULL, &c.debug, NULL), 0);
    assert_profile(&c, BR2_RULES_GCC_5, BR2_SUFFIX_GCC,
                   "f:3:1\n 1: 1\n 2: 0\n 3: 1\n 4: 1\n 2: f:0\n  3: 0\n");
    assert_profile(&c, BR2_RULES_GCC_13, BR2_SUFFIX_GCC,
                   "f:2:1\n 1: 1\n 2: 0\n 4: 1\n 2: f:0\n  3: 0\n");
    done(&c);
}

static void test_without_memory(void **state)
{
    (void)state;
    static const enum br2_rules rules[] = {BR2_RULES_GCC_5, BR2_RULES_GCC_13, BR2_RULES_GCC_16};
    struct build_case c;
    make(&c, PROGRAM("GNU C17 16.2.0 -O2"));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct br2_build_options options = {.rules = rules[i], .suffixes = BR2_SUFFIX_GCC};
        int rc = BR2PGO_NO_MEMORY;
        size_t nth = 0;
        while (rc == BR2PGO_NO_MEMORY && nth < 1000) {
            struct br2_build_stats stats;
            struct br2_profile *profile;
            br2_debug_close(c.debug); /* what it read when memory ran out is not read again */
            assert_int_equal(br2_debug_open(c.flow.image, NULL, NULL, &c.debug, NULL), 0);
            br2_mem_fail_at(++nth);
            rc = br2_profile_build(c.flow.graph, c.debug, &options, &profile, &stats, NULL);
            br2_mem_fail_at(0);
            if (rc == 0) {
                br2_profile_free(profile);
            }
        }
        assert_int_equal(rc, 0);
        assert_true(nth > 10);
    }
    done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_12_there_are_no_discriminators),
        cmocka_unit_test(from_13_to_15_call_sites_are_there_twice),
        cmocka_unit_test(in_16_discriminators_have_parts),
        cmocka_unit_test(a_part_inlined_again_is_no_call),
        cmocka_unit_test(the_line_of_an_idle_call_is_idle),
        cmocka_unit_test(lines_of_a_label_have_the_count_of_its_code),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
