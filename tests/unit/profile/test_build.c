/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build.c: from counts of instructions and edges to places, totals, heads and targets. What needs
 * inlining, duplication factors and line 0 is in the golden case llvm-profile. */
#include "../flow/flow_case.h"

#include "base/mem.h"
#include "profile/build.h"

#define FUNCTION(name, line, start)                                                                \
    ".uleb128 2\n.string \"" name "\"\n.byte 1, " line "\n.quad " start ", " start "_end - " start \
    "\n"

/*
 *   _start  401000 call work; 401005 hlt                         no debug information
 *   work    401010 call same; 401015 call *rdx; 401017 jmp f     lines 12, 13, 14, declared in 11
 *   same    401020 nop; 401021 ret                               line 21, declared in 20
 *   same    401030 nop; 401031 ret                               another static one like it
 *   f       401040 nop; 401041 ret                               f.llvm.7, line 31, declared in 30
 *   nodecl  401050 nop; 401051 ret                               line 41, no declaration line
 */
#define PROGRAM                                                                                    \
    ".text\n.file 1 \"a.c\"\n.globl _start\n.type _start, @function\n_start: call work\nhlt\n"     \
    ".size _start, .-_start\n.org 0x10, 0x90\n.type work, @function\nwork:\n.loc 1 12\n"           \
    "call same1\n.loc 1 13\ncall *%rdx\n.loc 1 14\njmp f\nwork_end: .size work, .-work\n"          \
    ".org 0x20, 0x90\n.type same1, @function\nsame1:\n.loc 1 21\nnop\nret\nsame1_end:\n"           \
    ".size same1, .-same1\n.org 0x30, 0x90\n.type same2, @function\nsame2:\n.loc 1 21\nnop\n"      \
    "ret\nsame2_end: .size same2, .-same2\n.org 0x40, 0x90\n.type f, @function\nf:\n"              \
    ".loc 1 31\nnop\nret\nf_end: .size f, .-f\n.org 0x50, 0x90\n.type nodecl, @function\n"         \
    "nodecl:\n.loc 1 41\nnop\nret\nnodecl_end: .size nodecl, .-nodecl\n"                           \
    ".section .debug_abbrev\n"                                                                     \
    ".uleb128 1, 0x11, 1, 0x25, 8, 0x13, 11, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0\n"                 \
    ".uleb128 2, 0x2e, 0, 3, 8, 0x3a, 11, 0x3b, 11, 0x11, 1, 0x12, 7, 0, 0\n"                      \
    ".uleb128 3, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0\n.uleb128 0\n"                              \
    ".section .debug_info\n.long unit_end - 1f\n1: .short 4\n.long .debug_abbrev\n.byte 8\n"       \
    ".uleb128 1\n.string \"clang version 19.1.7\"\n.byte 29\n.long .debug_line\n"                  \
    ".quad work, nodecl_end - work\n" FUNCTION("work", "11", "work")                               \
        FUNCTION("same", "20", "same1") FUNCTION("same", "20", "same2")                            \
            FUNCTION("f.llvm.7", "30", "f") ".uleb128 3\n.string \"nodecl\"\n"                     \
                                            ".quad nodecl, nodecl_end - nodecl\n.byte 0\n"         \
                                            "unit_end:\n"

static const struct br2_branch_record once[] = {{0x401015, 0x401020, 0},
                                                {0x401021, 0x401015, 0},
                                                {0x401010, 0x401020, 0},
                                                {0x401000, 0x401010, 0},
                                                {FC_OTHER, 0x401000, 0}};
static const struct br2_branch_record call[] = {{0x401010, 0x401020, 0}};
static const struct br2_branch_record second[] = {{0x401031, 0x401017, 0}, {0x401015, 0x401030, 0}};
static const struct br2_branch_record tail[] = {{0x401041, 0x401005, 0}, {0x401017, 0x401040, 0}};
static const struct br2_branch_record undeclared[] = {{0x401051, 0x401017, 0},
                                                      {0x401015, 0x401050, 0}};

struct build_case {
    struct flow_case flow;
    struct br2_debug *debug;
};

static void make(struct build_case *c)
{
    fc_open(&c->flow, PROGRAM, FC_TEXT);
    fc_sample(&c->flow, once, 5);
    for (unsigned i = 0; i < 4; i++) {
        fc_sample(&c->flow, call, 1);
    }
    for (unsigned i = 0; i < 2; i++) {
        fc_sample(&c->flow, second, 2);
        fc_sample(&c->flow, tail, 2);
    }
    fc_sample(&c->flow, undeclared, 2);
    fc_build(&c->flow);
    assert_int_equal(br2_debug_open(c->flow.image, NULL, NULL, &c->debug, NULL), 0);
}

static void done(struct build_case *c)
{
    br2_debug_close(c->debug);
    fc_close(&c->flow);
}

static uint32_t name_in(struct br2_profile *profile, const char *text)
{
    return br2_profile_name(profile, text, strlen(text));
}

static struct br2_function_profile *add_function(struct br2_profile *profile, const char *name,
                                                 uint64_t total, uint64_t head)
{
    struct br2_function_profile *function = br2_profile_function(profile, name_in(profile, name));
    assert_non_null(function);
    function->total = total;
    function->head = head;
    return function;
}

static struct br2_body_sample *add_sample(struct br2_function_profile *function, uint32_t offset,
                                          uint64_t count)
{
    struct br2_body_sample *sample =
        br2_profile_sample(function, (struct br2_place){.offset = offset});
    assert_non_null(sample);
    sample->count = count;
    return sample;
}

