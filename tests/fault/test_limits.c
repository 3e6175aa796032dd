/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The limits of base/limits.h that no test of one part looks at, through the whole library: at the
 * limit all is well, beyond it there is an error line, or the one thing is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tests/fault/outcome.h"

static struct br2pgo_error error;

/* Any budget gives the whole profile or an error that names it; never more than the budget is
 * taken of what can be refused. */
static void test_memory(void **state)
{
    (void)state;
    char *wanted = NULL;
    size_t used = br2_mem_used();
    size_t failures = 0;
    size_t room = 8 * 1024; /* a limit of 0 would be none */
    assert_int_equal(try("perf.data", "app", "no limit"), 0);
    for (int rc = -1; rc != 0 && room < (size_t)64 * 1024 * 1024; room += 8 * 1024) {
        br2pgo_set_max_memory(used + room);
        memset(&error, 0, sizeof error);
        struct br2pgo_conversion *conversion = NULL;
        rc = br2pgo_open(NULL, &conversion, &error);
        rc = rc != 0 ? rc : br2pgo_add_recording(conversion, "perf.data", &error);
        rc = rc != 0 ? rc : br2pgo_set_image(conversion, "app", &error);
        rc = rc != 0 ? rc : br2pgo_add_output(conversion, outputs[0], NULL, &error);
        rc = rc != 0 ? rc : br2pgo_run(conversion, &error);
        rc = rc != 0 ? rc : br2pgo_write(conversion, &error);
        br2pgo_close(conversion);
        wanted = fixture_load(outputs[0], NULL);
        assert_true(rc == 0 ? wanted != NULL : wanted == NULL);
        if (rc != 0) {
            failures++;
            assert_int_equal(rc, BR2PGO_NO_MEMORY);
            assert_non_null(strstr(error.message, "more memory is needed than the "));
            assert_non_null(strstr(error.hint, "--max-memory"));
        }
    }
    br2pgo_set_max_memory(0);
    assert_in_range(failures, 3, 5000);
    assert_non_null(wanted);
    assert_non_null(strstr(wanted, "work:"));
    free(wanted);
    unlink(outputs[0]);
}

static char *inspect(const char *path, int *ret_rc)
{
    char *text = NULL;
    memset(&error, 0, sizeof error);
    *ret_rc = br2pgo_inspect(path, 0, &text, &error);
    return text;
}

static void test_script_events(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct br2_buf text = {0};
        for (int i = 0; i < BR2_SCRIPT_EVENTS_MAX + more; i++) {
            br2_buf_printf(&text, "a 7 1.%06d: event%d: 0x401000/0x401010/P/-/-/1\n", i, i);
        }
        fixture_save("events.txt", text.bytes, text.size);
        br2_buf_done(&text);
        int rc;
        char *said = inspect("events.txt", &rc);
        assert_int_equal(rc, more ? BR2PGO_LIMIT : 0);
        assert_true(more ? strstr(error.message, "more than 256 events") != NULL
                         : strstr(said, "event255") != NULL);
        br2pgo_free(said);
    }
}

static void test_script_records(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct br2_buf text = {0};
        br2_buf_printf(&text, "a 7 1.0: cycles: 0x401000/0x401010/P/-/-/1\na 7 1.1: cycles:");
        for (int i = 0; i < BR2_SCRIPT_RECORDS_MAX + more; i++) {
            br2_buf_printf(&text, " 0x401000/0x401010/P/-/-/1");
        }
        br2_buf_printf(&text, "\n");
        fixture_save("records.txt", text.bytes, text.size);
        br2_buf_done(&text);
        int rc;
        char *said = inspect("records.txt", &rc);
        assert_int_equal(rc, 0);
        assert_non_null(strstr(said, more ? " 1 records in " : " 4097 records in 2 samples"));
        br2pgo_free(said);
    }
}

/* A text profile whose inlined functions are nested `depth` deep. */
static int show_nested(int depth)
{
    struct br2_buf text = {0};
    br2_buf_printf(&text, "main:1:1\n");
    for (int i = 1; i <= depth; i++) {
        br2_buf_printf(&text, "%*s1: f%d:1\n", i, "", i);
    }
    br2_buf_printf(&text, "%*s1: 1\n", depth + 1, "");
    fixture_save("deep.textprof", text.bytes, text.size);
    br2_buf_done(&text);
    char *said = NULL;
    memset(&error, 0, sizeof error);
    int rc = br2pgo_show("deep.textprof", NULL, &said, &error);
    assert_true(rc != 0 || strstr(said, ": f250:1") != NULL);
    br2pgo_free(said);
    return rc;
}

