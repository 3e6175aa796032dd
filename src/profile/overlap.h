/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How alike two profiles are, as `llvm-profdata overlap --sample` computes it. The first is the
 * base, the second the test profile. Of a function, similarity is 1 less half of what the shares of
 * its places in it differ by, times 1 less what its shares in the two profiles differ by; of the
 * whole it is the sum over functions, weighted by the mean of their two shares. Overlap is the sum
 * of the lesser counts by the sum of the greater ones.
 */
#ifndef BR2_PROFILE_OVERLAP_H
#define BR2_PROFILE_OVERLAP_H

#include "profile/tally.h"

/* Samples: sums of counts. What only one has: at functions and places that the other has not. */
struct br2_overlap_sums {
    uint64_t base;
    uint64_t test;
    uint64_t common; /* the lesser of two counts */
    uint64_t joined; /* the greater */
    uint64_t base_only;
    uint64_t test_only;
};

/* How many of them are in which profile. */
struct br2_overlap_counts {
    size_t both;
    size_t base_only;
    size_t test_only;
};

struct br2_overlap_function {
    uint32_t name;
    const struct br2_tally_function *base; /* NULL: not in it */
    const struct br2_tally_function *test;
    struct br2_overlap_sums sums;
    double base_share;
    double test_share;
    double similarity; /* 0 where only one has it */
};

/* Zero-initialise, then use. */
struct br2_overlap {
    const struct br2_tally *base; /* not owned */
    const struct br2_tally *test;
    struct br2_overlap_sums sums;
    double similarity;
    double shares;  /* sum of the lesser of each place's two shares: overlap, whoever has more */
    double covered; /* share of the base profile's counts at places where the test has counts */
    struct br2_overlap_counts functions;
    struct br2_overlap_counts hot_functions; /* with a hot place */
    struct br2_overlap_counts hot_places;    /* among what makes up 99 % of a profile's counts */
    struct br2_overlap_function *list;       /* owned; those whose share changed most first */
    size_t list_count;
};

/* Compares two finished tallies, which share their names and live as long as `ret`.
 * BR2PGO_NO_MEMORY; BR2PGO_USELESS where all counts of one are 0. */
int br2_overlap_compute(struct br2_overlap *ret, const struct br2_tally *base,
                        const struct br2_tally *test, struct br2pgo_error *err);
void br2_overlap_done(struct br2_overlap *overlap);

/* common by joined, 0 to 1; 0 of nothing. */
double br2_overlap_share(const struct br2_overlap_sums *sums);

/* A place of a function that both, or one of them, have: shares are of the whole profile. */
struct br2_overlap_place {
    const struct br2_tally_item *item; /* of one that has it */
    uint64_t base;
    uint64_t test;
    double change; /* of its share */
};
/* The function of that name in the comparison; NULL: neither has it. */
const struct br2_overlap_function *br2_overlap_find(const struct br2_overlap *overlap,
                                                    const char *name);
/* Its places, those whose share changed most first; owned by the caller. BR2PGO_NO_MEMORY. */
int br2_overlap_places(const struct br2_overlap *overlap,
                       const struct br2_overlap_function *function, struct br2_overlap_place **ret,
                       size_t *ret_count, struct br2pgo_error *err);

#endif
