/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf_command.c: requests as commands, and commands as a shell takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "record/perf_command.h"

static char program_name[] = "./app";
static char program_argument[] = "a b";
static char *program[] = {program_name, program_argument, NULL};

static const struct br2_machine machine = {
    .hardware = BR2_HARDWARE_LBR,
    .events = {"cpu/event=0xc4,umask=0x20/p@", "cycles:@"},
};

static void expect(const struct br2_record_request *request, size_t event, const char *wanted)
{
    struct br2_perf_command command;
    assert_int_equal(br2_perf_command_make(&command, &machine, event, request, NULL), 0);
    char *text = br2_perf_command_text(&command);
    assert_string_equal(text, wanted);
    br2_free(text);
    br2_perf_command_done(&command);
}

static void test_requests(void **state)
{
    (void)state;
    struct br2_record_request request = {.command = program, .output = "my perf.data"};
    expect(&request, 0,
           "perf record -e cpu/event=0xc4,umask=0x20/pu -b -c 500009 -N --buildid-all "
           "-o 'my perf.data' -- ./app 'a b'");
    request = (struct br2_record_request){
        .command = program, .output = "x", .period = 1000003, .kernel = true, .duration_ms = 1500};
    expect(&request, 0,
           "timeout --foreground 1.5 perf record -e cpu/event=0xc4,umask=0x20/puk -b "
           "-c 1000003 -N --buildid-all -o x -- ./app 'a b'");
    request = (struct br2_record_request){
        .output = "x", .processes = "12,34", .frequency = 99, .duration_ms = 600000};
    expect(&request, 1,
           "perf record -e cycles:u -b -F 99 -N --buildid-all -p 12,34 -o x -- sleep 600");
    request = (struct br2_record_request){.output = "x", .all_cpus = true, .kernel = true};
    expect(&request, 1, "perf record -e cycles:uk -b -c 500009 -N --buildid-all -a -o x");
    request = (struct br2_record_request){.command = program, .output = "x", .all_cpus = true};
    expect(&request, 1,
           "perf record -e cycles:u -b -c 500009 -N --buildid-all -a -o x -- ./app 'a b'");
    request = (struct br2_record_request){.output = "x", .all_cpus = true, .duration_ms = 1};
    expect(&request, 1,
           "perf record -e cycles:u -b -c 500009 -N --buildid-all -a -o x -- sleep 0.001");
}

/* Every branch: neither histories nor a period are asked for. */
static void test_trace(void **state)
{
    (void)state;
    const struct br2_machine tracing = {
        .hardware = BR2_HARDWARE_INTEL_PT, .traces = true, .events = {"intel_pt//@"}};
    struct br2_record_request request = {
        .command = program, .output = "x", .duration_ms = 2000, .all_cpus = true};
    struct br2_perf_command command;
    assert_int_equal(br2_perf_command_make(&command, &tracing, 0, &request, NULL), 0);
    char *text = br2_perf_command_text(&command);
    assert_string_equal(text, "timeout --foreground 2 perf record -e intel_pt//u -N --buildid-all "
                              "-a -o x -- ./app 'a b'");
    br2_free(text);
    br2_perf_command_done(&command);
}

static void test_trial(void **state)
{
    (void)state;
    struct br2_record_request request = {
        .command = program, .output = "x", .processes = "12", .duration_ms = 9};
    struct br2_perf_command command;
    assert_int_equal(br2_perf_command_make_trial(&command, &machine, 0, &request, NULL), 0);
    char *text = br2_perf_command_text(&command);
    assert_string_equal(text, "perf record -e cpu/event=0xc4,umask=0x20/pu -b -c 500009 -N "
                              "--buildid-all -p 12 -o /dev/null -- true");
    br2_free(text);
    br2_perf_command_done(&command);
}

/* What the shell makes of a quoted word is the word. */
static void test_quoting(void **state)
{
    (void)state;
    static const char *const words[] = {
        "plain", "",  " ",    "it's",     "''",  "$HOME `id`", "a\\b",
        "*",     "~", "a\"b", "\xc3\xa9", "a;b", "#",          "!",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct br2_buf text = {0};
        br2_buf_str(&text, "printf %s ");
        br2_quote_word(&text, words[i]);
        br2_buf_u8(&text, '\0');
        assert_false(text.failed);
        FILE *shell = popen((const char *)text.bytes, "r");
        assert_non_null(shell);
        char got[64] = "";
        size_t size = fread(got, 1, sizeof got - 1, shell);
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(size, strlen(words[i]));
        assert_string_equal(got, words[i]);
        br2_buf_done(&text);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    struct br2_record_request request = {.command = program, .output = "x", .duration_ms = 9};
    int rc = BR2PGO_NO_MEMORY;
    size_t nth;
    for (nth = 1; rc == BR2PGO_NO_MEMORY && nth < 100; nth++) {
        struct br2_perf_command command;
        br2_mem_fail_at(nth);
        rc = br2_perf_command_make(&command, &machine, 0, &request, NULL);
        br2_mem_fail_at(0);
        br2_perf_command_done(&command);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),  cmocka_unit_test(test_trace),
        cmocka_unit_test(test_trial),     cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
