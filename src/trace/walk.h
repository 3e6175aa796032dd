/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From blocks of instructions that ran, one after the other, to steps: what decoders share. */
#ifndef BR2_TRACE_WALK_H
#define BR2_TRACE_WALK_H

#include "image/code.h"
#include "trace/trace.h"

/* What is known of an instruction that was looked up. */
struct br2_trace_insn {
    uint64_t address; /* 0: a free slot */
    uint32_t view;
    uint8_t size;
    uint8_t kind; /* enum br2_insn_kind */
};

struct br2_trace_walk {
    const struct br2_trace_job *job;
    struct br2_trace_stats *stats;
    struct br2_decoder *decoder;      /* owned */
    struct br2_trace_insn *insns;     /* owned; by a hash of the address */
    struct br2_trace_section section; /* the last one that code was in ... */
    uint32_t section_view;            /* ... of that view */
    int32_t tid;
    uint32_t view;
    br2_time time;
    bool runs;     /* a run goes on; what is below is of it */
    bool stopped;  /* it waits before `next` */
    bool bordered; /* it is the thread's first here */
    uint64_t from; /* 0: not known */
    uint64_t to;
    uint64_t last; /* its last instruction so far; 0: none */
    uint64_t next; /* behind that */
    uint8_t kind;  /* of that */
};

int br2_trace_walk_begin(struct br2_trace_walk *walk, const struct br2_trace_job *job,
                         enum br2_machine machine, struct br2_trace_stats *stats,
                         struct br2pgo_error *err);
void br2_trace_walk_done(struct br2_trace_walk *walk);

/* From now on the stream is of that thread, in that view. */
int br2_trace_walk_thread(struct br2_trace_walk *walk, int32_t tid, uint32_t view, br2_time time,
                          struct br2pgo_error *err);
/* Evidence begins, or goes on, before the instruction at `ip`. */
int br2_trace_walk_resume(struct br2_trace_walk *walk, uint64_t ip, struct br2pgo_error *err);
/* Instructions that lie one behind the other ran, from `first` to the one at `last`. */
int br2_trace_walk_block(struct br2_trace_walk *walk, uint64_t first, uint64_t last,
                         struct br2pgo_error *err);
/* The thread waits: before the instruction at `at`, or, 0, behind its last. */
int br2_trace_walk_stop(struct br2_trace_walk *walk, uint64_t at, struct br2pgo_error *err);
/* Evidence ends: what comes next does not follow. */
int br2_trace_walk_lose(struct br2_trace_walk *walk, struct br2pgo_error *err);
/* The stream ends. */
int br2_trace_walk_end(struct br2_trace_walk *walk, struct br2pgo_error *err);

/* The section that holds an address of the walk's view, NULL: there is no code. */
const struct br2_trace_section *br2_trace_walk_section(struct br2_trace_walk *walk,
                                                       uint64_t address);

#endif
