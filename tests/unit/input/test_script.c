/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What perf script prints before a stack, records of stacks, lines of events. */
#include "base/limits.h"
#include "input/perf_script/perf_script.h"
#include "recording.h"

static struct br2_span span_of(const char *text)
{
    return (struct br2_span){.at = text, .end = text + strlen(text)};
}

/* What of a header is known; the pid as -2 where it is not. */
struct header {
    const char *text;
    int32_t pid, tid;
    int64_t time; /* -1: none */
    const char *event;
    int32_t lone; /* -1: it is no pid, -2: no lone number */
};

static const struct header headers[] = {
    {"            prog 13292     0.001007:       5003 cycles:u:        40028620e6 ", 13292, 13292,
     1007000, "cycles:u", -2},
    {"my prog 2 13292/13299 [001] 12345.678901234: cycles: ", 13292, 13299, 12345678901234,
     "cycles", -2},
    {"kworker/0:1-ev 7 [000] 1.5: ", 7, 7, 1500000000, "", -2},
    {"    7     0.001007: ", 7, 7, 1007000, "", -2},
    {"0.001007: cpu/event=0x3c,umask=0/u: ", -2, -2, 1007000, "cpu/event=0x3c,umask=0/u", -2},
    {"prog 0.001007: ", -2, -2, 1007000, "", -2},
    {":-1 -1 0.001007: ", -1, -1, 1007000, "", -2},
    {"a:b: 8 0.5: x: ", 8, 8, 500000000, "x", -2},
    {"prog 7 5003 cycles:u: 401010 main+0x1 (/opt/a:b) ", 7, 7, -1, "cycles:u", -2},
    {"7/8 5003 cycles:u: ", 7, 8, -1, "cycles:u", -2},
    {"7 cycles:u: 401010 ", 7, 7, -1, "cycles:u", -2},
    {"cycles:u: 401010 ", -2, -2, -1, "cycles:u", -2},
    {"prog 7 [003] ", 7, 7, -1, "", -2},
    {"7/9 401010 ", 7, 9, -1, "", -2},
    {"prog 7 401010 ", 7, 7, -1, "", -2},
    {"two words 7 ", 7, 7, -1, "", -2},
    {"   7   401010 main+0x10 (/opt/a) ", 7, 7, -1, "", -2},
    {"   401010 main+0x10 (/opt/a) ", -2, -2, -1, "", -2},
    {"           401010 ", -2, -2, -1, "", 401010},
    {"           40101f ", -2, -2, -1, "", -1},
    {"          5000000 ", -2, -2, -1, "", -1}, /* more than a pid can be */
    {"", -2, -2, -1, "", -2},
};

static void reads_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct header *h = &headers[i];
        struct br2_script_header got;
        print_message("'%s'\n", h->text);
        assert_true(br2_script_header(span_of(h->text), &got));
        assert_int_equal(got.has_pid ? got.pid : -2, h->pid);
        assert_int_equal(got.has_pid ? got.tid : -2, h->tid);
        assert_int_equal(got.has_time ? (int64_t)got.time : -1, h->time);
        assert_int_equal(br2_span_left(&got.event), strlen(h->event));
        if (h->event[0] != '\0') {
            assert_memory_equal(got.event.at, h->event, strlen(h->event));
        }
        assert_int_equal(!got.has_lone ? -2 : got.lone_fits_pid ? got.lone : -1, h->lone);
    }
    struct br2_script_header got;
    assert_false(br2_script_header(span_of("// a remark"), &got));
    assert_int_equal(got.cpu, -1);
    assert_true(br2_script_header(span_of("  my prog 7/7 [012] 1.5: 3 cycles: "), &got));
    assert_int_equal(got.cpu, 12);
    assert_int_equal(br2_span_left(&got.comm), 7);
    assert_memory_equal(got.comm.at, "my prog", 7);
}

static void finds_stacks(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int at; /* -1: none */
    } cases[] = {
        {"0x1/0x2/P/-/-/1", 0},
        {"  7 1: 0x1/0x2", 7},
        {"  (a/b) 0x1(/x y)/0x2(z)/P", 8},
        {"51ac:0x1/51ac:0x2/P", 0},
        {"cpu/event=0x1/u: 401", -1},
        {"main+0x1/main+0x2/P/-/-/1", -1},
        {"0x1", -1},
        {"0x1/2", -1},
        {"0x", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = br2_script_find_stack(span_of(cases[i].line));
        print_message("'%s'\n", cases[i].line);
        assert_int_equal(found != NULL ? (int)(found - cases[i].line) : -1, cases[i].at);
    }
}

