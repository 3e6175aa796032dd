/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What perf script prints, of perf 3 to 7 and with any -F: shared by the files of this folder.
 * A sample is one line, or several: what the fields before the branch stack say ("header"), then
 * lines of a call chain, then the stack. Lines that tell of mappings and processes
 * (--show-mmap-events, --show-task-events) hold PERF_RECORD_. Lines of perf buildid-list may be
 * among them.
 */
#ifndef BR2_INPUT_PERF_SCRIPT_PERF_SCRIPT_H
#define BR2_INPUT_PERF_SCRIPT_PERF_SCRIPT_H

#include "base/strings.h"
#include "input/text/text.h"

/* A mapping as it is compared with those of other processes. */
struct br2_script_mapping {
    int32_t pid;
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint64_t name_hash;
};

struct br2_script {
    struct br2_input *input;
    /* What the survey found: */
    bool mapped;      /* there are lines of mappings */
    bool lone_is_pid; /* a number that stands alone before the stack is a pid, not an address */
    /* What both passes know: */
    struct br2_strings events; /* same numbers as in the info */
    struct br2_strings files;  /* named behind addresses, where there are no mappings; 1 is the
                                  first: 0 is the file that is not named */
    bool unnamed;              /* some address has no name behind it */
    struct br2_script_mapping *mappings; /* of recordings without pids */
    size_t mapping_count;
    size_t mapping_capacity;
    size_t image_capacity; /* of the info's images */
    size_t image_bytes;    /* see BR2_IMAGE_NAMES_MAX */
    uint8_t *records;      /* of the sample being read */
    char comm[64];         /* its command's name */
};

/* header.c */
struct br2_script_header {
    bool has_pid;
    bool has_time;
    bool has_lone; /* one number and nothing else: a pid or an address */
    bool lone_fits_pid;
    int32_t pid;
    int32_t tid;
    int32_t lone;
    int32_t cpu; /* -1 where it is not printed */
    br2_time time;
    struct br2_span comm;  /* empty where there is none */
    struct br2_span event; /* its name; empty where there is none */
};
/* Takes apart what stands before a branch stack, or the line before the call chain. False where the
 * text is no such thing. */
bool br2_script_header(struct br2_span text, struct br2_script_header *ret);
/* Whether somebody wrote the line: "// ..." or "; ...". */
bool br2_script_is_remark(struct br2_span line);
/* Takes a process, or "process/thread". */
bool br2_script_take_pid(struct br2_span *span, int32_t *ret_pid, int32_t *ret_tid);
/* Takes "seconds.fraction:" as nanoseconds. */
bool br2_script_take_time(struct br2_span *span, br2_time *ret);

/* stack.c */
/* Where the first branch record of a line begins; NULL where it has none. */
const char *br2_script_find_stack(struct br2_span line);
/* Reads a stack's records into script->records. False where it contradicts itself. */
bool br2_script_read_stack(struct br2_script *script, struct br2_span stack, size_t *ret_count,
                           struct br2pgo_error *err, int *ret_rc);

/* events.c */
/* Finds "PERF_RECORD_" in a line; what is before it in `ret_before`, what follows in `ret_rest`. */
bool br2_script_find_event(struct br2_span line, struct br2_span *ret_before,
                           struct br2_span *ret_rest);
/* The event that `rest` tells of; false where it is of another kind or damaged. `*ret_name` (owned
 * by the caller) holds what event.name points to. */
enum br2_script_line {
    BR2_SCRIPT_TASK,    /* `ret` is filled */
    BR2_SCRIPT_LOST,    /* `ret->length` records were lost */
    BR2_SCRIPT_IGNORED, /* of no interest */
    BR2_SCRIPT_DAMAGED,
};
enum br2_script_line br2_script_read_event(struct br2_span rest, struct br2_task_event *ret,
                                           struct br2_span *ret_name);

/* build_ids.c */
/* Takes apart "build-id file". False where the line is of something else. */
bool br2_script_read_build_id(struct br2_span line, struct br2_build_id *ret_id,
                              struct br2_span *ret_name);
/* Adds an image to the info. BR2PGO_LIMIT, BR2PGO_NO_MEMORY. */
int br2_script_add_build_id(struct br2_script *script, const struct br2_build_id *id,
                            struct br2_span name, struct br2pgo_error *err);

/* walk.c */
int br2_script_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                          struct br2pgo_error *err);
int br2_script_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                            void *user, struct br2pgo_error *err);

#endif
