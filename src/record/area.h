/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a recorded program shares with the recorder: an unlinked file in memory, mapped by the
 * plugin in the emulator, one for each program that a process runs. The recorder reads it when the
 * program has ended, however it ended. The file is large and sparse: every part has its place, and
 * only what is used takes memory. Numbers are the machine's own: both sides run on it.
 */
#ifndef BR2_RECORD_AREA_H
#define BR2_RECORD_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

#define BR2_AREA_MAGIC UINT64_C(0x3161657261325242)

/* Parts that are given back to the system, each by itself, begin on a page of any machine. */
#define BR2_AREA_ALIGNED __attribute__((aligned(65536)))

/* What has room in an area. A block's number is below BR2_AREA_BLOCKS; number 0 is no block. */
#define BR2_AREA_BLOCKS  (1u << 21)
#define BR2_AREA_THREADS 1024u
#define BR2_AREA_EDGES   (1u << 18) /* targets of indirect branches, of a thread; power of two */
#define BR2_AREA_STREAM  (256u << 10)
#define BR2_AREA_FILES   4096u
#define BR2_AREA_PATH    4096u

/* How control goes on behind a block. */
enum br2_block_kind {
    BR2_BLOCK_PLAIN, /* to the next instruction, or through the kernel */
    BR2_BLOCK_COND,
    BR2_BLOCK_JUMP,
    BR2_BLOCK_CALL,
    BR2_BLOCK_INDIRECT_CALL,
    BR2_BLOCK_INDIRECT_JUMP,
    BR2_BLOCK_RETURN,
    BR2_BLOCK_REPEAT, /* to itself or the next instruction; no branch */
};

/* A straight piece of code that the emulator translated. */
struct br2_block {
    uint64_t start;
    uint64_t last;   /* its last instruction */
    uint64_t next;   /* behind it */
    uint64_t target; /* of a direct branch */
    uint32_t insns;
    uint32_t number;
    uint16_t file;  /* index of br2_area_file; 0: of none */
    uint8_t kind;   /* enum br2_block_kind */
    uint32_t chain; /* the plugin's */
};

/* What a thread, or what ended threads, did at the end of a block. */
struct br2_block_counts {
    uint64_t passed; /* went on to the next instruction without a branch */
    uint64_t taken;
    uint64_t missed; /* mispredicted, of those taken */
    uint64_t state;  /* predictor: a conditional branch's counter, else the last target */
};

/* Further outcomes of an indirect branch. */
struct br2_indirect_edge {
    uint32_t block; /* 0: a free slot */
    uint32_t unused;
    uint64_t to;
    uint64_t taken;
    uint64_t missed;
};

struct br2_edge_slots {
    uint32_t count;
    uint32_t capacity; /* power of two */
    struct br2_indirect_edge slots[BR2_AREA_EDGES];
} BR2_AREA_ALIGNED;

/* As in the kernel's struct perf_branch_entry. */
struct br2_branch_record {
    uint64_t from;
    uint64_t to;
    uint64_t flags; /* 1 mispredicted, 2 predicted; cycles from BR2_CYCLES_SHIFT on. In a thread's
                       ring, there, its instructions until then */
};
#define BR2_CYCLES_SHIFT 4
#define BR2_CYCLES_MAX   UINT64_C(0xffff)

/* Records of a thread that the recorder has not yet got. */
struct br2_stream_buffer {
    uint64_t sent; /* buffers handed over before this one */
    uint32_t size;
    uint32_t unused;
    uint8_t bytes[BR2_AREA_STREAM];
} BR2_AREA_ALIGNED;

#define BR2_RING         128u /* power of two, more than BR2_RECORD_DEPTH_MAX */
#define BR2_RETURN_STACK 16u  /* power of two; as deep as most processors' */
#define BR2_SIGNAL_STACK 8u

struct br2_thread {
    /* What every block touches. */
    const struct br2_block *before; /* what ran last */
    struct br2_block_counts *counts;
    uint64_t insns; /* so far; the thread's clock */
    uint64_t missed;
    uint64_t until;     /* taken branches to the next sample */
    uint64_t scheduled; /* what `until` began with */
    uint64_t taken;     /* before that */
    uint32_t newest;
    uint32_t return_top;
    struct br2_branch_record ring[BR2_RING];
    uint64_t returns[BR2_RETURN_STACK];
    /* The rest. */
    uint64_t clock; /* time is clock + insns */
    uint64_t seed;  /* its children's are made of it */
    uint64_t random;
    uint64_t serial;   /* the thread's name within the area; 0: free */
    uint64_t children; /* threads and processes started so far */
    uint32_t interrupted_count;
    const struct br2_block *interrupted[BR2_SIGNAL_STACK];
    struct br2_edge_slots *edges;
    struct br2_stream_buffer *stream;
};

