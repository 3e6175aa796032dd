/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/pt_kernel.h"

#include <string.h>

#include "base/mem.h"
#include "base/spool.h"
#include "process/address_space.h"

#define BUFFER      65536u
#define PSB_PACKETS 32u /* in a PSB+, which has one of a kind */

/* Bytes of packets that are written in place of others: Intel SDM, "Packet Definitions". */
#define TIP_PGD_NO_IP   0x01u
#define TIP_PGE_SEXT_48 0x71u
#define FUP_SEXT_48     0x7du

enum mode {
    OFF, /* nothing is traced */
    USER,
    KERNEL,
};

struct range {
    uint64_t begin;
    uint64_t end;
};

struct filter {
    const struct br2_trace_piece *piece;
    struct br2_spool spool;
    uint8_t *buffer; /* owned */
    size_t used;
    struct range packet; /* where the current one is */
    enum mode mode;
    uint64_t last_ip;
    bool overflowed;   /* the last packet about control flow was an OVF */
    struct range exec; /* a MODE.Exec that goes with the next packet; empty: none */
    bool in_psb;       /* in a PSB+: */
    bool psb_kernel;   /* it has a FUP in the kernel */
    bool psb_user;     /* ... or in user mode */
    size_t psb_count;
    struct {
        struct range range;
        bool of_place; /* goes with the FUP */
    } psb[PSB_PACKETS];
    struct br2pgo_error *err;
    int rc;
};

static void put(struct filter *f, const uint8_t *bytes, size_t size)
{
    if (f->rc == 0 && size > BUFFER - f->used) {
        f->rc = br2_spool_write(&f->spool, f->buffer, f->used, f->err);
        f->used = 0;
    }
    if (f->rc == 0 && size > BUFFER) {
        f->rc = br2_spool_write(&f->spool, bytes, size, f->err);
    } else if (f->rc == 0) {
        memcpy(f->buffer + f->used, bytes, size);
        f->used += size;
    }
}

static void copy(struct filter *f, struct range range)
{
    put(f, f->piece->bytes + range.begin, (size_t)(range.end - range.begin));
}

/* A packet with the whole of the last address, whatever the one before was. */
static void put_ip(struct filter *f, uint8_t code)
{
    uint8_t bytes[7] = {code};
    for (size_t i = 0; i < 6; i++) {
        bytes[1 + i] = (uint8_t)(f->last_ip >> 8 * i);
    }
    put(f, bytes, sizeof bytes);
}

static void put_disabled(struct filter *f)
{
    static const uint8_t byte = TIP_PGD_NO_IP;
    put(f, &byte, 1);
}

