/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The flow graph of one image: what the machine did, checked against the code. Built from folded
 * traces; each distinct one is validated once. Nothing here knows of source code.
 */
#ifndef BR2_FLOW_FLOW_GRAPH_H
#define BR2_FLOW_FLOW_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "flow/edge_table.h"
#include "flow/fold.h"
#include "image/code.h"
#include "image/image.h"

#define BR2_NO_FUNCTION UINT32_MAX

/* What becomes of a branch record. Kept ones first, then the reasons for losing one, in the order
 * in which they are tested. */
enum br2_branch_verdict {
    BR2_BRANCH_KEPT,
    BR2_BRANCH_ENTERS, /* from another image, the kernel or nowhere into this one: kept, source 0 */
    BR2_BRANCH_OTHER_IMAGE,
    BR2_BRANCH_KERNEL,
    BR2_BRANCH_UNMAPPED,
    BR2_BRANCH_REPEATED,     /* the newest record was the one before, logged twice */
    BR2_BRANCH_NO_CODE,      /* source in the image but in no known function */
    BR2_BRANCH_NOT_A_BRANCH, /* the instruction at the source does not transfer control */
    BR2_BRANCH_WRONG_TARGET, /* a direct branch that goes elsewhere */
    BR2_BRANCH_INTO_INSN,    /* the target is inside an instruction, or no code */
    BR2_BRANCH_VERDICTS,
};

enum br2_run_verdict {
    BR2_RUN_KEPT,
    BR2_RUN_OTHER_IMAGE, /* in another image, the kernel or nowhere */
    BR2_RUN_BACKWARDS,   /* its end lies before its start */
    BR2_RUN_LEAVES,      /* its end is in another mapping */
    BR2_RUN_BAD_START,   /* follows a branch that did not go there */
    BR2_RUN_NO_CODE,     /* in no known function */
    BR2_RUN_INTO_INSN,   /* starts or ends inside an instruction */
    BR2_RUN_CROSSES,     /* starts in one function and ends in another */
    BR2_RUN_NO_TRANSFER, /* the instruction at its end does not transfer control */
    BR2_RUN_PASSES_JUMP, /* an unconditional transfer lies inside */
    BR2_RUN_VERDICTS,
};

/* One word or two for tables, e.g. "not a branch". */
extern const char *const br2_branch_verdict_names[BR2_BRANCH_VERDICTS];
extern const char *const br2_run_verdict_names[BR2_RUN_VERDICTS];

struct br2_flow_run {
    uint64_t start; /* link-time address of the first instruction */
    uint64_t end;   /* of the last */
    uint32_t function;
    uint64_t count;
    uint64_t resumed;    /* of `count`: behind a return, or a branch from outside the function */
    uint64_t any_origin; /* of `count`: behind what is not known; of no use in a finished graph */
};

struct br2_flow_edge {
    uint64_t from; /* 0: outside the image */
    uint64_t to;   /* 0: outside the image */
    uint32_t from_function;
    uint32_t to_function;
    enum br2_edge_kind kind; /* never a fall-through; of an outside source: call at an entry, unless
                                it comes from the kernel, else return */
    uint64_t count;
    uint64_t mispredicted;
};

/* A branch and the run behind it, both kept. */
struct br2_flow_trace {
    uint64_t from; /* as in an edge, like `kind` */
    uint64_t to;
    uint64_t end;    /* of the last instruction of the run */
    uint64_t passes; /* address of the indirect jump that the run passes; 0: none */
    enum br2_edge_kind kind;
    bool resumed; /* as in a run */
    uint64_t count;
    uint64_t mispredicted; /* at most `count` */
};

/* How often a straight run took so many cycles. */
struct br2_flow_timing {
    uint64_t start;
    uint64_t end;
    uint32_t cycles;
    uint64_t count;
};

/* A code range that was hit. */
struct br2_flow_function {
    const struct br2_code_range *range;
    struct br2_code code;
    uint32_t *stops;  /* per instruction: index of the first one from there on that a run cannot
                         pass, code.count if none */
    uint64_t *counts; /* per instruction: straight runs that executed it */
    uint64_t *ends;   /* per instruction: straight runs that ended in it, i.e. it was taken */
    uint64_t entered; /* head count: calls, and jumps from elsewhere, to its start */
    /* 1 + nanoseconds from the recording's first sample to the first one in which it was seen; the
     * least of several recordings'; 0: the recording has no times. */
    uint64_t first_seen;
};

