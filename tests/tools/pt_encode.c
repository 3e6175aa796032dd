/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes an Intel PT recording of an exact run:
 *     pt_encode [OPTION...] RUN.data FOLDER > DESCRIPTION
 * RUN.data is what br2pgo record --emulate --period 1 wrote. The trace goes to FOLDER, the rest of
 * the recording as text for mkperf to standard output, and what the trace holds, all outcomes of
 * branches within one image, counted, to FOLDER/truth.csv.
 *   --cpus N            buffers of N processors, between which threads move; else of threads
 *   --slice N           taken branches of a thread in a processor's time slice (100)
 *   --no-switch         no SWITCH records
 *   --interrupt N       the kernel interrupts after every N taken branches
 *   --overflow AT,N     after AT taken branches of each thread N are lost in an overflow
 *   --psb BYTES         from one PSB to the next (2048)
 *   --no-retcomp --long-tnt --mtc --cycles   packets made so
 *   --kernel            the kernel is traced, too; --kernel-overflow: with overflows
 *   --hole AT,N         N bytes of each stream, from AT on, did not come into the recording
 */
#include <inttypes.h>

#include "image/code.h"
#include "process/address_space.h"
#include "pt_options.h"
#include "pt_run.h"

#define STREAMS_MAX       64u
#define INTERRUPTED_INSNS 12u
#define LAST_RUN_MAX      10000u
#define START_TSC         1000000u
#define INSN_CYCLES       3u
#define KERNEL_CYCLES     1700u
#define SIDEBAND_CYCLES   300u /* from a SWITCH record to the first packet of the slice */

/* One outcome of a branch, and which bytes of which stream tell it. */
struct outcome {
    uint64_t from;
    uint64_t to;
    uint64_t count;
    const char *image;
    uint64_t end; /* offset behind the packet; UINT64_MAX: not yet in one */
    uint64_t begin;
    uint32_t stream;
    uint32_t kind; /* enum br2_insn_kind; PLAIN: it was not taken */
};

/* How far a thread is. */
struct progress {
    uint64_t ip;
    size_t next; /* branch */
    bool begun;
    bool ended;
    bool losing; /* an overflow goes on */
};

struct encoding {
    struct options options;
    struct run run;
    struct progress *progress;
    struct stream *streams;
    size_t stream_count;
    struct outcome *outcomes;
    size_t outcome_count;
    size_t outcome_room;
    size_t pending; /* the first outcome that is in no packet yet */
};

static uint64_t time_of(uint64_t tsc)
{
    return TIME_ZERO + (tsc >> TIME_SHIFT) * TIME_MULT +
           (((tsc & ((1u << TIME_SHIFT) - 1)) * TIME_MULT) >> TIME_SHIFT);
}

/* What was decided since the last packet is in the packets up to here. Streams take turns only
 * behind a flush, so that all pending outcomes are of one stream. */
static void settle(struct encoding *e, const struct stream *s, uint64_t begin)
{
    for (; s->tnt_bits == 0 && e->pending < e->outcome_count; e->pending++) {
        e->outcomes[e->pending].begin = begin;
        e->outcomes[e->pending].end = s->size;
    }
}

static void add_outcome(struct encoding *e, uint32_t stream, const struct thread *thread,
                        const struct outcome *outcome)
{
    uint64_t from;
    uint64_t to;
    const struct br2_image *image = run_resolve(&e->run, thread->view, outcome->from, &from);
    if (run_resolve(&e->run, thread->view, outcome->to, &to) != image) {
        return;
    }
    if (e->outcome_count == e->outcome_room) {
        e->outcome_room = e->outcome_room * 2 + 4096;
        e->outcomes = allocate(e->outcomes, e->outcome_room, sizeof *e->outcomes);
    }
    const char *path = br2_image_path(image);
    const char *slash = strrchr(path, '/');
    e->outcomes[e->outcome_count++] = (struct outcome){
        .from = from,
        .to = to,
        .count = 1,
        .image = slash != NULL ? slash + 1 : path,
        .stream = stream,
        .end = UINT64_MAX,
        .kind = outcome->kind,
    };
}

static bool needs_packet(const struct br2_insn *insn)
{
    return insn->kind == BR2_INSN_COND || insn->kind == BR2_INSN_INDIRECT_CALL ||
           insn->kind == BR2_INSN_INDIRECT_JUMP || insn->kind == BR2_INSN_RETURN;
}

