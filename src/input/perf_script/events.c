/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lines of --show-mmap-events, --show-task-events and --show-lost-events:
 *     PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0x1000 08:01 77 0]: r-xp /opt/app
 *     PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0x1000 <51ac...>]: r-xp /opt/app
 *     PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0xe00000) @ 0xffffffff81000000]: x
 * [kernel...]_text PERF_RECORD_COMM exec: app:7/7 PERF_RECORD_FORK(8:8):(7:7),
 * PERF_RECORD_EXIT(8:8):(8:8) PERF_RECORD_LOST_SAMPLES lost 5
 */
#include "input/perf_script/perf_script.h"

static const char record[] = "PERF_RECORD_";

bool br2_script_find_event(struct br2_span line, struct br2_span *ret_before,
                           struct br2_span *ret_rest)
{
    const char *found = memmem(line.at, br2_span_left(&line), record, sizeof record - 1);
    if (found == NULL) {
        return false;
    }
    *ret_before = (struct br2_span){.at = line.at, .end = found};
    *ret_rest = (struct br2_span){.at = found + sizeof record - 1, .end = line.end};
    return true;
}

static bool take_small_hex(struct br2_span *span, uint32_t *ret)
{
    uint64_t value;
    if (!br2_span_take_hex(span, &value) || value > UINT32_MAX) {
        return false;
    }
    *ret = (uint32_t)value;
    return true;
}

/* What MMAP2 says of the file: " 08:01 77 0" or " <51ac...>"; MMAP says nothing. */
static bool take_identity(struct br2_span *rest, struct br2_task_event *ret)
{
    br2_span_skip_blanks(rest);
    if (br2_span_is(rest, ']')) {
        return true;
    }
    if (br2_span_take(rest, '<')) {
        br2_span_take_build_id(rest, &ret->build_id);
        return br2_span_take(rest, '>');
    }
    return take_small_hex(rest, &ret->device_major) && br2_span_take(rest, ':') &&
           take_small_hex(rest, &ret->device_minor) && br2_span_take(rest, ' ') &&
           br2_span_take_decimal(rest, &ret->inode) && br2_span_take(rest, ' ') &&
           br2_span_take_decimal(rest, &ret->inode_generation);
}

/* "r-xp " or, of MMAP, "x " or "r ": what may be done with the memory. perf 3.0 says nothing. */
static void take_protection(struct br2_span *rest, struct br2_task_event *ret)
{
    struct br2_span word = *rest;
    while (word.at < word.end && strchr("rwxsp-", *word.at) != NULL && *word.at != '\0') {
        word.at++;
    }
    size_t length = (size_t)(word.at - rest->at);
    if ((length == 1 || length == 4) && br2_span_take(&word, ' ')) {
        /* No protection at all is not "no access": recorders leave it so for the kernel. */
        ret->data = memchr(rest->at, 'x', length) == NULL &&
                    !(length == 4 && memcmp(rest->at, "---", 3) == 0);
        *rest = word;
    }
}

static enum br2_script_line read_mmap(struct br2_span rest, struct br2_task_event *ret,
                                      struct br2_span *ret_name)
{
    int32_t tid;
    ret->kind = BR2_TASK_MMAP;
    br2_span_skip_blanks(&rest);
    bool good = br2_script_take_pid(&rest, &ret->pid, &tid) && br2_span_take_word(&rest, ": [") &&
                br2_span_take_hex(&rest, &ret->address) && br2_span_take(&rest, '(') &&
                br2_span_take_hex(&rest, &ret->length) && br2_span_take_word(&rest, ") @ ") &&
                br2_span_take_hex(&rest, &ret->file_offset) && take_identity(&rest, ret) &&
                br2_span_take_word(&rest, "]: ");
    if (!good) {
        return BR2_SCRIPT_DAMAGED;
    }
    take_protection(&rest, ret);
    ret->kernel = ret->pid == BR2_PID_KERNEL || ret->address >> 63 != 0;
    *ret_name = rest;
    return rest.at < rest.end ? BR2_SCRIPT_TASK : BR2_SCRIPT_DAMAGED;
}

/* "COMM exec: name:pid/tid"; the name may hold anything. */
static enum br2_script_line read_comm(struct br2_span rest, struct br2_task_event *ret,
                                      struct br2_span *ret_name)
{
    int32_t tid;
    ret->kind = BR2_TASK_COMM;
    ret->exec = br2_span_take_word(&rest, " exec");
    const char *colon = memrchr(rest.at, ':', br2_span_left(&rest));
    if (!br2_span_take_word(&rest, ": ") || colon == NULL || colon < rest.at) {
        return BR2_SCRIPT_DAMAGED;
    }
    struct br2_span ids = {.at = colon + 1, .end = rest.end};
    *ret_name = (struct br2_span){.at = rest.at, .end = colon};
    if (!br2_script_take_pid(&ids, &ret->pid, &tid) || ids.at != ids.end) {
        return BR2_SCRIPT_DAMAGED;
    }
    /* A thread's own name says nothing of its process. */
    return tid == ret->pid ? BR2_SCRIPT_TASK : BR2_SCRIPT_IGNORED;
}

static bool take_pair(struct br2_span *span, int32_t *ret_pid, int32_t *ret_tid)
{
    int32_t unused;
    return br2_span_take(span, '(') && br2_script_take_pid(span, ret_pid, &unused) &&
           br2_span_take(span, ':') && br2_script_take_pid(span, ret_tid, &unused) &&
           br2_span_take(span, ')');
}

/* "(pid:tid):(parent pid:parent tid)" */
static enum br2_script_line read_life(struct br2_span rest, bool fork, struct br2_task_event *ret)
{
    int32_t tid, parent_tid;
    ret->kind = fork ? BR2_TASK_FORK : BR2_TASK_EXIT;
    if (!take_pair(&rest, &ret->pid, &tid) || !br2_span_take(&rest, ':') ||
        !take_pair(&rest, &ret->parent, &parent_tid)) {
        return BR2_SCRIPT_DAMAGED;
    }
    bool thread = fork ? ret->parent == ret->pid : tid != ret->pid;
    return thread ? BR2_SCRIPT_IGNORED : BR2_SCRIPT_TASK;
}

static enum br2_script_line read_lost(struct br2_span rest, struct br2_task_event *ret)
{
    br2_span_skip_blanks(&rest);
    return br2_span_take_word(&rest, "lost ") && br2_span_take_decimal(&rest, &ret->length)
               ? BR2_SCRIPT_LOST
               : BR2_SCRIPT_IGNORED;
}

enum br2_script_line br2_script_read_event(struct br2_span rest, struct br2_task_event *ret,
                                           struct br2_span *ret_name)
{
    *ret = (struct br2_task_event){0};
    *ret_name = (struct br2_span){.at = rest.end, .end = rest.end};
    if (br2_span_take_word(&rest, "MMAP2 ") || br2_span_take_word(&rest, "MMAP ")) {
        return read_mmap(rest, ret, ret_name);
    }
    if (br2_span_take_word(&rest, "COMM")) {
        return read_comm(rest, ret, ret_name);
    }
    if (br2_span_take_word(&rest, "FORK")) {
        return read_life(rest, true, ret);
    }
    if (br2_span_take_word(&rest, "EXIT")) {
        return read_life(rest, false, ret);
    }
    if (br2_span_take_word(&rest, "LOST_SAMPLES") || br2_span_take_word(&rest, "LOST")) {
        return read_lost(rest, ret);
    }
    return BR2_SCRIPT_IGNORED;
}
