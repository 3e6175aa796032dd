/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sources of branch records. An input turns bytes into events; it knows nothing of processes or
 * images. It is read in two passes: first every task event (cheap, record headers only), so that
 * address spaces are known over all time, then every sample.
 */
#ifndef BR2_INPUT_INPUT_H
#define BR2_INPUT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"

/* struct perf_branch_entry of linux/perf_event.h, entry 0 = newest. */
struct br2_branch_record {
    uint64_t from;
    uint64_t to;
    uint64_t flags;
};
#define BR2_RECORD_MISPREDICTED UINT64_C(1)
#define BR2_RECORD_PREDICTED    UINT64_C(2)
#define BR2_RECORD_ABORT        UINT64_C(8)
static inline unsigned br2_record_cycles(uint64_t flags)
{
    return (unsigned)(flags >> 4) & 0xffff;
}
#define BR2_SPEC_WRONG_PATH 1 /* PERF_BR_SPEC_WRONG_PATH */
static inline bool br2_record_is_wrong_path(uint64_t flags)
{
    return (flags & UINT64_C(3) << 24) == (uint64_t)BR2_SPEC_WRONG_PATH << 24;
}
/* perf's own bit, not the kernel's: Arm SPE samples branches that were passed as well. */
#define BR2_RECORD_NOT_TAKEN (UINT64_C(1) << 33)
/* Whether it says where the program went: not those of a wrong path, nor of a branch that was not
 * taken, which is where it went straight on. */
static inline bool br2_record_is_taken(uint64_t flags)
{
    /* Most processors set none of these bits: one test in the hot loop. */
    return (flags & (BR2_RECORD_NOT_TAKEN | UINT64_C(3) << 24)) == 0 ||
           ((flags & BR2_RECORD_NOT_TAKEN) == 0 && !br2_record_is_wrong_path(flags));
}

/* Where a task event or sample stands in time: the recording's clock in nanoseconds, or, for a
 * recording without time stamps, the order of the file. */
typedef uint64_t br2_time;

enum br2_task_kind {
    BR2_TASK_MMAP,
    BR2_TASK_COMM, /* `exec` set: the address space is new and empty */
    BR2_TASK_FORK, /* a new process only; new threads are not reported */
    BR2_TASK_EXIT, /* end of a process, not of a thread */
};

#define BR2_PID_KERNEL (-1)

struct br2_task_event {
    enum br2_task_kind kind;
    br2_time time;
    int32_t pid;
    int32_t parent;   /* FORK: the parent process */
    bool exec;        /* COMM */
    bool kernel;      /* MMAP: a kernel or module mapping (record's cpumode) */
    bool data;        /* MMAP: not executable */
    uint64_t address; /* MMAP */
    uint64_t length;
    uint64_t file_offset;
    uint32_t device_major, device_minor;
    uint64_t inode;
    uint64_t inode_generation;
    struct br2_build_id build_id; /* MMAP2 with inline build-id */
    /* MMAP: path, "" where the recording does not name the one image that it is of; COMM: command
     * name. Valid during the call. */
    const char *name;
};

struct br2_sample {
    size_t event; /* its number */
    br2_time time;
    int32_t pid;
    int32_t tid;
    int32_t cpu;      /* -1: not recorded */
    const char *comm; /* name of its command, valid during the call; NULL: task events tell it */
    uint64_t ip;
    uint64_t period;
    /* `count` records of 24 bytes in host byte order and current flag layout, newest first, not
     * necessarily aligned; valid during the call. */
    const uint8_t *records;
    size_t count;
    uint64_t repeats; /* so many more samples are the same: the recorder counted them */
    bool lasting;     /* the records are valid until the input is closed */
};
static inline void br2_sample_record(const struct br2_sample *sample, size_t index,
                                     struct br2_branch_record *ret)
{
    __builtin_memcpy(ret, sample->records + index * 24, 24);
}

/* What a recorder that counts says was seen `count` times: a branch, a straight run, or both. */
struct br2_counted {
    br2_time time;
    int32_t pid;
    bool has_branch; /* `from`, `to`, `mispredicted` */
    bool has_run;    /* from `to` up to the instruction at `end` */
    bool resumed;    /* of a run alone: it began behind a return, or a branch from elsewhere */
    bool any_origin; /* of a run alone: what it began behind is not known */
    bool predicted;  /* the recorder tells mispredicted branches apart */
    uint64_t from;
    uint64_t to;
    uint64_t end;
    uint64_t count; /* of a branch alone 0: `mispredicted` is of branches counted before */
    uint64_t mispredicted;
};

/* AUXTRACE_INFO's type: enum auxtrace_type of tools/perf/util/auxtrace.h. */
#define BR2_TRACE_INTEL_PT 1u
#define BR2_TRACE_ARM_ETM  3u
#define BR2_TRACE_ARM_SPE  4u