/* The packets of one instruction that goes to `to`. */
static void encode_insn(struct stream *s, const struct br2_insn *insn, uint64_t to, bool taken)
{
    uint64_t next = insn->address + insn->size;
    switch (insn->kind) {
    case BR2_INSN_COND:
        stream_cond(s, taken);
        return;
    case BR2_INSN_CALL:
        if (to != next) { /* which only asks where it is */
            stream_call(s, next);
        }
        return;
    case BR2_INSN_INDIRECT_CALL:
        stream_call(s, next);
        stream_indirect(s, to);
        return;
    case BR2_INSN_INDIRECT_JUMP:
        stream_indirect(s, to);
        return;
    case BR2_INSN_RETURN:
        stream_return(s, to);
        return;
    default:
        return;
    }
}

/* A thread at work on a stream. */
struct walk {
    struct encoding *e;
    struct thread *thread;
    struct progress *at;
    uint32_t number; /* of the stream */
    struct stream *s;
};

static bool in_overflow(const struct walk *w, const struct br2_insn *insn)
{
    const struct options *options = &w->e->options;
    if (options->overflow_length != 0 && !w->at->losing && needs_packet(insn) &&
        w->at->next >= options->overflow_at &&
        w->at->next - options->overflow_at < options->overflow_length) {
        flush_tnt(w->s);
        settle(w->e, w->s, w->s->size);
        w->at->losing = true;
    }
    return w->at->losing;
}

static void step(const struct walk *w, const struct br2_insn *insn, uint64_t to, bool taken)
{
    struct stream *s = w->s;
    uint64_t begin = s->size;
    stream_pass(s, INSN_CYCLES);
    settle(w->e, s, begin);
    begin = s->size;
    if (in_overflow(w, insn)) {
        return;
    }
    if (insn->kind != BR2_INSN_PLAIN && insn->kind != BR2_INSN_SYSCALL) {
        struct outcome outcome = {
            .from = insn->address, .to = to, .kind = taken ? insn->kind : BR2_INSN_PLAIN};
        add_outcome(w->e, w->number, w->thread, &outcome);
    }
    if (insn->kind == BR2_INSN_SYSCALL) {
        stream_disable(s);
        settle(w->e, s, begin);
        stream_pass(s, KERNEL_CYCLES);
        if (w->at->next < w->thread->count) {
            stream_enable(s, to);
        }
        return;
    }
    encode_insn(s, insn, to, taken);
    settle(w->e, s, begin);
}

/* Up to the branch at `from`; 0: up to the system call that the thread ends in. */
static void walk_run(const struct walk *w, uint64_t from)
{
    for (unsigned i = 0; w->at->ip != from; i++) {
        struct br2_insn insn = run_insn(&w->e->run, w->thread->view, w->at->ip);
        bool passes = insn.kind == BR2_INSN_PLAIN || insn.kind == BR2_INSN_COND ||
                      insn.kind == BR2_INSN_SYSCALL;
        if (!passes || i == LAST_RUN_MAX) {
            fail("no way from %#" PRIx64 " to %#" PRIx64, w->at->ip, from);
        }
        uint64_t next = insn.address + insn.size;
        step(w, &insn, next, false);
        w->at->ip = next;
        if (from == 0 && insn.kind == BR2_INSN_SYSCALL) {
            return;
        }
    }
}

static void end_overflow(const struct walk *w)
{
    const struct options *options = &w->e->options;
    if (w->at->losing && w->at->next >= options->overflow_at + options->overflow_length) {
        w->at->losing = false;
        stream_overflow(w->s, w->at->ip);
        settle(w->e, w->s, w->s->size);
    }
}

/* The next taken branch, or the end of the thread. */
static void walk_branch(const struct walk *w)
{
    struct progress *at = w->at;
    if (at->next == w->thread->count) {
        walk_run(w, 0);
        at->ended = true;
        return;
    }
    const struct branch *branch = &w->thread->branches[at->next];
    walk_run(w, branch->from);
    struct br2_insn insn = run_insn(&w->e->run, w->thread->view, branch->from);
    if (insn.kind == BR2_INSN_PLAIN || (insn.target != 0 && insn.target != branch->to)) {
        fail("no branch from %#" PRIx64 " to %#" PRIx64, branch->from, branch->to);
    }
    step(w, &insn, branch->to, true);
    at->ip = branch->to;
    at->next++;
    end_overflow(w);
    if (!at->losing) {
        uint64_t begin = w->s->size;
        stream_psb_when_due(w->s, at->ip);
        settle(w->e, w->s, begin);
    }
}

/* Some way into the next run, behind a branch that is passed where one is near. */
static void walk_on(const struct walk *w)
{
    bool last = w->at->next == w->thread->count;
    uint64_t from = last ? w->at->ip : w->thread->branches[w->at->next].from;
    for (unsigned i = 0; i < INTERRUPTED_INSNS && w->at->ip != from; i++) {
        struct br2_insn insn = run_insn(&w->e->run, w->thread->view, w->at->ip);
        if (insn.kind == BR2_INSN_SYSCALL) {
            return;
        }
        step(w, &insn, insn.address + insn.size, false);
        w->at->ip = insn.address + insn.size;
        if (insn.kind == BR2_INSN_COND) {
            return;
        }
    }
}

