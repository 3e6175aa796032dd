/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One stream of Intel PT packets in the making, by libipt's encoder; what pt_encode.c writes. */
#ifndef BR2_TESTS_PT_PACKETS_H
#define BR2_TESTS_PT_PACKETS_H

#include <intel-pt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BYTES   ((size_t)1 << 28)
#define RETURN_STACK   64 /* as deep as the processor's, and libipt's */
#define TNT_SHORT_BITS 6
#define TNT_LONG_BITS  47
/* The clock of the traces made here: crystal ticks of 50 cycles, MTC every 8 of them. */
#define CRYSTAL_EAX   2
#define CRYSTAL_EBX   100
#define CRYSTAL_TICKS (CRYSTAL_EBX / CRYSTAL_EAX)
#define MTC_FREQUENCY 3
#define CORE_RATIO    24

__attribute__((format(printf, 1, 2))) _Noreturn static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "pt_encode: error: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void *allocate(void *old, size_t count, size_t size)
{
    void *new = reallocarray(old, count, size);
    if (new == NULL) {
        fail("out of memory");
    }
    return new;
}

struct stream_options {
    bool no_return_compression;
    bool long_tnt;
    bool mtc;
    bool cycles;
    bool kernel;          /* the kernel is traced, too ... */
    bool kernel_overflow; /* ... and has more to say than it can */
    size_t psb_bytes;     /* from one PSB to the next */
};

struct stream {
    const struct stream_options *options;
    uint8_t *bytes;
    struct pt_encoder *encoder;
    uint64_t size;
    uint64_t last_ip;
    uint64_t tnt; /* outcomes that are in no packet yet, the newest in the lowest bit */
    unsigned tnt_bits;
    uint64_t returns[RETURN_STACK];
    unsigned return_top;
    unsigned return_count;
    uint64_t psb_at; /* offset of the last PSB; none: UINT64_MAX */
    uint64_t tsc;
    uint64_t cycles_at; /* as of the last CYC packet */
    uint64_t mtc_at;    /* in units of MTC packets */
    bool in_kernel;
    unsigned visits; /* of the kernel */
};

static void stream_begin(struct stream *s, const struct stream_options *options, uint64_t tsc)
{
    struct pt_config config;
    *s = (struct stream){.options = options, .psb_at = UINT64_MAX, .tsc = tsc, .cycles_at = tsc};
    s->bytes = allocate(NULL, STREAM_BYTES, 1);
    pt_config_init(&config);
    config.begin = s->bytes;
    config.end = s->bytes + STREAM_BYTES;
    s->encoder = pt_alloc_encoder(&config);
    if (s->encoder == NULL) {
        fail("no encoder");
    }
}

static void stream_end(struct stream *s)
{
    pt_free_encoder(s->encoder);
    free(s->bytes);
}

static void put_packet(struct stream *s, const struct pt_packet *packet)
{
    int rc = pt_enc_next(s->encoder, packet);
    if (rc < 0) {
        fail("packet %d: %s", (int)packet->type, pt_errstr(pt_errcode(rc)));
    }
    s->size += (uint64_t)rc;
}

static void put_plain(struct stream *s, enum pt_packet_type type)
{
    struct pt_packet packet = {.type = type};
    put_packet(s, &packet);
}

/* A packet with an address in as few bytes as tell it from the last one. */
static void put_ip(struct stream *s, enum pt_packet_type type, uint64_t ip)
{
    struct pt_packet packet = {.type = type};
    uint64_t changed = ip ^ s->last_ip;
    packet.payload.ip.ipc = changed >> 16 == 0   ? pt_ipc_update_16
                            : changed >> 32 == 0 ? pt_ipc_update_32
                                                 : pt_ipc_sext_48;
    packet.payload.ip.ip = changed >> 16 == 0   ? ip & 0xffff
                           : changed >> 32 == 0 ? ip & UINT32_MAX
                                                : ip & (((uint64_t)1 << 48) - 1);
    s->last_ip = ip;
    put_packet(s, &packet);
}

static void put_cycles(struct stream *s)
{
    if (s->options->cycles && s->tsc != s->cycles_at) {
        struct pt_packet packet = {.type = ppt_cyc, .payload.cyc.value = s->tsc - s->cycles_at};
        put_packet(s, &packet);
        s->cycles_at = s->tsc;
    }
}

static void flush_tnt(struct stream *s)
{
    if (s->tnt_bits != 0) {
        put_cycles(s);
        struct pt_packet packet = {
            .type = s->tnt_bits <= TNT_SHORT_BITS ? ppt_tnt_8 : ppt_tnt_64,
            .payload.tnt = {.bit_size = (uint8_t)s->tnt_bits, .payload = s->tnt},
        };
        s->tnt_bits = 0;
        s->tnt = 0;
        put_packet(s, &packet);
    }
}

static void put_mtc(struct stream *s)
{
    uint64_t ticks = (s->tsc / CRYSTAL_TICKS) >> MTC_FREQUENCY;
    if (s->options->mtc && ticks != s->mtc_at) {
        flush_tnt(s);
    }
    /* A decoder takes what is missing for lost. */
    while (s->options->mtc && ticks != s->mtc_at) {
        s->mtc_at++;
        struct pt_packet packet = {.type = ppt_mtc, .payload.mtc.ctc = (uint8_t)s->mtc_at};
        put_packet(s, &packet);
    }
}

/* So much time passes. */
static void stream_pass(struct stream *s, uint64_t cycles)
{
    s->tsc += cycles;
    put_mtc(s);
}

