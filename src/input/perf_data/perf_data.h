/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The perf.data reader: what its files share. Numbers and layouts are those of
 * linux/perf_event.h and of the kernel's tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef BR2_INPUT_PERF_DATA_PERF_DATA_H
#define BR2_INPUT_PERF_DATA_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "input/input_private.h"

/* perf_event_attr.sample_type */
#define BR2_SAMPLE_IP             (UINT64_C(1) << 0)
#define BR2_SAMPLE_TID            (UINT64_C(1) << 1)
#define BR2_SAMPLE_TIME           (UINT64_C(1) << 2)
#define BR2_SAMPLE_ADDR           (UINT64_C(1) << 3)
#define BR2_SAMPLE_READ           (UINT64_C(1) << 4)
#define BR2_SAMPLE_CALLCHAIN      (UINT64_C(1) << 5)
#define BR2_SAMPLE_ID             (UINT64_C(1) << 6)
#define BR2_SAMPLE_CPU            (UINT64_C(1) << 7)
#define BR2_SAMPLE_PERIOD         (UINT64_C(1) << 8)
#define BR2_SAMPLE_STREAM_ID      (UINT64_C(1) << 9)
#define BR2_SAMPLE_RAW            (UINT64_C(1) << 10)
#define BR2_SAMPLE_BRANCH_STACK   (UINT64_C(1) << 11)
#define BR2_SAMPLE_REGS_USER      (UINT64_C(1) << 12)
#define BR2_SAMPLE_STACK_USER     (UINT64_C(1) << 13)
#define BR2_SAMPLE_WEIGHT         (UINT64_C(1) << 14)
#define BR2_SAMPLE_DATA_SRC       (UINT64_C(1) << 15)
#define BR2_SAMPLE_IDENTIFIER     (UINT64_C(1) << 16)
#define BR2_SAMPLE_TRANSACTION    (UINT64_C(1) << 17)
#define BR2_SAMPLE_REGS_INTR      (UINT64_C(1) << 18)
#define BR2_SAMPLE_PHYS_ADDR      (UINT64_C(1) << 19)
#define BR2_SAMPLE_AUX            (UINT64_C(1) << 20)
#define BR2_SAMPLE_CGROUP         (UINT64_C(1) << 21)
#define BR2_SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define BR2_SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define BR2_SAMPLE_WEIGHT_STRUCT  (UINT64_C(1) << 24)
#define BR2_SAMPLE_KNOWN          ((UINT64_C(1) << 25) - 1)

/* perf_event_attr's flag bits, as on a little-endian machine */
#define BR2_ATTR_EXCLUDE_USER   (UINT64_C(1) << 4)
#define BR2_ATTR_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define BR2_ATTR_MMAP           (UINT64_C(1) << 8)
#define BR2_ATTR_COMM           (UINT64_C(1) << 9)
#define BR2_ATTR_FREQUENCY      (UINT64_C(1) << 10)
#define BR2_ATTR_TASK           (UINT64_C(1) << 13)
#define BR2_ATTR_SAMPLE_ID_ALL  (UINT64_C(1) << 18)
#define BR2_ATTR_MMAP2          (UINT64_C(1) << 23)

#define BR2_BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BR2_BRANCH_COUNTERS (UINT64_C(1) << 19)

