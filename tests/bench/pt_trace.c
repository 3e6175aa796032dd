/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How fast Intel PT is decoded: pt_trace [--rounds N] RECORDING
 * Each round decodes all streams, one after the other in one thread: by the library alone, blocks
 * that nobody looks at; then as a conversion does, steps made and counted. Programs must lie where
 * the recording says. All times are of the processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "input/input.h"
#include "lib/conversion.h"
#include "lib/trace_code.h"
#include "lib/trace_counter.h"
#include "trace/pt_code.h"
#include "trace/trace.h"

#define ROUNDS_MAX 1000

static void check(int rc, const struct br2pgo_error *err)
{
    if (rc != 0) {
        fprintf(stderr, "pt_trace: %s\n", err->message);
        _Exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct bench {
    struct br2pgo_conversion *conversion;
    struct br2_recording recording;
    struct br2_trace_streams streams;
    struct br2_trace_files files;
    struct br2_trace_code code;
    struct br2_trace_job job;
};

static int take_task(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    return br2_spaces_add(user, event, err);
}

static void open_recording(struct bench *bench, const char *path)
{
    struct br2pgo_error err = {0};
    struct br2_recording *recording = &bench->recording;
    check(br2pgo_open(NULL, &bench->conversion, &err), &err);
    check(br2_input_open(path, &recording->input, &err), &err);
    recording->spaces = br2_spaces_new();
    check(br2_input_read_tasks(recording->input, take_task, recording->spaces, &err), &err);
    check(br2_spaces_finish(recording->spaces, &err), &err);
    check(br2_input_read_trace(recording->input, br2_trace_streams_add, &bench->streams, &err),
          &err);
    check(br2_trace_streams_finish(&bench->streams, NULL, &err), &err);
    check(br2_trace_files_begin(&bench->files, bench->conversion, recording, &err), &err);
    bench->code = (struct br2_trace_code){br2_trace_files_find, &bench->files};
    bench->job = (struct br2_trace_job){.info = br2_input_info(recording->input),
                                        .spaces = recording->spaces,
                                        .streams = &bench->streams,
                                        .code = &bench->code};
}

/* Blocks of one piece; the views are those of the stream's thread. */
static uint64_t decode_alone(struct bench *bench, const struct br2_trace_stream *stream,
                             const struct br2_trace_piece *piece)
{
    struct br2pgo_error err = {0};
    struct br2_trace_walk walk;
    struct br2_pt_code code;
    struct br2_trace_stats stats = {0};
    struct pt_config config;
    uint64_t blocks = 0;
    bench->job.stream = stream;
    check(br2_trace_walk_begin(&walk, &bench->job, BR2_MACHINE_X86_64, &stats, &err), &err);
    check(br2_pt_code_begin(&code, &walk, &err), &err);
    walk.view = br2_spaces_view(bench->recording.spaces, stream->pid, stream->last);
    pt_config_init(&config);
    memcpy(&config.begin, &piece->bytes, sizeof config.begin);
    config.end = config.begin + piece->size;
    config.flags.variant.block.end_on_call = 1;
    config.flags.variant.block.end_on_jump = 1;
    struct pt_block_decoder *decoder = pt_blk_alloc_decoder(&config);
    check(br2_pt_code_use(&code, decoder, walk.view, &err), &err);
    int status = pt_blk_sync_forward(decoder);
    while (status >= 0) {
        struct pt_event event;
        struct pt_block block;
        while (status >= 0 && (status & pts_event_pending) != 0) {
            status = pt_blk_event(decoder, &event, sizeof event);
        }
        status = status < 0 ? status : pt_blk_next(decoder, &block, sizeof block);
        blocks++;
        check(br2_pt_code_grow(&code, &err), &err);
    }
    pt_blk_free_decoder(decoder);
    br2_pt_code_done(&code);
    br2_trace_walk_done(&walk);
    return blocks;
}

static double time_alone(struct bench *bench, uint64_t *ret_blocks)
{
    double start = now();
    *ret_blocks = 0;
    for (size_t i = 0; i < bench->streams.count; i++) {
        const struct br2_trace_stream *stream = &bench->streams.streams[i];
        for (size_t k = 0; k < stream->piece_count; k++) {
            *ret_blocks += decode_alone(bench, stream, &stream->pieces[k]);
        }
    }
    return now() - start;
}

static double time_whole(struct bench *bench, struct br2_trace_stats *stats)
{
    struct br2pgo_error err = {0};
    struct br2_trace_counter counter;
    struct br2_trace_borders borders = {0};
    struct br2_folded folded = {0};
    struct br2_count_stats counts = {0};
    double start = now();
    *stats = (struct br2_trace_stats){0};
    check(br2_trace_counter_begin(&counter, bench->recording.spaces, &err), &err);
    bench->job.sink = br2_trace_counter_take;
    bench->job.user = &counter;
    bench->job.borders = &borders;
    for (size_t i = 0; i < bench->streams.count; i++) {
        bench->job.stream = &bench->streams.streams[i];
        const struct br2_trace_decoder *decoder =
            br2_trace_decoder_find(bench->job.info->trace_type);
        check(decoder == NULL ? -1 : decoder->decode(&bench->job, stats, &err), &err);
    }
    check(br2_trace_borders_join(&borders, br2_trace_counter_take, &counter, &err), &err);
    check(br2_trace_counter_finish(&counter, &folded, &counts, &err), &err);
    br2_trace_counter_done(&counter);
    br2_trace_borders_done(&borders);
    br2_folded_done(&folded);
    return now() - start;
}

int main(int argc, char **argv)
{
    unsigned long rounds = 3;
    int at = 1;
    if (argc == 4 && strcmp(argv[1], "--rounds") == 0) {
        rounds = strtoul(argv[2], NULL, 10);
        at = 3;
    }
    if (argc - at != 1 || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: pt_trace [--rounds N] RECORDING\n");
        return 2;
    }
    struct bench bench = {0};
    open_recording(&bench, argv[at]);
    double alone = 0;
    double whole = 0;
    uint64_t blocks = 0;
    struct br2_trace_stats stats = {0};
    for (unsigned long i = 0; i < rounds; i++) {
        double one = time_alone(&bench, &blocks);
        double other = time_whole(&bench, &stats);
        alone = i == 0 || one < alone ? one : alone;
        whole = i == 0 || other < whole ? other : whole;
    }
    printf("%llu bytes of trace, %llu blocks, %llu steps\n", (unsigned long long)stats.bytes,
           (unsigned long long)blocks, (unsigned long long)stats.steps);
    printf("the library alone %.3f s (%.1f million blocks a second), the whole %.3f s, %.2f times "
           "that\n",
           alone, (double)blocks / alone / 1e6, whole, whole / alone);
    br2_trace_files_done(&bench.files);
    br2_trace_streams_done(&bench.streams);
    br2_spaces_free(bench.recording.spaces);
    br2_input_close(bench.recording.input);
    br2pgo_close(bench.conversion);
    return 0;
}
