/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* edges.c: counts of areas become the rows of an edge table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/edges.h"

/* Two files: app at 0x500000 (link time 0x1000), lib at 0x700000 (link time 0). */
static struct br2_area *make_area(uint64_t app)
{
    struct br2_area *area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(area != MAP_FAILED);
    area->header.file_count = 3;
    area->files[1] = (struct br2_area_file){
        .start = app, .end = app + 0x1000, .bias = app - 0x1000, .path = "/bin/app"};
    area->files[2] = (struct br2_area_file){
        .start = 0x700000, .end = 0x701000, .bias = 0x700000, .path = "/lib/lib"};
    area->header.block_count = 5;
    area->blocks[1] = (struct br2_block){.last = app + 0x10,
                                         .next = app + 0x12,
                                         .target = app + 0x20,
                                         .file = 1,
                                         .kind = BR2_BLOCK_COND};
    area->blocks[2] = (struct br2_block){
        .last = app + 0x30, .next = app + 0x36, .file = 1, .kind = BR2_BLOCK_INDIRECT_JUMP};
    area->blocks[3] =
        (struct br2_block){.last = 0x700080, .next = 0x700081, .file = 2, .kind = BR2_BLOCK_RETURN};
    area->blocks[4] = (struct br2_block){
        .last = 0x900000, .target = 0x900000, .file = 0, .kind = BR2_BLOCK_JUMP}; /* of no file */
    area->counts[0][1] = (struct br2_block_counts){.passed = 3, .taken = 1, .missed = 1};
    area->counts[0][2] = (struct br2_block_counts){.taken = 6, .missed = 2, .state = app + 0x40};
    area->counts[0][3] = (struct br2_block_counts){.taken = 5, .state = app + 0x40};
    area->counts[0][4] = (struct br2_block_counts){.taken = 9};
    area->edges[0].capacity = 256;
    area->edges[0].slots[7] =
        (struct br2_indirect_edge){.block = 2, .to = 0x700010, .taken = 2, .missed = 2};
    area->edges[0].slots[8] = (struct br2_indirect_edge){.block = UINT32_MAX, .to = 1, .taken = 1};
    return area;
}

static const char *name_of(void *user, const char *image, uint64_t address)
{
    (void)user;
    assert_non_null(strchr(image, '/'));
    return address < 0x1000 ? "f,1" : "main";
}

static char *write_table(const struct br2_exact_edges *edges)
{
    char name[] = "/tmp/br2pgo-test-XXXXXX";
    int fd = mkstemp(name);
    struct br2_output out;
    struct br2_file file;
    assert_int_equal(br2_output_open(&out, name, NULL), 0);
    assert_int_equal(br2_exact_edges_write(edges, name_of, NULL, &out, NULL), 0);
    assert_int_equal(br2_output_commit(&out, NULL), 0);
    assert_int_equal(br2_file_open(&file, name, NULL, NULL), 0);
    char *text = strndup((const char *)file.bytes, file.size);
    br2_file_close(&file);
    close(fd);
    unlink(name);
    return text;
}

/* The same code at two places adds up; what leads from file to file is a row of both. */
static void test_rows(void **state)
{
    struct br2_exact_edges edges = {0};
    (void)state;
    for (uint64_t app = 0x500000; app <= 0x600000; app += 0x100000) {
        struct br2_area *area = make_area(app);
        assert_int_equal(br2_exact_edges_add_thread(&edges, area, 0, NULL), 0);
        munmap(area, sizeof *area);
    }
    char *text = write_table(&edges);
    assert_string_equal(text,
                        "image,function,from,to,kind,count,mispredicted,probability,outcomes\n"
                        "app,,,0x1040,return,10,0,,\n"
                        "app,main,0x1010,0x1020,cond,2,2,0.25,8\n"
                        "app,main,0x1010,0x1012,fallthrough,6,,0.75,8\n"
                        "app,main,0x1030,,ijump,4,4,0.25,16\n"
                        "app,main,0x1030,0x1040,ijump,12,4,0.75,16\n"
                        "lib,,,0x10,ijump,4,4,,\n"
                        "lib,\"f,1\",0x80,,return,10,0,1,10\n");
    free(text);
    br2_exact_edges_done(&edges);
}

/* Whatever a program wrote over its area. */
static void test_damage(void **state)
{
    struct br2_exact_edges edges = {0};
    struct br2_area *area = make_area(0x500000);
    (void)state;
    area->header.block_count = UINT32_MAX;
    area->header.file_count = UINT32_MAX;
    area->edges[0].capacity = UINT32_MAX;
    memset(area->files[1].path, 'x', sizeof area->files[1].path);
    area->blocks[3].file = UINT16_MAX;
    area->blocks[2].kind = 200;
    assert_int_equal(br2_exact_edges_add_thread(&edges, area, 0, NULL), 0);
    char *text = write_table(&edges);
    assert_string_equal(text,
                        "image,function,from,to,kind,count,mispredicted,probability,outcomes\n");
    free(text);
    br2_exact_edges_done(&edges);
    munmap(area, sizeof *area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