enum {
    BR2_PERF_MMAP = 1,
    BR2_PERF_LOST = 2,
    BR2_PERF_COMM = 3,
    BR2_PERF_EXIT = 4,
    BR2_PERF_THROTTLE = 5,
    BR2_PERF_FORK = 7,
    BR2_PERF_SAMPLE = 9,
    BR2_PERF_MMAP2 = 10,
    BR2_PERF_AUX = 11,
    BR2_PERF_ITRACE_START = 12,
    BR2_PERF_LOST_SAMPLES = 13,
    BR2_PERF_SWITCH = 14,
    BR2_PERF_SWITCH_CPU_WIDE = 15,
    BR2_PERF_AUX_OUTPUT_HW_ID = 21,
    BR2_PERF_LAST_KERNEL = 22, /* CALLCHAIN_DEFERRED */
    BR2_PERF_HEADER_ATTR = 64,
    BR2_PERF_TRACING_DATA = 66,
    BR2_PERF_BUILD_ID = 67,
    BR2_PERF_AUXTRACE_INFO = 70,
    BR2_PERF_AUXTRACE = 71,
    BR2_PERF_EVENT_UPDATE = 78,
    BR2_PERF_HEADER_FEATURE = 80,
    BR2_PERF_COMPRESSED = 81,
    BR2_PERF_COMPRESSED2 = 83,
    BR2_PERF_LAST_TOOL = 86,           /* SCHEDSTAT_DOMAIN */
    BR2_PERF_FIRST_SIMPLEPERF = 32768, /* KERNEL_SYMBOL */
    BR2_PERF_LAST_SIMPLEPERF = 32776,  /* DEBUG */
};

#define BR2_PERF_HEADER 8 /* u32 type, u16 misc, u16 size with this header */

#define BR2_MISC_CPUMODE       7
#define BR2_MISC_KERNEL        1
#define BR2_MISC_GUEST_KERNEL  4
#define BR2_MISC_GUEST_USER    5
#define BR2_MISC_MMAP_DATA     (1 << 13)
#define BR2_MISC_COMM_EXEC     (1 << 13)
#define BR2_MISC_FORK_EXEC     (1 << 13)
#define BR2_MISC_SWITCH_OUT    (1 << 13)
#define BR2_MISC_MMAP_BUILD_ID (1 << 14)
#define BR2_MISC_BUILD_ID_SIZE (1 << 15)

#define BR2_PERF_ABSENT UINT16_MAX

/* Where things are in the records of one event; made once from its attr. */
struct br2_perf_layout {
    /* Offsets in a sample's body, BR2_PERF_ABSENT for a field it does not have. */
    uint16_t id;
    uint16_t ip;
    uint16_t tid; /* pid, then tid */
    uint16_t time;
    uint16_t cpu; /* u32, then 4 bytes of nothing */
    uint16_t period;
    uint16_t prefix;     /* where the fields of varying size begin */
    uint16_t read_base;  /* READ: size without its counters, 0: no such field */
    uint16_t read_entry; /* size of one counter of a group, 0: not a group */
    bool read_group;
    bool callchain;
    bool raw;
    bool hw_index;
    bool counters;
    bool tail_varies;   /* a field after the branch stack has its size inside */
    bool tail_unknown;  /* a sample_type bit this reader has never heard of */
    uint16_t tail_size; /* of the fields after the branch stack, when they do not vary */
    /* Where the branch stack is the only field whose size varies: where it begins, its number of
     * records first, where these begin, and the size of all else. BR2_PERF_ABSENT: it is not. */
    uint16_t stack;
    uint16_t records;
    uint16_t around;
    /* The sample_id at the end of other records; distances are from the record's end. */
    uint16_t trailer_size;
    uint16_t trailer_time; /* 0: none */
    uint16_t trailer_id;   /* 0: none */
    uint16_t trailer_tid;  /* pid, then tid; 0: none */
    uint16_t trailer_cpu;  /* 0: none */
};

struct br2_perf_attr {
    uint32_t type;
    uint64_t config;
    uint64_t period;
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t flags;
    uint64_t branch_sample_type;
    uint64_t regs_user;
    uint64_t regs_intr;
    unsigned precise;
    const char *name; /* in the input's arena; NULL: the recording gives none */
    struct br2_perf_layout layout;
};

/* Event id -> number of the attr. Open addressing, id 0 is never stored. */
struct br2_perf_ids {
    struct br2_perf_id {
        uint64_t id;
        uint32_t attr;
    } * slots;
    size_t slot_count; /* power of two, or 0 */
    size_t count;
    uint64_t multiplier; /* secret */
};

/* How a record is told which event it belongs to. */
enum br2_perf_by {
    BR2_PERF_BY_FIRST, /* there is one event, or all look alike: the first */
    BR2_PERF_BY_ID,
    BR2_PERF_UNTOLD, /* events with different layouts and no common id: none can be told */
};