static void test_nested_profile(void **state)
{
    (void)state;
    assert_int_equal(show_nested(BR2_PROFILE_DEPTH_MAX - 1), 0);
    assert_int_equal(show_nested(BR2_PROFILE_DEPTH_MAX + 1), BR2PGO_CORRUPT);
    assert_non_null(strstr(error.message, "nested too deep"));
}

/* What says of itself that it needs more memory than it is worth. */
static void test_windows(void **state)
{
    (void)state;
    static const char zstd[] = "\x28\xb5\x2f\xfd\0\x90\x01\0\0"; /* a window of 256 MiB */
    int rc;
    fixture_save("wide.zst", zstd, sizeof zstd - 1);
    assert_null(inspect("wide.zst", &rc));
    assert_int_equal(rc, BR2PGO_LIMIT);
    assert_non_null(strstr(error.message, "128 MiB"));
    fixture_shell("python3 -c \"\n"
                  "import lzma, zlib\n"
                  "b = bytearray(lzma.compress(open('perf.data', 'rb').read()))\n"
                  "assert b[14:16] == b'!\\1'\n"
                  "b[16] = 38  # the dictionary: 2 GiB\n"
                  "end = 12 + 4 * (b[12] + 1)\n"
                  "b[end - 4:end] = zlib.crc32(b[12:end - 4]).to_bytes(4, 'little')\n"
                  "open('wide.xz', 'wb').write(b)\"");
    assert_null(inspect("wide.xz", &rc));
    assert_int_equal(rc, BR2PGO_LIMIT);
    assert_non_null(strstr(error.message, "512 MiB"));
}

/* A "function" of 17 MiB is not decoded; what is beside it is. */
static void test_long_range(void **state)
{
    (void)state;
    fixture_shell("printf '.globl _start\\n.type _start, @function\\n_start: jmp _start\\n"
                  ".size _start, 2\\n.balign 16\\n.type long, @function\\n"
                  "long: .skip 0x1100000\\njmp long\\n.size long, .-long\\n' >long.s &&"
                  "cc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,-z,noseparate-code "
                  "-Wl,--build-id=0x10 long.s -o long");
    fixture_recording("long.data", FIXTURE_EVENT
                      "mmap2 pid=7 addr=0x400000 len=0x1200000 off=0 buildid=10 name=/long\n"
                      "sample pid=7 : 0x401000/0x401000/P/-/-/1 0x401000/0x401000/P/-/-/1 "
                      "0x1501010/0x401010/P/-/-/1\n");
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "long.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "long", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, outputs[1], NULL, &error), 0);
    assert_int_equal(br2pgo_run(conversion, &error), 0);
    const struct br2pgo_funnel_row *rows;
    uint64_t lost = 0;
    for (size_t count = br2pgo_funnel(conversion, &rows), i = 0; i < count; i++) {
        bool records = strcmp(rows[i].stage, "branch records") == 0;
        lost += records && strcmp(rows[i].reason, "in no known function") == 0 ? rows[i].count : 0;
    }
    assert_int_equal(lost, 1);
    br2pgo_close(conversion);
}

/* A name of 70000 letters is no name. */
static void test_long_name(void **state)
{
    (void)state;
    fixture_shell("f=$(head -c 70000 /dev/zero | tr '\\0' f); "
                  "printf '.globl _start\\n.type _start, @function\\n_start: jmp _start\\n"
                  ".size _start, 2\\n.type %s, @function\\n%s: jmp %s\\n.size %s, 2\\n' "
                  "$f $f $f $f >name.s &&"
                  "cc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,-z,noseparate-code "
                  "-Wl,--build-id=0x11 name.s -o name");
    fixture_recording("name.data", FIXTURE_EVENT
                      "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 buildid=11 name=/name\n"
                      "sample pid=7 : 0x401000/0x401000/P/-/-/1 0x401002/0x401002/P/-/-/1\n");
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "name.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "name", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, outputs[1], NULL, &error), 0);
    assert_int_equal(br2pgo_run(conversion, &error), 0);
    assert_int_equal(br2pgo_write(conversion, &error), 0);
    br2pgo_close(conversion);
    char *text = fixture_load(outputs[1], NULL);
    assert_non_null(strstr(text, "name,_start,0x401000,0x401000,jump,1,"));
    assert_null(strstr(text, "ffff"));
    free(text);
    unlink(outputs[1]);
}

