/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* address_space.c: what lay where, in which process, when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "process/address_space.h"

#define K UINT64_C(0xffffffff81000000)

static void add(struct br2_spaces *spaces, struct br2_task_event event)
{
    event.name = event.name != NULL ? event.name : "";
    assert_int_equal(br2_spaces_add(spaces, &event, NULL), 0);
}

static struct br2_task_event map(br2_time time, int32_t pid, uint64_t address, uint64_t length,
                                 const char *name)
{
    return (struct br2_task_event){
        .kind = BR2_TASK_MMAP,
        .time = time,
        .pid = pid,
        .kernel = pid == BR2_PID_KERNEL,
        .address = address,
        .length = length,
        .file_offset = 0x10000,
        .name = name,
    };
}

static struct br2_task_event exec(br2_time time, int32_t pid)
{
    return (struct br2_task_event){.kind = BR2_TASK_COMM, .time = time, .pid = pid, .exec = true};
}

static struct br2_task_event fork_of(br2_time time, int32_t parent, int32_t pid)
{
    return (struct br2_task_event){
        .kind = BR2_TASK_FORK, .time = time, .pid = pid, .parent = parent};
}

static struct br2_spaces *finished(struct br2_spaces *spaces)
{
    assert_int_equal(br2_spaces_finish(spaces, NULL), 0);
    return spaces;
}

/* "name+offset" of what is at an address, "-" where nothing is. */
static void check_at(struct br2_spaces *spaces, int32_t pid, br2_time time, uint64_t address,
                     const char *wanted)
{
    uint32_t view = br2_spaces_view(spaces, pid, time);
    const struct br2_mapping *m = br2_spaces_resolve(spaces, view, address);
    char text[64] = "-";
    if (m != NULL) {
        assert_true(m->start <= address && address < m->end);
        snprintf(text, sizeof text, "%s+%llx", br2_spaces_dsos(spaces)->items[m->dso].path,
                 (unsigned long long)(address - m->start + m->file_offset));
    }
    assert_string_equal(text, wanted);
}

static void test_map(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, map(1, 7, 0x5000, 0x1000, "/b"));
    struct br2_task_event data = map(1, 7, 0x8000, 0x1000, "/data");
    data.data = true;
    add(spaces, data);
    add(spaces, map(1, 7, 0x9000, 0, "/empty"));
    add(spaces, map(1, 7, UINT64_MAX - 0xfff, 0x2000, "/wraps"));
    finished(spaces);
    check_at(spaces, 7, 2, 0xfff, "-");
    check_at(spaces, 7, 2, 0x1000, "/a+10000");
    check_at(spaces, 7, 2, 0x1fff, "/a+10fff");
    check_at(spaces, 7, 2, 0x2000, "-");
    check_at(spaces, 7, 2, 0x5010, "/b+10010");
    check_at(spaces, 7, 2, 0x8000, "-");
    check_at(spaces, 7, 2, 0x9000, "-");
    check_at(spaces, 7, 2, UINT64_MAX - 4, "-");
    check_at(spaces, 8, 2, 0x1000, "-");
    assert_int_equal(br2_spaces_view(spaces, 8, 2), BR2_VIEW_UNKNOWN);
    br2_spaces_free(spaces);
}

static void test_before_the_first_event(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(100, 7, 0x1000, 0x1000, "/a"));
    add(spaces, exec(200, 7));
    add(spaces, map(201, 7, 0x1000, 0x1000, "/b"));
    finished(spaces);
    check_at(spaces, 7, 1, 0x1000, "/a+10000");
    check_at(spaces, 7, 199, 0x1000, "/a+10000");
    check_at(spaces, 7, 200, 0x1000, "/b+10000");
    br2_spaces_free(spaces);
}

/* exec empties the address space. */
static void test_exec(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event named = exec(5, 7);
    named.exec = false; /* only a new name */
    add(spaces, map(1, 7, 0x1000, 0x1000, "/old"));
    add(spaces, map(1, 7, 0x5000, 0x1000, "/lib"));
    add(spaces, named);
    add(spaces, exec(10, 7));
    add(spaces, map(11, 7, 0x1000, 0x1000, "/new"));
    finished(spaces);
    check_at(spaces, 7, 6, 0x1000, "/old+10000");
    check_at(spaces, 7, 9, 0x5000, "/lib+10000");
    check_at(spaces, 7, 12, 0x1000, "/new+10000");
    check_at(spaces, 7, 12, 0x5000, "-");
    br2_spaces_free(spaces);
}

