/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The recorder's half in the emulator. A call at every translated block counts, by looking at how
 * control came from the block before; everything else happens when code is translated or at system
 * calls.
 *
 * One process per area; what is static here is of the process. A forked process begins with a copy,
 * and gets an area of its own at the same address.
 */
#ifndef BR2_RECORD_PLUGIN_PLUGIN_H
#define BR2_RECORD_PLUGIN_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/area.h"
#include "record/plugin/code.h"
#include "record/plugin/qemu_plugin.h"

/* As many as the emulator may number; a thread that ended frees its number. */
#define BR2_VCPUS 4096u

enum br2_machine {
    BR2_MACHINE_X86,
    BR2_MACHINE_AARCH64,
    BR2_MACHINE_RISCV
};

struct br2_plugin {
    struct br2_area *area;
    struct br2_thread *threads[BR2_VCPUS]; /* by the emulator's number */
    enum br2_machine machine;
    struct br2_thread *first;
    uint64_t period;
    uint32_t depth;
    uint32_t guest_seed;           /* of what the emulator draws for the program */
    bool exact;                    /* indirect branches' targets are counted */
    bool cycles;                   /* records have cycles */
    uint64_t guest_base;           /* what the emulator adds to a program's address */
    char socket[64];               /* abstract name */
    char arguments[BR2_AREA_PATH]; /* option for a further program, but for where it comes from */
};
extern struct br2_plugin br2_plugin;

/* hot.c: the calls at blocks. */
void br2_at_block(unsigned int vcpu, void *block);
/* A block where a signal handler begins. */
void br2_at_handler(unsigned int vcpu, void *block);
/* What comes behind it is no outcome of a block that is known. */
void br2_at_unknown(unsigned int vcpu, void *block);
/* The block that stands for none. */
const struct br2_block *br2_no_block(void);

/* threads.c */
/* Of the table of threads. */
void br2_threads_lock(void);
void br2_threads_unlock(void);
/* In a forked process, where nobody else can hold it. */
void br2_threads_unlock_forked(void);
/* The thread's time. */
uint64_t br2_thread_now(const struct br2_thread *thread);
/* Branches taken so far. */
uint64_t br2_thread_taken(const struct br2_thread *thread);
/* The seed of a thread's child. */
uint64_t br2_child_seed(uint64_t seed, uint64_t ordinal);
/* The first thread of an area that has none yet. */
struct br2_thread *br2_thread_first(uint64_t seed, uint64_t start);
/* One that `parent` starts. NULL: no room. */
struct br2_thread *br2_thread_new(struct br2_thread *parent);
/* For threads there is no room for: what they do is not kept. NULL: no memory. */
struct br2_thread *br2_thread_spare(void);
void br2_thread_end(struct br2_thread *thread);
/* The next sample: when. */
void br2_thread_schedule(struct br2_thread *thread);
/* A sample of the ring; schedules the next. */
void br2_thread_sample(struct br2_thread *thread, uint64_t ip);
/* Keeps the counts of an indirect branch's last target. */
void br2_thread_count(struct br2_thread *thread, uint32_t block,
                      const struct br2_block_counts *counts);
/* Appends a record to the stream of `serial`; hands the buffer over when it is full. */
void br2_stream_put(struct br2_stream_buffer *stream, uint64_t serial,
                    const struct br2_stream_head *head, const void *body);

/* area.c */
/* Makes the process's area and tells the recorder; it begins with `header`. False: no recorder. */
bool br2_area_make(const struct br2_area_header *header);
/* In a new process, whose only thread goes on from `parent`, a private copy: an area of its own.
 * That thread; NULL: no memory. */
struct br2_thread *br2_area_fork(const struct br2_thread *parent);
/* Sends a message and waits for the answer; `file` < 0: none. 0: nobody there. */
uint64_t br2_area_send(struct br2_message *message, const void *body, int file);

/* translate.c */
void br2_at_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
/* Where signal handlers begin. */
void br2_add_handler(uint64_t address);

/* mappings.c: which file lies where. */
/* The area's number for the file at `address`, 0: none. What is new is recorded, as of the time
 * `now` where something else lay there before, else of the program's start: threads' clocks differ.
 */
uint16_t br2_mapping_file(uint64_t address, uint64_t now);
/* The program changed its mappings there. */
void br2_mapping_forget(uint64_t start, uint64_t length);
/* In a forked process. */
void br2_mapping_forked(void);

/* newcomers.c: threads that begin, where the emulator tells of them in themselves. */
/* Leaves what the new thread with this number of the system's is. */
void br2_newcomer_leave(int tid, struct br2_thread *thread);
/* In the new thread: what was left for it, waited for. NULL: nothing in a second. */
struct br2_thread *br2_newcomer_take(void);
/* In a forked process. */
void br2_newcomers_forget(void);

/* syscalls.c */
/* The thread that made the last system call here; NULL: none yet. */
struct br2_thread *br2_thread_self(void);
void br2_at_vcpu(qemu_plugin_id_t id, unsigned int vcpu);
void br2_at_syscall(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1,
                    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                    uint64_t a8);
void br2_at_syscall_return(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, int64_t result);

/* exec.c: both run the program in a new emulator; they return when the system call is to be done as
 * it is. Addresses are the program's. */
void br2_exec(const struct br2_thread *thread, uint64_t path, uint64_t arguments,
              uint64_t environment);
struct br2_execveat {
    uint64_t path;
    uint64_t arguments;
    uint64_t environment;
};
void br2_execveat(const struct br2_thread *thread, int folder, const struct br2_execveat *call);

/* Reads the program's memory; false where there is none. */
bool br2_read_memory(uint64_t address, void *to, size_t size);
bool br2_read_string(uint64_t address, char *to, size_t size);

#endif