static void put_clock(struct stream *s)
{
    uint64_t ticks = s->tsc / CRYSTAL_TICKS;
    struct pt_packet tsc = {.type = ppt_tsc, .payload.tsc.tsc = s->tsc};
    struct pt_packet tma = {
        .type = ppt_tma,
        .payload.tma = {.ctc = (uint16_t)ticks, .fc = (uint16_t)(s->tsc % CRYSTAL_TICKS)}};
    struct pt_packet cbr = {.type = ppt_cbr, .payload.cbr.ratio = CORE_RATIO};
    put_packet(s, &tsc);
    if (s->options->mtc || s->options->cycles) {
        put_packet(s, &tma);
    }
    put_packet(s, &cbr);
    s->mtc_at = ticks >> MTC_FREQUENCY;
}

static void put_mode(struct stream *s)
{
    struct pt_packet packet = {.type = ppt_mode,
                               .payload.mode = {.leaf = pt_mol_exec, .bits.exec.csl = 1}};
    put_packet(s, &packet);
}

/* A place where a decoder can begin; `ip` 0: where nothing is traced. */
static void stream_psb(struct stream *s, uint64_t ip)
{
    flush_tnt(s);
    s->return_count = 0;
    s->psb_at = s->size;
    put_plain(s, ppt_psb);
    s->last_ip = 0;
    put_clock(s);
    if (ip != 0) {
        put_mode(s);
        put_ip(s, ppt_fup, ip);
    }
    put_plain(s, ppt_psbend);
}

static void stream_psb_when_due(struct stream *s, uint64_t ip)
{
    if (s->size - s->psb_at >= s->options->psb_bytes) {
        stream_psb(s, ip);
    }
}

#define KERNEL_ENTRY UINT64_C(0xffffffff81a00010)

/* What the kernel may do: branches, calls, an interrupt, its own places to begin at. */
static void stream_kernel(struct stream *s)
{
    s->visits++;
    put_ip(s, ppt_tip, KERNEL_ENTRY);
    for (unsigned i = 0; i < 3 + s->visits % 5; i++) {
        s->tnt = s->tnt << 1 | (i & 1);
        s->tnt_bits++;
    }
    flush_tnt(s);
    put_ip(s, ppt_tip, KERNEL_ENTRY + (s->visits % 7 << 17));
    if (s->visits % 3 == 0) {
        put_ip(s, ppt_fup, KERNEL_ENTRY + 77);
        put_ip(s, ppt_tip, KERNEL_ENTRY + 4096);
    }
    if (s->visits % 4 == 0) {
        stream_psb(s, KERNEL_ENTRY + 4097);
    }
    if (s->options->kernel_overflow && s->visits % 9 == 0) {
        put_plain(s, ppt_ovf);
        s->last_ip = 0;
        put_ip(s, ppt_fup, KERNEL_ENTRY + 300);
        s->return_count = 0;
    }
}

/* Tracing begins at `ip`, or goes on there. */
static void stream_enable(struct stream *s, uint64_t ip)
{
    if (s->in_kernel) {
        s->in_kernel = false;
        put_ip(s, ppt_tip, ip);
        return;
    }
    put_mode(s);
    put_ip(s, ppt_tip_pge, ip);
}

/* Tracing pauses by what the instruction there does. */
static void stream_disable(struct stream *s)
{
    flush_tnt(s);
    if (s->options->kernel) {
        stream_kernel(s);
        s->in_kernel = true;
        return;
    }
    struct pt_packet packet = {.type = ppt_tip_pgd, .payload.ip.ipc = pt_ipc_suppressed};
    put_packet(s, &packet);
}

/* Tracing pauses before the instruction at `ip`. */
static void stream_interrupt(struct stream *s, uint64_t ip)
{
    flush_tnt(s);
    put_ip(s, ppt_fup, ip);
    stream_disable(s);
}

static void stream_overflow(struct stream *s, uint64_t ip)
{
    flush_tnt(s);
    s->return_count = 0;
    put_plain(s, ppt_ovf);
    s->last_ip = 0;
    put_ip(s, ppt_fup, ip);
}

static void stream_cond(struct stream *s, bool taken)
{
    s->tnt = s->tnt << 1 | taken;
    s->tnt_bits++;
    if (s->tnt_bits == (s->options->long_tnt ? TNT_LONG_BITS : TNT_SHORT_BITS)) {
        flush_tnt(s);
    }
}

static void stream_indirect(struct stream *s, uint64_t to)
{
    flush_tnt(s);
    put_cycles(s);
    put_ip(s, ppt_tip, to);
}

/* A call that returns to `next`. */
static void stream_call(struct stream *s, uint64_t next)
{
    s->return_top = (s->return_top + 1) % RETURN_STACK;
    s->returns[s->return_top] = next;
    s->return_count += s->return_count < RETURN_STACK;
}

/* A return to where its call came from counts as a branch that was taken. */
static void stream_return(struct stream *s, uint64_t to)
{
    if (s->options->no_return_compression || s->return_count == 0 ||
        s->returns[s->return_top] != to) {
        stream_indirect(s, to);
        return;
    }
    s->return_count--;
    s->return_top = (s->return_top + RETURN_STACK - 1) % RETURN_STACK;
    stream_cond(s, true);
}

/* The offset of the first PSB in [at, size). */
static uint64_t stream_next_psb(const struct stream *s, uint64_t at)
{
    static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
                                  2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
    while (at + sizeof psb <= s->size && memcmp(s->bytes + at, psb, sizeof psb) != 0) {
        at++;
    }
    return at + sizeof psb <= s->size ? at : s->size;
}

#endif
