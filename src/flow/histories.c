/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/histories.h"

#include <string.h>

#include "base/mem.h"
#include "flow/counting.h"

/* A loop that the history is in. */
struct visit {
    uint32_t loop;
    uint64_t trips;   /* with the one that it is in */
    bool begun;       /* its beginning was seen */
    uint64_t epoch;   /* of the clock when it came to the header; 0: that is not known ... */
    uint64_t arrived; /* ... and what the clock said */
};

/* A function that the history is in, or came from. */
struct frame {
    uint32_t function; /* BR2_NO_FUNCTION: outside the image */
    uint32_t block;
    uint64_t comes_back; /* address behind the call that left it */
    size_t visits;       /* those of the frames before it */
    bool on_path;        /* `path` began where one begins */
    struct br2_path path;
};

struct br2_follower {
    const struct br2_flow_graph *graph;
    struct br2_histories *histories;
    struct frame *frames; /* owned; the last is the current one */
    size_t frame_count;
    size_t frame_capacity;
    struct visit *visits; /* owned; of all frames, outer ones first */
    size_t visit_count;
    size_t visit_capacity;
    uint64_t clock; /* cycles since the history began ... */
    uint64_t epoch; /* ... which a record without cycles stops: another epoch begins */
    uint64_t times;
    bool failed; /* memory ran out */
};

struct br2_follower *br2_follower_new(const struct br2_flow_graph *graph,
                                      struct br2_histories *histories)
{
    struct br2_follower *follower = br2_calloc(1, sizeof *follower);
    if (follower != NULL) {
        follower->graph = graph;
        follower->histories = histories;
    }
    return follower;
}

void br2_follower_free(struct br2_follower *follower)
{
    if (follower != NULL) {
        br2_free(follower->frames);
        br2_free(follower->visits);
        br2_free(follower);
    }
}

int br2_histories_begin(const struct br2_flow_graph *graph, struct br2_histories *ret,
                        struct br2pgo_error *err)
{
    *ret = (struct br2_histories){0};
    int rc = br2_loops_find(graph, &ret->loops, err);
    ret->visits = br2_calloc(ret->loops.count + 1, sizeof *ret->visits);
    return rc == 0 && ret->visits == NULL ? br2_fail_memory(err) : rc;
}

void br2_histories_done(struct br2_histories *histories)
{
    br2_loops_done(&histories->loops);
    br2_free(histories->visits);
    br2_trace_table_done(&histories->trips);
    br2_trace_table_done(&histories->iterations);
    br2_paths_done(&histories->paths);
    *histories = (struct br2_histories){0};
}

uint32_t br2_flow_edge_number(const struct br2_flow_graph *graph, uint64_t from, uint64_t to)
{
    size_t count;
    size_t first = br2_flow_edges_from(graph, from, &count);
    for (size_t i = first; i < first + count; i++) {
        if (graph->edges[i].to == to) {
            return (uint32_t)i;
        }
    }
    return BR2_NO_EDGE;
}