/* A file whose code ran, at one of the places where it lay. */
struct br2_area_file {
    uint64_t start; /* of its executable segment, in memory */
    uint64_t end;
    uint64_t bias; /* what memory's addresses are above the file's own, link-time ones */
    char path[BR2_AREA_PATH];
};

/* Where the first thread of an area comes from. */
enum br2_area_origin {
    BR2_ORIGIN_START, /* the recorder started it */
    BR2_ORIGIN_FORK,
    BR2_ORIGIN_EXEC,
};

struct br2_area_header {
    uint64_t magic;
    uint64_t number; /* the recorder's for this area */
    uint64_t parent; /* number of the area it comes from */
    uint64_t parent_thread;
    uint64_t ordinal;      /* among that thread's children */
    uint64_t start;        /* time */
    uint32_t origin;       /* enum br2_area_origin */
    uint32_t block_count;  /* numbers given, 0 included */
    uint32_t file_count;   /* 0 included */
    uint32_t threads_used; /* slots that were ever used */
    uint64_t serials;      /* given to threads */
    uint64_t time_floor;
    uint64_t ended_insns; /* of threads that ended */
    uint64_t ended_taken;
    uint64_t ended_missed;
    uint64_t forks;       /* processes started */
    uint64_t lost_blocks; /* blocks there was no number for */
    uint64_t lost_threads;
    uint64_t lost_processes;  /* programs that run outside the emulator */
    char name[16];            /* of the process, NUL-terminated; of a forked one the parent's */
    char path[BR2_AREA_PATH]; /* the program's */
    char lost_program[256];   /* the first of lost_processes, and why */
};

/* All of an area. Thread slot BR2_AREA_THREADS of `counts` and `edges` is for those that ended. */
struct br2_area {
    union {
        struct br2_area_header header;
        uint8_t room[64 << 10];
    };
    struct br2_area_file files[BR2_AREA_FILES];
    struct br2_stream_buffer events; /* of the process: mappings */
    struct br2_block blocks[BR2_AREA_BLOCKS];
    struct br2_thread threads[BR2_AREA_THREADS];
    struct br2_stream_buffer streams[BR2_AREA_THREADS];
    struct br2_edge_slots edges[BR2_AREA_THREADS + 1];
    struct br2_block_counts counts[BR2_AREA_THREADS + 1][BR2_AREA_BLOCKS] BR2_AREA_ALIGNED;
};

/* Maps an area's file, for PROT_* access; one that is not shared, of zeros, where `file` < 0. To be
 * given to munmap. NULL: errno says why. */
struct br2_area *br2_area_map(int file, int protection);

/* Records in a stream; each is a multiple of 8 bytes. */
enum br2_stream_type {
    BR2_STREAM_START,   /* struct br2_stream_start: a thread begins */
    BR2_STREAM_END,     /* only the head */
    BR2_STREAM_NAME,    /* 16 bytes, NUL-terminated: the thread's name */
    BR2_STREAM_SAMPLE,  /* u64 ip, then struct br2_branch_record, newest first */
    BR2_STREAM_MAPPING, /* struct br2_stream_mapping and the path with its NUL */
};

struct br2_stream_head {
    uint32_t type;
    uint32_t size; /* with the head */
    uint64_t time;
};

struct br2_stream_start {
    uint64_t parent;  /* serial of the thread that started it */
    uint64_t ordinal; /* among that thread's children */
};

struct br2_stream_mapping {
    uint64_t start;
    uint64_t length;
    uint64_t offset; /* in the file */
};

#define BR2_STREAM_OF_PROCESS UINT64_MAX /* serial of an area's `events` */

/* A message to the recorder's socket; what is carried follows; the answer is a u64. */
enum br2_message_type {
    BR2_MESSAGE_AREA,   /* with the area's file; the answer is the area's number, 0: refused */
    BR2_MESSAGE_STREAM, /* a full buffer */
    BR2_MESSAGE_EDGES,  /* a full table of struct br2_indirect_edge */
};

struct br2_message {
    uint64_t magic;
    uint32_t type;
    uint32_t size; /* of what is carried */
    uint64_t area;
    uint64_t serial;
    uint64_t sent; /* buffers of the stream before this */
};

#endif
