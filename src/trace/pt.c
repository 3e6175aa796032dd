/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Intel PT, by libipt's block decoder. Packets are described in the Intel SDM, volume 3, "Intel
 * Processor Trace"; the words of AUXTRACE_INFO in tools/perf/util/intel-pt.h.
 */
#include <intel-pt.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "trace/pt_code.h"
#include "trace/pt_kernel.h"
#include "trace/walk.h"

/* Words of AUXTRACE_INFO. */
enum {
    WORD_PMU,
    WORD_TIME_SHIFT,
    WORD_TIME_MULT,
    WORD_TIME_ZERO,
    WORD_HAS_TIME,
    WORD_TSC_BIT,
    WORD_NORETCOMP_BIT,
    WORD_HAS_SWITCHES,
    WORD_SNAPSHOT,
    WORD_PER_CPU,
    WORD_MTC_BIT,
    WORD_MTC_FREQ_BITS,
    WORD_TSC_CTC_N,
    WORD_TSC_CTC_D,
    WORD_CYC_BIT,
    WORD_NONTURBO,
};

/* Blocks decoded without a byte read: branches that need no packet do not go on for so long. */
#define IDLE_BLOCKS_MAX 65536u

struct pt_stream {
    const struct br2_trace_job *job;
    struct br2_trace_stats *stats;
    struct br2_trace_walk walk;
    struct br2_pt_code code;
    struct pt_block_decoder *decoder; /* of the current piece */
    uint64_t offset;                  /* in it, as of the last block ... */
    unsigned idle;                    /* ... and blocks since it moved */
};

static uint64_t word(const struct br2_recording_info *info, size_t number)
{
    return number < info->trace_word_count ? info->trace_words[number] : 0;
}

/* The event that makes the trace: its PMU's type is in AUXTRACE_INFO. */
static uint64_t trace_config(const struct br2_recording_info *info)
{
    for (size_t i = 0; i < info->event_count; i++) {
        if (info->events[i].type == word(info, WORD_PMU)) {
            return info->events[i].config;
        }
    }
    return 0;
}

/* perf's "GenuineIntel,family,model,stepping"; without it no erratum is known. */
static bool read_processor(const char *text, uint64_t ret[3])
{
    static const char vendor[] = "GenuineIntel";
    if (text == NULL || strncmp(text, vendor, sizeof vendor - 1) != 0) {
        return false;
    }
    text += sizeof vendor - 1;
    for (size_t i = 0; i < 3; i++) {
        size_t length = *text == ',' ? strcspn(text + 1, ",") : 0;
        if (length == 0 || !br2_parse_number(text + 1, length, 10, &ret[i]) || ret[i] > UINT8_MAX) {
            return false;
        }
        text += 1 + length;
    }
    return true;
}

static void set_processor(const struct br2_recording_info *info, struct pt_config *config)
{
    uint64_t numbers[3];
    if (!read_processor(info->cpu_id, numbers)) {
        return;
    }
    config->cpu = (struct pt_cpu){.vendor = pcv_intel,
                                  .family = (uint16_t)numbers[0],
                                  .model = (uint8_t)numbers[1],
                                  .stepping = (uint8_t)numbers[2]};
    if (pt_cpu_errata(&config->errata, &config->cpu) < 0) {
        memset(&config->errata, 0, sizeof config->errata);
    }
}

static void configure(const struct br2_recording_info *info, const struct br2_trace_piece *piece,
                      struct pt_config *ret)
{
    pt_config_init(ret);
    /* libipt takes them as its encoder's, too, and does not write. */
    memcpy(&ret->begin, &piece->bytes, sizeof ret->begin);
    ret->end = ret->begin + piece->size;
    set_processor(info, ret);
    uint64_t bits = word(info, WORD_MTC_FREQ_BITS);
    uint64_t frequency = bits != 0 ? (trace_config(info) & bits) / (bits & -bits) : 0;
    ret->mtc_freq = (uint8_t)frequency;
    ret->nom_freq = (uint8_t)word(info, WORD_NONTURBO);
    ret->cpuid_0x15_eax = (uint32_t)word(info, WORD_TSC_CTC_D);
    ret->cpuid_0x15_ebx = (uint32_t)word(info, WORD_TSC_CTC_N);
    ret->flags.variant.block.end_on_call = 1;
    ret->flags.variant.block.end_on_jump = 1;
}

