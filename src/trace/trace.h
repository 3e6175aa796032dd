/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Instruction traces: what a processor says of every branch, decoded against the code that ran.
 *
 * A recording's trace is a number of streams, each what went through the buffer of a processor or
 * of a thread. A decoder, one for each kind of trace, turns a stream into steps: a branch and the
 * straight run behind it.
 */
#ifndef BR2_TRACE_TRACE_H
#define BR2_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "input/input.h"
#include "process/address_space.h"
#include "trace/streams.h"

/* Code as it lies in memory: a part of a file. */
struct br2_trace_section {
    uint64_t start;
    uint64_t end;
    const uint8_t *bytes; /* of `start`, up to `end`; they stay while streams are decoded */
    const char *path;     /* the file they are of ... */
    uint64_t file_offset; /* ... and where in it */
};

/* Tells the section that holds an address of a view; false: there is no code for it. Called from
 * several threads at once. */
struct br2_trace_code {
    bool (*find)(void *user, uint32_t view, uint64_t address, struct br2_trace_section *ret);
    void *user;
};

/* A branch that was taken, then the straight run from its target. */
struct br2_trace_step {
    uint32_t view;
    br2_time time;
    uint64_t from; /* 0: not known, the run was resumed or came behind a loss */
    uint64_t to;   /* where the run begins */
    uint64_t end;  /* its last instruction, a transfer; 0: how far it went is not known */
};

/* Receives steps, in order. A non-zero return stops the decoding and is passed on. */
typedef int (*br2_trace_step_sink)(void *user, const struct br2_trace_step *step,
                                   struct br2pgo_error *err);

/* Where a thread's time on a stream begins or ends, in the middle of a run: it may go on in another
 * stream. */
struct br2_trace_border {
    int32_t tid;
    br2_time time;
    uint32_t view;
    bool begins;
    uint64_t at; /* the next instruction to run */
    /* begins: of the run's last instruction, 0: the thread left before it came to one. Else the
     * step so far, `from` 0: it has begun at `to`, with the border before. */
    uint64_t from, to, end;
};
/* Zero-initialise, then use. */
struct br2_trace_borders {
    struct br2_trace_border *items;
    size_t count;
    size_t capacity;
};
void br2_trace_borders_done(struct br2_trace_borders *borders);
/* Appends those of `more`. */
int br2_trace_borders_add(struct br2_trace_borders *borders, const struct br2_trace_borders *more,
                          struct br2pgo_error *err);
/* When all streams are decoded: puts together what belongs together, as steps. */
int br2_trace_borders_join(struct br2_trace_borders *borders, br2_trace_step_sink sink, void *user,
                           struct br2pgo_error *err);

/* Why evidence ended before the trace did. */
enum br2_trace_loss {
    BR2_TRACE_OVERFLOW,  /* the processor had more to say than it could write */
    BR2_TRACE_GAP,       /* bytes did not come into the recording */
    BR2_TRACE_NO_CODE,   /* it went where there is no code to hold it against */
    BR2_TRACE_MISMATCH,  /* it contradicts the code */
    BR2_TRACE_CORRUPT,   /* bytes that are no packets */
    BR2_TRACE_NO_THREAD, /* nobody says whose it is */
    BR2_TRACE_LOSSES,
};
extern const char *const br2_trace_loss_names[BR2_TRACE_LOSSES];

struct br2_trace_stats {
    uint64_t bytes;   /* of all streams */
    uint64_t skipped; /* of those, not decoded: behind a loss, up to where a decoder can begin */
    uint64_t steps;
    uint64_t losses[BR2_TRACE_LOSSES];
    uint64_t no_code_at; /* an address that had no code; 0: none */
    uint32_t no_code_view;
};
void br2_trace_stats_add(struct br2_trace_stats *sum, const struct br2_trace_stats *more);

/* A stream to be decoded, and with what. */
struct br2_trace_job {
    const struct br2_recording_info *info;
    const struct br2_spaces *spaces;
    const struct br2_trace_streams *streams; /* all of them, and what came beside them */
    const struct br2_trace_stream *stream;
    const struct br2_trace_code *code;
    br2_trace_step_sink sink;
    void *user;
    struct br2_trace_borders *borders; /* where the stream's go */
};

struct br2_trace_decoder {
    uint32_t type; /* BR2_TRACE_* */
    /* Decodes a stream. Errors are the sink's, or BR2PGO_NO_MEMORY: what is wrong with a trace is
     * counted. */
    int (*decode)(const struct br2_trace_job *job, struct br2_trace_stats *stats,
                  struct br2pgo_error *err);
};

/* The decoder of that type of trace; NULL: this build has none. registry.c lists them. */
const struct br2_trace_decoder *br2_trace_decoder_find(uint32_t type);

#endif