struct br2_perf_zstd;

/* One of the files data.N of a recording in a directory: records only, without a header. */
struct br2_perf_part {
    const char *name; /* in the input's arena */
    struct br2_file file;
};

struct br2_perf {
    struct br2_input *input;
    bool big_endian; /* the file */
    bool swap;       /* the file's byte order is not the host's */
    bool pipe;
    bool in_parts;        /* the header says that there are files beside this one */
    bool convert_records; /* records cannot be handed out as they are in the file */
    const uint8_t *data;  /* data section, inside the mapped file */
    const uint8_t *data_end;
    uint64_t data_claimed; /* its size as the header says; 0 for a pipe or an unclosed file */
    enum br2_truncation truncation; /* as far as the header tells */
    struct br2_perf_part *parts;
    size_t part_count;
    size_t part_capacity;
    struct br2_perf_attr *attrs;
    size_t attr_count;
    size_t attr_capacity;
    struct br2_perf_ids ids;
    enum br2_perf_by by;
    uint16_t id_offset; /* BY_ID: in a sample's body */
    bool same_trailers; /* of all attrs */
    struct br2_recorded_image *images;
    size_t image_count;
    size_t image_capacity;
    uint64_t malformed_tasks;
    uint8_t *scratch;           /* 64 KiB for converted records, made when needed */
    struct br2_perf_zstd *zstd; /* made when needed */
};

struct br2_perf_record {
    uint32_t type;
    uint16_t misc;
    uint16_t size;       /* of the body */
    const uint8_t *body; /* valid until the next step */
    /* Of AUXTRACE and TRACING_DATA outside compressed records: the bytes behind them, which stay
     * until the input is closed; of others not set. */
    const uint8_t *payload;
    uint64_t payload_size;
};

/* How far a walk came, in all files. */
struct br2_perf_extent {
    uint64_t read;
    uint64_t lost;
    enum br2_truncation truncation; /* of the first that is not whole */
    const char *part;               /* that one's name */
    uint64_t at;                    /* where in it */
};

/* One walk over all records, those inside compressed ones too, file after file. */
struct br2_perf_walk {
    struct br2_perf *perf;
    const uint8_t *at; /* the next record: in the file, or in decompressed bytes */
    const uint8_t *end;
    const uint8_t *data; /* of the current file ... */
    const uint8_t *data_end;
    size_t parts_begun; /* it is that part, from 1; 0: the file with the header */
    uint64_t before;    /* bytes of the files before it */
    struct br2_perf_extent extent;
    uint64_t ordinal;         /* of the current record, from 1 */
    bool outer_only;          /* compressed records are left as they are */
    bool unpacking;           /* a compressed record has been seen */
    bool inside;              /* `at` is in decompressed bytes; then these: */
    const uint8_t *packed_at; /* the compressed record */
    const uint8_t *file_at;   /* what comes after it */
    /* Outside: the beginning of a record that goes on in the next compressed one. */
    const uint8_t *tail;
    const uint8_t *tail_end;
};

static inline uint16_t br2_perf_u16(const struct br2_perf *perf, const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return perf->swap ? __builtin_bswap16(v) : v;
}
static inline uint32_t br2_perf_u32(const struct br2_perf *perf, const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return perf->swap ? __builtin_bswap32(v) : v;
}
static inline uint64_t br2_perf_u64(const struct br2_perf *perf, const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return perf->swap ? __builtin_bswap64(v) : v;
}

/* header.c, pipe.c: what the beginning of the file says. */
int br2_perf_open_file(struct br2_perf *perf, struct br2pgo_error *err);
int br2_perf_open_pipe(struct br2_perf *perf, struct br2pgo_error *err);

/* parts.c: opens the files beside the one with the header, those of a directory; a file that is
 * alone of several is refused. */
int br2_perf_open_parts(struct br2_perf *perf, struct br2pgo_error *err);
void br2_perf_close_parts(struct br2_perf *perf);

