/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How fast recordings are read and counted, the file in the page cache:
 *   count [--rounds N] [--threads N] [--floor 0] RECORDING...
 * Each round is what a conversion does before it looks anything up: the file is mapped, both passes
 * over it, a trace per branch record counted, traces folded. Beside it, as what cannot be beaten,
 * as many threads that only add up the words of the file: once with the mapping new, so that every
 * page faults as it does when counting, once more without faults (--floor 0: not at all). All times
 * are given on the clock and of all processors: on a machine that does other things only the latter
 * compare. tests/bench/make_large.py makes recordings of any size.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cursor.h"
#include "base/file.h"
#include "base/mem.h"
#include "flow/counting.h"
#include "flow/fold.h"
#include "input/input.h"
#include "lib/counters.h"
#include "process/address_space.h"

#define ROUNDS_MAX  1000
#define THREADS_MAX 64

enum work {
    COUNTING,
    FAULTING,
    TOUCHING,
    WORKS
};

struct options {
    size_t rounds;
    size_t threads;
    size_t floor;
};

struct times {
    double clock;
    double processor;
};

/* What one round came to. */
struct round {
    struct br2_count_stats stats;
    size_t traces;
    uint64_t sum;
    unsigned long memory; /* KiB that are not of the mapped file */
    struct times times[WORKS];
};

