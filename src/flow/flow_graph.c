/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "flow/flow_graph.h"

#include "base/limits.h"
#include "base/mem.h"
#include "flow/flow_private.h"

static void function_done(struct br2_flow_function *function)
{
    br2_code_done(&function->code);
    br2_free(function->stops);
    br2_free(function->counts);
    br2_free(function->ends);
}

void br2_flow_graph_free(struct br2_flow_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    for (size_t i = 0; i < graph->function_count; i++) {
        function_done(&graph->functions[i]);
    }
    br2_free(graph->functions);
    br2_free(graph->runs);
    br2_free(graph->edges);
    br2_free(graph->traces);
    br2_free(graph->timings);
    br2_free(graph);
}

/* Whether straight-line execution ends at an instruction. A system call comes back, and a direct
 * jump to the next instruction is no obstacle. */
static bool ends_run(const struct br2_insn *insn)
{
    bool goes_on = insn->kind == BR2_INSN_PLAIN || insn->kind == BR2_INSN_COND ||
                   insn->kind == BR2_INSN_SYSCALL;
    bool to_next = insn->kind == BR2_INSN_JUMP && insn->target == insn->address + insn->size;
    return !goes_on && !to_next;
}

static void find_stops(struct br2_flow_function *function)
{
    uint32_t stop = (uint32_t)function->code.count;
    for (size_t i = function->code.count; i-- > 0;) {
        if (ends_run(&function->code.insns[i])) {
            stop = (uint32_t)i;
        }
        function->stops[i] = stop;
    }
}

/* In function_of_range: the file has no bytes for it. */
#define RANGE_WITHOUT_CODE (BR2_NO_FUNCTION - 1)

static int add_function(struct br2_flow_builder *builder, const struct br2_code_range *range,
                        struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    if (!br2_grow(&graph->functions, &builder->function_capacity, graph->function_count,
                  sizeof *graph->functions)) {
        return br2_fail_memory(err);
    }
    struct br2_flow_function *function = &graph->functions[graph->function_count];
    *function = (struct br2_flow_function){.range = range};
    uint32_t *number = &builder->function_of_range[range - builder->ranges];
    int rc = br2_code_decode(builder->decoder, builder->image, range->start, range->end,
                             &function->code, NULL);
    if (rc == BR2PGO_INVALID) {
        *number = RANGE_WITHOUT_CODE;
        return 0;
    }
    if (rc != 0) {
        return br2_fail_memory(err);
    }
    function->stops = br2_calloc(function->code.count, sizeof *function->stops);
    /* One more: differences are written behind the last instruction. */
    function->counts = br2_calloc(function->code.count + 1, sizeof *function->counts);
    function->ends = br2_calloc(function->code.count, sizeof *function->ends);
    if (function->stops == NULL || function->counts == NULL || function->ends == NULL) {
        function_done(function);
        return br2_fail_memory(err);
    }
    find_stops(function);
    *number = (uint32_t)graph->function_count++;
    return 0;
}

