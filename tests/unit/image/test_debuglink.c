/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* image_debuglink.c: where a separate debug file is found, and that a wrong one is not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "elf_builder.h"
#include "image/debug.h"
#include "image/image.h"

static uint8_t nops[0x100];
static char folder[128];
static uint32_t id_size = 4; /* of build-ids; beyond 4 bytes they are padded */

/* A program or, with `debug`, its debug file: the build-id `id` (0: none), the text at `address`.
 */
static struct br2_buf make(bool debug, uint8_t id, uint64_t address, const void *link,
                           size_t link_size)
{
    struct eb eb = eb_new(ET_DYN, EM_X86_64);
    struct br2_buf file = {0};
    uint8_t bytes[BR2_BUILD_ID_MAX] = {id, 0x22, 0x33, 0x44};
    eb_text(&eb, ".text", address, nops, sizeof nops);
    if (id != 0) {
        struct br2_buf notes = {0};
        eb_note(&notes, "GNU", NT_GNU_BUILD_ID, bytes, id_size);
        eb_add(&eb, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x200, notes.bytes, notes.size);
        br2_buf_done(&notes);
    }
    if (debug) {
        eb_add(&eb, ".debug_info", SHT_PROGBITS, 0, 0, "x", 1);
    }
    if (link != NULL) {
        eb_add(&eb, ".gnu_debuglink", SHT_PROGBITS, 0, 0, link, link_size);
    }
    eb_finish(&eb, &file);
    return file;
}

static const char *at(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void save(const char *name, struct br2_buf file)
{
    eb_save(at(name), file.bytes, file.size);
    br2_buf_done(&file);
}

/* Checks what is found for the file `program`; NULL: nothing. */
static void check_found(const char *name)
{
    struct br2_image *image;
    assert_int_equal(br2_image_open(at("program"), &image, NULL), 0);
    const char *path = br2_image_debug_file(image, folder);
    if (name == NULL) {
        assert_null(path);
    } else {
        assert_non_null(path);
        assert_string_equal(path, at(name));
    }
    br2_image_close(image);
}

static void make_folders(const char *path)
{
    char partial[256];
    snprintf(partial, sizeof partial, "%s", at(path));
    for (char *slash = partial + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL;
         *slash++ = '/') {
        *slash = '\0';
        mkdir(partial, 0700);
    }
    mkdir(partial, 0700);
}

static void test_build_id_folder(void **state)
{
    (void)state;
    static const char name[] = "usr/lib/debug/.build-id/ab/223344.debug";
    make_folders("usr/lib/debug/.build-id/ab");
    save("program", make(false, 0xab, 0x1000, NULL, 0));
    check_found(NULL);
    save(name, make(true, 0xab, 0x1000, NULL, 0));
    check_found(name);
    id_size = BR2_BUILD_ID_MAX;
    save(name, make(true, 0xab, 0x1000, NULL, 0));
    id_size = 4;
    check_found(name);
    save(name, make(true, 0xac, 0x1000, NULL, 0));
    check_found(NULL); /* of another build */
    save(name, make(false, 0xab, 0x1000, NULL, 0));
    check_found(NULL); /* without debug information */
    save(name, make(true, 0xab, 0x1010, NULL, 0));
    check_found(NULL); /* laid out otherwise */
    unlink(at(name));
}

static void test_link(void **state)
{
    (void)state;
    /* The checksum of the nine bytes "123456789" is the known 0xcbf43926: any other file is
     * refused. */
    static const uint8_t link[] = "prog.dbg\0\0\0\0\x26\x39\xf4\xcb";
    save("program", make(false, 0xab, 0x1000, link, 16));
    save("prog.dbg", make(true, 0xab, 0x1000, NULL, 0));
    check_found("prog.dbg");
    save("prog.dbg", make(true, 0, 0x1000, NULL, 0));
    check_found(NULL); /* no build-id there: the checksum decides */
    unlink(at("prog.dbg"));
    make_folders(".debug");
    save(".debug/prog.dbg", make(true, 0xab, 0x1000, NULL, 0));
    check_found(".debug/prog.dbg");
    unlink(at(".debug/prog.dbg"));
    save("usr/lib/debug/prog.dbg", make(true, 0xab, 0x1000, NULL, 0));
    check_found("usr/lib/debug/prog.dbg");
    unlink(at("usr/lib/debug/prog.dbg"));
}

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (UINT32_C(0xedb88320) & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

static void rename_to(const char *old, const char *new)
{
    char path[256];
    snprintf(path, sizeof path, "%s", at(old));
    assert_int_equal(rename(path, at(new)), 0);
}

static void test_checksum(void **state)
{
    (void)state;
    struct br2_buf debug = make(true, 0, 0x1000, NULL, 0);
    uint32_t crc = crc_of(debug.bytes, debug.size);
    uint8_t link[8] = {'d',
                       '.',
                       'b',
                       0,
                       (uint8_t)crc,
                       (uint8_t)(crc >> 8),
                       (uint8_t)(crc >> 16),
                       (uint8_t)(crc >> 24)};
    save("d.b", debug);
    save("program", make(false, 0, 0x1000, link, sizeof link));
    check_found("d.b");
    rename_to("d.b", "d");
    memcpy(link, "./d", 4); /* not a file's name */
    save("program", make(false, 0, 0x1000, link, sizeof link));
    check_found(NULL);
    memcpy(link, "d\0\0", 4);
    link[4] ^= 1;
    save("program", make(false, 0, 0x1000, link, sizeof link));
    check_found(NULL);
    unlink(at("d"));
}

static void test_given_file(void **state)
{
    (void)state;
    struct br2_image *image;
    struct br2_debug *debug;
    struct br2pgo_error err = {0};
    save("program", make(false, 0xab, 0x1000, NULL, 0));
    save("other.dbg", make(true, 0xac, 0x1000, NULL, 0));
    assert_int_equal(br2_image_open(at("program"), &image, NULL), 0);
    assert_int_equal(br2_debug_open(image, at("other.dbg"), NULL, &debug, &err), BR2PGO_USELESS);
    assert_non_null(strstr(err.message, "build-id"));
    id_size = BR2_BUILD_ID_MAX;
    save("other.dbg", make(true, 0xab, 0x1000, NULL, 0)); /* of this build, but padded */
    id_size = 4;
    assert_int_equal(br2_debug_open(image, at("other.dbg"), NULL, &debug, NULL), 0);
    br2_debug_close(debug);
    br2_image_close(image);
    unlink(at("other.dbg"));
}

static int remove_all(void **state)
{
    (void)state;
    static const char *const names[] = {"usr/lib/debug/.build-id/ab",
                                        "usr/lib/debug/.build-id",
                                        "usr/lib/debug",
                                        "usr/lib",
                                        "usr",
                                        ".debug"};
    unlink(at("program"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rmdir(at(names[i]));
    }
    return rmdir(folder);
}

static int make_folder(void **state)
{
    (void)state;
    eb_folder(folder, sizeof folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_id_folder),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_given_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_all);
}