static void interrupt(const struct walk *w)
{
    walk_on(w);
    uint64_t begin = w->s->size;
    stream_interrupt(w->s, w->at->ip);
    settle(w->e, w->s, begin);
    stream_pass(w->s, KERNEL_CYCLES);
}

static void print_switch(const struct walk *w, bool out, uint64_t tsc)
{
    if (!w->e->options.no_switch && w->e->options.cpus != 0) {
        printf("switch %spid=%d tid=%d cpu=%u time=%" PRIu64 "\n", out ? "out " : "",
               w->thread->pid, w->thread->tid, w->number, time_of(tsc));
    }
}

/* The first instruction of a thread: where its program, or its dynamic linker, begins; of a thread
 * that another one made, what its first branch leads to. */
static uint64_t first_ip(struct encoding *e, struct thread *thread, struct progress *at)
{
    uint64_t link;
    uint64_t from = thread->branches[0].from;
    struct br2_image *image = run_resolve(&e->run, thread->view, from, &link);
    uint64_t header[4]; /* of an ELF file; e_entry is the last */
    FILE *file = fopen(br2_image_path(image), "rbe");
    if (file == NULL || fread(header, 1, sizeof header, file) != sizeof header) {
        fail("cannot read '%s'", br2_image_path(image));
    }
    (void)fclose(file);
    if (thread->pid == thread->tid && header[3] <= link && link - header[3] < LAST_RUN_MAX) {
        return from - (link - header[3]);
    }
    at->next = 1;
    return thread->branches[0].to;
}

/* At most so many taken branches of a thread. */
static void walk_slice(struct encoding *e, size_t thread, uint32_t stream, size_t branches)
{
    struct walk w = {e, &e->run.threads[thread], &e->progress[thread], stream, &e->streams[stream]};
    if (!w.at->begun) {
        w.at->begun = true;
        w.at->ip = first_ip(e, w.thread, w.at);
    }
    stream_pass(w.s, KERNEL_CYCLES);
    print_switch(&w, false, w.s->tsc - SIDEBAND_CYCLES);
    if (w.s->psb_at == UINT64_MAX || !e->options.packets.mtc) {
        stream_psb(w.s, w.s->in_kernel ? KERNEL_ENTRY : 0);
    }
    stream_enable(w.s, w.at->ip);
    for (size_t i = 0; i < branches && !w.at->ended; i++) {
        walk_branch(&w);
        if (e->options.interrupt != 0 && !w.at->ended && !w.at->losing &&
            w.at->next % e->options.interrupt == 0) {
            interrupt(&w);
            stream_enable(w.s, w.at->ip);
        }
    }
    if (w.at->losing) {
        fail("an overflow at the end of a slice");
    }
    if (!w.at->ended) {
        interrupt(&w);
    }
    stream_pass(w.s, SIDEBAND_CYCLES);
    print_switch(&w, true, w.s->tsc);
}

/* Time slices of all processors begin together; the threads move on by one. */
static void walk_processors(struct encoding *e)
{
    size_t alive = e->run.thread_count;
    for (size_t round = 0; alive != 0; round++) {
        uint64_t now = 0;
        for (size_t i = 0; i < e->stream_count; i++) {
            now = e->streams[i].tsc > now ? e->streams[i].tsc : now;
        }
        for (size_t i = 0; i < e->stream_count; i++) {
            size_t thread = (round + i) % e->run.thread_count;
            stream_pass(&e->streams[i], now - e->streams[i].tsc);
            if (i < e->run.thread_count && !e->progress[thread].ended) {
                walk_slice(e, thread, (uint32_t)i, e->options.slice);
                alive -= e->progress[thread].ended;
            }
        }
    }
}

static void encode(struct encoding *e)
{
    for (size_t i = 0; i < e->run.thread_count; i++) {
        const struct thread *thread = &e->run.threads[i];
        if (thread->tid != thread->pid) {
            printf("comm pid=%d tid=%d time=0 name=thread\n", thread->pid, thread->tid);
        }
    }
    e->stream_count = e->options.cpus != 0 ? e->options.cpus : e->run.thread_count;
    e->streams = allocate(NULL, e->stream_count, sizeof *e->streams);
    e->progress = calloc(e->run.thread_count + 1, sizeof *e->progress);
    if (e->progress == NULL || e->stream_count > STREAMS_MAX) {
        fail("too many streams");
    }
    for (size_t i = 0; i < e->stream_count; i++) {
        stream_begin(&e->streams[i], &e->options.packets, START_TSC);
    }
    if (e->options.cpus != 0) {
        walk_processors(e);
        return;
    }
    for (size_t i = 0; i < e->run.thread_count; i++) {
        const struct thread *thread = &e->run.threads[i];
        printf("itrace_start pid=%d tid=%d time=%u\n", thread->pid, thread->tid,
               (unsigned)time_of(START_TSC));
        walk_slice(e, i, (uint32_t)i, SIZE_MAX);
    }
}

