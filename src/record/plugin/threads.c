/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads, what they count, and what they hand over. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "record/plugin/plugin.h"

/* Of the table of threads, and of what those that ended leave behind. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void br2_threads_lock(void)
{
    pthread_mutex_lock(&lock);
}

void br2_threads_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void br2_threads_unlock_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}

/* SplitMix64: a number that looks like chance, of one that does not. */
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t br2_thread_now(const struct br2_thread *thread)
{
    uint64_t now = thread->clock + thread->insns;
    uint64_t floor = __atomic_load_n(&br2_plugin.area->header.time_floor, __ATOMIC_RELAXED);
    return now > floor ? now : floor;
}

uint64_t br2_thread_taken(const struct br2_thread *thread)
{
    return thread->taken + thread->scheduled - thread->until;
}

/* After `minimum` branches at the earliest, and fewer than `range` beyond that. */
static void schedule(struct br2_thread *thread, uint64_t minimum, uint64_t range)
{
    thread->taken += thread->scheduled;
    thread->random = mix(thread->random);
    thread->scheduled = minimum + thread->random % range;
    thread->until = thread->scheduled;
}

void br2_thread_schedule(struct br2_thread *thread)
{
    uint64_t spread = br2_plugin.period / 8;
    schedule(thread, br2_plugin.period - spread, 2 * spread + 1);
}

static void flush(struct br2_stream_buffer *stream, uint64_t serial)
{
    struct br2_message message = {
        .type = BR2_MESSAGE_STREAM,
        .size = stream->size,
        .area = br2_plugin.area->header.number,
        .serial = serial,
        .sent = stream->sent,
    };
    if (stream->size != 0) {
        br2_area_send(&message, stream->bytes, -1);
        /* In this order: what the recorder finds here in the end it takes only if it was not sent.
         */
        __atomic_store_n(&stream->sent, stream->sent + 1, __ATOMIC_RELEASE);
        stream->size = 0;
    }
}

void br2_stream_put(struct br2_stream_buffer *stream, uint64_t serial,
                    const struct br2_stream_head *head, const void *body)
{
    if (head->size > BR2_AREA_STREAM - stream->size) {
        flush(stream, serial);
    }
    uint8_t *to = stream->bytes + stream->size;
    memcpy(to, head, sizeof *head);
    if (head->size > sizeof *head) {
        memcpy(to + sizeof *head, body, head->size - sizeof *head);
    }
    __atomic_store_n(&stream->size, stream->size + head->size, __ATOMIC_RELEASE);
}

/* The record `age` before the newest, as the kernel would give it: an instruction takes a cycle. Of
 * what began with the thread that is not known. */
static struct br2_branch_record finished(const struct br2_thread *thread, uint32_t age,
                                         uint64_t taken)
{
    struct br2_branch_record record = thread->ring[(thread->newest - age) & (BR2_RING - 1)];
    uint64_t executed = record.flags >> BR2_CYCLES_SHIFT;
    record.flags &= 3;
    if (br2_plugin.cycles && age + 1 < taken) {
        const struct br2_branch_record *before =
            &thread->ring[(thread->newest - age - 1) & (BR2_RING - 1)];
        uint64_t cycles = executed - (before->flags >> BR2_CYCLES_SHIFT);
        record.flags |= (cycles < BR2_CYCLES_MAX ? cycles : BR2_CYCLES_MAX) << BR2_CYCLES_SHIFT;
    }
    return record;
}

void br2_thread_sample(struct br2_thread *thread, uint64_t ip)
{
    struct {
        uint64_t ip;
        struct br2_branch_record records[BR2_RECORD_DEPTH_MAX];
    } body;
    uint64_t taken = br2_thread_taken(thread);
    uint32_t count = taken < br2_plugin.depth ? (uint32_t)taken : br2_plugin.depth;
    body.ip = ip;
    for (uint32_t i = 0; i < count; i++) {
        body.records[i] = finished(thread, i, taken);
    }
    struct br2_stream_head head = {
        .type = BR2_STREAM_SAMPLE,
        .size = (uint32_t)(sizeof head + sizeof body.ip + count * sizeof *body.records),
        .time = br2_thread_now(thread),
    };
    br2_stream_put(thread->stream, thread->serial, &head, &body);
    br2_thread_schedule(thread);
}

