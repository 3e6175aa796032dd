/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What trace units, one for each processor, say of what ran, put in terms of threads. */
#ifndef BR2_TRACE_ETM_UNITS_H
#define BR2_TRACE_ETM_UNITS_H

#include "trace/etm_info.h"
#include "trace/walk.h"

/* A processor whose trace is in the stream. */
struct br2_etm_core {
    struct br2_trace_walk walk;
    bool begun;      /* `walk` */
    bool privileged; /* its trace is of the kernel, or of what is above */
    bool branched;   /* the last instruction was a branch that was taken */
    bool known;      /* of which thread it is */
    uint64_t read;   /* bytes of code since its last instruction */
};

struct br2_etm_units {
    const struct br2_trace_job *job;
    struct br2_trace_stats *stats;
    struct br2_etm_core *cores[BR2_ETM_IDS]; /* owned; by trace-id, NULL: not seen */
    /* Of the part of the stream that is decoded: */
    bool of_thread; /* of one, whatever the trace says */
    int32_t pid, tid;
    br2_time time;  /* its end */
    br2_time clock; /* between its beginning and end, for the order of what it says */
};

void br2_etm_units_begin(struct br2_etm_units *units, const struct br2_trace_job *job,
                         struct br2_trace_stats *stats);
void br2_etm_units_done(struct br2_etm_units *units);

/* The core of a trace-id, at first use of none but the stream's thread. BR2PGO_NO_MEMORY. */
int br2_etm_units_core(struct br2_etm_units *units, uint8_t id, struct br2_etm_core **ret,
                       struct br2pgo_error *err);
/* Its thread is that of this number, 0: of the stream's part. */
int br2_etm_units_thread(struct br2_etm_units *units, struct br2_etm_core *core, int32_t tid,
                         struct br2pgo_error *err);
/* The evidence of all cores ends, for that reason. */
int br2_etm_units_lose(struct br2_etm_units *units, enum br2_trace_loss loss,
                       struct br2pgo_error *err);
/* A part of the stream ends: what did not wait there goes on elsewhere. */
int br2_etm_units_part(struct br2_etm_units *units, struct br2pgo_error *err);
/* The stream ends. */
int br2_etm_units_end(struct br2_etm_units *units, struct br2pgo_error *err);

#endif