enum br2_trace_event_kind {
    BR2_TRACE_BYTES,  /* a part of what a processor's or thread's buffer held (AUXTRACE) */
    BR2_TRACE_WINDOW, /* the kernel says which bytes of a buffer it got (AUX) */
    BR2_TRACE_START,  /* a thread is traced from here on (ITRACE_START) */
    BR2_TRACE_SWITCH, /* a thread goes to a processor, or leaves it (SWITCH, SWITCH_CPU_WIDE) */
    BR2_TRACE_ID,     /* the hardware's number for what the event traces (AUX_OUTPUT_HW_ID) */
    BR2_TRACE_THREAD, /* a thread, not the first, of a process (FORK, COMM) */
};

/* PERF_AUX_FLAG_* of linux/perf_event.h */
#define BR2_WINDOW_TRUNCATED UINT64_C(1)
#define BR2_WINDOW_OVERWRITE UINT64_C(2) /* a snapshot */
#define BR2_WINDOW_PARTIAL   UINT64_C(4)
#define BR2_WINDOW_COLLISION UINT64_C(8)
#define BR2_WINDOW_RAW       UINT64_C(0x100) /* CoreSight: without frames */

/* Something about an instruction trace. Numbers that are not recorded are -1. */
struct br2_trace_event {
    enum br2_trace_event_kind kind;
    br2_time time;    /* BYTES have none: 0 */
    int32_t pid, tid; /* BYTES: -1, or the thread whose buffer it is */
    int32_t cpu;
    uint32_t index;  /* BYTES: of the buffer */
    bool out;        /* SWITCH: the thread leaves */
    uint64_t offset; /* BYTES, WINDOW: in all that went through the buffer */
    uint64_t size;
    uint64_t flags; /* WINDOW: BR2_WINDOW_* */
    uint64_t id;    /* ID: the hardware's number */
    /* BYTES: `size` of them, which stay until the input is closed. */
    const uint8_t *bytes;
};

/* Receives what an input reads. A non-zero return stops the reading and is passed on. */
typedef int (*br2_task_sink)(void *user, const struct br2_task_event *event,
                             struct br2pgo_error *err);
typedef int (*br2_sample_sink)(void *user, const struct br2_sample *sample,
                               struct br2pgo_error *err);
typedef int (*br2_counted_sink)(void *user, const struct br2_counted *counted,
                                struct br2pgo_error *err);

typedef int (*br2_trace_sink)(void *user, const struct br2_trace_event *event,
                              struct br2pgo_error *err);

/* One event (perf_event_attr) of the recording. */
struct br2_event_info {
    const char *name; /* from the recording, else made from type and config */
    uint32_t type;
    uint64_t config;
    uint64_t sample_type;
    uint64_t branch_sample_type; /* PERF_SAMPLE_BRANCH_* bits, 0 where the recorder left it out */
    bool has_branch_stacks;      /* sample_type says samples carry them */
    bool exclude_kernel;
    bool exclude_user;
    bool frequency; /* period_or_frequency is a frequency */
    uint64_t period_or_frequency;
    unsigned precise;
    uint64_t samples;           /* known after the first pass */
    uint64_t malformed_samples; /* known after the second: they contradict their size */
};

/* A name a recording says an image has. */
struct br2_recorded_image {
    const char *path;
    struct br2_build_id build_id;
    bool kernel;
};

/* What the addresses of a recording are. */
enum br2_addressing {
    BR2_ADDRESSES_RUNTIME, /* of processes: mappings tell where in a file they are */
    /* Of one file or several: what its mappings lead to are no file offsets, or they may be: of
     * which kind they are the recording does not say. */
    BR2_ADDRESSES_OF_FILE,
};

enum br2_truncation {
    BR2_WHOLE,
    BR2_UNCLOSED,  /* the recorder died: data size 0 in the header */
    BR2_TRUNCATED, /* the file ends before its header says */
    BR2_BROKEN,    /* a record that cannot be: the rest was not read */
};