int br2_flow_find(struct br2_flow_builder *builder, uint64_t address, struct br2_spot *ret,
                  struct br2pgo_error *err)
{
    *ret = (struct br2_spot){.function = BR2_NO_FUNCTION, .insn = SIZE_MAX};
    const struct br2_code_range *range = br2_image_range_at(builder->image, address);
    if (range == NULL || range->end - range->start > BR2_RANGE_BYTES_MAX) {
        return 0;
    }
    uint32_t *known = &builder->function_of_range[range - builder->ranges];
    if (*known == BR2_NO_FUNCTION) {
        int rc = add_function(builder, range, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (*known == RANGE_WITHOUT_CODE) {
        return 0;
    }
    ret->function = *known;
    ret->insn = br2_code_find(&builder->graph->functions[*known].code, address);
    return 0;
}

int br2_flow_add_run(struct br2_flow_builder *builder, const struct br2_flow_run *run,
                     struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    if (!br2_grow(&graph->runs, &builder->run_capacity, graph->run_count, sizeof *graph->runs)) {
        return br2_fail_memory(err);
    }
    graph->runs[graph->run_count++] = *run;
    return 0;
}

/* The trace being taken in was seen to run in a function. */
static void see_function(struct br2_flow_builder *builder, uint32_t number)
{
    br2_time time = builder->trace->first_seen;
    if (number == BR2_NO_FUNCTION || time == 0) {
        return;
    }
    uint64_t since = time - builder->source->first_time + 1;
    struct br2_flow_function *function = &builder->graph->functions[number];
    if (function->first_seen == 0 || since < function->first_seen) {
        function->first_seen = since;
    }
}

static int add_edge(struct br2_flow_builder *builder, const struct br2_judged_branch *branch,
                    uint64_t count, uint64_t mispredicted, struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    if (!br2_grow(&graph->edges, &builder->edge_capacity, graph->edge_count,
                  sizeof *graph->edges)) {
        return br2_fail_memory(err);
    }
    struct br2_spot target = {.function = BR2_NO_FUNCTION};
    int rc = branch->to != 0 ? br2_flow_find(builder, branch->to, &target, err) : 0;
    if (rc != 0) {
        return rc;
    }
    graph->edges[graph->edge_count++] = (struct br2_flow_edge){
        .from = branch->from,
        .to = branch->to,
        .from_function = branch->source.function,
        .to_function = target.function,
        .kind = branch->kind,
        .count = count,
        .mispredicted = mispredicted,
    };
    see_function(builder, branch->source.function);
    see_function(builder, target.function);
    if (target.function == BR2_NO_FUNCTION) {
        return 0;
    }
    /* A loop back to the entry is not a call, nor is the return of an interrupt to it. */
    struct br2_flow_function *callee = &graph->functions[target.function];
    bool calls = branch->kind == BR2_EDGE_CALL || branch->kind == BR2_EDGE_INDIRECT_CALL;
    bool jumps_in = branch->kind != BR2_EDGE_RETURN && branch->source.function != target.function;
    if (branch->to == callee->range->start && !branch->resumes && (calls || jumps_in)) {
        callee->entered += count;
    }
    return 0;
}

/* The run behind a trace; *ret says what became of it. */
static int judge_trace_run(struct br2_flow_builder *builder, const struct br2_trace *trace,
                           const struct br2_judged_branch *branch, bool to_in_image,
                           struct br2_judged_run *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_judged_run){.verdict = BR2_RUN_KEPT};
    if (!to_in_image) {
        ret->verdict = BR2_RUN_OTHER_IMAGE;
    } else if (trace->run == BR2_RUN_IMPOSSIBLE) {
        ret->verdict = BR2_RUN_BACKWARDS;
    } else if (trace->run == BR2_RUN_SPLIT) {
        ret->verdict = BR2_RUN_LEAVES;
    } else if (branch->verdict == BR2_BRANCH_WRONG_TARGET) {
        ret->verdict = BR2_RUN_BAD_START;
    } else if (trace->run == BR2_RUN_REPEATED &&
               (branch->verdict == BR2_BRANCH_ENTERS || trace->from < trace->to)) {
        ret->verdict = BR2_RUN_BACKWARDS; /* from and to are offsets in one file, or it leaves it */
    } else {
        uint64_t length = trace->run == BR2_RUN_REPEATED ? trace->from - trace->to : trace->run - 1;
        return br2_judge_run(builder, trace->to, length, ret, err);
    }
    return 0;
}

/* The records of a trace: one each, or two where the newest repeats and the run between the two is
 * possible. */
static uint64_t records_of(struct br2_flow_graph *graph, const struct br2_trace *trace,
                           const struct br2_judged_run *run)
{
    if (trace->run != BR2_RUN_REPEATED) {
        return trace->count;
    }
    if (run->verdict == BR2_RUN_KEPT || run->verdict == BR2_RUN_OTHER_IMAGE) {
        return 2 * trace->count;
    }
    graph->branches[BR2_BRANCH_REPEATED] += trace->count;
    return trace->count;
}

static int add_run(struct br2_flow_builder *builder, const struct br2_flow_run *run,
                   const struct br2_insn *passes, struct br2pgo_error *err)
{
    return passes != NULL ? br2_flow_doubt(builder, run, passes, err)
                          : br2_flow_add_run(builder, run, err);
}

static int add_judged_run(struct br2_flow_builder *builder, const struct br2_trace *trace,
                          const struct br2_judged_branch *branch, struct br2_judged_run *judged,
                          struct br2pgo_error *err)
{
    struct br2_flow_run run = {.start = judged->start, .end = judged->end, .count = trace->count};
    struct br2_spot target;
    int rc = br2_flow_find(builder, judged->start, &target, err);
    if (rc != 0) {
        return rc;
    }
    bool sound = branch->verdict == BR2_BRANCH_KEPT || branch->verdict == BR2_BRANCH_ENTERS;
    bool inside = branch->source.function == target.function && branch->kind != BR2_EDGE_RETURN;
    judged->resumed = sound && !inside;
    run.resumed = judged->resumed ? run.count : 0;
    see_function(builder, target.function);
    if (sound && builder->keep_traces) {
        rc = br2_flow_add_trace(builder, trace, branch, judged, err);
    }
    return rc != 0 ? rc : add_run(builder, &run, judged->passes, err);
}

/* A run of which only the recorder knows what it followed. */
static int take_lone_run(struct br2_flow_builder *builder, const struct br2_trace *trace,
                         struct br2_image_pair pair, struct br2pgo_error *err)
{
    struct br2_judged_branch branch = {.verdict = BR2_BRANCH_KEPT};
    struct br2_judged_run judged;
    bool in = br2_flow_holds(builder, pair.to, trace->to);
    int rc = judge_trace_run(builder, trace, &branch, in, &judged, err);
    builder->graph->run_verdicts[judged.verdict] += trace->count;
    if (rc != 0 || judged.verdict != BR2_RUN_KEPT) {
        return rc;
    }
    struct br2_flow_run run = {.start = judged.start, .end = judged.end, .count = trace->count};
    run.resumed = pair.from == BR2_DSO_RUN_RESUMED ? trace->count : 0;
    run.any_origin = pair.from == BR2_DSO_RUN_ANY ? trace->count : 0;
    return add_run(builder, &run, judged.passes, err);
}

static int take_trace(struct br2_flow_builder *builder, const struct br2_trace *trace,
                      struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    struct br2_image_pair pair = br2_folded_pair(builder->source->folded, trace->space);
    if (pair.from == BR2_DSO_RUN_ONLY || pair.from == BR2_DSO_RUN_RESUMED ||
        pair.from == BR2_DSO_RUN_ANY) {
        return take_lone_run(builder, trace, pair, err);
    }
    struct br2_judged_branch branch;
    builder->trace = trace;
    int rc = br2_judge_branch(builder, trace, &branch, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_judged_run run = {.verdict = BR2_RUN_OTHER_IMAGE};
    if (trace->run != BR2_RUN_NONE) {
        bool to_in = br2_flow_holds(builder, pair.to, trace->to);
        rc = judge_trace_run(builder, trace, &branch, to_in, &run, err);
        /* A newest record that was only logged twice has no run to be lost. */
        bool counts = trace->run != BR2_RUN_REPEATED || run.verdict == BR2_RUN_KEPT ||
                      run.verdict == BR2_RUN_OTHER_IMAGE;
        graph->run_verdicts[run.verdict] += counts ? trace->count : 0;
    }
    if (rc == 0 && trace->run != BR2_RUN_NONE && run.verdict == BR2_RUN_KEPT) {
        rc = add_judged_run(builder, trace, &branch, &run, err);
    }
    uint64_t records = records_of(graph, trace, &run);
    graph->branches[branch.verdict] += records;
    if (rc == 0 && (branch.verdict == BR2_BRANCH_KEPT || branch.verdict == BR2_BRANCH_ENTERS)) {
        /* One logged twice is taken once with what both say. */
        bool halved = trace->run == BR2_RUN_REPEATED && records == trace->count;
        uint64_t mispredicted = halved ? trace->mispredicted / 2 : trace->mispredicted;
        rc = add_edge(builder, &branch, records, mispredicted, err);
    }
    return rc;
}

static int take_timing(struct br2_flow_builder *builder, const struct br2_trace *timing,
                       struct br2pgo_error *err)
{
    struct br2_flow_graph *graph = builder->graph;
    struct br2_judged_run run;
    if (!br2_flow_in_image(builder, br2_folded_pair(builder->source->folded, timing->space).to) ||
        timing->run == BR2_RUN_NONE || timing->run > BR2_RUN_LONGEST) {
        return 0;
    }
    int rc = br2_judge_run(builder, timing->to, timing->run - 1, &run, err);
    if (rc != 0 || run.verdict != BR2_RUN_KEPT || run.passes != NULL) {
        return rc;
    }
    if (!br2_grow(&graph->timings, &builder->timing_capacity, graph->timing_count,
                  sizeof *graph->timings)) {
        return br2_fail_memory(err);
    }
    graph->timings[graph->timing_count++] =
        (struct br2_flow_timing){.start = run.start,
                                 .end = run.end,
                                 .cycles = (uint32_t)timing->from,
                                 .count = timing->count};
    return 0;
}

static int take_table(struct br2_flow_builder *builder, const struct br2_trace_table *table,
                      int (*take)(struct br2_flow_builder *, const struct br2_trace *,
                                  struct br2pgo_error *),
                      struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            rc = take(builder, &table->slots[i], err);
        }
    }
    return rc;
}

