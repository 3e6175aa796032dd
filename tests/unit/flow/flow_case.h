/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For the tests of src/flow: a small program, assembled when the test runs, mapped into a process,
 * and histories of branch records that are counted, folded and held against its code. */
#ifndef BR2_TESTS_UNIT_FLOW_FLOW_CASE_H
#define BR2_TESTS_UNIT_FLOW_FLOW_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/flow_graph.h"

#define FC_PID        7
#define FC_OTHER      UINT64_C(0x10000000)         /* where the other image lies */
#define FC_KERNEL     UINT64_C(0xffffffff81000000) /* mapped */
#define FC_NO_KERNEL  UINT64_C(0xffffffffc0000000) /* not mapped */
#define FC_NOWHERE    UINT64_C(0x7000)             /* in no mapping */
#define FC_TWICE      UINT64_C(0x20000000)         /* the image again, only FC_TWICE_SIZE of it */
#define FC_TWICE_SIZE UINT64_C(0x1014)

struct flow_case {
    char path[64]; /* of the image */
    struct br2_image *image;
    struct br2_spaces *spaces;
    struct br2_live_traces traces;
    struct br2_live_traces timings;
    struct br2_counting counting;
    struct br2_folded folded;
    bool is_image[8];
    struct br2_flow_graph *graph; /* NULL until fc_build */
};

/* The file that `cc` links from the assembler text, with its code at `text_at`, which is 0x1000
 * bytes into the file. */
static inline void fc_assemble(char path[64], const char *assembly, uint64_t text_at)
{
    char command[512];
    memcpy(path, "/tmp/br2-flow-XXXXXX", sizeof "/tmp/br2-flow-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command,
             "cc -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noseparate-code "
             "-Wl,-Ttext=0x%llx -x assembler - -o %s",
             (unsigned long long)text_at, path);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(assembly, pipe);
    assert_int_equal(pclose(pipe), 0);
}

static inline void fc_map(struct flow_case *fc, uint64_t start, uint64_t length, uint64_t offset,
                          const char *name)
{
    struct br2_task_event event = {
        .kind = BR2_TASK_MMAP,
        .pid = br2_is_kernel_address(start) ? BR2_PID_KERNEL : FC_PID,
        .kernel = br2_is_kernel_address(start),
        .address = start,
        .length = length,
        .file_offset = offset,
        .name = name,
    };
    assert_int_equal(br2_spaces_add(fc->spaces, &event, NULL), 0);
}

static inline void fc_open(struct flow_case *fc, const char *assembly, uint64_t text_at)
{
    memset(fc, 0, sizeof *fc);
    fc_assemble(fc->path, assembly, text_at);
    assert_int_equal(br2_image_open(fc->path, &fc->image, NULL), 0);
    fc->spaces = br2_spaces_new();
    fc_map(fc, text_at, 0x100000, 0x1000, "/image");
    fc_map(fc, FC_TWICE, FC_TWICE_SIZE, 0, "/image");
    fc_map(fc, FC_OTHER, 0x100000, 0, "/other");
    fc_map(fc, FC_KERNEL, 0x100000, 0, "[kernel.kallsyms]");
    assert_int_equal(br2_spaces_finish(fc->spaces, NULL), 0);
    fc->is_image[0] = true; /* "/image" was mapped first */
    fc->counting = (struct br2_counting){.traces = &fc->traces, .timings = &fc->timings};
}

/* Counts one history, newest first. */
static inline void fc_sample_at(struct flow_case *fc, br2_time time,
                                const struct br2_branch_record *records, size_t count)
{
    uint8_t bytes[24 * 64];
    assert_true(count <= 64);
    memcpy(bytes, records, 24 * count);
    struct br2_sample sample = {.pid = FC_PID, .time = time, .records = bytes, .count = count};
    uint32_t view = br2_spaces_view(fc->spaces, FC_PID, time);
    assert_true(br2_count_sample(&fc->counting, &sample, view));
}

static inline void fc_sample(struct flow_case *fc, const struct br2_branch_record *records,
                             size_t count)
{
    fc_sample_at(fc, 1, records, count);
}

/* The same, oldest first. */
static inline void fc_history(struct flow_case *fc, const struct br2_branch_record *records,
                              size_t count)
{
    struct br2_branch_record reversed[64];
    for (size_t i = 0; i < count; i++) {
        reversed[i] = records[count - 1 - i];
    }
    fc_sample(fc, reversed, count);
}