/* The recording's clock, from the processor's: perf_event_mmap_page's formula. */
static br2_time time_of(const struct br2_recording_info *info, uint64_t tsc)
{
    unsigned shift = (unsigned)word(info, WORD_TIME_SHIFT) & 63;
    uint64_t mult = word(info, WORD_TIME_MULT);
    uint64_t rest = tsc & ((UINT64_C(1) << shift) - 1);
    return word(info, WORD_TIME_ZERO) + (tsc >> shift) * mult + ((rest * mult) >> shift);
}

/* From one MTC packet to the next, of the processor's clock; 0: there are none. */
static uint64_t mtc_cycles(const struct pt_config *config)
{
    return config->cpuid_0x15_eax != 0 && config->cpuid_0x15_ebx != 0
               ? ((uint64_t)config->cpuid_0x15_ebx << (config->mtc_freq & 15)) /
                     config->cpuid_0x15_eax
               : 0;
}

/* Whose the trace is from `tsc` on. The clock is that of the last packet about time. A thread comes
 * to a processor shortly before its own code goes on there, and is there for long: of two that may
 * be it is the later. */
static int set_thread(struct pt_stream *s, bool has_tsc, uint64_t tsc, bool *ret_known,
                      struct br2pgo_error *err)
{
    const struct br2_trace_stream *stream = s->job->stream;
    const struct br2_recording_info *info = s->job->info;
    bool timed = has_tsc && word(info, WORD_HAS_TIME) != 0;
    bool has_mtc = (trace_config(info) & word(info, WORD_MTC_BIT)) != 0;
    uint64_t late = has_mtc ? mtc_cycles(pt_blk_get_config(s->decoder)) : 0;
    br2_time time = timed ? time_of(info, tsc + late) : stream->last;
    int32_t pid = stream->pid;
    int32_t tid = stream->tid;
    if (tid < 0 && !br2_trace_thread_at(s->job->streams, stream->cpu, time, &pid, &tid)) {
        *ret_known = false;
        return 0;
    }
    *ret_known = true;
    uint32_t view = br2_spaces_view(s->job->spaces, pid, time);
    int rc = br2_trace_walk_thread(&s->walk, tid, view, time, err);
    return rc != 0 ? rc : br2_pt_code_use(&s->code, s->decoder, view, err);
}

static int lose(struct pt_stream *s, enum br2_trace_loss loss, struct br2pgo_error *err)
{
    s->stats->losses[loss]++;
    return br2_trace_walk_lose(&s->walk, err);
}

static int resume(struct pt_stream *s, const struct pt_event *event, uint64_t ip,
                  struct br2pgo_error *err)
{
    bool known;
    int rc = set_thread(s, event->has_tsc, event->tsc, &known, err);
    if (rc == 0 && !known) {
        rc = lose(s, BR2_TRACE_NO_THREAD, err);
        return rc != 0 ? rc : br2_pt_code_use(&s->code, s->decoder, BR2_VIEW_UNKNOWN, err);
    }
    return rc != 0 ? rc : br2_trace_walk_resume(&s->walk, ip, err);
}

static int take_event(struct pt_stream *s, const struct pt_event *event, struct br2pgo_error *err)
{
    int rc = 0;
    switch (event->type) {
    case ptev_enabled:
        return resume(s, event, event->variant.enabled.ip, err);
    case ptev_disabled:
        return br2_trace_walk_stop(&s->walk, 0, err);
    case ptev_async_disabled:
        return br2_trace_walk_stop(&s->walk, event->variant.async_disabled.at, err);
    case ptev_async_branch:
        rc = br2_trace_walk_stop(&s->walk, event->variant.async_branch.from, err);
        return rc != 0 || event->ip_suppressed
                   ? rc
                   : br2_trace_walk_resume(&s->walk, event->variant.async_branch.to, err);
    case ptev_overflow:
        rc = lose(s, BR2_TRACE_OVERFLOW, err);
        return rc != 0 || event->ip_suppressed ? rc
                                               : resume(s, event, event->variant.overflow.ip, err);
    default:
        return 0;
    }
}