/* What the recording says about itself; strings are NULL where it does not. */
struct br2_recording_info {
    const char *container; /* "perf.data (file mode)" */
    bool big_endian;
    const char *hostname, *os_release, *arch, *cpu_description, *cpu_id, *perf_version;
    const char *command_line;
    struct br2_event_info *events;
    size_t event_count;
    struct br2_recorded_image *images; /* from the build-id table */
    size_t image_count;
    bool has_time;
    bool no_pids; /* samples do not say of which process they are: all have pid 0 */
    /* Known after the first pass, where there are no pids: mappings at addresses where another
     * process has another file. */
    uint64_t mixed_mappings;
    enum br2_addressing addressing; /* known after the first pass */
    bool text;                      /* lines, not records */
    bool counted;                   /* its second pass gives what was counted, and no samples */
    /* Known after the first pass: */
    uint64_t records;         /* all records of the data section */
    uint64_t samples;         /* of all events */
    uint64_t unknown_records; /* of a type this reader does not know, skipped by size */
    uint64_t unknown_event_samples;
    /* Known records whose body contradicts their size, skipped; samples among them are known after
     * the second pass. */
    uint64_t malformed_records;
    uint64_t lost_records; /* PERF_RECORD_LOST and LOST_SAMPLES, their counts added up */
    uint64_t throttled;
    bool compressed;        /* has PERF_RECORD_COMPRESSED records */
    bool has_trace;         /* has AUXTRACE records (PT, ETM, SPE ...) */
    const char *trace_kind; /* "CoreSight ETM", ...; NULL when has_trace is false */
    /* Known after the first pass: what AUXTRACE_INFO says, 0 and NULL without one. What the words
     * mean depends on the type. */
    uint32_t trace_type;
    const uint64_t *trace_words;
    size_t trace_word_count;
    enum br2_truncation truncation;
    uint64_t bytes_read; /* of the data section, to the last whole record */
    uint64_t bytes_lost; /* after the last whole record */
    /* Of a recording in several files: the first that is not whole, and where in its data that
     * is; else NULL, and `bytes_read`. */
    const char *damaged_part;
    uint64_t damaged_at;
    uint64_t parts_missing; /* of the numbers of its files, those that are not there */
};

struct br2_input; /* an open recording */

/* One kind of input; src/input/registry.c lists them all. */
struct br2_input_format {
    const char *name;
    /* Whether a file that begins with these bytes is of this kind. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    int (*open)(struct br2_input *input, struct br2pgo_error *err);
    int (*read_tasks)(struct br2_input *input, br2_task_sink sink, void *user,
                      struct br2pgo_error *err);
    int (*read_samples)(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                        void *user, struct br2pgo_error *err);
    /* In place of samples, for kinds that are `counted`; else NULL. */
    int (*read_counted)(struct br2_input *input, br2_counted_sink sink, void *user,
                        struct br2pgo_error *err);
    /* Of kinds that may hold an instruction trace; else NULL. */
    int (*read_trace)(struct br2_input *input, br2_trace_sink sink, void *user,
                      struct br2pgo_error *err);
    void (*close)(struct br2_input *input);
};

/*
 * Opens the recording at `path`, whatever kind it is: a file, also one packed by gzip, xz or zstd,
 * the directory that perf record --threads makes, a stream; "-" is standard input.
 * Errors: BR2PGO_IO; BR2PGO_UNSUPPORTED with a hint that says what the file seems to be;
 * BR2PGO_CORRUPT; BR2PGO_NO_MEMORY. `*ret` is freed with br2_input_close.
 */
int br2_input_open(const char *path, struct br2_input **ret, struct br2pgo_error *err);
/* The same with a folder for what must be kept of a stream or a compressed file (base/spool.h). */
int br2_input_open_spooling(const char *path, const char *folder, struct br2_input **ret,
                            struct br2pgo_error *err);
void br2_input_close(struct br2_input *input);

/* Borrowed; some fields are complete only after br2_input_read_tasks. */
const struct br2_recording_info *br2_input_info(const struct br2_input *input);

/* First pass: all task events, in file order (not sorted by time), the counts in the info. */
int br2_input_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                         struct br2pgo_error *err);

/* Samples that a first pass hands out where reading twice would cost more than a pass. */
struct br2_early_samples {
    const bool *wanted; /* as for br2_input_read_samples */
    br2_sample_sink sink;
    void *user;
    bool all; /* afterwards: whether all that a second pass would hand out have been */
};

/* First pass that hands out compressed samples on its way, between the task events of their file:
 * unpacking them is most of the work. */
int br2_input_read_tasks_early(struct br2_input *input, br2_task_sink sink, void *user,
                               struct br2_early_samples *early, struct br2pgo_error *err);

/* Second pass: the samples that have at least one branch record, in file order, of the events whose
 * numbers `wanted` (one for each event) says. Needs the first pass. */
int br2_input_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                           void *user, struct br2pgo_error *err);

/* Second pass of a recording that is `counted`: everything it counted, in file order. Needs the
 * first pass. */
int br2_input_read_counted(struct br2_input *input, br2_counted_sink sink, void *user,
                           struct br2pgo_error *err);

/* All there is of an instruction trace, in file order; of a recording without one, nothing. Needs
 * the first pass. */
int br2_input_read_trace(struct br2_input *input, br2_trace_sink sink, void *user,
                         struct br2pgo_error *err);

/* Has all passes call `tick` (NULL: nothing) at their beginning and every few thousand records; a
 * non-zero return ends the pass and is passed on. */
typedef int (*br2_input_tick)(void *user, struct br2pgo_error *err);
void br2_input_set_tick(struct br2_input *input, br2_input_tick tick, void *user);

/* Bytes of the recording read so far in the current pass, and in all; for progress. May be called
 * from a sink or tick. */
void br2_input_progress(const struct br2_input *input, uint64_t *ret_done, uint64_t *ret_total);

#endif
