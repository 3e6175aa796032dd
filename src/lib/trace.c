/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/thread.h"
#include "lib/trace_code.h"
#include "lib/trace_counter.h"

/* Share of a trace that may be lost because it contradicts the code before the code is taken to be
 * another build's. */
#define CONTRADICTED_MAX 0.5

bool br2_trace_is_decoded(const struct br2_recording_info *info)
{
    return info->has_trace && br2_trace_decoder_find(info->trace_type) != NULL;
}

bool br2_trace_is_used(const struct br2_recording_info *info)
{
    if (!br2_trace_is_decoded(info)) {
        return false;
    }
    for (size_t i = 0; i < info->event_count; i++) {
        if (info->events[i].has_branch_stacks && info->events[i].samples != 0) {
            return false;
        }
    }
    return true;
}

/* What all who decode share. */
struct decoding {
    const struct br2_trace_decoder *decoder;
    struct br2_trace_job job; /* but for the stream, and where its steps go */
    struct br2_trace_streams streams;
    struct br2_trace_files files;
    struct br2_trace_code code;
    size_t next;                   /* stream, taken by whoever is free */
    struct br2_trace_stats *stats; /* of each stream */
    struct worker {
        struct decoding *decoding;
        pthread_t thread;
        struct br2_trace_counter counter;
        struct br2_trace_borders borders;
        int rc;
        struct br2pgo_error err;
    } * workers;
    unsigned worker_count;
};

static void *work(void *user)
{
    struct worker *worker = user;
    struct decoding *decoding = worker->decoding;
    struct br2_trace_job job = decoding->job;
    job.sink = br2_trace_counter_take;
    job.user = &worker->counter;
    job.borders = &worker->borders;
    while (worker->rc == 0) {
        size_t number = __atomic_fetch_add(&decoding->next, 1, __ATOMIC_RELAXED);
        if (number >= decoding->streams.count) {
            break;
        }
        job.stream = &decoding->streams.streams[number];
        worker->rc = decoding->decoder->decode(&job, &decoding->stats[number], &worker->err);
    }
    return NULL;
}

/* The caller's thread works, too. */
static int decode_all(struct decoding *decoding, unsigned threads, struct br2pgo_error *err)
{
    threads = decoding->streams.count < threads ? (unsigned)decoding->streams.count : threads;
    decoding->worker_count = threads != 0 ? threads : 1;
    decoding->workers = br2_calloc(decoding->worker_count, sizeof *decoding->workers);
    decoding->stats = br2_calloc(decoding->streams.count + 1, sizeof *decoding->stats);
    if (decoding->workers == NULL || decoding->stats == NULL) {
        decoding->worker_count = 0;
        return br2_fail_memory(err);
    }
    unsigned running = 1;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < decoding->worker_count; i++) {
        decoding->workers[i].decoding = decoding;
        rc = br2_trace_counter_begin(&decoding->workers[i].counter, decoding->job.spaces, err);
    }
    if (rc != 0) {
        return rc;
    }
    while (
        running < decoding->worker_count &&
        br2_thread_start(&decoding->workers[running].thread, work, &decoding->workers[running])) {
        running++;
    }
    work(&decoding->workers[0]);
    for (unsigned i = 1; i < running; i++) {
        pthread_join(decoding->workers[i].thread, NULL);
    }
    for (unsigned i = 0; rc == 0 && i < running; i++) {
        rc = decoding->workers[i].rc;
        if (rc != 0 && err != NULL) {
            *err = decoding->workers[i].err;
        }
    }
    return rc;
}

/* Adds up what all have counted, and joins what went on from one stream to another. */
static int add_up(struct decoding *decoding, struct br2_folded *folded,
                  struct br2_count_stats *stats, struct br2pgo_error *err)
{
    struct br2_trace_borders *all = &decoding->workers[0].borders;
    struct br2_trace_counter *first = &decoding->workers[0].counter;
    int rc = 0;
    for (unsigned i = 1; rc == 0 && i < decoding->worker_count; i++) {
        rc = br2_trace_borders_add(all, &decoding->workers[i].borders, err);
    }
    rc = rc != 0 ? rc : br2_trace_borders_join(all, br2_trace_counter_take, first, err);
    for (unsigned i = 0; rc == 0 && i < decoding->worker_count; i++) {
        rc = br2_trace_counter_finish(&decoding->workers[i].counter, folded, stats, err);
    }
    return rc;
}

static void describe_losses(const struct br2_trace_stats *stats, struct br2_buf *text)
{
    for (size_t i = 0; i < BR2_TRACE_LOSSES; i++) {
        if (stats->losses[i] != 0) {
            br2_buf_printf(text, "%s%s %" PRIu64, text->size != 0 ? ", " : "",
                           br2_trace_loss_names[i], stats->losses[i]);
        }
    }
    br2_buf_u8(text, '\0');
}