bool br2_flow_has_run(const struct br2_flow_graph *graph, uint64_t start, uint64_t end)
{
    size_t low = 0;
    size_t high = graph->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct br2_flow_run *run = &graph->runs[middle];
        if (run->start < start || (run->start == start && run->end < end)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < graph->run_count && graph->runs[low].start == start && graph->runs[low].end == end;
}

static struct frame *current(const struct br2_follower *follower)
{
    return &follower->frames[follower->frame_count - 1];
}

static const struct br2_function_loops *loops_of(const struct br2_follower *follower,
                                                 uint32_t function)
{
    return &follower->histories->loops.functions[function];
}

/* The block of an address, which is an instruction's in the function. */
static uint32_t block_at(const struct br2_follower *follower, uint32_t function, uint64_t address)
{
    size_t insn = br2_code_find(&follower->graph->functions[function].code, address);
    return insn != SIZE_MAX ? loops_of(follower, function)->blocks.block_of[insn] : 0;
}

static void count(struct br2_follower *follower, struct br2_trace_table *table, uint32_t loop,
                  uint64_t value, uint32_t kind)
{
    struct br2_trace trace = {.from = loop, .to = value, .run = kind, .count = follower->times};
    follower->failed = !br2_trace_table_add(table, &trace) || follower->failed;
}

/* The innermost visit ends. */
static void end_visit(struct br2_follower *follower, bool seen)
{
    const struct visit *visit = &follower->visits[--follower->visit_count];
    uint32_t cut = visit->begun ? BR2_TRIPS_CUT : BR2_TRIPS_ENTERED;
    count(follower, &follower->histories->trips, visit->loop, visit->trips,
          seen && visit->begun ? BR2_TRIPS_COMPLETE : cut);
}

static void end_visits(struct br2_follower *follower, size_t left, bool seen)
{
    while (follower->visit_count > left) {
        end_visit(follower, seen);
    }
}

/* Begins visits to all loops of the block that are not visited yet, outer ones first. */
static void begin_visits(struct br2_follower *follower, uint32_t function, uint32_t block,
                         bool known)
{
    const struct br2_loops *loops = &follower->histories->loops;
    size_t base = current(follower)->visits;
    uint32_t inner = follower->visit_count > base ? follower->visits[follower->visit_count - 1].loop
                                                  : BR2_NO_LOOP;
    size_t depth = 0;
    for (uint32_t at = loops_of(follower, function)->loop_of[block];
         at != inner && at != BR2_NO_LOOP; at = loops->loops[at].parent) {
        depth++;
    }
    follower->visit_count += depth;
    uint32_t at = loops_of(follower, function)->loop_of[block];
    for (size_t i = 1; i <= depth; i++, at = loops->loops[at].parent) {
        size_t slot = follower->visit_count - i;
        while (slot >= follower->visit_capacity) {
            if (!br2_grow(&follower->visits, &follower->visit_capacity, follower->visit_capacity,
                          sizeof *follower->visits)) {
                follower->failed = true;
                follower->visit_count -= depth;
                return;
            }
        }
        bool header = loops->loops[at].header_block == block;
        follower->visits[slot] = (struct visit){.loop = at, .trips = 1, .begun = header && known};
    }
}

/* Only from one taken branch to the next is it known how long a loop took to go round: it is timed
 * where its branch back leads. */
static void time_round(struct br2_follower *follower, struct visit *visit, bool taken)
{
    if (taken && visit->epoch == follower->epoch) {
        count(follower, &follower->histories->iterations, visit->loop,
              br2_cycles_kept(follower->clock - visit->arrived), 0);
    }
    visit->epoch = taken ? follower->epoch : 0;
    visit->arrived = follower->clock;
}

/* The history goes on in another block of the function. */
static void move(struct br2_follower *follower, uint32_t block, bool taken)
{
    struct frame *frame = current(follower);
    const struct br2_loops *loops = &follower->histories->loops;
    size_t base = frame->visits;
    while (follower->visit_count > base &&
           !br2_loop_has(loops, follower->visits[follower->visit_count - 1].loop, block)) {
        end_visit(follower, true);
    }
    frame->block = block;
    struct visit *visit =
        follower->visit_count > base ? &follower->visits[follower->visit_count - 1] : NULL;
    if (visit != NULL && loops->loops[visit->loop].turn_block == block) {
        time_round(follower, visit, taken);
    }
    if (visit != NULL && loops->loops[visit->loop].header_block == block) {
        visit->trips++;
    } else {
        begin_visits(follower, frame->function, block, true);
    }
}

/* The straight run from an address to the branch at `end`. */
static void run_on(struct br2_follower *follower, uint64_t end)
{
    struct frame *frame = current(follower);
    uint32_t last = block_at(follower, frame->function, end);
    for (uint32_t block = frame->block + 1; block <= last; block++) {
        move(follower, block, false);
    }
}

static void begin_path(struct frame *frame, uint64_t start)
{
    frame->on_path = true;
    frame->path.start = start;
    frame->path.function = frame->function;
    frame->path.count = 0;
}

static void end_path(struct br2_follower *follower, struct frame *frame, uint64_t end)
{
    struct br2_paths *paths = &follower->histories->paths;
    if (!frame->on_path) {
        paths->cut += follower->times;
        return;
    }
    frame->path.end = end;
    frame->on_path = false;
    follower->failed = !br2_paths_add(paths, &frame->path, follower->times) || follower->failed;
}

static void extend_path(struct frame *frame, uint32_t edge)
{
    frame->on_path = frame->on_path && frame->path.count < BR2_PATH_EDGES_MAX;
    if (frame->on_path) {
        frame->path.edges[frame->path.count++] = edge;
    }
}

static bool push(struct br2_follower *follower, uint32_t function, uint64_t address)
{
    if (!br2_grow(&follower->frames, &follower->frame_capacity, follower->frame_count,
                  sizeof *follower->frames)) {
        follower->failed = true;
        return false;
    }
    struct frame *frame = &follower->frames[follower->frame_count++];
    frame->function = function;
    frame->visits = follower->visit_count;
    frame->on_path = false;
    frame->comes_back = 0;
    frame->block = function != BR2_NO_FUNCTION ? block_at(follower, function, address) : 0;
    return true;
}

/* Into a function whose beginning was not seen: where in it the history is, is known. */
static void land(struct br2_follower *follower, uint32_t function, uint64_t address)
{
    if (push(follower, function, address) && function != BR2_NO_FUNCTION) {
        begin_visits(follower, function, current(follower)->block, false);
    }
}

/* Into a function by its entry, or to another place where what came before is not part of it. */
static void enter(struct br2_follower *follower, uint32_t function, uint64_t address)
{
    if (!push(follower, function, address) || function == BR2_NO_FUNCTION) {
        return;
    }
    bool entry = address == follower->graph->functions[function].range->start;
    begin_visits(follower, function, current(follower)->block, entry);
    if (entry) {
        begin_path(current(follower), address);
    }
}

/* What came before is not known. */
static void forget(struct br2_follower *follower)
{
    for (size_t i = 0; i < follower->frame_count; i++) {
        follower->histories->paths.cut += follower->frames[i].on_path ? follower->times : 0;
    }
    end_visits(follower, 0, false);
    follower->frame_count = 0;
}

static void leave_by(struct br2_follower *follower, const struct br2_step *step, uint32_t block)
{
    const struct frame *frame = current(follower);
    const struct br2_loops *loops = &follower->histories->loops;
    for (size_t i = follower->visit_count; i > frame->visits; i--) {
        uint32_t loop = follower->visits[i - 1].loop;
        if (block != UINT32_MAX && br2_loop_has(loops, loop, block)) {
            break;
        }
        follower->histories->visits[loop].exits += follower->times;
        follower->histories->visits[loop].mispredicted += step->mispredicted ? follower->times : 0;
    }
}

static void take_inner(struct br2_follower *follower, const struct br2_step *step,
                       const struct br2_flow_edge *edge)
{
    uint32_t block = block_at(follower, edge->to_function, edge->to);
    leave_by(follower, step, block);
    if (edge->to <= edge->from) {
        end_path(follower, current(follower), edge->from);
        begin_path(current(follower), edge->to);
    } else {
        extend_path(current(follower), step->edge);
    }
    move(follower, block, true);
}

static void take_return(struct br2_follower *follower, const struct br2_step *step,
                        const struct br2_flow_edge *edge)
{
    if (edge->from_function != BR2_NO_FUNCTION) {
        leave_by(follower, step, UINT32_MAX);
        end_path(follower, current(follower), edge->from);
    }
    end_visits(follower, current(follower)->visits, true);
    follower->frame_count--;
    if (follower->frame_count == 0) {
        land(follower, edge->to_function, edge->to);
        return;
    }
    const struct frame *caller = current(follower);
    bool fits =
        caller->function == edge->to_function && (edge->to == 0 || caller->comes_back == edge->to);
    if (!fits) { /* it came back elsewhere: an exception, or a switch to another stack */
        forget(follower);
        land(follower, edge->to_function, edge->to);
    }
}

static uint64_t behind(const struct br2_flow_graph *graph, const struct br2_flow_edge *edge)
{
    if (edge->from_function == BR2_NO_FUNCTION) {
        return 0;
    }
    const struct br2_code *code = &graph->functions[edge->from_function].code;
    size_t insn = br2_code_find(code, edge->from);
    return insn != SIZE_MAX ? edge->from + code->insns[insn].size : 0;
}

static void take_edge(struct br2_follower *follower, const struct br2_step *step)
{
    const struct br2_flow_edge *edge = &follower->graph->edges[step->edge];
    bool calls = edge->kind == BR2_EDGE_CALL || edge->kind == BR2_EDGE_INDIRECT_CALL;
    if (edge->kind == BR2_EDGE_RETURN) {
        take_return(follower, step, edge);
    } else if (calls) {
        current(follower)->comes_back = behind(follower->graph, edge);
        enter(follower, edge->to_function, edge->to);
    } else if (edge->from_function == edge->to_function) {
        take_inner(follower, step, edge);
    } else { /* to another function, in place of this one */
        leave_by(follower, step, UINT32_MAX);
        end_path(follower, current(follower), edge->from);
        end_visits(follower, current(follower)->visits, true);
        follower->frame_count--;
        enter(follower, edge->to_function, edge->to);
    }
}

static void take_step(struct br2_follower *follower, const struct br2_step *step)
{
    const struct br2_flow_edge *edge = &follower->graph->edges[step->edge];
    bool known = step->joined && follower->frame_count != 0 &&
                 current(follower)->function == edge->from_function;
    if (!known) {
        forget(follower);
        land(follower, edge->from_function, edge->from);
    }
    if (follower->failed) {
        return;
    }
    if (known && edge->from_function != BR2_NO_FUNCTION) {
        run_on(follower, edge->from);
    }
    take_edge(follower, step);
}

bool br2_history_follow(struct br2_follower *follower, const struct br2_step *steps, size_t count,
                        uint64_t times)
{
    struct br2_histories *histories = follower->histories;
    follower->times = times;
    follower->clock = 0;
    follower->epoch = 1;
    histories->followed += times;
    histories->depth = count > histories->depth ? count : histories->depth;
    for (size_t i = 0; !follower->failed && i < count; i++) {
        follower->clock += steps[i].cycles;
        follower->epoch += steps[i].cycles == 0;
        if (steps[i].edge != BR2_NO_EDGE) {
            take_step(follower, &steps[i]);
        }
    }
    forget(follower);
    return !follower->failed;
}
