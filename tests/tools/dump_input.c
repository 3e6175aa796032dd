/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what the input reader makes of a recording, as text for tests:
 *     dump_input [--info] [--tasks] [--samples] [--stacks] [--count] FILE
 * Without an option: --info --tasks --samples. --stacks prints the branch records of each sample in
 * the words of `perf script -F pid,brstack`; --count only counts and adds up what a sink is given.
 * On failure: "error <status>: message" and "hint: ..." on stdout, exit 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "input/input.h"

struct options {
    bool info, tasks, samples, stacks, count;
    const char *path;
};

struct totals {
    uint64_t samples, records, sum;
};

static const char *or_none(const char *text)
{
    return text ? text : "(none)";
}

static void print_build_id(const struct br2_build_id *id)
{
    if (id->size == 0) {
        printf(" -");
    } else {
        printf(" ");
    }
    for (unsigned i = 0; i < id->size; i++) {
        printf("%02x", id->bytes[i]);
    }
}

static void print_header(const struct br2_recording_info *info)
{
    printf("container %s%s\n", info->container, info->big_endian ? ", big-endian" : "");
    printf("hostname %s\nos_release %s\narch %s\ncpu_description %s\ncpu_id %s\n"
           "perf_version %s\ncommand_line %s\n",
           or_none(info->hostname), or_none(info->os_release), or_none(info->arch),
           or_none(info->cpu_description), or_none(info->cpu_id), or_none(info->perf_version),
           or_none(info->command_line));
    for (size_t i = 0; i < info->image_count; i++) {
        printf("image");
        print_build_id(&info->images[i].build_id);
        printf(" %s%s\n", info->images[i].kernel ? "kernel " : "", info->images[i].path);
    }
    printf("has_time %d\n", info->has_time);
}

static void print_events(const struct br2_recording_info *info)
{
    for (size_t i = 0; i < info->event_count; i++) {
        const struct br2_event_info *e = &info->events[i];
        printf("event %zu %s type=%" PRIu32 " config=0x%" PRIx64 " sample_type=0x%" PRIx64
               " branch_sample_type=0x%" PRIx64 " %s=%" PRIu64 " precise=%u%s%s%s samples=%" PRIu64
               "\n",
               i, e->name, e->type, e->config, e->sample_type, e->branch_sample_type,
               e->frequency ? "frequency" : "period", e->period_or_frequency, e->precise,
               e->has_branch_stacks ? " branches" : "", e->exclude_kernel ? " no-kernel" : "",
               e->exclude_user ? " no-user" : "", e->samples);
    }
}

static void print_counts(const struct br2_recording_info *info)
{
    static const char *const truncations[] = {"whole", "unclosed", "truncated", "broken"};
    printf("records %" PRIu64 " samples %" PRIu64 " unknown_records %" PRIu64
           " unknown_event_samples %" PRIu64 " malformed %" PRIu64 "\n",
           info->records, info->samples, info->unknown_records, info->unknown_event_samples,
           info->malformed_records);
    printf("lost %" PRIu64 " throttled %" PRIu64 " compressed %d trace %s\n", info->lost_records,
           info->throttled, info->compressed, info->has_trace ? info->trace_kind : "none");
    printf("%s read %" PRIu64 " lost %" PRIu64 "\n", truncations[info->truncation],
           info->bytes_read, info->bytes_lost);
}

static void print_mmap(const struct br2_task_event *event)
{
    printf("mmap %" PRId32 " %" PRIu64 "%s%s 0x%" PRIx64 "+0x%" PRIx64 " @0x%" PRIx64 " %" PRIx32
           ":%" PRIx32 " %" PRIu64 " %" PRIu64,
           event->pid, event->time, event->kernel ? " kernel" : "", event->data ? " data" : "",
           event->address, event->length, event->file_offset, event->device_major,
           event->device_minor, event->inode, event->inode_generation);
    print_build_id(&event->build_id);
    printf(" %s\n", event->name);
}

static int task_sink(void *user, const struct br2_task_event *event, struct br2pgo_error *err)
{
    (void)err;
    const struct options *options = user;
    if (!options->tasks) {
        return 0;
    }
    switch (event->kind) {
    case BR2_TASK_MMAP:
        print_mmap(event);
        break;
    case BR2_TASK_COMM:
        printf("comm %" PRId32 " %" PRIu64 "%s %s\n", event->pid, event->time,
               event->exec ? " exec" : "", event->name);
        break;
    case BR2_TASK_FORK:
        printf("fork %" PRId32 " %" PRIu64 " from %" PRId32 "\n", event->pid, event->time,
               event->parent);
        break;
    case BR2_TASK_EXIT:
        printf("exit %" PRId32 " %" PRIu64 "\n", event->pid, event->time);
        break;
    }
    return 0;
}