static int refuse(const struct decoding *decoding, const struct br2_recording *recording,
                  const struct br2_trace_stats *stats, struct br2pgo_error *err)
{
    char reason[512];
    const char *kind = br2_input_info(recording->input)->trace_kind;
    if (stats->losses[BR2_TRACE_MISMATCH] >= stats->losses[BR2_TRACE_NO_CODE] &&
        stats->losses[BR2_TRACE_MISMATCH] != 0) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s': most of its trace (%s) contradicts the code: a file it ran is not the one "
                 "that was recorded",
                 recording->path, kind);
        br2_hint(err, "give the file that ran during the recording with --binary, the others below "
                      "--sysroot");
        return BR2PGO_USELESS;
    }
    if (stats->losses[BR2_TRACE_NO_CODE] != 0) {
        br2_trace_files_explain(&decoding->files, stats->no_code_view, stats->no_code_at, reason,
                                sizeof reason);
        br2_fail(err, BR2PGO_USELESS,
                 "'%s': its trace (%s) cannot be decoded without the code that ran: %s",
                 recording->path, kind, reason);
        const char *unused = br2_trace_files_unused(&decoding->files);
        if (unused != NULL) {
            br2_hint(err,
                     "'%s' is none of its files, by build-id or name: give the program under its "
                     "name, and what else it ran below --sysroot",
                     unused);
        } else {
            br2_hint(err, "give the program with --binary, and what else it ran below --sysroot");
        }
        return BR2PGO_USELESS;
    }
    br2_fail(err, BR2PGO_USELESS,
             "'%s': nothing of its trace (%s, %" PRIu64 " bytes) could be decoded%s",
             recording->path, kind, stats->bytes,
             stats->losses[BR2_TRACE_NO_THREAD] != 0
                 ? ": it does not say which thread ran on a processor"
                 : "");
    br2_hint(err, "record again, longer or with --per-thread");
    return BR2PGO_USELESS;
}

/* What was decoded and what was not; refuses what is hardly anything. */
static int judge(struct br2pgo_conversion *conversion, const struct decoding *decoding,
                 const struct br2_recording *recording, struct br2pgo_error *err)
{
    struct br2_trace_stats sum = {0};
    struct br2_buf text = {0};
    for (size_t i = 0; i < decoding->streams.count; i++) {
        br2_trace_stats_add(&sum, &decoding->stats[i]);
    }
    bool contradicts = sum.losses[BR2_TRACE_MISMATCH] > sum.losses[BR2_TRACE_NO_CODE] &&
                       (double)sum.skipped > CONTRADICTED_MAX * (double)sum.bytes;
    if (sum.steps == 0 || contradicts) {
        return refuse(decoding, recording, &sum, err);
    }
    br2_note(conversion, BR2PGO_NOTE_DETAIL,
             "'%s': %" PRIu64 " bytes of trace in %zu streams, %" PRIu64 " of them decoded",
             recording->path, sum.bytes, decoding->streams.count, sum.bytes - sum.skipped);
    describe_losses(&sum, &text);
    if (text.size > 1 && !text.failed) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s': the trace has holes (%s): %" PRIu64 " of %" PRIu64
                 " bytes were not decoded, all else is exact",
                 recording->path, (const char *)text.bytes, sum.skipped, sum.bytes);
    }
    br2_buf_done(&text);
    return 0;
}

static void decoding_done(struct decoding *decoding)
{
    for (unsigned i = 0; i < decoding->worker_count; i++) {
        br2_trace_counter_done(&decoding->workers[i].counter);
        br2_trace_borders_done(&decoding->workers[i].borders);
    }
    br2_free(decoding->workers);
    br2_free(decoding->stats);
    br2_trace_files_done(&decoding->files);
    br2_trace_streams_done(&decoding->streams);
}

int br2_count_trace(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                    unsigned threads, struct br2_count_stats *stats, struct br2pgo_error *err)
{
    struct decoding decoding = {
        .job = {.info = br2_input_info(recording->input), .spaces = recording->spaces}};
    decoding.decoder = br2_trace_decoder_find(decoding.job.info->trace_type);
    decoding.code = (struct br2_trace_code){br2_trace_files_find, &decoding.files};
    decoding.job.code = &decoding.code;
    decoding.job.streams = &decoding.streams;
    int rc = br2_trace_files_begin(&decoding.files, conversion, recording, err);
    if (rc == 0) {
        rc = br2_input_read_trace(recording->input, br2_trace_streams_add, &decoding.streams, err);
    }
    if (rc == 0) {
        rc = br2_trace_streams_finish(&decoding.streams, NULL, err);
    }
    rc = rc != 0 ? rc : decode_all(&decoding, threads, err);
    rc = rc != 0 ? rc : add_up(&decoding, &recording->folded, stats, err);
    rc = rc != 0 ? rc : judge(conversion, &decoding, recording, err);
    decoding_done(&decoding);
    return rc;
}
