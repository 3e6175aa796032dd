/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What recorded programs hand over, kept in an unlinked file until all have ended: for each run of
 * a program (an area), and in it for each thread, its records in the order of their times. Numbers
 * of runs begin with 1.
 */
#ifndef BR2_RECORD_STREAM_H
#define BR2_RECORD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "record/area.h"

struct br2_stream_chunk {
    uint64_t offset; /* in the file */
    uint64_t size;
};

/* The records of a thread, or of a process (serial BR2_STREAM_OF_PROCESS). */
struct br2_stream {
    uint64_t serial;
    uint64_t sent; /* buffers taken so far */
    struct br2_stream_start start;
    bool ended;
    uint32_t tid;        /* given by br2_tasks_number */
    uint32_t parent_pid; /* of what started it */
    uint32_t parent_tid;
    struct br2_stream_chunk *chunks; /* owned */
    size_t count;
    size_t capacity;
};

/* A program that a process ran. */
struct br2_run {
    uint64_t parent; /* number of the run it comes from; 0: none */
    uint64_t parent_thread;
    uint64_t ordinal;
    uint64_t start; /* time */
    enum br2_area_origin origin;
    char name[16];
    uint32_t pid;               /* given by br2_tasks_number */
    struct br2_stream *streams; /* owned */
    size_t count;
    size_t capacity;
};

/* Zero-initialise, then open. */
struct br2_streams {
    int fd;
    uint64_t size;
    const uint8_t *bytes; /* of br2_streams_map */
    struct br2_run *runs; /* owned */
    size_t count;
    size_t capacity;
    uint64_t samples;
    uint64_t branches; /* records in them */
    /* The recording is written when all have ended; there must be room for it then. */
    int output; /* the file it will be in, where room is reserved; -1: none can be */
    uint64_t needed;
    uint64_t reserved;
    int full; /* errno of what could not be kept, behind which nothing is; 0: all was */
};

/* The file is made beside `output` ("-": among the temporary files). Errors: BR2PGO_IO,
 * BR2PGO_NO_MEMORY. */
int br2_streams_open(struct br2_streams *streams, const char *output, struct br2pgo_error *err);
void br2_streams_done(struct br2_streams *streams);

/* Reserves room for `size` bytes beside what is recorded in the file that the recording will be
 * written to. Errors: BR2PGO_IO. */
int br2_streams_reserve(struct br2_streams *streams, int output, uint64_t size,
                        struct br2pgo_error *err);

/* A run with what an area's header says of it; its number to `ret`. */
int br2_streams_add_run(struct br2_streams *streams, const struct br2_area_header *header,
                        uint64_t *ret, struct br2pgo_error *err);

struct br2_stream_part {
    uint64_t run;
    uint64_t serial;
    uint64_t sent; /* parts of the stream before this */
    const uint8_t *bytes;
    size_t size;
};

/* Appends to a stream, unless the part was taken before; not any more once there is no room
 * (`full`). Errors: BR2PGO_CORRUPT: these are no records; BR2PGO_NO_MEMORY. */
int br2_streams_append(struct br2_streams *streams, const struct br2_stream_part *part,
                       struct br2pgo_error *err);

/* A thread ended without saying so. */
int br2_streams_end(struct br2_streams *streams, uint64_t run, uint64_t serial, uint64_t time,
                    struct br2pgo_error *err);

/* Brings the file into memory, for reading: `bytes`. */
int br2_streams_map(struct br2_streams *streams, struct br2pgo_error *err);

/* Gives every thread a number, the process's first that of the process: in the order in which each
 * was started by its parent, so that the same program gives the same numbers. */
int br2_tasks_number(struct br2_streams *streams, struct br2pgo_error *err);

#endif