static void check_views_again(const struct br2_spaces *spaces, uint32_t first)
{
    struct br2_turn last = {0};
    static const br2_time times[] = {0, 9, 10, 9, 11, UINT64_MAX, 0};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint32_t view = br2_spaces_view_again(spaces, &last, 7, times[i]);
        assert_int_equal(view == first, times[i] < 10);
        view = br2_spaces_view_again(spaces, &last, 8, times[i]);
        assert_int_equal(view, BR2_VIEW_UNKNOWN);
        view = br2_spaces_view_again(spaces, &last, 8, times[i]);
        assert_int_equal(view, BR2_VIEW_UNKNOWN);
        view = br2_spaces_view_again(spaces, &last, 7, times[i]);
        assert_int_equal(view == first, times[i] < 10);
    }
}

/* A library loaded later fills a hole: no new view. Mapping over something makes one. */
static void test_views(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x3000, "/a"));
    add(spaces, map(5, 7, 0x8000, 0x1000, "/lib"));
    add(spaces, map(6, 7, 0x1000, 0x3000, "/a")); /* reported again */
    struct br2_task_event part = map(7, 7, 0x2000, 0x1000, "/a");
    part.file_offset = 0x11000; /* a part of it, again */
    add(spaces, part);
    add(spaces, map(10, 7, 0x2000, 0x1000, "/over"));
    finished(spaces);
    uint32_t first = br2_spaces_view(spaces, 7, 1);
    assert_int_equal(br2_spaces_view(spaces, 7, 5), first);
    assert_int_equal(br2_spaces_view(spaces, 7, 9), first);
    assert_int_not_equal(br2_spaces_view(spaces, 7, 10), first);
    /* The same for who remembers the last answer, in any order. */
    check_views_again(spaces, first);
    check_at(spaces, 7, 9, 0x2000, "/a+11000");
    check_at(spaces, 7, 10, 0x1fff, "/a+10fff");
    check_at(spaces, 7, 10, 0x2000, "/over+10000");
    check_at(spaces, 7, 10, 0x3000, "/a+12000");
    check_at(spaces, 7, 10, 0x3fff, "/a+12fff");
    check_at(spaces, 7, 10, 0x4000, "-");
    check_at(spaces, 7, 10, 0x8000, "/lib+10000");
    br2_spaces_free(spaces);
}

/* The same addresses with another offset in the same file are something else. */
static void test_another_offset(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event moved = map(5, 7, 0x1000, 0x1000, "/a");
    moved.file_offset = 0x20000;
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, moved);
    finished(spaces);
    check_at(spaces, 7, 4, 0x1004, "/a+10004");
    check_at(spaces, 7, 5, 0x1004, "/a+20004");
    br2_spaces_free(spaces);
}

/* How a new mapping cuts the one at [0x2000, 0x5000). */
static void test_overlaps(void **state)
{
    (void)state;
    static const struct {
        uint64_t start, length;
        const char *at[5]; /* at 0x1800, 0x2800, 0x3800, 0x4800, 0x5800 */
    } rows[] = {
        {0x1000, 0x1000, {"/n+10800", "/o+10800", "/o+11800", "/o+12800", "-"}},
        {0x1000, 0x2000, {"/n+10800", "/n+11800", "/o+11800", "/o+12800", "-"}},
        {0x2000, 0x1000, {"-", "/n+10800", "/o+11800", "/o+12800", "-"}},
        {0x3000, 0x1000, {"-", "/o+10800", "/n+10800", "/o+12800", "-"}},
        {0x4000, 0x1000, {"-", "/o+10800", "/o+11800", "/n+10800", "-"}},
        {0x4000, 0x2000, {"-", "/o+10800", "/o+11800", "/n+10800", "/n+11800"}},
        {0x2000, 0x3000, {"-", "/n+10800", "/n+11800", "/n+12800", "-"}},
        {0x1000, 0x5000, {"/n+10800", "/n+11800", "/n+12800", "/n+13800", "/n+14800"}},
        {0x5000, 0x1000, {"-", "/o+10800", "/o+11800", "/o+12800", "/n+10800"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_spaces *spaces = br2_spaces_new();
        add(spaces, map(1, 7, 0x2000, 0x3000, "/o"));
        add(spaces, map(2, 7, rows[i].start, rows[i].length, "/n"));
        finished(spaces);
        for (size_t k = 0; k < 5; k++) {
            check_at(spaces, 7, 2, 0x1800 + 0x1000 * k, rows[i].at[k]);
        }
        br2_spaces_free(spaces);
    }
}

/* A mapping over several takes all of them away. */
static void test_over_several(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, map(1, 7, 0x3000, 0x1000, "/b"));
    add(spaces, map(1, 7, 0x5000, 0x1000, "/c"));
    add(spaces, map(2, 7, 0x1800, 0x4000, "/n"));
    finished(spaces);
    check_at(spaces, 7, 1, 0x3000, "/b+10000");
    check_at(spaces, 7, 2, 0x17ff, "/a+107ff");
    check_at(spaces, 7, 2, 0x3000, "/n+11800");
    check_at(spaces, 7, 2, 0x57ff, "/n+13fff");
    check_at(spaces, 7, 2, 0x5800, "/c+10800");
    br2_spaces_free(spaces);
}

/* A child has what its parent had; what either maps later is its own. */
static void test_fork(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, fork_of(5, 7, 8));
    add(spaces, fork_of(6, 8, 9));
    add(spaces, map(10, 7, 0x3000, 0x1000, "/parent"));
    add(spaces, map(10, 8, 0x5000, 0x1000, "/child"));
    finished(spaces);
    assert_int_equal(br2_spaces_view(spaces, 8, 5), br2_spaces_view(spaces, 7, 5));
    for (int32_t pid = 7; pid <= 9; pid++) {
        check_at(spaces, pid, 11, 0x1000, "/a+10000");
        check_at(spaces, pid, 11, 0x3000, pid == 7 ? "/parent+10000" : "-");
        check_at(spaces, pid, 11, 0x5000, pid == 8 ? "/child+10000" : "-");
    }
    check_at(spaces, 7, 9, 0x3000, "-");
    br2_spaces_free(spaces);
}