static int prepare(struct br2_flow_builder *builder, struct br2pgo_error *err)
{
    const struct br2_image *image = builder->image;
    int rc = br2_decoder_new(br2_image_machine(image), &builder->decoder, err);
    if (rc != 0) {
        return rc;
    }
    builder->range_count = br2_image_ranges(image, &builder->ranges);
    builder->function_of_range =
        br2_realloc_array(NULL, builder->range_count, sizeof *builder->function_of_range);
    builder->graph = br2_calloc(1, sizeof *builder->graph);
    if (builder->function_of_range == NULL || builder->graph == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < builder->range_count; i++) {
        builder->function_of_range[i] = BR2_NO_FUNCTION;
    }
    builder->graph->image = image;
    return 0;
}

static int take_source(struct br2_flow_builder *builder, const struct br2_flow_source *source,
                       struct br2pgo_error *err)
{
    builder->source = source;
    int rc = take_table(builder, &source->folded->traces, take_trace, err);
    return rc != 0 ? rc : take_table(builder, &source->folded->timings, take_timing, err);
}

int br2_flow_graph_build(const struct br2_image *image, const struct br2_flow_evidence *evidence,
                         struct br2_flow_graph **ret, struct br2pgo_error *err)
{
    struct br2_flow_builder builder = {.image = image, .keep_traces = evidence->keep_traces};
    int rc = prepare(&builder, err);
    for (size_t i = 0; rc == 0 && i < evidence->source_count; i++) {
        rc = take_source(&builder, &evidence->sources[i], err);
    }
    if (rc == 0) {
        br2_flow_merge_edges(builder.graph);
        rc = br2_settle_doubtful(&builder, err);
        br2_flow_merge_traces(&builder);
    }
    if (rc == 0) {
        rc = br2_settle_origins(builder.graph, err);
    }
    br2_decoder_free(builder.decoder);
    br2_free(builder.function_of_range);
    br2_free(builder.doubtful);
    br2_addresses_done(&builder.logged);
    if (rc != 0) {
        br2_flow_graph_free(builder.graph);
        return rc;
    }
    br2_flow_finish(builder.graph);
    *ret = builder.graph;
    return 0;
}
