/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dso.c: which mappings are of the same file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "process/dso.h"

static struct br2_task_event event_of(const char *name)
{
    return (struct br2_task_event){.kind = BR2_TASK_MMAP, .name = name};
}

static struct br2_build_id id_of(const char *bytes, uint8_t size)
{
    struct br2_build_id id = {.size = size};
    memcpy(id.bytes, bytes, size);
    return id;
}

static void test_identity(void **state)
{
    (void)state;
    struct br2_dsos dsos = {0};
    struct br2_task_event base = event_of("/bin/a");
    base.device_major = 8;
    base.inode = 100;
    assert_int_equal(br2_dsos_add(&dsos, &base), 0);
    assert_int_equal(br2_dsos_add(&dsos, &base), 0);
    struct br2_task_event variants[8];
    for (size_t i = 0; i < 8; i++) {
        variants[i] = base;
    }
    variants[0].name = "/bin/b";
    variants[1].device_major = 9;
    variants[2].device_minor = 1;
    variants[3].inode = 101;
    variants[4].inode_generation = 1;
    variants[5].kernel = true;
    variants[6].build_id = id_of("\1\2", 2);
    variants[7].build_id = id_of("\1\3", 2);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(br2_dsos_add(&dsos, &variants[i]), i + 1);
    }
    /* What does not make another file: where it is mapped, and when. */
    base.address = 0x1000;
    base.file_offset = 0x2000;
    base.pid = 9;
    base.time = 5;
    assert_int_equal(br2_dsos_add(&dsos, &base), 0);
    assert_int_equal(dsos.count, 9);
    br2_dsos_done(&dsos);
}

/* The same build-id is the same file, whatever its name and inode; the first name is kept. */
static void test_build_id_decides(void **state)
{
    (void)state;
    struct br2_dsos dsos = {0};
    struct br2_task_event a = event_of("/bin/a");
    struct br2_task_event b = event_of("/container/bin/a");
    a.build_id = b.build_id = id_of("\1\2\3\4", 4);
    a.inode = 1;
    b.inode = 2;
    memset(b.build_id.bytes + 4, 0xee, 16); /* beyond its size: means nothing */
    assert_int_equal(br2_dsos_add(&dsos, &a), 0);
    assert_int_equal(br2_dsos_add(&dsos, &b), 0);
    assert_string_equal(dsos.items[0].path, "/bin/a");
    assert_int_equal(dsos.items[0].inode, 1);
    assert_int_equal(dsos.items[0].build_id.size, 4);
    br2_dsos_done(&dsos);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *path;
        bool deleted;
        bool file;
    } rows[] = {
        {"/bin/a", "/bin/a", false, true},
        {"/bin/b (deleted)", "/bin/b", true, true},
        {"/bin/c (deleted) (deleted)", "/bin/c (deleted)", true, true},
        {"/bin/d (deleted)x", "/bin/d (deleted)x", false, true},
        {" (deleted)", " (deleted)", false, false},
        {"", "", false, false},
        {"[vdso]", "[vdso]", false, false},
        {"//anon", "//anon", false, false},
        {"/dev/zero (deleted)", "/dev/zero", true, false},
        {"/SYSV00000000 (deleted)", "/SYSV00000000", true, false},
        {"/memfd:jit (deleted)", "/memfd:jit", true, false},
        {"/anon_hugepage (deleted)", "/anon_hugepage", true, false},
        {"/dev/hugepages/libhugetlbfs.tmp.u7 (deleted)", "/dev/hugepages/libhugetlbfs.tmp.u7", true,
         false},
        {"/dev/hugepages", "/dev/hugepages", false, true},
        {"/any", "/any", false, true},
        {"inode", "inode", false, false},
    };
    struct br2_dsos dsos = {0};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct br2_task_event event = event_of(rows[i].name);
        print_message("'%s'\n", rows[i].name);
        assert_int_equal(br2_dsos_add(&dsos, &event), i);
        assert_string_equal(dsos.items[i].path, rows[i].path);
        assert_int_equal(dsos.items[i].deleted, rows[i].deleted);
        assert_int_equal(dsos.items[i].file, rows[i].file);
    }
    br2_dsos_done(&dsos);
}

static void test_table(void **state)
{
    (void)state;
    struct br2_dsos dsos = {0};
    struct br2_task_event events[] = {event_of("/bin/a"), event_of("/bin/b (deleted)"),
                                      event_of("/bin/c"), event_of("/bin/d")};
    events[2].build_id = id_of("\7", 1);
    for (size_t i = 0; i < 4; i++) {
        br2_dsos_add(&dsos, &events[i]);
    }
    const struct br2_recorded_image images[] = {
        {.path = "/bin/a (deleted)", .build_id = id_of("\1", 1)},
        {.path = "/bin/b", .build_id = id_of("\2", 1)},
        {.path = "/bin/c", .build_id = id_of("\3", 1)},
        {.path = "/bin", .build_id = id_of("\4", 1)},
        {.path = "/bin/a", .build_id = id_of("\5", 1)},
    };
    assert_int_equal(br2_dsos_apply_table(&dsos, images, 5, NULL), 0);
    assert_int_equal(dsos.items[0].build_id.bytes[0], 1);
    assert_int_equal(dsos.items[1].build_id.bytes[0], 2);
    assert_int_equal(dsos.items[2].build_id.bytes[0], 7);
    assert_int_equal(dsos.items[3].build_id.size, 0);
    br2_dsos_done(&dsos);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_task_event event = event_of("/bin/a");
    uint32_t number = BR2_NO_DSO;
    for (size_t nth = 1; number == BR2_NO_DSO && nth < 20; nth++) {
        struct br2_dsos dsos = {0};
        br2_mem_fail_at(nth);
        number = br2_dsos_add(&dsos, &event);
        br2_mem_fail_at(0);
        assert_true(nth > 3 || number == BR2_NO_DSO);
        br2_dsos_done(&dsos);
    }
    assert_int_equal(number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),       cmocka_unit_test(test_build_id_decides),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_table),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
