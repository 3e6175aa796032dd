/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/walk.h"

#include "base/mem.h"

#define INSNS         16384u /* looked up and kept: the branches of a program's hot code */
#define RUN_INSNS_MAX 65536u /* looked through for the last branch of a run that was cut off */

int br2_trace_walk_begin(struct br2_trace_walk *walk, const struct br2_trace_job *job,
                         enum br2_machine machine, struct br2_trace_stats *stats,
                         struct br2pgo_error *err)
{
    *walk = (struct br2_trace_walk){.job = job, .stats = stats, .tid = -1};
    walk->insns = br2_calloc(INSNS, sizeof *walk->insns);
    return walk->insns == NULL ? br2_fail_memory(err)
                               : br2_decoder_new(machine, &walk->decoder, err);
}

void br2_trace_walk_done(struct br2_trace_walk *walk)
{
    br2_decoder_free(walk->decoder);
    br2_free(walk->insns);
}

const struct br2_trace_section *br2_trace_walk_section(struct br2_trace_walk *walk,
                                                       uint64_t address)
{
    const struct br2_trace_section *section = &walk->section;
    if (section->bytes != NULL && walk->section_view == walk->view && address >= section->start &&
        address < section->end) {
        return section;
    }
    const struct br2_trace_code *code = walk->job->code;
    struct br2_trace_section found;
    if (!code->find(code->user, walk->view, address, &found)) {
        return NULL;
    }
    walk->section = found;
    walk->section_view = walk->view;
    return section;
}

/* The instruction at `address`; of size 0 where there is no code. */
static struct br2_trace_insn look_up(struct br2_trace_walk *walk, uint64_t address)
{
    struct br2_trace_insn *kept = &walk->insns[(address ^ address >> 14) % INSNS];
    if (kept->address == address && kept->view == walk->view) {
        return *kept;
    }
    const struct br2_trace_section *section = br2_trace_walk_section(walk, address);
    struct br2_insn insn = {.kind = BR2_INSN_INVALID};
    if (section != NULL) {
        br2_decode_one(walk->decoder, section->bytes + (address - section->start),
                       (size_t)(section->end - address), address, &insn);
    }
    *kept = (struct br2_trace_insn){
        .address = address, .view = walk->view, .size = insn.size, .kind = insn.kind};
    return *kept;
}

static bool is_branch(uint8_t kind)
{
    return kind == BR2_INSN_COND || kind == BR2_INSN_JUMP || kind == BR2_INSN_CALL ||
           kind == BR2_INSN_INDIRECT_CALL || kind == BR2_INSN_INDIRECT_JUMP ||
           kind == BR2_INSN_RETURN;
}

static bool ends_run(uint8_t kind)
{
    return is_branch(kind) || kind == BR2_INSN_SYSCALL || kind == BR2_INSN_STOP;
}

static int add_border(struct br2_trace_walk *walk, const struct br2_trace_border *border,
                      struct br2pgo_error *err)
{
    struct br2_trace_borders *borders = walk->job->borders;
    if (!br2_grow(&borders->items, &borders->capacity, borders->count, sizeof *borders->items)) {
        return br2_fail_memory(err);
    }
    struct br2_trace_border *added = &borders->items[borders->count++];
    *added = *border;
    added->tid = walk->tid;
    added->view = walk->view;
    added->time = walk->time;
    return 0;
}

static bool keeps_borders(const struct br2_trace_walk *walk)
{
    return walk->job->borders->count + 2 <= BR2_TRACE_BORDERS_MAX;
}

/* Hands out the branch and the run so far, up to its instruction at `end`, 0: not known. */
static int give_step(struct br2_trace_walk *walk, uint64_t end, struct br2pgo_error *err)
{
    if (walk->bordered && keeps_borders(walk)) {
        walk->bordered = false;
        struct br2_trace_border border = {.begins = true, .at = walk->to, .end = end};
        return add_border(walk, &border, err);
    }
    walk->bordered = false;
    if (walk->from == 0 && end == 0) {
        return 0;
    }
    struct br2_trace_step step = {
        .view = walk->view,
        .time = walk->time,
        .from = walk->from,
        .to = walk->to,
        .end = end,
    };
    walk->stats->steps++;
    return walk->job->sink(walk->job->user, &step, err);
}

