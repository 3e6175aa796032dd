/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as an Arm ETM or ETE trace of a small program; the first byte says of what kind. */
#include <string.h>

#include "fuzz.h"
#include "trace/trace.h"

#define RAW        1u
#define PER_CPU    2u
#define GAP        4u /* in the middle */
#define ETE        8u
#define SPECULATES 16u
#define TRUNCATED  32u
#define RETURNS    64u /* has a stack of return addresses */

#define BASE UINT64_C(0x210000)

/* bl work; svc; b to the beginning; work: subs; b.ne work; ret */
static const uint8_t code[] = {
    0x03, 0x00, 0x00, 0x94, 0x01, 0x00, 0x00, 0xd4, 0xfe, 0xff, 0xff, 0x17,
    0x00, 0x04, 0x00, 0x71, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6,
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

static struct br2_spaces *make_spaces(void)
{
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event map = {
        .kind = BR2_TASK_MMAP, .pid = 7, .address = BASE, .length = 4096, .name = "/app"};
    if (spaces == NULL || br2_spaces_add(spaces, &map, NULL) != 0 ||
        br2_spaces_finish(spaces, NULL) != 0) {
        __builtin_trap();
    }
    return spaces;
}

static void decode_stream(const struct br2_recording_info *info,
                          const struct br2_trace_streams *streams,
                          const struct br2_trace_stream *stream, size_t size)
{
    struct br2_trace_borders borders = {0};
    struct br2_trace_stats stats = {0};
    struct br2_trace_code here = {find, NULL};
    struct br2_spaces *spaces = make_spaces();
    uint64_t steps = 0;
    struct br2_trace_job job = {.info = info,
                                .spaces = spaces,
                                .streams = streams,
                                .stream = stream,
                                .code = &here,
                                .sink = take,
                                .user = &steps,
                                .borders = &borders};
    struct br2pgo_error err = {0};
    const struct br2_trace_decoder *decoder = br2_trace_decoder_find(BR2_TRACE_ARM_ETM);
    fuzz_require(decoder->decode(&job, &stats, &err) == 0, err.message);
    fuzz_require(stats.bytes == size && stats.steps == steps, "all is counted");
    fuzz_require(br2_trace_borders_join(&borders, take, &steps, NULL) == 0, "borders join");
    br2_trace_borders_done(&borders);
    br2_spaces_free(spaces);
}

static void decode(const uint8_t *data, size_t size, uint8_t options)
{
    bool ete = (options & ETE) != 0;
    bool per_cpu = (options & PER_CPU) != 0;
    uint64_t words[] = {1,
                        UINT64_C(8) << 32 | 1,
                        0,
                        ete ? UINT64_C(0x5050505050505050) : UINT64_C(0x4040404040404040),
                        2,
                        8,
                        (options & RETURNS) != 0 ? 0x1040 : 0x40,
                        0x10,
                        0x28000ea1,
                        ete ? 0x4100fff2 : 0x4100f422,
                        0x20001088,
                        (options & SPECULATES) != 0 ? 32 : 0,
                        0x8c,
                        0x47705a13};
    struct br2_event_info event = {.type = 8, .exclude_kernel = true};
    struct br2_recording_info info = {.events = &event,
                                      .event_count = 1,
                                      .trace_type = BR2_TRACE_ARM_ETM,
                                      .trace_words = words,
                                      .trace_word_count = sizeof words / sizeof *words};
    struct br2_trace_piece pieces[2] = {{data, size, 0}, {data, 0, 0}};
    if ((options & GAP) != 0) {
        pieces[0].size = size / 2;
        pieces[1] = (struct br2_trace_piece){data + size / 2, size - size / 2, size};
    }
    struct br2_trace_stream stream = {.cpu = per_cpu ? 2 : -1,
                                      .tid = per_cpu ? -1 : 7,
                                      .pid = 7,
                                      .pieces = pieces,
                                      .piece_count = (options & GAP) != 0 ? 2 : 1};
    struct br2_trace_event window = {
        .kind = BR2_TRACE_WINDOW, .pid = 7, .tid = 7, .cpu = 2, .time = 5, .size = size};
    window.flags = ((options & RAW) != 0 ? BR2_WINDOW_RAW : 0) |
                   ((options & TRUNCATED) != 0 ? BR2_WINDOW_TRUNCATED : 0);
    struct br2_trace_streams streams = {.parts = &window, .part_count = 1};
    decode_stream(&info, &streams, &stream, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1) {
        decode(data + 1, size - 1, data[0]);
    }
    return 0;
}