/* All events that wait. Returns a status of libipt's, or, negative and below all of them, that
 * `*ret_rc` is not 0. */
#define FAILED (-1000)
static int take_events(struct pt_stream *s, int status, int *ret_rc, struct br2pgo_error *err)
{
    while (status >= 0 && (status & pts_event_pending) != 0) {
        struct pt_event event;
        status = pt_blk_event(s->decoder, &event, sizeof event);
        if (status >= 0) {
            *ret_rc = take_event(s, &event, err);
        }
        if (*ret_rc != 0) {
            return FAILED;
        }
    }
    return status;
}

/* Whether the decoder goes round and round without reading anything. */
static bool is_idle(struct pt_stream *s)
{
    uint64_t offset = 0;
    pt_blk_get_offset(s->decoder, &offset);
    s->idle = offset == s->offset ? s->idle + 1 : 0;
    s->offset = offset;
    return s->idle > IDLE_BLOCKS_MAX;
}

/* Decodes from where the decoder is synchronised to where it cannot go on; the status says why. */
static int decode_on(struct pt_stream *s, int status, int *ret_rc, struct br2pgo_error *err)
{
    for (;;) {
        struct pt_block block = {0};
        status = take_events(s, status, ret_rc, err);
        if (status < 0) {
            return status;
        }
        status = pt_blk_next(s->decoder, &block, sizeof block);
        /* Also where it fails there may be instructions before that. */
        if (block.ninsn != 0) {
            *ret_rc = br2_trace_walk_block(&s->walk, block.ip, block.end_ip, err);
        }
        if (*ret_rc == 0) {
            *ret_rc = br2_pt_code_grow(&s->code, err);
        }
        if (*ret_rc != 0) {
            return FAILED;
        }
        if (status >= 0 && is_idle(s)) {
            return -pte_bad_query;
        }
    }
}

static enum br2_trace_loss loss_of(int status)
{
    switch (pt_errcode(status)) {
    case pte_nomap:
        return BR2_TRACE_NO_CODE;
    case pte_bad_opc:
    case pte_bad_packet:
    case pte_nomem: /* more packets in a PSB+ than libipt has room for, which has a fixed size */
        return BR2_TRACE_CORRUPT;
    default:
        return BR2_TRACE_MISMATCH;
    }
}

static uint64_t decoder_offset(const struct pt_stream *s)
{
    uint64_t offset = 0;
    return pt_blk_get_offset(s->decoder, &offset) < 0 ? 0 : offset;
}

/* At a place to begin at a thread may be running. */
static int begin_thread(struct pt_stream *s, struct br2pgo_error *err)
{
    uint64_t tsc = 0;
    bool known;
    bool timed = pt_blk_time(s->decoder, &tsc, NULL, NULL) == 0;
    int rc = set_thread(s, timed, tsc, &known, err);
    return rc != 0 || known ? rc : br2_pt_code_use(&s->code, s->decoder, BR2_VIEW_UNKNOWN, err);
}

/* Finds the next place to begin at, behind `*at`, where the last was. Returns a status of libipt's;
 * -pte_eos: there is none. */
static int synchronise(struct pt_stream *s, uint64_t *at)
{
    uint64_t begin;
    int status = pt_blk_sync_forward(s->decoder);
    if (status == -pte_eos || pt_blk_get_sync_offset(s->decoder, &begin) < 0 ||
        (*at != UINT64_MAX && begin <= *at)) { /* it would go round and round */
        return -pte_eos;
    }
    *at = begin;
    s->offset = begin;
    s->idle = 0;
    return status;
}