static void test_fork_then_exec(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x1000, "/shell"));
    add(spaces, fork_of(5, 7, 8));
    add(spaces, exec(6, 8));
    add(spaces, map(7, 8, 0x1000, 0x1000, "/tool"));
    finished(spaces);
    check_at(spaces, 8, 5, 0x1000, "/shell+10000");
    check_at(spaces, 8, 7, 0x1000, "/tool+10000");
    check_at(spaces, 7, 7, 0x1000, "/shell+10000");
    br2_spaces_free(spaces);
}

/* A pid is used again: by a child of a known process, and of one that is not. */
static void test_pid_reuse(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event gone = {.kind = BR2_TASK_EXIT, .time = 4, .pid = 8};
    add(spaces, map(1, 7, 0x1000, 0x1000, "/parent"));
    add(spaces, map(1, 8, 0x1000, 0x1000, "/first"));
    add(spaces, gone);
    add(spaces, fork_of(5, 7, 8));
    add(spaces, fork_of(9, 77, 8));
    finished(spaces);
    check_at(spaces, 8, 3, 0x1000, "/first+10000");
    check_at(spaces, 8, 5, 0x1000, "/parent+10000");
    check_at(spaces, 8, 9, 0x1000, "-");
    check_at(spaces, 77, 9, 0x1000, "-");
    br2_spaces_free(spaces);
}

/* Per-CPU buffers are written one after the other. */
static void test_out_of_order(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(11, 8, 0x1000, 0x1000, "/new"));
    add(spaces, exec(10, 8));
    add(spaces, fork_of(5, 7, 8));
    add(spaces, map(1, 7, 0x1000, 0x1000, "/old"));
    finished(spaces);
    check_at(spaces, 8, 7, 0x1000, "/old+10000");
    check_at(spaces, 8, 12, 0x1000, "/new+10000");
    br2_spaces_free(spaces);
}

/* At one time, the order of the file decides. */
static void test_same_time(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    add(spaces, map(0, 7, 0x1000, 0x1000, "/old"));
    add(spaces, exec(0, 7));
    add(spaces, map(0, 7, 0x1000, 0x1000, "/new"));
    finished(spaces);
    check_at(spaces, 7, 0, 0x1000, "/new+10000");
    br2_spaces_free(spaces);
}

/* The kernel's addresses are the same in every process, known or not. */
static void test_kernel(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event module = map(1, 7, K + 0x100000, 0x1000, "[module]");
    module.kernel = true; /* by its cpumode, not by the pid */
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, map(1, BR2_PID_KERNEL, K, 0x1000, "[kernel]"));
    add(spaces, module);
    finished(spaces);
    check_at(spaces, 7, 2, K + 4, "[kernel]+10004");
    check_at(spaces, 99, 2, K + 4, "[kernel]+10004");
    check_at(spaces, 99, 2, K + 0x100004, "[module]+10004");
    check_at(spaces, 7, 2, K + 0x2000, "-");
    assert_non_null(br2_spaces_resolve(spaces, BR2_VIEW_KERNEL, K));
    br2_spaces_free(spaces);
}

