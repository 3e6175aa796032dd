/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An exact run, branch by branch, out of a recording that has a sample for each taken branch:
 * br2pgo record --emulate --period 1. */
#ifndef BR2_TESTS_PT_RUN_H
#define BR2_TESTS_PT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/code.h"
#include "image/image.h"
#include "input/input.h"
#include "process/address_space.h"
#include "pt_packets.h"

#define IMAGES_MAX 64u
#define CACHE_SIZE 65536u

struct branch {
    uint64_t from;
    uint64_t to;
};

struct thread {
    int32_t pid;
    int32_t tid;
    uint32_t view;
    struct branch *branches;
    size_t count;
    size_t room;
};

struct run {
    struct br2_spaces *spaces;
    struct thread *threads;
    size_t thread_count;
    struct br2_image *images[IMAGES_MAX]; /* by number of the file */
    struct br2_decoder *decoder;
    struct cached {
        uint64_t address;
        uint32_t view;
        struct br2_insn insn;
    } * cache;
    bool print; /* mappings and names, for mkperf */
};

static void check(int rc, const struct br2pgo_error *err)
{
    if (rc != 0) {
        fail("%s", err->message);
    }
}

static int take_task(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    const struct run *run = user;
    if (event->kind == BR2_TASK_COMM) {
        printf("comm pid=%d time=0 %sname=%s\n", event->pid, event->exec ? "exec " : "",
               event->name);
    } else if (event->kind == BR2_TASK_MMAP) {
        printf("mmap2 pid=%d time=0 addr=0x%llx len=0x%llx off=0x%llx name=%s\n", event->pid,
               (unsigned long long)event->address, (unsigned long long)event->length,
               (unsigned long long)event->file_offset, event->name);
    }
    return br2_spaces_add(run->spaces, event, err);
}

static struct thread *find_thread(struct run *run, const struct br2_sample *sample)
{
    for (size_t i = 0; i < run->thread_count; i++) {
        if (run->threads[i].tid == sample->tid) {
            return &run->threads[i];
        }
    }
    run->threads = allocate(run->threads, run->thread_count + 1, sizeof *run->threads);
    struct thread *thread = &run->threads[run->thread_count++];
    *thread = (struct thread){.pid = sample->pid, .tid = sample->tid};
    thread->view = br2_spaces_view(run->spaces, sample->pid, sample->time);
    return thread;
}

static int take_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)err;
    struct run *run = user;
    struct br2_branch_record record;
    if (sample->period != 1) {
        fail("the recording has no sample for each branch: it needs --period 1");
    }
    struct thread *thread = find_thread(run, sample);
    br2_sample_record(sample, 0, &record);
    if (thread->count == thread->room) {
        thread->room = thread->room * 2 + 1024;
        thread->branches = allocate(thread->branches, thread->room, sizeof *thread->branches);
    }
    thread->branches[thread->count++] = (struct branch){record.from, record.to};
    return 0;
}

static void run_read(struct run *run, const char *path)
{
    struct br2pgo_error err = {0};
    struct br2_input *input = NULL;
    const bool wanted[1] = {true};
    *run =
        (struct run){.spaces = br2_spaces_new(), .cache = calloc(CACHE_SIZE, sizeof *run->cache)};
    if (run->spaces == NULL || run->cache == NULL) {
        fail("out of memory");
    }
    check(br2_input_open(path, &input, &err), &err);
    check(br2_input_read_tasks(input, take_task, run, &err), &err);
    check(br2_spaces_finish(run->spaces, &err), &err);
    if (br2_input_info(input)->event_count != 1) {
        fail("'%s' has not one event", path);
    }
    check(br2_input_read_samples(input, wanted, take_sample, run, &err), &err);
    br2_input_close(input);
    check(br2_decoder_new(BR2_MACHINE_X86_64, &run->decoder, &err), &err);
}

static void run_free(struct run *run)
{
    for (size_t i = 0; i < run->thread_count; i++) {
        free(run->threads[i].branches);
    }
    for (size_t i = 0; i < IMAGES_MAX; i++) {
        br2_image_close(run->images[i]);
    }
    br2_decoder_free(run->decoder);
    br2_spaces_free(run->spaces);
    free(run->threads);
    free(run->cache);
}

static struct br2_image *run_image(struct run *run, uint32_t dso)
{
    struct br2pgo_error err = {0};
    if (dso >= IMAGES_MAX) {
        fail("too many files");
    }
    if (run->images[dso] == NULL) {
        const char *path = br2_spaces_dsos(run->spaces)->items[dso].path;
        check(br2_image_open(path, &run->images[dso], &err), &err);
    }
    return run->images[dso];
}

/* The image that an address of a thread is in, and its address there. */
static struct br2_image *run_resolve(struct run *run, uint32_t view, uint64_t address,
                                     uint64_t *ret_link)
{
    const struct br2_mapping *mapping = br2_spaces_resolve(run->spaces, view, address);
    if (mapping == NULL) {
        fail("nothing is mapped at %#llx", (unsigned long long)address);
    }
    struct br2_image *image = run_image(run, mapping->dso);
    uint64_t offset = address - mapping->start + mapping->file_offset;
    const struct br2_segment *segments;
    size_t count = br2_image_segments(image, &segments);
    for (size_t i = 0; i < count; i++) {
        if (offset >= segments[i].file_offset &&
            offset - segments[i].file_offset < segments[i].file_size) {
            *ret_link = offset - segments[i].file_offset + segments[i].address;
            return image;
        }
    }
    fail("no code at %#llx", (unsigned long long)address);
}

static struct br2_insn run_insn(struct run *run, uint32_t view, uint64_t address)
{
    struct cached *cached = &run->cache[address % CACHE_SIZE];
    if (cached->address != address || cached->view != view) {
        uint64_t link;
        size_t size;
        struct br2_image *image = run_resolve(run, view, address, &link);
        const uint8_t *code = br2_image_code(image, link, &size);
        br2_decode_one(run->decoder, code, size, address, &cached->insn);
        cached->address = address;
        cached->view = view;
    }
    return cached->insn;
}

#endif