static inline void fc_build(struct flow_case *fc)
{
    assert_int_equal(br2_fold(&fc->folded, fc->spaces, &fc->counting, NULL), 0);
    struct br2_flow_source source = {
        .folded = &fc->folded,
        .dsos = br2_spaces_dsos(fc->spaces),
        .is_image = fc->is_image,
        .first_time = fc->counting.stats.first_time,
    };
    struct br2_flow_evidence evidence = {&source, 1, true};
    assert_int_equal(br2_flow_graph_build(fc->image, &evidence, &fc->graph, NULL), 0);
}

static inline void fc_close(struct flow_case *fc)
{
    br2_flow_graph_free(fc->graph);
    br2_folded_done(&fc->folded);
    br2_live_traces_done(&fc->traces);
    br2_live_traces_done(&fc->timings);
    br2_spaces_free(fc->spaces);
    br2_image_close(fc->image);
    unlink(fc->path);
}

/* How often the instruction at `address` ran, by straight runs. */
static inline uint64_t fc_count(const struct flow_case *fc, uint64_t address)
{
    uint32_t number = br2_flow_graph_function(fc->graph, address);
    assert_int_not_equal(number, BR2_NO_FUNCTION);
    const struct br2_flow_function *function = &fc->graph->functions[number];
    size_t insn = br2_code_find(&function->code, address);
    assert_int_not_equal(insn, SIZE_MAX);
    return function->counts[insn];
}

/* The head count of the function that contains `address`; 0 where it was not hit. */
static inline uint64_t fc_entered(const struct flow_case *fc, uint64_t address)
{
    uint32_t number = br2_flow_graph_function(fc->graph, address);
    return number != BR2_NO_FUNCTION ? fc->graph->functions[number].entered : 0;
}

/* The edge; one of zeros where there is none. */
static inline const struct br2_flow_edge *fc_edge(const struct flow_case *fc, uint64_t from,
                                                  uint64_t to)
{
    for (size_t i = 0; i < fc->graph->edge_count; i++) {
        if (fc->graph->edges[i].from == from && fc->graph->edges[i].to == to) {
            return &fc->graph->edges[i];
        }
    }
    static const struct br2_flow_edge none;
    return &none;
}

/* Count of the edge, 0 where there is none. */
static inline uint64_t fc_taken(const struct flow_case *fc, uint64_t from, uint64_t to)
{
    return fc_edge(fc, from, to)->count;
}

static inline uint64_t fc_runs(const struct flow_case *fc, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < fc->graph->run_count; i++) {
        if (fc->graph->runs[i].start == start && fc->graph->runs[i].end == end) {
            return fc->graph->runs[i].count;
        }
    }
    return 0;
}

static inline uint64_t fc_timed(const struct flow_case *fc, uint64_t start, uint64_t end,
                                uint32_t cycles)
{
    for (size_t i = 0; i < fc->graph->timing_count; i++) {
        const struct br2_flow_timing *timing = &fc->graph->timings[i];
        if (timing->start == start && timing->end == end && timing->cycles == cycles) {
            return timing->count;
        }
    }
    return 0;
}

/*
 * The program most tests use, at 0x401000:
 *   _start  401000 call work; 401005 call *rax; 401007 jmp *rdx; 401009 syscall; 40100b ret
 *   work    401010 cmp; 401013 je 401017; 401015 inc; 401017 dec; 401019 jne work; 40101b ret
 *   tail    401020 test; 401022 js 401026; 401024 jmp work; 401026 jmp *rcx; 401028 nop;
 *           401029 jmp 40102b; 40102b hlt
 *   no name 401030 nop; 401031 jmp work
 */
#define FC_TEXT UINT64_C(0x401000)
#define FC_PROGRAM                                                                                 \
    ".globl _start\n.type _start, @function\n_start: call work\ncall *%rax\njmp *%rdx\n"           \
    "syscall\nret\n.size _start, .-_start\n.org 0x10, 0x90\n"                                      \
    ".type work, @function\nwork: cmp $1, %eax\nje 1f\ninc %ecx\n1: dec %edx\njne work\nret\n"     \
    ".size work, .-work\n.org 0x20, 0x90\n"                                                        \
    ".type tail, @function\ntail: test %edi, %edi\njs 2f\njmp work\n2: jmp *%rcx\nnop\n"           \
    "jmp 3f\n3: hlt\n.size tail, .-tail\n.org 0x30, 0x90\nnop\njmp work\n"

#endif