static int sample_sink(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)user;
    (void)err;
    printf("sample %zu %" PRId32 "/%" PRId32 " %" PRIu64 " 0x%" PRIx64 " %" PRIu64 ":",
           sample->event, sample->pid, sample->tid, sample->time, sample->ip, sample->period);
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        printf(" 0x%" PRIx64 "/0x%" PRIx64 "/0x%" PRIx64, record.from, record.to, record.flags);
    }
    printf("\n");
    return 0;
}

/* PERF_BR_*, as perf 6.1 names them; it prints nothing for an unknown type. */
static const char *type_name(uint64_t flags)
{
    static const char *const names[16] = {
        "",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
        "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", "EXTEND"};
    return names[flags >> 20 & 15];
}

static char prediction(uint64_t flags)
{
    if (!(flags & (BR2_RECORD_MISPREDICTED | BR2_RECORD_PREDICTED))) {
        return '-';
    }
    return flags & BR2_RECORD_PREDICTED ? 'P' : 'M';
}

static int stack_sink(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)user;
    (void)err;
    printf("%" PRId32, sample->pid);
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        printf(" 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%u/%s", record.from, record.to,
               prediction(record.flags), record.flags & 4 ? 'X' : '-',
               record.flags & BR2_RECORD_ABORT ? 'A' : '-', br2_record_cycles(record.flags),
               type_name(record.flags));
    }
    printf("\n");
    return 0;
}

static int count_sink(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)err;
    struct totals *totals = user;
    totals->samples++;
    totals->records += sample->count;
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        totals->sum += record.from + record.to + record.flags;
    }
    return 0;
}

static int dump_samples(struct br2_input *input, const struct options *options,
                        struct br2pgo_error *err)
{
    br2_sample_sink sink = sample_sink;
    if (options->stacks) {
        sink = stack_sink;
    } else if (options->count) {
        sink = count_sink;
    }
    struct totals totals = {0};
    size_t count = br2_input_info(input)->event_count;
    bool *wanted = malloc(count);
    if (!wanted) {
        return br2_fail_memory(err);
    }
    memset(wanted, true, count);
    int rc = br2_input_read_samples(input, wanted, sink, &totals, err);
    free(wanted);
    if (!rc && options->count) {
        printf("count samples %" PRIu64 " branch records %" PRIu64 " sum 0x%" PRIx64 "\n",
               totals.samples, totals.records, totals.sum);
    }
    return rc;
}

static int dump(struct br2_input *input, struct options *options, struct br2pgo_error *err)
{
    const struct br2_recording_info *info = br2_input_info(input);
    if (options->info) {
        print_header(info);
    }
    int rc = br2_input_read_tasks(input, task_sink, options, err);
    if (!rc && (options->samples || options->stacks || options->count)) {
        rc = dump_samples(input, options, err);
    }
    if (!rc && options->info) {
        print_events(info);
        print_counts(info);
    }
    return rc;
}

static bool parse(int argc, char **argv, struct options *ret)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--info") == 0) {
            ret->info = true;
        } else if (strcmp(argv[i], "--tasks") == 0) {
            ret->tasks = true;
        } else if (strcmp(argv[i], "--samples") == 0) {
            ret->samples = true;
        } else if (strcmp(argv[i], "--stacks") == 0) {
            ret->stacks = true;
        } else if (strcmp(argv[i], "--count") == 0) {
            ret->count = true;
        } else {
            ret->path = argv[i];
        }
    }
    if (!ret->info && !ret->tasks && !ret->samples && !ret->stacks && !ret->count) {
        ret->info = ret->tasks = ret->samples = true;
    }
    return ret->path != NULL;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: dump_input [--info] [--tasks] [--samples] [--stacks] [--count] "
                        "FILE\n");
        return 2;
    }
    struct br2_input *input = NULL;
    struct br2pgo_error err = {0};
    int rc = br2_input_open(options.path, &input, &err);
    if (!rc) {
        rc = dump(input, &options, &err);
    }
    br2_input_close(input);
    if (rc) {
        printf("error %d: %s\nhint: %s\n", rc, err.message, err.hint);
    }
    return rc ? 1 : 0;
}
