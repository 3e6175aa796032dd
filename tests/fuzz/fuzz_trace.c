/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as an instruction trace of a small program; the first byte says of what kind. */
#include <string.h>

#include "fuzz.h"
#include "trace/trace.h"

#define KERNEL  1u /* was traced, too */
#define PER_CPU 2u
#define GAP     4u /* in the middle */

#define BASE UINT64_C(0x401000)

/* A loop around a call, and the function that is called: a loop with a branch, and a return. */
static const uint8_t code[] = {
    0xe8, 0x0b, 0x00, 0x00, 0x00, 0xeb, 0xf9, 0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x90, 0x90, 0x83, 0xf8, 0x01, 0x74, 0x02, 0xff, 0xc1, 0xff, 0xca, 0x75, 0xf5, 0xc3,
};

static bool find(void *user, uint32_t view, uint64_t address, struct br2_trace_section *ret)
{
    (void)user;
    (void)view;
    *ret = (struct br2_trace_section){
        .start = BASE, .end = BASE + sizeof code, .bytes = code, .path = ""};
    return address >= BASE && address < BASE + sizeof code;
}

static int take(void *user, const struct br2_trace_step *step, struct br2pgo_error *err)
{
    uint64_t *steps = user;
    (void)err;
    ++*steps;
    fuzz_require(step->from != 0 || step->end != 0, "a step says something");
    fuzz_require(step->from == 0 || (step->from >= BASE && step->from < BASE + sizeof code),
                 "a branch is in code");
    fuzz_require(step->end == 0 || (step->end >= step->to && step->end < BASE + sizeof code),
                 "a run is in code");
    return 0;
}

static void decode(const uint8_t *data, size_t size, uint8_t options)
{
    uint64_t words[17] = {8, 10, 512,    5000,    1,   1 << 10, 1 << 11, 0,
                          0, 0,  1 << 9, 0x3c000, 100, 2,       2,       24};
    struct br2_event_info event = {.type = 8, .exclude_kernel = (options & KERNEL) == 0};
    struct br2_recording_info info = {.events = &event,
                                      .event_count = 1,
                                      .trace_type = BR2_TRACE_INTEL_PT,
                                      .trace_words = words,
                                      .trace_word_count = sizeof words / sizeof *words};
    struct br2_trace_piece pieces[2] = {{data, size, 0}, {data, 0, 0}};
    if ((options & GAP) != 0) {
        pieces[0].size = size / 2;
        pieces[1] = (struct br2_trace_piece){data + size / 2, size - size / 2, size};
    }
    bool per_cpu = (options & PER_CPU) != 0;
    struct br2_trace_stream stream = {.cpu = per_cpu ? 0 : -1,
                                      .tid = per_cpu ? -1 : 7,
                                      .pid = 7,
                                      .pieces = pieces,
                                      .piece_count = (options & GAP) != 0 ? 2 : 1};
    struct br2_trace_switch switches[] = {{0, 7, 7, 0, false, 0}, {0, 7, 8, 900000, false, 1}};
    struct br2_trace_streams streams = {.switches = switches, .switch_count = 2};
    struct br2_trace_borders borders = {0};
    struct br2_trace_stats stats = {0};
    struct br2_trace_code here = {find, NULL};
    struct br2_spaces *spaces = br2_spaces_new();
    uint64_t steps = 0;
    struct br2_task_event map = {
        .kind = BR2_TASK_MMAP, .pid = 7, .address = BASE, .length = 4096, .name = "/app"};
    if (spaces == NULL || br2_spaces_add(spaces, &map, NULL) != 0 ||
        br2_spaces_finish(spaces, NULL) != 0) {
        __builtin_trap();
    }
    struct br2_trace_job job = {.info = &info,
                                .spaces = spaces,
                                .streams = &streams,
                                .stream = &stream,
                                .code = &here,
                                .sink = take,
                                .user = &steps,
                                .borders = &borders};
    const struct br2_trace_decoder *decoder = br2_trace_decoder_find(BR2_TRACE_INTEL_PT);
    if (decoder != NULL) {
        struct br2pgo_error err = {0};
        fuzz_require(decoder->decode(&job, &stats, &err) == 0, err.message);
        fuzz_require(stats.bytes == size && stats.steps == steps, "all is counted");
        fuzz_require(br2_trace_borders_join(&borders, take, &steps, NULL) == 0, "borders join");
    }
    br2_trace_borders_done(&borders);
    br2_spaces_free(spaces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1) {
        decode(data + 1, size - 1, data[0]);
    }
    return 0;
}