struct br2_flow_graph {
    const struct br2_image *image;
    struct br2_flow_function *functions; /* sorted by start */
    size_t function_count;
    struct br2_flow_run *runs; /* sorted by start, end; distinct */
    size_t run_count;
    struct br2_flow_edge *edges; /* sorted by from, to, kind; distinct */
    size_t edge_count;
    struct br2_flow_trace *traces; /* only if asked for; sorted by from, to, kind, end; distinct */
    size_t trace_count;
    struct br2_flow_timing *timings; /* sorted by start, end, cycles; only of kept runs */
    size_t timing_count;
    bool predictions_known; /* set by the maker of the graph: mispredictions mean something */
    uint64_t branches[BR2_BRANCH_VERDICTS]; /* branch records by verdict */
    uint64_t run_verdicts[BR2_RUN_VERDICTS];
};

/* What the addresses of folded traces are: of a recording of processes, file offsets. */
enum br2_address_base {
    BR2_BASE_FILE_OFFSET,
    BR2_BASE_LINK,         /* link-time addresses */
    BR2_BASE_CODE_SEGMENT, /* distances from the page where the first executable segment starts */
    BR2_ADDRESS_BASES,
};

/* One recording's part of the evidence. */
struct br2_flow_source {
    const struct br2_folded *folded;
    const struct br2_dsos *dsos;
    const bool *is_image; /* per image number of `dsos`: whether it is the graph's image */
    br2_time first_time;  /* of its samples */
    enum br2_address_base base;
    bool of_file; /* an address that is in none of the image's segments is outside of it */
};

struct br2_flow_evidence {
    const struct br2_flow_source *sources;
    size_t source_count;
    bool keep_traces; /* whether the graph is to have `traces` beside runs and edges */
};

/*
 * Builds the graph of `image` from recordings. `*ret` is freed with br2_flow_graph_free; `image`
 * must live as long. Errors: BR2PGO_NO_MEMORY, BR2PGO_UNSUPPORTED (code of a machine that is not
 * decoded).
 */
int br2_flow_graph_build(const struct br2_image *image, const struct br2_flow_evidence *evidence,
                         struct br2_flow_graph **ret, struct br2pgo_error *err);
void br2_flow_graph_free(struct br2_flow_graph *graph);

/* The function that contains the address, or BR2_NO_FUNCTION. */
uint32_t br2_flow_graph_function(const struct br2_flow_graph *graph, uint64_t address);

/*
 * How often a conditional branch is taken, 0 to 1: taken / (taken + passed), of the outcomes that a
 * run leads to. Of `taken` records `after_run` had one before them. The oldest record of a history
 * is known to be taken, but no run leads to it: had the branch not been taken, nothing would be
 * known. Counting it would make every probability too high by about one in the depth of the
 * history. It counts only where it is all that says that the branch is taken at all. Something was
 * seen: `taken` or `passed` is not 0.
 */
double br2_taken_probability(uint64_t taken, uint64_t after_run, uint64_t passed);

/* The edges that start at `from`: the first one and how many. */
size_t br2_flow_edges_from(const struct br2_flow_graph *graph, uint64_t from, size_t *ret_count);

/* The runs that begin at an address: as often as a branch led there. */
uint64_t br2_flow_count_led(const struct br2_flow_graph *graph, uint64_t address);

/* Turns the graph into rows; `image_name` is what the first column says. */
int br2_flow_graph_edges(const struct br2_flow_graph *graph, const char *image_name,
                         struct br2_edge_table *table, struct br2pgo_error *err);

/* The link-time address of what a folded trace says; false when the image has none. */
bool br2_folded_address(const struct br2_image *image, enum br2_address_base base, uint64_t folded,
                        uint64_t *ret);
/* The link-time address of a file offset of the image; false when no executable segment holds it.
 */
bool br2_file_offset_address(const struct br2_image *image, uint64_t offset, uint64_t *ret);

#endif
