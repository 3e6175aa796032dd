/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The streams of a recording's trace, put together, and which thread ran where. */
#ifndef BR2_TRACE_STREAMS_H
#define BR2_TRACE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "input/input.h"

/* Bytes of a stream without a gap. */
struct br2_trace_piece {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t offset; /* in all that went through the buffer */
};

struct br2_trace_stream {
    uint32_t index;
    int32_t cpu;                    /* -1: it is a thread's */
    int32_t tid;                    /* -1: it is a processor's */
    int32_t pid;                    /* of the thread; -1: not known */
    br2_time last;                  /* time of the kernel's last word on it; 0: none */
    struct br2_trace_piece *pieces; /* owned, in order */
    size_t piece_count;
    size_t piece_capacity;
    struct br2_file spool; /* where the bytes of several parts were put together */
};

/* A thread that goes to a processor. */
struct br2_trace_switch {
    int32_t cpu;
    int32_t pid;
    int32_t tid;
    br2_time time;
    bool out;
    uint64_t ordinal; /* among those at the same time, the order of the file */
};

/* Whose a thread is, where it is not the first of its process. */
struct br2_trace_owner {
    int32_t tid;
    int32_t pid;
};

/* Zero-initialise, then use. */
struct br2_trace_streams {
    struct br2_trace_stream *streams; /* by processor, thread and index */
    size_t count;
    size_t capacity;
    struct br2_trace_switch *switches; /* sorted by processor and time */
    size_t switch_count;
    size_t switch_capacity;
    /* While they are read all but switches; then, without BYTES, what the kernel said beside them:
     * by kind, processor, thread, and offset. */
    struct br2_trace_event *parts;
    size_t part_count;
    size_t part_capacity;
    struct br2_trace_owner *owners; /* sorted by thread */
    size_t owner_count;
    size_t owner_capacity;
    int32_t only_pid; /* of the one process that is traced; -1: none or several */
    int32_t only_tid;
    bool has_start;
    uint64_t bytes;
    uint64_t gaps; /* of all streams */
};

/* Takes in one event. A br2_trace_sink: `user` is the struct br2_trace_streams. */
int br2_trace_streams_add(void *user, const struct br2_trace_event *event,
                          struct br2pgo_error *err);
/* Behind the last event: puts the streams together; where a stream is in several parts in a file
 * without a name in `folder` (base/spool.h). Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_trace_streams_finish(struct br2_trace_streams *streams, const char *folder,
                             struct br2pgo_error *err);
void br2_trace_streams_done(struct br2_trace_streams *streams);

/* The process of a thread: of one that nobody tells of, its own number. */
int32_t br2_trace_process_of(const struct br2_trace_streams *streams, int32_t tid);

/* Who ran on a processor at a time; false: nobody says. */
bool br2_trace_thread_at(const struct br2_trace_streams *streams, int32_t cpu, br2_time time,
                         int32_t *ret_pid, int32_t *ret_tid);

#endif