/* attr.c */
/* Appends the attr that `c` stands on, at most `size` bytes of it (64 or more are there). */
int br2_perf_add_attr(struct br2_perf *perf, const uint8_t *bytes, size_t size,
                      struct br2pgo_error *err);
/* Event ids of attr number `attr`. */
int br2_perf_add_ids(struct br2_perf *perf, const uint8_t *bytes, size_t count, size_t attr,
                     struct br2pgo_error *err);
/* After the last attr: decides how records find their event, fills the info's events. */
int br2_perf_finish_attrs(struct br2_perf *perf, struct br2pgo_error *err);

/* ids.c */
bool br2_perf_ids_add(struct br2_perf_ids *ids, uint64_t id, uint32_t attr); /* false: no memory */
bool br2_perf_ids_find(const struct br2_perf_ids *ids, uint64_t id, size_t *ret_attr);
void br2_perf_ids_done(struct br2_perf_ids *ids);

/* layout.c */
void br2_perf_layout_make(struct br2_perf_layout *layout, const struct br2_perf_attr *attr);
/* The same for samples of all kinds as br2_perf_find_records. */
bool br2_perf_search_records(const struct br2_perf *perf, const struct br2_perf_attr *attr,
                             const struct br2_perf_record *record, const uint8_t **ret_records,
                             size_t *ret_count);

/* features.c: one feature section, or the body of a feature record. */
int br2_perf_read_feature(struct br2_perf *perf, uint64_t feature, const uint8_t *bytes,
                          size_t size, struct br2pgo_error *err);

/* build_ids.c: a whole build-id table; one record of it is a table too. */
int br2_perf_read_build_ids(struct br2_perf *perf, const uint8_t *bytes, size_t size,
                            struct br2pgo_error *err);

/* names.c */
/* A name for an event that has none, in the arena; NULL: no memory. */
const char *br2_perf_event_name(struct br2_arena *arena, uint32_t type, uint64_t config);
/* The trace that an AUXTRACE_INFO record announces. */
const char *br2_perf_trace_name(uint32_t type);
bool br2_perf_known_record(uint32_t type);

/* walk.c */
void br2_perf_walk_start(struct br2_perf_walk *walk, struct br2_perf *perf, bool outer_only);
/* 1: `*ret` is the next record; 0: the end; negative: an error. */
int br2_perf_walk_slow(struct br2_perf_walk *walk, struct br2_perf_record *ret,
                       struct br2pgo_error *err);
/* After the end: what was read and what was not. */
void br2_perf_walk_account(const struct br2_perf_walk *walk, struct br2_recording_info *info);
/* Says to who watches how far the walk is. */
static inline void br2_perf_walk_done(const struct br2_perf_walk *walk, const uint8_t *at)
{
    walk->perf->input->done = walk->before + (uint64_t)(at - walk->data);
}

/* zstd.c: one stream of compressed records, decompressed step by step. */
int br2_perf_zstd_start(struct br2_perf *perf, struct br2pgo_error *err);
void br2_perf_zstd_feed(struct br2_perf_zstd *zstd, const uint8_t *bytes, size_t size);
/* Makes more decompressed bytes: on entry [*at, *end) is what has not been used yet, afterwards
 * the same bytes with more behind them. 1: there is more; 0: the input is used up; -1: broken. */
int br2_perf_zstd_more(struct br2_perf_zstd *zstd, const uint8_t **at, const uint8_t **end);
void br2_perf_zstd_free(struct br2_perf_zstd *zstd);

/* tasks.c: the layout of the trailer of a record that is not a sample. */
const struct br2_perf_layout *br2_perf_trailer_of(const struct br2_perf *perf,
                                                  const struct br2_perf_record *record);

/* tasks.c, samples.c, trace.c: the passes. */
int br2_perf_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                        struct br2pgo_error *err);
int br2_perf_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                          void *user, struct br2pgo_error *err);