static struct br2_indirect_edge *find_slot(struct br2_edge_slots *edges, uint32_t block,
                                           uint64_t to)
{
    uint64_t hash = (to ^ (uint64_t)block << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 40) & (edges->capacity - 1);
    while (edges->slots[at].block != 0 &&
           (edges->slots[at].block != block || edges->slots[at].to != to)) {
        at = (at + 1) & (edges->capacity - 1);
    }
    return &edges->slots[at];
}

/* Twice as many slots; where there are as many as there can be, the recorder gets what there is. */
static void make_room(struct br2_edge_slots *edges, uint64_t serial)
{
    size_t size = edges->capacity * sizeof *edges->slots;
    if (edges->capacity == 0) {
        edges->capacity = 256;
        return;
    }
    struct br2_indirect_edge *old =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (edges->capacity == BR2_AREA_EDGES || old == MAP_FAILED) {
        struct br2_message message = {.type = BR2_MESSAGE_EDGES,
                                      .size = (uint32_t)size,
                                      .area = br2_plugin.area->header.number,
                                      .serial = serial};
        br2_area_send(&message, edges->slots, -1);
        memset(edges->slots, 0, size);
        edges->count = 0;
    } else {
        uint32_t capacity = edges->capacity;
        memcpy(old, edges->slots, size);
        memset(edges->slots, 0, size);
        edges->capacity = capacity * 2;
        for (uint32_t i = 0; i < capacity; i++) {
            if (old[i].block != 0) {
                *find_slot(edges, old[i].block, old[i].to) = old[i];
            }
        }
    }
    if (old != MAP_FAILED) {
        munmap(old, size);
    }
}

static void count_edge(struct br2_edge_slots *edges, uint64_t serial,
                       const struct br2_indirect_edge *edge)
{
    if (edges->count >= edges->capacity / 4 * 3) {
        make_room(edges, serial);
    }
    struct br2_indirect_edge *slot = find_slot(edges, edge->block, edge->to);
    if (slot->block == 0) {
        edges->count++;
        slot->to = edge->to;
        slot->block = edge->block;
    }
    slot->taken += edge->taken;
    slot->missed += edge->missed;
}

void br2_thread_count(struct br2_thread *thread, uint32_t block,
                      const struct br2_block_counts *counts)
{
    if (br2_plugin.exact) {
        struct br2_indirect_edge edge = {
            .block = block, .to = counts->state, .taken = counts->taken, .missed = counts->missed};
        count_edge(thread->edges, thread->serial, &edge);
    }
}

static struct br2_thread *free_slot(struct br2_area *area)
{
    for (uint32_t i = 0; i < BR2_AREA_THREADS; i++) {
        if (area->threads[i].serial == 0) {
            struct br2_thread *thread = &area->threads[i];
            thread->counts = area->counts[i];
            thread->edges = &area->edges[i];
            thread->stream = &area->streams[i];
            if (i >= area->header.threads_used) {
                area->header.threads_used = i + 1;
            }
            return thread;
        }
    }
    area->header.lost_threads++;
    return NULL;
}

uint64_t br2_child_seed(uint64_t seed, uint64_t ordinal)
{
    return mix(seed ^ mix(ordinal));
}

static void begin(struct br2_thread *thread, uint64_t parent, uint64_t ordinal, uint64_t start)
{
    struct br2_area_header *header = &br2_plugin.area->header;
    thread->before = br2_no_block();
    thread->clock = start;
    thread->random = thread->seed;
    thread->scheduled = 0;
    /* Anywhere in a period: threads that end before a whole one are sampled as often as others. */
    schedule(thread, 1, br2_plugin.period);
    __atomic_store_n(&thread->serial, ++header->serials, __ATOMIC_RELEASE);
    struct br2_stream_start body = {.parent = parent, .ordinal = ordinal};
    struct br2_stream_head head = {
        .type = BR2_STREAM_START, .size = sizeof head + sizeof body, .time = start};
    br2_stream_put(thread->stream, thread->serial, &head, &body);
}

