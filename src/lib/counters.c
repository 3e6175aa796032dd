/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/counters.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"

#define BATCH_SAMPLES 256
#define BATCH_BYTES   ((size_t)256 * 1024) /* of records that have to be kept */

/* Samples on their way from the reader to whoever counts them. */
struct batch {
    struct batch *next;
    size_t count;
    struct br2_sample samples[BATCH_SAMPLES];
    uint32_t numbers[BATCH_SAMPLES]; /* of their views, where these are not known yet */
    uint8_t *bytes; /* records of samples that are valid only while they are read */
    size_t used;
};

/* Who counts. */
struct counter {
    struct br2_counters *all;
    pthread_t thread;
    struct br2_live_traces live;
    struct br2_live_traces timed;
    struct br2_counting counting;
    struct br2_folded folded;
    struct br2_turn turn; /* of the last sample's process */
    bool full;            /* and cannot be folded yet: nothing more is counted */
    int rc;
    struct br2pgo_error err;
};

struct br2_counters {
    const struct br2_spaces *spaces;
    bool early;               /* they are not known while samples come */
    const uint32_t *views;    /* then: by the numbers that came with samples */
    struct counter *counters; /* [0] is the reader */
    unsigned count;
    unsigned running; /* the reader among them */
    struct batch *filling;
    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t waiting_changed;
    struct batch *waiting; /* to be counted, oldest first */
    struct batch **waiting_end;
    struct batch *empty;
    bool ended;     /* nothing more will come */
    bool abandoned; /* what waits is not to be counted */
};

static int fold(struct counter *counter)
{
    const struct br2_counters *all = counter->all;
    if (all->early) {
        br2_live_traces_set_views(&counter->live, all->views);
    }
    return br2_fold(&counter->folded, all->spaces, &counter->counting, &counter->err);
}

static int count_early(struct counter *counter, const struct br2_sample *sample, uint32_t number)
{
    if (!counter->full && !br2_count_sample(&counter->counting, sample, number)) {
        return br2_fail_memory(&counter->err);
    }
    counter->full = br2_live_traces_full(&counter->live);
    return 0;
}

static int count_sample(struct counter *counter, const struct br2_sample *sample)
{
    const struct br2_spaces *spaces = counter->all->spaces;
    uint32_t view = br2_spaces_view_again(spaces, &counter->turn, sample->pid, sample->time);
    if (!br2_count_sample(&counter->counting, sample, view)) {
        return br2_fail_memory(&counter->err);
    }
    return br2_live_traces_full(&counter->live) || br2_live_traces_full(&counter->timed)
               ? fold(counter)
               : 0;
}

static void count_batch(struct counter *counter, const struct batch *batch)
{
    bool early = counter->all->early;
    for (size_t i = 0; counter->rc == 0 && i < batch->count; i++) {
        counter->rc = early ? count_early(counter, &batch->samples[i], batch->numbers[i])
                            : count_sample(counter, &batch->samples[i]);
    }
}

/* The next batch; NULL when nothing more will come. The lock is held. */
static struct batch *wait_for_batch(struct br2_counters *all)
{
    while (all->waiting == NULL && !all->ended) {
        pthread_cond_wait(&all->waiting_changed, &all->lock);
    }
    struct batch *batch = all->waiting;
    if (batch == NULL || all->abandoned) {
        return NULL;
    }
    all->waiting = batch->next;
    if (all->waiting == NULL) {
        all->waiting_end = &all->waiting;
    }
    return batch;
}

/* A counter's thread: counts until nothing more comes. */
static void *count_batches(void *user)
{
    struct counter *counter = user;
    struct br2_counters *all = counter->all;
    struct batch *batch;
    pthread_mutex_lock(&all->lock);
    while ((batch = wait_for_batch(all)) != NULL) {
        pthread_mutex_unlock(&all->lock);
        count_batch(counter, batch);
        pthread_mutex_lock(&all->lock);
        batch->next = all->empty;
        all->empty = batch;
    }
    pthread_mutex_unlock(&all->lock);
    if (counter->rc == 0 && all->spaces != NULL && !counter->full) {
        counter->rc = fold(counter);
    }
    return NULL;
}

static struct batch *new_batch(void)
{
    struct batch *batch = br2_calloc(1, sizeof *batch);
    uint8_t *bytes = br2_alloc(BATCH_BYTES);
    if (batch == NULL || bytes == NULL) {
        br2_free(batch);
        br2_free(bytes);
        return NULL;
    }
    batch->bytes = bytes;
    return batch;
}

static void free_batches(struct batch *batch)
{
    while (batch != NULL) {
        struct batch *next = batch->next;
        br2_free(batch->bytes);
        br2_free(batch);
        batch = next;
    }
}

/* Two batches for each thread, so that none waits, and one to fill. */
static bool make_batches(struct br2_counters *all)
{
    for (unsigned i = 0; i < 2 * all->count + 1; i++) {
        struct batch *batch = new_batch();
        if (batch == NULL) {
            return false;
        }
        batch->next = all->empty;
        all->empty = batch;
    }
    all->filling = all->empty;
    all->empty = all->empty->next;
    all->filling->next = NULL;
    return true;
}

static void start_threads(struct br2_counters *all)
{
    while (all->running < all->count &&
           br2_thread_start(&all->counters[all->running].thread, count_batches,
                            &all->counters[all->running])) {
        all->running++;
    }
}