/* For flow inference: of 19 records, 9 have a run that leads to them. Calls and heads are that part
 * of what was recorded, targets all of it. */
static struct br2_profile *wanted_for_inference(const char *f)
{
    struct br2_profile *profile = br2_profile_new();
    assert_non_null(profile);
    struct br2_function_profile *work = add_function(profile, "work", 1 * 5 + 1 * 2, 1); /* 0.5 */
    struct br2_body_sample *sample = add_sample(work, 1, 2);                             /* 2.4 */
    assert_true(br2_profile_target(sample, name_in(profile, "same"), 5));
    sample = add_sample(work, 2, 2); /* 1.9 */
    assert_true(br2_profile_target(sample, name_in(profile, "same"), 3));
    assert_true(br2_profile_target(sample, name_in(profile, "nodecl"), 1));
    sample = add_sample(work, 3, 1); /* 0.9 */
    assert_true(br2_profile_target(sample, name_in(profile, f), 2));
    add_sample(add_function(profile, "same", 1 * 2 + 2 * 2, 3 + 1), 1, 3); /* 2.8, 0.9 */
    add_sample(add_function(profile, f, 2 * 2, 1), 1, 2);                  /* 0.9 */
    return profile;
}

/* By hand. A place with calls ran at least as often as it called; functions of one name add up;
 * totals are executions times bytes. */
static struct br2_profile *wanted_profile(const char *f)
{
    struct br2_profile *profile = br2_profile_new();
    assert_non_null(profile);
    struct br2_function_profile *work = add_function(profile, "work", 1 * 5 + 1 * 2, 1);
    struct br2_body_sample *sample = add_sample(work, 1, 5);
    assert_true(br2_profile_target(sample, name_in(profile, "same"), 5));
    sample = add_sample(work, 2, 4);
    assert_true(br2_profile_target(sample, name_in(profile, "same"), 3));
    assert_true(br2_profile_target(sample, name_in(profile, "nodecl"), 1));
    sample = add_sample(work, 3, 2);
    assert_true(br2_profile_target(sample, name_in(profile, f), 2));
    add_sample(add_function(profile, "same", 1 * 2 + 2 * 2, 6 + 2), 1, 3);
    add_sample(add_function(profile, f, 2 * 2, 2), 1, 2);
    return profile;
}

static void check(struct build_case *c, enum br2_suffix_policy suffixes, bool inference,
                  const char *f)
{
    struct br2_build_options options = {.suffixes = suffixes, .flow_inference = inference};
    struct br2_build_stats stats;
    struct br2_profile *profile;
    struct br2_profile *wanted = inference ? wanted_for_inference(f) : wanted_profile(f);
    char text[512];
    assert_int_equal(br2_profile_build(c->flow.graph, c->debug, &options, &profile, &stats, NULL),
                     0);
    const char *difference = br2_profile_difference(profile, wanted, text, sizeof text);
    if (difference != NULL) {
        fail_msg("%s", difference);
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        assert_int_equal(profile->functions[i]->first_seen, 1); /* in the first sample */
    }
    assert_false(profile->has_symbol_list);
    assert_false(profile->fs_discriminators);
    br2_profile_free(wanted);
    br2_profile_free(profile);
}

static void test_profile(void **state)
{
    (void)state;
    struct build_case c;
    make(&c);
    check(&c, BR2_SUFFIX_ALL, false, "f");
    check(&c, BR2_SUFFIX_SELECTED, false, "f");
    check(&c, BR2_SUFFIX_NONE, false, "f.llvm.7");
    check(&c, BR2_SUFFIX_ALL, true, "f");
    done(&c);
}

static void test_stats(void **state)
{
    (void)state;
    struct build_case c;
    struct br2_build_options options = {.suffixes = BR2_SUFFIX_ALL};
    struct br2_build_stats stats;
    struct br2_profile *profile;
    make(&c);
    assert_int_equal(br2_profile_build(c.flow.graph, c.debug, &options, &profile, &stats, NULL), 0);
    assert_int_equal(stats.executions, 15);
    assert_int_equal(stats.no_function, 1);
    assert_int_equal(stats.no_declaration, 2);
    assert_int_equal(stats.no_line, 0);
    assert_int_equal(stats.kept, 12);
    assert_int_equal(stats.functions, 5);
    assert_int_equal(stats.discriminators, 0);
    assert_true(stats.llvm);
    br2_profile_free(profile);
    done(&c);
}

static void test_symbol_list(void **state)
{
    (void)state;
    static const char *const names[] = {"work", "same", "f", "nodecl"};
    struct build_case c;
    struct br2_build_options options = {.suffixes = BR2_SUFFIX_ALL, .symbol_list = true};
    struct br2_build_stats stats;
    struct br2_profile *profile;
    make(&c);
    assert_int_equal(br2_profile_build(c.flow.graph, c.debug, &options, &profile, &stats, NULL), 0);
    assert_true(profile->has_symbol_list);
    assert_int_equal(profile->symbol_list.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_not_equal(br2_strings_find(&profile->symbol_list, names[i], strlen(names[i])),
                             BR2_NO_STRING);
    }
    br2_profile_free(profile);
    done(&c);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct build_case c;
    struct br2_build_options options = {
        .suffixes = BR2_SUFFIX_ALL, .symbol_list = true, .flow_inference = true};
    make(&c);
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
            assert_int_equal(stats.kept, 12);
            br2_profile_free(profile);
        }
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 10);
    done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_symbol_list),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