/* Decodes from one place to begin at to the next, as long as there is one. */
static int decode_piece(struct pt_stream *s, const struct br2_trace_piece *piece,
                        struct br2pgo_error *err)
{
    uint64_t lost_at = 0; /* what is behind was not decoded */
    uint64_t begin = UINT64_MAX;
    for (;;) {
        int status = synchronise(s, &begin);
        if (status == -pte_eos) {
            break;
        }
        s->stats->skipped += begin > lost_at ? begin - lost_at : 0;
        lost_at = begin;
        int rc = 0;
        if (status >= 0) {
            rc = begin_thread(s, err);
            status = rc == 0 ? decode_on(s, status, &rc, err) : FAILED;
            lost_at = decoder_offset(s);
        }
        if (rc != 0 || status == -pte_eos) {
            return rc;
        }
        if (status == -pte_nomap && s->stats->no_code_at == 0) {
            s->stats->no_code_at = s->code.missing;
            s->stats->no_code_view = s->walk.view;
        }
        rc = lose(s, loss_of(status), err);
        if (rc != 0) {
            return rc;
        }
    }
    s->stats->skipped += piece->size - (lost_at < piece->size ? lost_at : piece->size);
    return 0;
}

static int decode_bytes(struct pt_stream *s, const struct br2_trace_piece *piece,
                        struct br2pgo_error *err)
{
    struct pt_config config;
    configure(s->job->info, piece, &config);
    s->decoder = pt_blk_alloc_decoder(&config);
    if (s->decoder == NULL) {
        return br2_fail_memory(err);
    }
    int rc = br2_pt_code_use(&s->code, s->decoder, BR2_VIEW_UNKNOWN, err);
    rc = rc != 0 ? rc : decode_piece(s, piece, err);
    pt_blk_free_decoder(s->decoder);
    s->decoder = NULL;
    return rc;
}

/* Whether the kernel was traced, too. */
static bool has_kernel(const struct br2_recording_info *info)
{
    for (size_t i = 0; i < info->event_count; i++) {
        if (info->events[i].type == word(info, WORD_PMU)) {
            return !info->events[i].exclude_kernel;
        }
    }
    return false;
}

static int decode_user(struct pt_stream *s, const struct br2_trace_piece *piece,
                       struct br2pgo_error *err)
{
    struct pt_config config;
    struct br2_file file = {0};
    configure(s->job->info, piece, &config);
    int rc = br2_pt_leave_out_kernel(&config, piece, &file, err);
    if (rc == 0 && file.size != 0) {
        struct br2_trace_piece user = {
            .bytes = file.bytes, .size = file.size, .offset = piece->offset};
        rc = decode_bytes(s, &user, err);
    }
    br2_file_close(&file);
    return rc;
}

static int decode_pieces(struct pt_stream *s, struct br2pgo_error *err)
{
    const struct br2_trace_stream *stream = s->job->stream;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < stream->piece_count; i++) {
        const struct br2_trace_piece *piece = &stream->pieces[i];
        s->stats->bytes += piece->size;
        if (i != 0) {
            rc = lose(s, BR2_TRACE_GAP, err);
        }
        if (rc == 0) {
            rc =
                has_kernel(s->job->info) ? decode_user(s, piece, err) : decode_bytes(s, piece, err);
        }
    }
    return rc != 0 ? rc : br2_trace_walk_end(&s->walk, err);
}

static int decode(const struct br2_trace_job *job, struct br2_trace_stats *stats,
                  struct br2pgo_error *err)
{
    struct pt_stream stream = {.job = job, .stats = stats};
    int rc = br2_trace_walk_begin(&stream.walk, job, BR2_MACHINE_X86_64, stats, err);
    if (rc == 0) {
        rc = br2_pt_code_begin(&stream.code, &stream.walk, err);
    }
    if (rc == 0) {
        rc = decode_pieces(&stream, err);
    }
    br2_pt_code_done(&stream.code);
    br2_trace_walk_done(&stream.walk);
    return rc;
}

const struct br2_trace_decoder br2_trace_intel_pt = {
    .type = BR2_TRACE_INTEL_PT,
    .decode = decode,
};