int br2_counters_new(const struct br2_spaces *spaces, unsigned threads, struct br2_counters **ret,
                     struct br2pgo_error *err)
{
    struct br2_counters *all = br2_calloc(1, sizeof *all);
    struct counter *counters = br2_calloc(threads, sizeof *counters);
    if (all == NULL || counters == NULL) {
        br2_free(all);
        br2_free(counters);
        return br2_fail_memory(err);
    }
    *all = (struct br2_counters){.spaces = spaces, .counters = counters, .count = threads};
    all->waiting_end = &all->waiting;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->waiting_changed, NULL);
    for (unsigned i = 0; i < threads; i++) {
        counters[i].all = all;
        counters[i].counting.traces = &counters[i].live;
    }
    all->running = 1;
    if (threads > 1 && !make_batches(all)) {
        br2_counters_free(all);
        return br2_fail_memory(err);
    }
    start_threads(all);
    *ret = all;
    return 0;
}

int br2_counters_new_early(unsigned threads, struct br2_counters **ret, struct br2pgo_error *err)
{
    int rc = br2_counters_new(NULL, threads, ret, err);
    if (rc == 0) {
        (*ret)->early = true; /* threads wait for the lock of a batch */
    }
    return rc;
}

void br2_counters_set_views(struct br2_counters *all, const struct br2_spaces *spaces,
                            const uint32_t *views)
{
    pthread_mutex_lock(&all->lock);
    all->spaces = spaces;
    all->views = views;
    pthread_mutex_unlock(&all->lock);
}

void br2_counters_time(struct br2_counters *all)
{
    for (unsigned i = 0; i < all->count; i++) { /* its thread waits for the lock of a batch */
        all->counters[i].counting.timings = &all->counters[i].timed;
    }
}

/* Hands the full batch over and takes an empty one; where there is none, the reader counts. */
static void hand_over(struct br2_counters *all)
{
    struct batch *batch = all->filling;
    pthread_mutex_lock(&all->lock);
    struct batch *empty = all->empty;
    if (empty != NULL) {
        all->empty = empty->next;
        *all->waiting_end = batch;
        all->waiting_end = &batch->next;
        batch->next = NULL;
        pthread_cond_signal(&all->waiting_changed);
    }
    pthread_mutex_unlock(&all->lock);
    if (empty == NULL) {
        count_batch(&all->counters[0], batch);
        empty = batch;
    }
    empty->next = NULL;
    empty->count = empty->used = 0;
    all->filling = empty;
}

static void put_in_batch(struct br2_counters *all, const struct br2_sample *sample, uint32_t number)
{
    size_t bytes = sample->lasting ? 0 : sample->count * sizeof(struct br2_branch_record);
    if (all->filling->count == BATCH_SAMPLES || bytes > BATCH_BYTES - all->filling->used) {
        hand_over(all);
    }
    struct batch *batch = all->filling;
    struct br2_sample *kept = &batch->samples[batch->count];
    batch->numbers[batch->count++] = number;
    *kept = *sample;
    if (bytes != 0) {
        kept->records = memcpy(batch->bytes + batch->used, sample->records, bytes);
        batch->used += bytes;
    }
}

/* What became of the reader's part. */
static int tell(const struct br2_counters *all, struct br2pgo_error *err)
{
    const struct counter *reader = &all->counters[0];
    if (reader->rc != 0 && err != NULL) {
        *err = reader->err;
    }
    return reader->rc;
}

int br2_counters_take(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    struct br2_counters *all = user;
    if (all->running == 1) {
        all->counters[0].rc = count_sample(&all->counters[0], sample);
    } else {
        put_in_batch(all, sample, 0);
    }
    return tell(all, err);
}

int br2_counters_take_early(struct br2_counters *all, const struct br2_sample *sample,
                            uint32_t number, struct br2pgo_error *err)
{
    if (all->running == 1) {
        all->counters[0].rc = count_early(&all->counters[0], sample, number);
    } else {
        put_in_batch(all, sample, number);
    }
    return tell(all, err);
}

/* Has the threads end. What waits to be counted is, or is abandoned. */
static void join(struct br2_counters *all, bool abandon)
{
    pthread_mutex_lock(&all->lock);
    all->ended = true;
    all->abandoned = abandon;
    pthread_cond_broadcast(&all->waiting_changed);
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 1; i < all->running; i++) {
        pthread_join(all->counters[i].thread, NULL);
    }
    all->running = 1;
}

int br2_counters_finish(struct br2_counters *all, struct br2_folded *folded,
                        struct br2_count_stats *stats, struct br2pgo_error *err)
{
    struct counter *reader = &all->counters[0];
    if (all->running > 1) {
        count_batch(reader, all->filling);
    }
    join(all, false);
    for (unsigned i = 0; i < all->count; i++) {
        if (all->counters[i].rc == 0 && all->counters[i].full) {
            return 1;
        }
    }
    if (reader->rc == 0) {
        reader->rc = fold(reader);
    }
    *stats = (struct br2_count_stats){0};
    for (unsigned i = 0; i < all->count; i++) {
        struct counter *counter = &all->counters[i];
        if (counter->rc != 0) {
            if (err != NULL) {
                *err = counter->err;
            }
            return counter->rc;
        }
        br2_count_stats_add(stats, &counter->counting.stats, 1);
        if (!br2_folded_add(folded, &counter->folded)) {
            return br2_fail_memory(err);
        }
        br2_folded_done(&counter->folded);
    }
    return 0;
}

void br2_counters_free(struct br2_counters *all)
{
    if (all == NULL) {
        return;
    }
    join(all, true);
    for (unsigned i = 0; i < all->count; i++) {
        br2_live_traces_done(&all->counters[i].live);
        br2_live_traces_done(&all->counters[i].timed);
        br2_folded_done(&all->counters[i].folded);
    }
    free_batches(all->waiting);
    free_batches(all->empty);
    free_batches(all->filling);
    pthread_cond_destroy(&all->waiting_changed);
    pthread_mutex_destroy(&all->lock);
    br2_free(all->counters);
    br2_free(all);
}
