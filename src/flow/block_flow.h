/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The flow graph for tools that rewrite binaries: edges between basic blocks and between functions,
 * every one of them possible as far as the code says. Functions have the names of the symbol table.
 */
#ifndef BR2_FLOW_BLOCK_FLOW_H
#define BR2_FLOW_BLOCK_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"

struct br2_bolt_table;
struct br2_flow_graph;

/* What becomes of a branch record, or of a fall-through, when it is put in terms of blocks. */
enum br2_block_verdict {
    BR2_BLOCK_KEPT,
    BR2_BLOCK_RETURN,     /* the caller's blocks say it */
    BR2_BLOCK_RESUMES,    /* the kernel came back to a function's entry: not a call */
    BR2_BLOCK_NO_ENTRY,   /* an indirect branch to where no function begins */
    BR2_BLOCK_NO_TARGET,  /* an indirect jump to what its function's tables do not hold */
    BR2_BLOCK_INNER_CALL, /* a call into its own function, not to its entry */
    /* In an image that llvm-bolt rewrote: */
    BR2_BLOCK_NO_INPUT, /* it was in no block, or within one, of what llvm-bolt read */
    BR2_BLOCK_NO_NAME,  /* of two functions with one name, it may be in either */
    BR2_BLOCK_EMPTY, /* of several blocks at one address, of which llvm-bolt made all but the last
                        empty, it may go to any */
    BR2_BLOCK_VERDICTS,
};
extern const char *const br2_block_verdict_names[BR2_BLOCK_VERDICTS];

#define BR2_OUTSIDE UINT32_MAX

struct br2_block_function {
    uint64_t start; /* of the section where the name is one */
    uint32_t name;  /* string number; "" where there is none */
    uint32_t local; /* how manyth local symbol of its name, in the order of addresses; 0: global */
    uint32_t file;  /* string number; of this file's local symbols; "": of all */
    bool plt;       /* a stub; the name is that of what it leads to ... */
    bool section;   /* ... or, where that has none, of the section that it is in */
};

/* Link-time addresses; 0 and BR2_OUTSIDE for what is outside the image or has no name. */
struct br2_block_edge {
    uint64_t from;
    uint64_t to;
    uint32_t from_function;
    uint32_t to_function;
    uint64_t count;
    uint64_t mispredicted;
    bool fall_through; /* of straight runs, from a block's last instruction to the next block */
};

struct br2_block_run {
    uint64_t start; /* of the first instruction */
    uint64_t end;   /* of the last */
    uint64_t count;
    uint64_t resumed; /* of `count`: behind a return, or a branch from outside the function */
};

/* An edge, or a return, that led to a run. Of an edge's counts and a run's, its traces have a part.
 */
struct br2_block_trace {
    uint64_t from; /* as in an edge; of a return, which is no edge, its address */
    uint64_t to;
    uint64_t end; /* of the run that starts at `to` */
    uint64_t count;
    uint64_t mispredicted; /* at most `count` */
    bool returns;
    bool resumed; /* the run counts as such */
};

/* Zero-initialise, then build. */
struct br2_block_flow {
    struct br2_strings names;
    bool bolted; /* in terms of what llvm-bolt made the image of: see below */
    struct br2_block_function *functions; /* owned; sorted by start */
    size_t function_count;
    struct br2_block_edge *edges; /* owned; sorted by from, to, fall_through; distinct */
    size_t edge_count;
    size_t edge_capacity;
    struct br2_block_run *runs; /* owned; sorted by start, end; distinct; not of stubs */
    size_t run_count;
    /* Only if the graph has traces: owned; sorted by from, to, end; distinct; not into stubs. */
    struct br2_block_trace *traces;
    size_t trace_count;
    size_t trace_capacity;
    uint64_t verdicts[BR2_BLOCK_VERDICTS]; /* executions */
};

/*
 * `table`: of an image that llvm-bolt rewrote, else NULL. With it all but runs and traces is put in
 * terms of llvm-bolt's input: a function that was moved has start 0, addresses of edges in it are
 * offsets in the input's function, a branch that was not there is at the start of its block, and
 * edges have no order. BR2PGO_NO_MEMORY.
 */
int br2_block_flow_build(const struct br2_flow_graph *graph, const struct br2_bolt_table *table,
                         struct br2_block_flow *ret, struct br2pgo_error *err);
void br2_block_flow_done(struct br2_block_flow *flow);

#endif
