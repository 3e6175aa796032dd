/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How fast recordings are read and counted, on one core, the file in the page cache:
 *   count [--rounds N] RECORDING...
 * Each round is what a conversion does before it looks anything up: both passes over the file, a
 * trace per branch record counted, traces folded. Beside it, as what cannot be beaten, a pass that
 * only adds up the words of every record. tests/bench/make_large.py makes recordings of any size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "flow/counting.h"
#include "flow/fold.h"
#include "input/input.h"
#include "lib/conversion.h"
#include "process/address_space.h"

#define ROUNDS_MAX 1000

struct round {
    struct br2_spaces *spaces;
    struct br2_turn turn;
    struct br2_counting counting;
    struct br2_live_traces live;
    struct br2_folded folded;
    uint64_t records;
    uint64_t sum; /* of the floor */
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int count_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct round *round = user;
    uint32_t view = br2_spaces_view_again(round->spaces, &round->turn, sample->pid, sample->time);
    if (!br2_count_sample(&round->counting, sample, view)) {
        return br2_fail_memory(err);
    }
    if (br2_live_traces_full(&round->live)) {
        return br2_fold(&round->folded, round->spaces, &round->counting, err);
    }
    return 0;
}

static int touch_sample(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct round *round = user;
    (void)err;
    for (size_t i = 0; i < sample->count; i++) {
        struct br2_branch_record record;
        br2_sample_record(sample, i, &record);
        round->sum += record.from ^ record.to ^ record.flags;
    }
    round->records += sample->count;
    return 0;
}

static int read_events(struct br2_input *input, br2_sample_sink sink, struct round *round,
                       struct br2pgo_error *err)
{
    size_t count = br2_input_info(input)->event_count;
    bool *wanted = br2_alloc(count);
    if (wanted == NULL) {
        return br2_fail_memory(err);
    }
    memset(wanted, true, count);
    int rc = br2_input_read_samples(input, wanted, sink, round, err);
    br2_free(wanted);
    return rc;
}

/* Sets the time that counting and touching took, and what was counted. */
static int run_round(const char *path, double ret_times[2], struct round *round,
                     struct br2pgo_error *err)
{
    struct br2_input *input;
    double start = seconds();
    int rc = br2_input_open(path, &input, err);
    if (rc != 0) {
        return rc;
    }
    round->counting.traces = &round->live;
    round->spaces = br2_spaces_new();
    rc = round->spaces == NULL ? br2_fail_memory(err)
                               : br2_input_read_tasks(input, br2_spaces_add, round->spaces, err);
    rc = rc == 0 ? br2_spaces_finish(round->spaces, err) : rc;
    rc = rc == 0 ? read_events(input, count_sample, round, err) : rc;
    rc = rc == 0 ? br2_fold(&round->folded, round->spaces, &round->counting, err) : rc;
    ret_times[0] = seconds() - start;
    start = seconds();
    rc = rc == 0 ? read_events(input, touch_sample, round, err) : rc;
    ret_times[1] = seconds() - start;
    br2_input_close(input);
    return rc;
}

static void round_done(struct round *round)
{
    br2_live_traces_done(&round->live);
    br2_folded_done(&round->folded);
    if (round->spaces != NULL) {
        br2_spaces_free(round->spaces);
    }
}

/* Memory of the process that is not the mapped file, in KiB. */
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

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_rate(const char *what, double *times, size_t count, uint64_t records)
{
    qsort(times, count, sizeof *times, compare_times);
    double millions = (double)records * 1e-6;
    printf("  %-10s best %7.1f, median %7.1f million records/s (%.3f s)\n", what,
           millions / times[0], millions / times[count / 2], times[0]);
}

static int bench(const char *path, size_t rounds)
{
    static double counting[ROUNDS_MAX];
    static double touching[ROUNDS_MAX];
    struct br2pgo_error err = {0};
    uint64_t records = 0;
    uint64_t sum = 0;
    size_t traces = 0;
    unsigned long memory = 0;
    for (size_t i = 0; i < rounds; i++) {
        struct round round = {0};
        double times[2];
        if (run_round(path, times, &round, &err) != 0) {
            fprintf(stderr, "count: %s\n", err.message);
            round_done(&round);
            return 1;
        }
        counting[i] = times[0];
        touching[i] = times[1];
        records = round.records;
        sum += round.sum;
        traces = round.folded.traces.used;
        unsigned long now = own_memory();
        memory = now > memory ? now : memory;
        round_done(&round);
    }
    if (records == 0) {
        fprintf(stderr, "count: '%s' has no branch records\n", path);
        return 1;
    }
    printf("%s: %llu branch records, %zu distinct traces, %lu KiB of memory (sum %llx)\n", path,
           (unsigned long long)records, traces, memory, (unsigned long long)sum);
    print_rate("counting", counting, rounds, records);
    print_rate("touching", touching, rounds, records);
    return 0;
}

int main(int argc, char **argv)
{
    size_t rounds = 11;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
        rounds = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    if (first >= argc || rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: count [--rounds N] RECORDING...\n");
        return 2;
    }
    int status = 0;
    for (int i = first; i < argc; i++) {
        status |= bench(argv[i], rounds);
    }
    return status;
}