struct br2_thread *br2_thread_first(uint64_t seed, uint64_t start)
{
    br2_threads_lock();
    struct br2_thread *thread = free_slot(br2_plugin.area);
    if (thread != NULL) {
        thread->seed = seed;
        begin(thread, 0, 0, start);
    }
    br2_threads_unlock();
    return thread;
}

struct br2_thread *br2_thread_new(struct br2_thread *parent)
{
    br2_threads_lock();
    struct br2_thread *thread = free_slot(br2_plugin.area);
    if (thread != NULL) {
        uint64_t ordinal = parent->children++;
        thread->seed = br2_child_seed(parent->seed, ordinal);
        begin(thread, parent->serial, ordinal, br2_thread_now(parent) + 1);
    }
    br2_threads_unlock();
    return thread;
}

struct br2_thread *br2_thread_spare(void)
{
    static struct br2_thread spare;
    if (spare.counts == NULL) {
        void *memory =
            mmap(NULL, sizeof *br2_plugin.area->counts + sizeof *br2_plugin.area->edges,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return NULL;
        }
        spare.counts = memory;
        spare.edges = (void *)((char *)memory + sizeof *br2_plugin.area->counts);
        spare.before = br2_no_block();
        spare.until = UINT64_MAX;
    }
    return &spare;
}

/* Adds what the thread counted to what all that ended did. */
static void hand_down(struct br2_area *area, const struct br2_thread *thread)
{
    struct br2_block_counts *all = area->counts[BR2_AREA_THREADS];
    struct br2_edge_slots *edges = &area->edges[BR2_AREA_THREADS];
    for (uint32_t i = 1; i < area->header.block_count; i++) {
        const struct br2_block_counts *counts = &thread->counts[i];
        if (area->blocks[i].kind >= BR2_BLOCK_INDIRECT_CALL && counts->taken != 0) {
            struct br2_indirect_edge edge = {
                .block = i, .to = counts->state, .taken = counts->taken, .missed = counts->missed};
            count_edge(edges, 0, &edge);
        } else if (counts->passed + counts->taken != 0) {
            all[i].passed += counts->passed;
            all[i].taken += counts->taken;
            all[i].missed += counts->missed;
        }
    }
    for (uint32_t i = 0; i < thread->edges->capacity; i++) {
        if (thread->edges->slots[i].block != 0) {
            count_edge(edges, 0, &thread->edges->slots[i]);
        }
    }
}

/* Gives the memory back, which makes it zero; where it is not shared, that is not possible. */
static void clear(void *memory, size_t size, size_t used)
{
    if (madvise(memory, size, MADV_REMOVE) != 0) {
        memset(memory, 0, used);
    }
}

void br2_thread_end(struct br2_thread *thread)
{
    struct br2_area *area = br2_plugin.area;
    struct br2_stream_head head = {
        .type = BR2_STREAM_END, .size = sizeof head, .time = br2_thread_now(thread)};
    br2_stream_put(thread->stream, thread->serial, &head, NULL);
    flush(thread->stream, thread->serial);
    br2_threads_lock();
    area->header.ended_insns += thread->insns;
    area->header.ended_taken += br2_thread_taken(thread);
    area->header.ended_missed += thread->missed;
    if (br2_plugin.exact) {
        hand_down(area, thread);
    }
    clear(thread->counts, sizeof *area->counts, area->header.block_count * sizeof *thread->counts);
    clear(thread->edges, sizeof *area->edges, sizeof *area->edges);
    clear(thread->stream, sizeof *area->streams, sizeof *area->streams);
    memset(thread, 0, sizeof *thread);
    br2_threads_unlock();
}