static void add_path(void *user, const struct br2_mapping *mapping)
{
    uint64_t *sum = user;
    *sum += mapping->start;
}

static void test_each_mapping(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    uint64_t sum = 0;
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    add(spaces, map(1, 7, 0x20000, 0x1000, "/b"));
    add(spaces, map(1, 8, 0x300000, 0x1000, "/a"));
    finished(spaces);
    br2_spaces_each_mapping(spaces, 0, add_path, &sum);
    assert_int_equal(sum, 0x301000);
    br2_spaces_free(spaces);
}

static void test_many_processes(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    for (int32_t pid = 0; pid < 5000; pid++) {
        add(spaces, map(1, pid, 0x1000 * (uint64_t)(1 + pid), 0x1000, "/a"));
    }
    finished(spaces);
    for (int32_t pid = 0; pid < 5000; pid += 7) {
        check_at(spaces, pid, 1, 0x1000 * (uint64_t)(1 + pid), "/a+10000");
        check_at(spaces, pid, 1, 0x1000 * (uint64_t)(2 + pid), "-");
    }
    br2_spaces_free(spaces);
}

/* Mappings are limited however they come about: one by one, copied, or cut in two. */
static void test_limit(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        size_t limit; /* just enough: before each mapping, room for two */
    } rows[] = {{"one by one", 4}, {"copied", 6}, {"cut", 4}};
    for (size_t i = 0; i < 3; i++) {
        for (size_t less = 0; less < 2; less++) {
            struct br2pgo_error err = {0};
            struct br2_spaces *spaces = br2_spaces_new();
            br2_spaces_limit(spaces, rows[i].limit - less, 100);
            add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
            if (i != 2) {
                add(spaces, map(1, 7, 0x10000, 0x3000, "/b"));
            }
            if (i == 0) {
                add(spaces, map(1, 7, 0x3000, 0x1000, "/c"));
            } else if (i == 1) { /* the child's own view holds both and a third */
                add(spaces, fork_of(2, 7, 8));
                add(spaces, map(3, 8, 0x3000, 0x1000, "/c"));
            } else { /* a copy of one, then two parts and the new one */
                add(spaces, map(2, 7, 0x1400, 0x400, "/c"));
            }
            print_message("%s\n", rows[i].how);
            assert_int_equal(br2_spaces_finish(spaces, &err), less != 0 ? BR2PGO_LIMIT : 0);
            br2_spaces_free(spaces);
        }
    }
}

/* A copy alone can be too much. */
static void test_limit_of_copies(void **state)
{
    (void)state;
    for (size_t limit = 4; limit <= 8; limit += 4) {
        struct br2pgo_error err = {0};
        struct br2_spaces *spaces = br2_spaces_new();
        br2_spaces_limit(spaces, limit, 100);
        for (uint64_t i = 1; i <= 3; i++) {
            add(spaces, map(1, 7, 0x1000 * i, 0x1000, "/a"));
        }
        add(spaces, fork_of(2, 7, 8));
        add(spaces, map(3, 8, 0x8000, 0x1000, "/a"));
        assert_int_equal(br2_spaces_finish(spaces, &err), limit == 4 ? BR2PGO_LIMIT : 0);
        br2_spaces_free(spaces);
    }
}

/* Refused when they are added, not when all of them are in memory. */
static void test_limit_of_events(void **state)
{
    (void)state;
    struct br2pgo_error err = {0};
    struct br2_spaces *spaces = br2_spaces_new();
    br2_spaces_limit(spaces, 100, 4);
    add(spaces, map(1, 7, 0x1000, 0x1000, "/a"));
    for (br2_time time = 2; time < 1000; time++) { /* the same again is none */
        add(spaces, map(time, 7, 0x1000, 0x1000, "/a"));
    }
    add(spaces, map(1, 8, 0x1000, 0x1000, "/a"));
    add(spaces, map(1, 7, 0x1000, 0x1000, "/b"));
    add(spaces, map(2, 7, 0x1000, 0x1000, "/a"));
    struct br2_task_event more = fork_of(3, 7, 9);
    assert_int_equal(br2_spaces_add(spaces, &more, &err), BR2PGO_LIMIT);
    assert_string_equal(err.message, "more than 4 mappings, forks and executions");
    assert_true(err.hint[0] != '\0');
    finished(spaces);
    check_at(spaces, 7, 1, 0x1000, "/b+10000");
    check_at(spaces, 7, 2, 0x1000, "/a+10000");
    check_at(spaces, 8, 2, 0x1000, "/a+10000");
    br2_spaces_free(spaces);
}