struct stack {
    const char *text;
    bool good;
    size_t count;
    struct br2_branch_record records[3];
};

#define M BR2_RECORD_MISPREDICTED
#define P BR2_RECORD_PREDICTED

static const struct stack stacks[] = {
    {"0x1/0x2/P/-/-/1  0x3/0x4/M/X/A/65535 ",
     true,
     2,
     {{1, 2, P | 1 << 4}, {3, 4, M | 4 | 8 | 0xffff0}}},
    {"0x1/0x2/-/-/-/99999/ ", true, 1, {{1, 2, 0xffff0}}},
    {"0x1/0x2/P/-/-/0/CALL/SPEC_WRONG_PATH 0x1/0x2/P/-/-/0//SPEC_CORRECT_PATH "
     "0x1/0x2/P/-/-/0/-/NON_SPEC_CORRECT_PATH",
     true,
     3,
     {{1, 2, P | 1 << 24}, {1, 2, P | 3 << 24}, {1, 2, P | 2 << 24}}},
    {"0x1/0x2/PN/-/-/0/COND/N/A", true, 1, {{1, 2, P | UINT64_C(1) << 33}}},
    {"0x0/0x0/-/-/-/0 0x1/0x0/-/-/-/0", true, 2, {{0, 0, 0}, {1, 0, 0}}},
    {"0x1/0x2 0x3/0x4", true, 2, {{1, 2, 0}, {3, 4, 0}}},
    {"0x1(/a (b)/c)/0x2(/a (b)/c)/M/-/-/0 0x3(d)/0x4(e f)", false, 0, {{0, 0, 0}}},
    {"0x1(/a (b)/c)/0x2(/a (b)/c)/M/-/-/0 0x3(d)/0x4(e f)/P/-/-/0",
     true,
     2,
     {{1, 2, M}, {3, 4, P}}},
    {"0x1(/a+0x11)/0x2(/a+0x22)/M/-/-/0", true, 1, {{0x11, 0x22, M}}},
    {"0x1/0x2/P/-/-/1 main+0x1/main+0x2/P/-/-/1", true, 1, {{1, 2, P | 1 << 4}}},
    {"0x1/0x2/P/-/-/1 0x3/0x4", false, 0, {{0, 0, 0}}},
    {"0x1/0x2/P/-/-/1 0x3", false, 0, {{0, 0, 0}}},
    {"0x1/0x2/P/-/-/1 0x3/", false, 0, {{0, 0, 0}}},
    {"0x1/0x2x", false, 0, {{0, 0, 0}}},
    {"0x1(/a/0x2", false, 0, {{0, 0, 0}}},
    {"0x11111111111111111/0x2", false, 0, {{0, 0, 0}}},
};

static void reads_stacks(void **state)
{
    (void)state;
    struct br2_script script = {.mapped = true};
    script.records = br2_alloc((size_t)BR2_SCRIPT_RECORDS_MAX * 24);
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const struct stack *s = &stacks[i];
        size_t count = 0;
        int rc;
        print_message("'%s'\n", s->text);
        assert_int_equal(br2_script_read_stack(&script, span_of(s->text), &count, NULL, &rc),
                         s->good);
        assert_int_equal(rc, 0);
        assert_int_equal(count, s->count);
        assert_memory_equal(script.records, s->records, 24 * s->count);
    }
    br2_free(script.records);
}