/* The last transfer of the run so far; 0: there is none. */
static uint64_t last_transfer(struct br2_trace_walk *walk)
{
    uint64_t found = 0;
    uint64_t at = walk->to;
    for (unsigned i = 0; walk->last != 0 && at <= walk->last && i < RUN_INSNS_MAX; i++) {
        struct br2_trace_insn insn = look_up(walk, at);
        if (insn.size == 0) {
            break;
        }
        found = ends_run(insn.kind) ? at : found;
        at += insn.size;
    }
    return found;
}

int br2_trace_walk_lose(struct br2_trace_walk *walk, struct br2pgo_error *err)
{
    int rc = walk->runs ? give_step(walk, last_transfer(walk), err) : 0;
    walk->runs = walk->stopped = walk->bordered = false;
    return rc;
}

/* The thread leaves the stream in the middle of a run. */
static int leave(struct br2_trace_walk *walk, struct br2pgo_error *err)
{
    if (!walk->runs || !walk->stopped || !keeps_borders(walk)) {
        return br2_trace_walk_lose(walk, err);
    }
    int rc = walk->bordered ? give_step(walk, 0, err) : 0;
    struct br2_trace_border border = {.at = walk->next, .from = walk->from, .to = walk->to};
    rc = rc != 0 ? rc : add_border(walk, &border, err);
    walk->runs = walk->stopped = walk->bordered = false;
    return rc;
}

int br2_trace_walk_end(struct br2_trace_walk *walk, struct br2pgo_error *err)
{
    return leave(walk, err);
}

int br2_trace_walk_thread(struct br2_trace_walk *walk, int32_t tid, uint32_t view, br2_time time,
                          struct br2pgo_error *err)
{
    int rc = 0;
    bool changes = tid != walk->tid || view != walk->view;
    if (changes) {
        rc = leave(walk, err);
        walk->tid = tid;
        walk->view = view;
        walk->bordered = tid >= 0;
    }
    walk->time = time;
    return rc;
}

static void begin_run(struct br2_trace_walk *walk, uint64_t from, uint64_t to)
{
    walk->runs = true;
    walk->stopped = false;
    walk->from = from;
    walk->to = to;
    walk->last = 0;
    walk->next = to;
    walk->kind = BR2_INSN_PLAIN;
}

int br2_trace_walk_resume(struct br2_trace_walk *walk, uint64_t ip, struct br2pgo_error *err)
{
    if (walk->runs && walk->stopped && walk->next == ip) {
        walk->stopped = false;
        return 0;
    }
    bool bordered = walk->bordered && !walk->runs;
    int rc = br2_trace_walk_lose(walk, err);
    begin_run(walk, 0, ip);
    walk->bordered = bordered;
    return rc;
}

/* The run's last instruction was followed by the one at `to`, which lies elsewhere. */
static int turn(struct br2_trace_walk *walk, uint64_t to, struct br2pgo_error *err)
{
    uint64_t from = is_branch(walk->kind) ? walk->last : 0;
    /* Far away without a branch: an interrupt or a signal came between. */
    int rc = from != 0 ? give_step(walk, from, err) : br2_trace_walk_lose(walk, err);
    begin_run(walk, from, to);
    return rc;
}

/* Whether the instruction at `to` is not the one behind the run's last, or behind a jump to it. */
static bool turns(const struct br2_trace_walk *walk, uint64_t to)
{
    bool always = is_branch(walk->kind) && walk->kind != BR2_INSN_COND;
    return walk->last != 0 && (always || to != walk->next);
}

int br2_trace_walk_stop(struct br2_trace_walk *walk, uint64_t at, struct br2pgo_error *err)
{
    int rc = 0;
    if (walk->runs && at != 0 && turns(walk, at)) {
        rc = turn(walk, at, err);
    }
    walk->stopped = walk->runs;
    return rc;
}

int br2_trace_walk_block(struct br2_trace_walk *walk, uint64_t first, uint64_t last,
                         struct br2pgo_error *err)
{
    int rc = 0;
    if (!walk->runs || (walk->last == 0 && first != walk->next)) {
        begin_run(walk, 0, first);
    } else if (turns(walk, first)) {
        rc = turn(walk, first, err);
    }
    struct br2_trace_insn insn = look_up(walk, last);
    walk->last = last;
    walk->next = last + insn.size;
    walk->kind = insn.kind;
    return rc;
}