static double seconds(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct times now(void)
{
    return (struct times){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct times since(struct times start)
{
    struct times end = now();
    return (struct times){end.clock - start.clock, end.processor - start.processor};
}

static unsigned long own_memory(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0) {
            kib = strtoul(line + 8, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib;
}

static int read_samples(struct br2_input *input, struct br2_counters *counters,
                        struct br2pgo_error *err)
{
    size_t count = br2_input_info(input)->event_count;
    bool *wanted = br2_alloc(count);
    if (wanted == NULL) {
        return br2_fail_memory(err);
    }
    memset(wanted, true, count);
    int rc = br2_input_read_samples(input, wanted, br2_counters_take, counters, err);
    br2_free(wanted);
    return rc;
}

static int count_samples(struct br2_input *input, const struct br2_spaces *spaces, unsigned threads,
                         struct round *round, struct br2pgo_error *err)
{
    struct br2_counters *counters = NULL;
    struct br2_folded folded = {0};
    int rc = br2_counters_new(spaces, threads, &counters, err);
    rc = rc != 0 ? rc : read_samples(input, counters, err);
    rc = rc != 0 ? rc : br2_counters_finish(counters, &folded, &round->stats, err);
    round->traces = folded.traces.used;
    round->memory = own_memory();
    br2_counters_free(counters);
    br2_folded_done(&folded);
    return rc;
}

static int count(const char *path, unsigned threads, struct round *round, struct br2pgo_error *err)
{
    struct br2_input *input;
    int rc = br2_input_open(path, &input, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_spaces *spaces = br2_spaces_new();
    rc = spaces == NULL ? br2_fail_memory(err)
                        : br2_input_read_tasks(input, br2_spaces_add, spaces, err);
    rc = rc != 0 ? rc : br2_spaces_finish(spaces, err);
    rc = rc != 0 ? rc : count_samples(input, spaces, threads, round, err);
    br2_spaces_free(spaces);
    br2_input_close(input);
    return rc;
}

/* A part of the file for one thread. */
struct part {
    pthread_t thread;
    bool started;
    const uint8_t *bytes;
    size_t size;
    uint64_t sum;
};

static void *touch_part(void *user)
{
    struct part *part = user;
    uint64_t sum = 0;
    for (size_t at = 0; at + 8 <= part->size; at += 8) {
        sum += br2_load_le64(part->bytes + at);
    }
    part->sum = sum;
    return NULL;
}

static uint64_t touch(const struct br2_file *file, unsigned threads)
{
    static struct part parts[THREADS_MAX];
    size_t size = file->size / threads / 8 * 8;
    uint64_t sum = 0;
    for (unsigned i = 0; i < threads; i++) {
        size_t left = file->size - i * size;
        parts[i] =
            (struct part){.bytes = file->bytes + i * size, .size = i + 1 < threads ? size : left};
        parts[i].started =
            i > 0 && pthread_create(&parts[i].thread, NULL, touch_part, &parts[i]) == 0;
    }
    for (unsigned i = 0; i < threads; i++) {
        if (parts[i].started) {
            pthread_join(parts[i].thread, NULL);
        } else {
            touch_part(&parts[i]);
        }
        sum += parts[i].sum;
    }
    return sum;
}

static int run_floor(const char *path, unsigned threads, struct round *round,
                     struct br2pgo_error *err)
{
    struct times start = now();
    struct br2_file file;
    int rc = br2_file_open(&file, path, NULL, err);
    if (rc == 0) {
        round->sum = touch(&file, threads);
        round->times[FAULTING] = since(start);
        start = now();
        round->sum -= touch(&file, threads);
        round->times[TOUCHING] = since(start);
        br2_file_close(&file);
    }
    return rc;
}

static int run_round(const char *path, const struct options *options, struct round *round,
                     struct br2pgo_error *err)
{
    unsigned threads = (unsigned)options->threads;
    struct times start = now();
    int rc = count(path, threads, round, err);
    round->times[COUNTING] = since(start);
    return rc == 0 && options->floor != 0 ? run_floor(path, threads, round, err) : rc;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct round *rounds, size_t count, enum work work, bool processor)
{
    static double numbers[ROUNDS_MAX];
    for (size_t i = 0; i < count; i++) {
        const struct times *times = &rounds[i].times[work];
        numbers[i] = processor ? times->processor : times->clock;
    }
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return numbers[count / 2];
}

static int bench(const char *path, const struct options *options)
{
    static struct round rounds[ROUNDS_MAX];
    static const char *const names[] = {"reading and counting", "touching, with page faults",
                                        "touching, mapped"};
    struct br2pgo_error err = {0};
    size_t count = options->rounds;
    for (size_t i = 0; i < count; i++) {
        rounds[i] = (struct round){0};
        if (run_round(path, options, &rounds[i], &err) != 0) {
            fprintf(stderr, "count: %s\n", err.message);
            return 1;
        }
    }
    const struct round *last = &rounds[count - 1];
    double records = (double)last->stats.records;
    if (last->stats.records == 0 || last->sum != 0) {
        fprintf(stderr, "count: '%s' has no branch records, or changes\n", path);
        return 1;
    }
    printf("%s: %.0f branch records, %zu distinct traces, %zu threads, %lu KiB of memory\n", path,
           records, last->traces, options->threads, last->memory);
    for (enum work work = 0; work < (options->floor != 0 ? WORKS : 1); work++) {
        double processor = median(rounds, count, work, true);
        printf("  %-27s %8.4f s, %8.4f s of processors: %7.1f million records/s each\n",
               names[work], median(rounds, count, work, false), processor,
               records * 1e-6 / processor);
    }
    return 0;
}

/* Number that the option sets; NULL: it is none. */
static size_t *number_of(struct options *options, const char *name)
{
    return strcmp(name, "--rounds") == 0    ? &options->rounds
           : strcmp(name, "--threads") == 0 ? &options->threads
           : strcmp(name, "--floor") == 0   ? &options->floor
                                            : NULL;
}

int main(int argc, char **argv)
{
    struct options options = {.rounds = 11, .threads = 1, .floor = 1};
    int first = 1;
    size_t *number;
    while (first + 2 < argc && (number = number_of(&options, argv[first])) != NULL) {
        *number = strtoul(argv[first + 1], NULL, 10);
        first += 2;
    }
    if (first >= argc || argv[first][0] == '-' || options.rounds - 1 >= ROUNDS_MAX ||
        options.threads - 1 >= THREADS_MAX) {
        fprintf(stderr, "usage: count [--rounds N] [--threads N] [--floor 0] RECORDING...\n");
        return 2;
    }
    int status = 0;
    for (int i = first; i < argc; i++) {
        status |= bench(argv[i], &options);
    }
    return status;
}