static void reads_events(void **state)
{
    (void)state;
    struct br2_task_event e;
    struct br2_span name, before, rest;
    assert_true(br2_script_find_event(
        span_of(
            "a 7 1.0: PERF_RECORD_MMAP2 7/8: [0x400000(0x2000) @ 0x1000 fd:1f 77 3]: rwxp //anon"),
        &before, &rest));
    assert_int_equal(br2_span_left(&before), 9);
    assert_int_equal(br2_script_read_event(rest, &e, &name), BR2_SCRIPT_TASK);
    assert_int_equal(e.pid, 7);
    assert_int_equal(e.address, 0x400000);
    assert_int_equal(e.length, 0x2000);
    assert_int_equal(e.file_offset, 0x1000);
    assert_int_equal(e.device_major, 0xfd);
    assert_int_equal(e.device_minor, 0x1f);
    assert_int_equal(e.inode, 77);
    assert_int_equal(e.inode_generation, 3);
    assert_false(e.data || e.kernel);
    assert_memory_equal(name.at, "//anon", 6);
    static const struct {
        const char *text;
        enum br2_script_line line;
        bool data, kernel;
    } cases[] = {
        {"MMAP2 7/7: [0x1(0x2) @ 0 <51ac>]: r--p /a", BR2_SCRIPT_TASK, true, false},
        {"MMAP2 7/7: [0x1(0x2) @ 0 <51ac>]: ---p /a", BR2_SCRIPT_TASK, false, false},
        {"MMAP2 7/7: [0x1(0x2) @ 0 <51ac>]: --xp /a", BR2_SCRIPT_TASK, false, false},
        {"MMAP -1/0: [0xffffffff81000000(0x10) @ 0]: x [k]_text", BR2_SCRIPT_TASK, false, true},
        {"MMAP 7/7: [0x1(0x2) @ 0]: r /a", BR2_SCRIPT_TASK, true, false},
        {"MMAP 7/7: [0x1(0x2) @ 0]: /x y", BR2_SCRIPT_TASK, false, false},
        {"MMAP 7/7: [0x1(0x2) @ 0]: ", BR2_SCRIPT_DAMAGED, false, false},
        {"MMAP2 7/7: [0x1(0x2) @ 0 08:01 1", BR2_SCRIPT_DAMAGED, false, false},
        {"COMM: x:7/8", BR2_SCRIPT_IGNORED, false, false}, /* a thread's */
        {"COMM exec: x:y:7/7", BR2_SCRIPT_TASK, false, false},
        {"COMM: x", BR2_SCRIPT_DAMAGED, false, false},
        {"FORK(8:8):(7:7)", BR2_SCRIPT_TASK, false, false},
        {"FORK(7:8):(7:7)", BR2_SCRIPT_IGNORED, false, false},
        {"FORK(8:8)", BR2_SCRIPT_DAMAGED, false, false},
        {"EXIT(8:8):(7:7)", BR2_SCRIPT_TASK, false, false},
        {"EXIT(8:9):(7:7)", BR2_SCRIPT_IGNORED, false, false},
        {"LOST_SAMPLES lost 5", BR2_SCRIPT_LOST, false, false},
        {"KSYMBOL addr ffff len 1", BR2_SCRIPT_IGNORED, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("'%s'\n", cases[i].text);
        assert_int_equal(br2_script_read_event(span_of(cases[i].text), &e, &name), cases[i].line);
        assert_int_equal(e.data, cases[i].data);
        assert_int_equal(e.kernel, cases[i].kernel);
    }
}

#define ID_8  "0123456789abcdef"
#define ID_20 ID_8 "0123456789abcdef00000001"

static void reads_build_ids(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint8_t size; /* 0: the line is of something else */
        const char *name;
    } cases[] = {
        {ID_20 " /opt/a b: 7/7 1.0: c", 20, "/opt/a b: 7/7 1.0: c"},
        {ID_20 "  [kernel.kallsyms]", 20, "[kernel.kallsyms]"},
        {ID_8 "00000000 [vdso]", 12, "[vdso]"},
        {ID_8 "                         /opt/go", 8, "/opt/go"},
        {ID_8 " [unknown]", 0, ""}, /* an address and its symbol */
        {ID_20 " [a] (b)", 0, ""},
        {ID_20 " app", 0, ""},
        {ID_20 " ", 0, ""},
        {ID_20, 0, ""},
        {ID_20 "01 /opt/a", 0, ""}, /* longer than any build-id */
        {"0123456789abcd /opt/a", 0, ""},
        {"0123456789abcdef0 /opt/a", 0, ""},
        {" " ID_20 " /opt/a", 0, ""},
        {"0000000000000000000000000000000000000000 /opt/a", 0, ""},
        {"0x401000/0x401010/P/-/-/1", 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct br2_build_id id;
        struct br2_span name;
        print_message("'%s'\n", cases[i].line);
        bool read = br2_script_read_build_id(span_of(cases[i].line), &id, &name);
        assert_int_equal(read ? id.size : 0, cases[i].size);
        if (read) {
            assert_int_equal(id.bytes[1], 0x23);
            assert_int_equal(br2_span_left(&name), strlen(cases[i].name));
            assert_memory_equal(name.at, cases[i].name, strlen(cases[i].name));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_headers),   cmocka_unit_test(finds_stacks),
        cmocka_unit_test(reads_stacks),    cmocka_unit_test(reads_events),
        cmocka_unit_test(reads_build_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
