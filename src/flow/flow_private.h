/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the files that build a flow graph. */
#ifndef BR2_FLOW_FLOW_PRIVATE_H
#define BR2_FLOW_FLOW_PRIVATE_H

#include "base/addresses.h"
#include "flow/flow_graph.h"

/* One instruction of a hit function. */
struct br2_spot {
    uint32_t function; /* BR2_NO_FUNCTION: the address is in no known code */
    size_t insn;       /* SIZE_MAX: the address is inside an instruction */
};

/* A run that passes one indirect jump and is sound otherwise: see doubtful.c. */
struct br2_doubtful_run {
    uint64_t start;
    uint64_t end;
    uint64_t jump; /* address of the indirect jump */
    uint64_t next; /* of the instruction behind it */
    uint64_t count;
    uint64_t resumed;
};

struct br2_flow_builder {
    struct br2_flow_graph *graph;
    const struct br2_image *image;
    const struct br2_flow_source *source; /* the one being taken in */
    const struct br2_trace *trace;        /* the one of them being taken in */
    struct br2_decoder *decoder;
    const struct br2_code_range *ranges; /* of the image */
    size_t range_count;
    uint32_t *function_of_range; /* BR2_NO_FUNCTION until hit */
    size_t function_capacity;
    size_t run_capacity;
    size_t edge_capacity;
    size_t timing_capacity;
    size_t trace_capacity;
    bool keep_traces;
    struct br2_doubtful_run *doubtful;
    size_t doubtful_count;
    size_t doubtful_capacity;
    struct br2_addresses logged; /* indirect jumps that no run passes, sorted once it is settled */
};

/* Finds the instruction at `address`, decoding its function when it is hit first. */
int br2_flow_find(struct br2_flow_builder *builder, uint64_t address, struct br2_spot *ret,
                  struct br2pgo_error *err);

/* Whether an image number of the source stands for the graph's image. */
static inline bool br2_flow_in_image(const struct br2_flow_builder *builder, uint32_t dso)
{
    return dso < builder->source->dsos->count && builder->source->is_image[dso];
}

/* Whether a folded address of that image number is the graph's image's. */
bool br2_flow_holds(const struct br2_flow_builder *builder, uint32_t dso, uint64_t folded);

static inline const struct br2_insn *br2_spot_insn(const struct br2_flow_graph *graph,
                                                   struct br2_spot spot)
{
    return &graph->functions[spot.function].code.insns[spot.insn];
}

/* A folded trace's branch, judged. */
struct br2_judged_branch {
    enum br2_branch_verdict verdict;
    struct br2_spot source; /* where kept with a source in the image */
    uint64_t from;          /* of the transfer itself; 0: outside the image */
    uint64_t to;            /* 0: outside the image */
    enum br2_edge_kind kind;
    bool resumes; /* comes from the kernel or from where nothing may be recorded: an interrupt's
                     return, not a call */
};
int br2_judge_branch(struct br2_flow_builder *builder, const struct br2_trace *trace,
                     struct br2_judged_branch *ret, struct br2pgo_error *err);

/* The straight run that starts at file offset `start`, `length` bytes up to its last instruction.
 */
struct br2_judged_run {
    enum br2_run_verdict verdict;
    uint64_t start;
    uint64_t end;
    const struct br2_insn *passes; /* kept, but passes this indirect jump; else NULL */
    bool resumed;                  /* set where it is added to the graph: as in a run of that */
};
int br2_judge_run(struct br2_flow_builder *builder, uint64_t start_offset, uint64_t length,
                  struct br2_judged_run *ret, struct br2pgo_error *err);

int br2_flow_add_run(struct br2_flow_builder *builder, const struct br2_flow_run *run,
                     struct br2pgo_error *err);

/* Keeps the run in doubt, it passes this indirect jump, for br2_settle_doubtful. */
int br2_flow_doubt(struct br2_flow_builder *builder, const struct br2_flow_run *run,
                   const struct br2_insn *passes, struct br2pgo_error *err);
/* Decides over all runs in doubt. The graph's edges are sorted and merged. */
int br2_settle_doubtful(struct br2_flow_builder *builder, struct br2pgo_error *err);

/* Adds a trace whose branch and run are kept; the run may be in doubt ... */
int br2_flow_add_trace(struct br2_flow_builder *builder, const struct br2_trace *trace,
                       const struct br2_judged_branch *branch, const struct br2_judged_run *run,
                       struct br2pgo_error *err);
/* ... until here, behind br2_settle_doubtful: leaves out what passes a jump that is logged, sorts
 * the others and adds equal ones up. */
void br2_flow_merge_traces(struct br2_flow_builder *builder);

/* Decides, for runs that nobody knows the origin of, how many began behind a return or a branch
 * from elsewhere: as many as the branches to their start say. BR2PGO_NO_MEMORY. */
int br2_settle_origins(struct br2_flow_graph *graph, struct br2pgo_error *err);

/* Sorts the graph's edges and adds equal ones up. */
void br2_flow_merge_edges(struct br2_flow_graph *graph);
/* The same for runs and timings; puts functions in the order of addresses and counts instructions,
 * when all is taken in and settled. */
void br2_flow_finish(struct br2_flow_graph *graph);

#endif
