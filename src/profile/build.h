/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From the flow graph of an image and its debug information to the source profile. */
#ifndef BR2_PROFILE_BUILD_H
#define BR2_PROFILE_BUILD_H

#include "flow/flow_graph.h"
#include "image/debug.h"
#include "profile/profile.h"
#include "profile/suffix.h"

/* For which compiler a profile is: each looks for names and places in its own way. */
enum br2_rules {
    BR2_RULES_LLVM,
    BR2_RULES_GCC_5,  /* 5 to 12: no discriminators */
    BR2_RULES_GCC_13, /* 13 to 15: discriminators, but of some call sites only */
    BR2_RULES_GCC_16, /* hierarchical discriminators, functions known by name and file */
};

struct br2_build_options {
    enum br2_rules rules;
    enum br2_suffix_policy suffixes; /* the rules of GCC have their own */
    bool keep_unique;                /* keep ".__uniq." under BR2_SUFFIX_SELECTED */
    bool symbol_list;                /* collect the names of all functions of the image */
    bool flow_inference;             /* by BR2_RULES_LLVM: for a compiler that infers flow */
};

/* Executions of instructions (straight runs times instructions in them) by what became of them. */
struct br2_build_stats {
    uint64_t executions;
    uint64_t kept;
    uint64_t no_function;    /* not in a function the debug information knows */
    uint64_t assembly;       /* in one that no compiler makes */
    uint64_t no_declaration; /* in one whose declaration line is missing (-g1) */
    uint64_t no_line;        /* compiler generated: line 0, or no row */
    uint64_t functions;      /* functions of the debug information that ran */
    uint64_t discriminators; /* places in them that have a discriminator */
    bool llvm;               /* some of them come from an LLVM compiler */
};

/* `*ret` is freed with br2_profile_free and may be empty: see the stats. Errors:
 * BR2PGO_NO_MEMORY. */
int br2_profile_build(const struct br2_flow_graph *graph, struct br2_debug *debug,
                      const struct br2_build_options *options, struct br2_profile **ret,
                      struct br2_build_stats *ret_stats, struct br2pgo_error *err);

#endif