/* Names a file may bring along: 4 KiB each, without end. */
static void test_limit_of_names(void **state)
{
    (void)state;
    static char name[1 << 20];
    memset(name, 'x', sizeof name - 1);
    name[0] = '/';
    struct br2pgo_error err = {0};
    struct br2_spaces *spaces = br2_spaces_new();
    int rc = 0;
    int added = 0;
    for (; rc == 0 && added < 1000; added++) {
        name[1] = (char)('a' + added % 26);
        name[2] = (char)('a' + added / 26);
        struct br2_task_event event = map(1, 7, 0x1000, 0x1000, name);
        rc = br2_spaces_add(spaces, &event, &err);
    }
    assert_int_equal(rc, BR2PGO_LIMIT);
    assert_int_equal(added, 128);
    br2_spaces_free(spaces);
}

/* Memory that is no file means the same before and after it is mapped anew: no view is copied. */
static void test_remapped_memory(void **state)
{
    (void)state;
    struct br2_spaces *spaces = br2_spaces_new();
    br2_spaces_limit(spaces, 20, 5000);
    for (uint64_t i = 1; i <= 10; i++) {
        add(spaces, map(1, 7, 0x10000 * i, 0x1000, "/a"));
    }
    for (br2_time time = 10; time < 1000; time++) {
        add(spaces, map(time, 7, 0x8000, 0x1000 * (1 + time % 2), "//anon"));
    }
    finished(spaces);
    assert_int_equal(br2_spaces_view(spaces, 7, 1), br2_spaces_view(spaces, 7, 1000));
    check_at(spaces, 7, 1000, 0x20000, "/a+10000");
    br2_spaces_free(spaces);

    /* A file over it is another matter; where it is mapped over a file, that stays. */
    spaces = br2_spaces_new();
    add(spaces, map(1, 7, 0x1000, 0x1000, "//anon"));
    add(spaces, map(1, 7, 0x2000, 0x1000, "/a"));
    add(spaces, map(1, 7, 0x4000, 0x1000, "/c"));
    add(spaces, map(5, 7, 0x1000, 0x6000, "//anon"));
    add(spaces, map(9, 7, 0x1000, 0x1000, "/b"));
    finished(spaces);
    check_at(spaces, 7, 4, 0x2000, "/a+10000");
    check_at(spaces, 7, 5, 0x2fff, "/a+10fff");
    check_at(spaces, 7, 5, 0x3000, "//anon+12000");
    check_at(spaces, 7, 5, 0x4800, "/c+10800");
    check_at(spaces, 7, 5, 0x5000, "//anon+14000");
    check_at(spaces, 7, 8, 0x1000, "//anon+10000");
    check_at(spaces, 7, 9, 0x1000, "/b+10000");
    br2_spaces_free(spaces);
}

static void test_without_memory(void **state)
{
    (void)state;
    int rc = BR2PGO_NO_MEMORY;
    for (size_t nth = 1; rc == BR2PGO_NO_MEMORY && nth < 100; nth++) {
        const struct br2_task_event events[] = {map(1, 7, 0x1000, 0x1000, "/a"),
                                                map(2, 7, 0x1000, 0x1000, "/b"),
                                                fork_of(3, 7, 8),
                                                map(4, 8, 0x4000, 0x1000, "/c"),
                                                exec(5, 7),
                                                map(6, -1, K, 0x1000, "[kernel]")};
        struct br2_spaces *spaces = br2_spaces_new();
        br2_mem_fail_at(nth);
        rc = 0;
        for (size_t i = 0; rc == 0 && i < 6; i++) {
            struct br2_task_event event = events[i];
            event.name = event.name != NULL ? event.name : "";
            rc = br2_spaces_add(spaces, &event, NULL);
        }
        rc = rc != 0 ? rc : br2_spaces_finish(spaces, NULL);
        br2_mem_fail_at(0);
        assert_true(rc != 0 || nth > 10);
        br2_spaces_free(spaces);
    }
    assert_int_equal(rc, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_before_the_first_event),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_another_offset),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_over_several),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_then_exec),
        cmocka_unit_test(test_pid_reuse),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_same_time),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_each_mapping),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_of_copies),
        cmocka_unit_test(test_limit_of_events),
        cmocka_unit_test(test_limit_of_names),
        cmocka_unit_test(test_remapped_memory),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