static void print_buffer(const struct encoding *e, size_t number, uint64_t begin, uint64_t end)
{
    const struct stream *s = &e->streams[number];
    char path[4096];
    snprintf(path, sizeof path, "%s/trace.%zu.%" PRIu64, e->options.folder, number, begin);
    FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(s->bytes + begin, 1, end - begin, file) != end - begin ||
        fclose(file) != 0) {
        fail("cannot write '%s'", path);
    }
    bool cpu = e->options.cpus != 0;
    const struct thread *thread = &e->run.threads[cpu ? 0 : number];
    printf("aux pid=%d tid=%d cpu=%zu off=%" PRIu64 " size=%" PRIu64 " flags=%d time=%" PRIu64 "\n",
           cpu ? 0 : thread->pid, cpu ? 0 : thread->tid, cpu ? number : 0, begin, end - begin,
           begin != 0, time_of(s->tsc));
    printf("auxtrace idx=%zu %s=%d off=%" PRIu64 " ref=%zu file=%s\n", number, cpu ? "cpu" : "tid",
           cpu ? (int)number : thread->tid, begin, number + 1, path);
}

/* Drops what is told by bytes that are in no buffer, or before the first PSB of one. */
static void drop_outcomes(struct encoding *e)
{
    uint64_t again[STREAMS_MAX];
    uint64_t at = e->options.hole_at;
    for (size_t i = 0; i < e->stream_count; i++) {
        again[i] = stream_next_psb(&e->streams[i], at + e->options.hole_size);
    }
    for (size_t i = 0; i < e->outcome_count; i++) {
        struct outcome *outcome = &e->outcomes[i];
        if (outcome->end > at && outcome->begin < again[outcome->stream]) {
            outcome->count = 0;
        }
    }
}

static void print_buffers(struct encoding *e)
{
    for (size_t i = 0; i < e->stream_count; i++) {
        uint64_t size = e->streams[i].size;
        if (e->options.hole_size == 0 || size <= e->options.hole_at + e->options.hole_size) {
            print_buffer(e, i, 0, size);
            continue;
        }
        if (e->options.hole_at != 0) {
            print_buffer(e, i, 0, e->options.hole_at);
        }
        print_buffer(e, i, e->options.hole_at + e->options.hole_size, size);
    }
    if (e->options.hole_size != 0) {
        drop_outcomes(e);
    }
}

static int order_outcomes(const void *a, const void *b)
{
    const struct outcome *left = a;
    const struct outcome *right = b;
    int names = strcmp(left->image, right->image);
    if (names != 0) {
        return names;
    }
    const uint64_t keys[3][2] = {
        {left->from, right->from}, {left->to, right->to}, {left->kind, right->kind}};
    for (size_t i = 0; i < 3; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void write_truth(struct encoding *e)
{
    static const char *const kinds[] = {"fallthrough", "cond",  "jump",  "call",
                                        "icall",       "ijump", "return"};
    char path[4096];
    snprintf(path, sizeof path, "%s/truth.csv", e->options.folder);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        fail("cannot write '%s'", path);
    }
    fprintf(file, "image,from,to,kind,count\n");
    qsort(e->outcomes, e->outcome_count, sizeof *e->outcomes, order_outcomes);
    for (size_t i = 0; i < e->outcome_count;) {
        const struct outcome *first = &e->outcomes[i];
        uint64_t count = 0;
        for (; i < e->outcome_count && order_outcomes(first, &e->outcomes[i]) == 0; i++) {
            count += e->outcomes[i].count;
        }
        if (count != 0 && first->kind < sizeof kinds / sizeof *kinds) {
            fprintf(file, "%s,0x%" PRIx64 ",0x%" PRIx64 ",%s,%" PRIu64 "\n", first->image,
                    first->from, first->to, kinds[first->kind], count);
        }
    }
    if (fclose(file) != 0) {
        fail("cannot write '%s'", path);
    }
}

int main(int argc, char **argv)
{
    struct encoding e = {0};
    read_options(&e.options, argc, argv);
    print_head(&e.options);
    run_read(&e.run, e.options.run);
    encode(&e);
    print_buffers(&e);
    write_truth(&e);
    for (size_t i = 0; i < e.stream_count; i++) {
        stream_end(&e.streams[i]);
    }
    run_free(&e.run);
    free(e.streams);
    free(e.progress);
    free(e.outcomes);
    return 0;
}