static void put_exec(struct filter *f)
{
    copy(f, f->exec);
    f->exec = (struct range){0};
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

/* The address that a packet has; false: none. */
static bool take_ip(struct filter *f, const struct pt_packet_ip *packet)
{
    uint64_t last = f->last_ip;
    switch (packet->ipc) {
    case pt_ipc_update_16:
        f->last_ip = (last - low_bits(last, 16)) | packet->ip;
        return true;
    case pt_ipc_update_32:
        f->last_ip = (last - low_bits(last, 32)) | packet->ip;
        return true;
    case pt_ipc_update_48:
        f->last_ip = (last - low_bits(last, 48)) | packet->ip;
        return true;
    case pt_ipc_sext_48:
        f->last_ip = packet->ip >> 47 != 0 ? packet->ip | ~UINT64_C(0) << 48 : packet->ip;
        return true;
    case pt_ipc_full:
        f->last_ip = packet->ip;
        return true;
    case pt_ipc_suppressed:
        break;
    }
    return false;
}

static bool in_kernel(const struct filter *f)
{
    return br2_is_kernel_address(f->last_ip);
}

/* Where a branch went that needs an address. */
static void take_tip(struct filter *f, const struct pt_packet_ip *packet)
{
    bool has_ip = take_ip(f, packet);
    bool kernel = has_ip ? in_kernel(f) : f->mode == KERNEL;
    if (f->mode == USER && kernel) {
        put_disabled(f);
    } else if (f->mode == USER) {
        put_exec(f);
        copy(f, f->packet);
    } else if (!kernel && has_ip) {
        put_exec(f);
        put_ip(f, TIP_PGE_SEXT_48);
    }
    f->mode = kernel ? KERNEL : USER;
}

static void take_enabled(struct filter *f, const struct pt_packet_ip *packet)
{
    bool has_ip = take_ip(f, packet);
    f->mode = has_ip && !in_kernel(f) ? USER : KERNEL;
    if (f->mode == USER) {
        put_exec(f);
        put_ip(f, TIP_PGE_SEXT_48);
    }
}

static void take_disabled(struct filter *f, const struct pt_packet_ip *packet)
{
    bool user = f->mode == USER;
    bool has_ip = take_ip(f, packet);
    if (user && has_ip && in_kernel(f)) {
        put_disabled(f);
    } else if (user) {
        copy(f, f->packet);
    }
    f->mode = OFF;
}

static void take_fup(struct filter *f, const struct pt_packet_ip *packet)
{
    bool has_ip = take_ip(f, packet);
    if (f->overflowed && has_ip) { /* where it goes on */
        f->mode = in_kernel(f) ? KERNEL : USER;
        if (f->mode == USER) {
            put_ip(f, FUP_SEXT_48);
        }
    } else if (f->mode == USER) {
        copy(f, f->packet);
    }
}

static void begin_psb(struct filter *f)
{
    f->in_psb = true;
    f->psb_kernel = f->psb_user = false;
    f->psb_count = 0;
    f->last_ip = 0;
    f->exec = (struct range){0};
}

/* The packets of a PSB+ wait until it is known where it is. */
static void take_psb(struct filter *f, const struct pt_packet *packet)
{
    if (f->psb_count < PSB_PACKETS) {
        f->psb[f->psb_count].range = f->packet;
        f->psb[f->psb_count].of_place =
            packet->type == ppt_fup ||
            (packet->type == ppt_mode && packet->payload.mode.leaf == pt_mol_exec);
        f->psb_count++;
    }
    if (packet->type == ppt_fup && take_ip(f, &packet->payload.ip)) {
        f->psb_kernel = in_kernel(f);
        f->psb_user = !f->psb_kernel;
    }
    if (packet->type != ppt_psbend && packet->type != ppt_ovf) {
        return;
    }
    for (size_t i = 0; i < f->psb_count; i++) {
        if (f->psb_user || !f->psb[i].of_place) {
            copy(f, f->psb[i].range);
        }
    }
    f->mode = f->psb_user ? USER : f->psb_kernel ? KERNEL : OFF;
    f->in_psb = false;
}

static void take_packet(struct filter *f, const struct pt_packet *packet)
{
    if (packet->type == ppt_psb) {
        begin_psb(f);
    }
    if (f->in_psb) {
        take_psb(f, packet);
        f->overflowed = packet->type == ppt_ovf;
        return;
    }
    switch (packet->type) {
    case ppt_tip:
        take_tip(f, &packet->payload.ip);
        break;
    case ppt_tip_pge:
        take_enabled(f, &packet->payload.ip);
        break;
    case ppt_tip_pgd:
        take_disabled(f, &packet->payload.ip);
        break;
    case ppt_fup:
        take_fup(f, &packet->payload.ip);
        break;
    case ppt_ovf:
        f->last_ip = 0;
        copy(f, f->packet);
        f->overflowed = true;
        f->exec = (struct range){0};
        return;
    case ppt_mode:
        if (packet->payload.mode.leaf == pt_mol_exec) {
            f->exec = f->packet;
        } else if (f->mode == USER) {
            copy(f, f->packet);
        }
        return;
    case ppt_pad:
    case ppt_tsc:
    case ppt_tma:
    case ppt_mtc:
    case ppt_cyc:
    case ppt_cbr:
        copy(f, f->packet);
        return;
    default: /* TNT, and what is said of the kernel or of power */
        if (f->mode == USER) {
            copy(f, f->packet);
        }
        return;
    }
    f->overflowed = false;
    f->exec = (struct range){0};
}

/* Packets up to the end, or to bytes that are none: these are copied, for the decoder to count. */
static void take_packets(struct filter *f, struct pt_packet_decoder *decoder)
{
    uint64_t at = 0;
    uint64_t last = 0; /* place to begin at */
    bool synced = false;
    while (f->rc == 0 && pt_pkt_sync_forward(decoder) >= 0) {
        uint64_t sync = 0;
        pt_pkt_get_sync_offset(decoder, &sync);
        if (synced && sync <= last) {
            break;
        }
        synced = true;
        last = sync;
        /* What was taken for a packet may have begun in front of a PSB. */
        copy(f, (struct range){at < sync ? at : sync, sync});
        at = sync;
        struct pt_packet packet;
        int size;
        f->mode = OFF;
        while (f->rc == 0 && (size = pt_pkt_next(decoder, &packet, sizeof packet)) > 0) {
            f->packet = (struct range){at, at + (uint64_t)size};
            at += (uint64_t)size;
            take_packet(f, &packet);
        }
    }
    copy(f, (struct range){at, f->piece->size});
}

int br2_pt_leave_out_kernel(const struct pt_config *config, const struct br2_trace_piece *piece,
                            struct br2_file *ret, struct br2pgo_error *err)
{
    struct filter f = {.piece = piece, .err = err};
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
    f.buffer = br2_alloc(BUFFER);
    br2_spool_begin(&f.spool, NULL);
    if (decoder == NULL || f.buffer == NULL) {
        f.rc = br2_fail_memory(err);
    } else {
        take_packets(&f, decoder);
    }
    if (f.rc == 0) {
        f.rc = br2_spool_write(&f.spool, f.buffer, f.used, err);
    }
    if (f.rc == 0) {
        f.rc = br2_spool_finish(&f.spool, ret, err);
    }
    br2_spool_done(&f.spool);
    br2_free(f.buffer);
    pt_pkt_free_decoder(decoder);
    return f.rc;
}