/* samples.c: one sample after the other, of whoever walks. */
struct br2_perf_samples {
    struct br2_perf *perf;
    const bool *wanted;
    bool has_time;
    br2_sample_sink sink;
    void *user;
};
/* Before the first; makes the scratch memory. */
int br2_perf_begin_samples(const struct br2_perf_samples *samples, struct br2pgo_error *err);
/* Hands out the sample that a record is, if it is wanted and has branch records. */
int br2_perf_read_sample(const struct br2_perf_samples *samples,
                         const struct br2_perf_record *record, const struct br2_perf_walk *walk,
                         struct br2pgo_error *err);

int br2_perf_read_trace(struct br2_input *input, br2_trace_sink sink, void *user,
                        struct br2pgo_error *err);
/* trace.c: takes in what an AUXTRACE_INFO record says of the trace. */
int br2_perf_announce_trace(struct br2_perf *perf, const struct br2_perf_record *record,
                            struct br2pgo_error *err);

/* Finds the branch records in a sample's body. False: the body contradicts its size. */
static inline bool br2_perf_find_records(const struct br2_perf *perf,
                                         const struct br2_perf_attr *attr,
                                         const struct br2_perf_record *record,
                                         const uint8_t **ret_records, size_t *ret_count)
{
    const struct br2_perf_layout *layout = &attr->layout;
    if (layout->stack != BR2_PERF_ABSENT && record->size >= layout->around) {
        uint64_t count = br2_perf_u64(perf, record->body + layout->stack);
        size_t left = (size_t)record->size - layout->around;
        if (count <= left && count * (layout->counters ? 32 : 24) == left) {
            *ret_records = record->body + layout->records;
            *ret_count = (size_t)count;
            return true;
        }
    }
    return br2_perf_search_records(perf, attr, record, ret_records, ret_count);
}

/* Number of the attr a sample belongs to; false: none is known. */
static inline bool br2_perf_sample_attr(const struct br2_perf *perf,
                                        const struct br2_perf_record *record, size_t *ret)
{
    *ret = 0;
    if (perf->by == BR2_PERF_BY_FIRST) {
        return true;
    }
    if (perf->by != BR2_PERF_BY_ID || record->size < perf->id_offset + 8u) {
        return false;
    }
    uint64_t id = br2_perf_u64(perf, record->body + perf->id_offset);
    return id == 0 || br2_perf_ids_find(&perf->ids, id, ret);
}

/* Records whose bytes are not all in their size, or that hold other records. */
static inline bool br2_perf_is_special(uint32_t type)
{
    return type == BR2_PERF_TRACING_DATA || type == BR2_PERF_AUXTRACE ||
           type == BR2_PERF_COMPRESSED || type == BR2_PERF_COMPRESSED2;
}

/* Records between two ticks: a millisecond of work, if they are samples of 32 branches. */
#define BR2_PERF_TICK 4096

/* After each step; non-zero: the pass is to end with that. */
static inline int br2_perf_tick(const struct br2_perf_walk *walk, struct br2pgo_error *err)
{
    const struct br2_input *input = walk->perf->input;
    return walk->ordinal % BR2_PERF_TICK == 0 && input->tick ? input->tick(input->tick_user, err)
                                                             : 0;
}

/* Steps to the next record: 1, 0 at the end, negative for an error. */
static inline int br2_perf_walk_next(struct br2_perf_walk *walk, struct br2_perf_record *ret,
                                     struct br2pgo_error *err)
{
    const struct br2_perf *perf = walk->perf;
    size_t left = (size_t)(walk->end - walk->at);
    if (left < BR2_PERF_HEADER) {
        return br2_perf_walk_slow(walk, ret, err);
    }
    uint16_t size = br2_perf_u16(perf, walk->at + 6);
    uint32_t type = br2_perf_u32(perf, walk->at);
    if (size < BR2_PERF_HEADER || size > left || br2_perf_is_special(type)) {
        return br2_perf_walk_slow(walk, ret, err);
    }
    ret->type = type;
    ret->misc = br2_perf_u16(perf, walk->at + 4);
    ret->size = (uint16_t)(size - BR2_PERF_HEADER);
    ret->body = walk->at + BR2_PERF_HEADER;
    walk->at += size;
    walk->ordinal++;
    if (!walk->inside) {
        br2_perf_walk_done(walk, walk->at);
    }
    return 1;
}

#endif