static unsigned long address_in(const char *path)
{
    char *text = fixture_load(path, NULL);
    assert_non_null(text);
    unsigned long address = strtoul(text, NULL, 16);
    free(text);
    return address;
}

/* Lexical blocks, each in the one before it: beyond the limit the unit's debug information is not
 * believed. */
static int convert_nested(int depth)
{
    struct br2_buf text = {0};
    br2_buf_printf(&text, "volatile int v;\nvoid _start(void) { again:\n");
    for (int i = 0; i < depth; i++) {
        br2_buf_printf(&text, "{ int a%d = v;\n", i);
    }
    br2_buf_printf(&text, "goto again;\n");
    for (int i = depth - 1; i >= 0; i--) {
        br2_buf_printf(&text, "v = a%d; }\n", i);
    }
    br2_buf_printf(&text, "}\n");
    fixture_save("nested.c", text.bytes, text.size);
    br2_buf_done(&text);
    fixture_shell("gcc -g -O0 -ffreestanding -fcf-protection=none -nostdlib -static -no-pie "
                  "-Wl,-Ttext=0x401000 -Wl,-z,noseparate-code -Wl,--build-id=0x12 nested.c "
                  "-o nested && objdump -d nested | sed -n 's/^ *\\([0-9a-f]*\\):.*jmp .*/\\1/p' "
                  ">jump && objdump -d nested | sed -n 's/.*jmp  *\\([0-9a-f]*\\) .*/\\1/p' >to");
    unsigned long jump = address_in("jump");
    unsigned long to = address_in("to");
    char recording[512];
    snprintf(recording, sizeof recording,
             FIXTURE_EVENT "mmap2 pid=7 addr=0x400000 len=0x9000 off=0 buildid=12 name=/nested\n"
                           "sample pid=7 : 0x%lx/0x%lx/P/-/-/1 0x%lx/0x%lx/P/-/-/1\n",
             jump, to, jump, to);
    fixture_recording("nested.data", recording);
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, "nested.data", &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, "nested", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, outputs[0], NULL, &error), 0);
    int rc = br2pgo_run(conversion, &error);
    br2pgo_close(conversion);
    return rc;
}

static void test_nested_debug_information(void **state)
{
    (void)state;
    /* Unit, function and variable are levels too. */
    assert_int_equal(convert_nested(BR2_DIE_DEPTH_MAX - 4), 0);
    assert_int_equal(convert_nested(BR2_DIE_DEPTH_MAX + 4), BR2PGO_USELESS);
}

static void test_parts(void **state)
{
    (void)state;
    fixture_recording("parts.data", FIXTURE_EVENT "part 0\n"
                                                  "sample pid=7 : " FIXTURE_HISTORY "end\n"
                                                  "part 1\n"
                                                  "sample pid=7 : " FIXTURE_HISTORY "end\n");
    static const struct {
        const char *name;
        const char *said;
    } rows[] = {{"parts.data/data.16383", " 12 records in 2 samples"},
                {"parts.data/data.16384", " 6 records in 1 samples"}};
    const char *before = "parts.data/data.1";
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rename(before, rows[i].name), 0);
        before = rows[i].name;
        int rc;
        char *said = inspect("parts.data", &rc);
        assert_int_equal(rc, 0);
        if (strstr(said, rows[i].said) == NULL) {
            fail_msg("%s: %s", rows[i].name, said);
        }
        br2pgo_free(said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_script_events),
        cmocka_unit_test(test_script_records), cmocka_unit_test(test_nested_profile),
        cmocka_unit_test(test_windows),        cmocka_unit_test(test_long_range),
        cmocka_unit_test(test_long_name),      cmocka_unit_test(test_nested_debug_information),
        cmocka_unit_test(test_parts),
    };
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 0); /* where bringing a file to the disk takes no time */
    }
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
