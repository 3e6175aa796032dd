/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A profile of any format in the terms that all have in common: functions, in each of them places,
 * and at each place a count. What profiles are compared, ranked and judged by.
 */
#ifndef BR2_PROFILE_TALLY_H
#define BR2_PROFILE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "flow/density.h"
#include "flow/edge_table.h"
#include "profile/profile.h"

/* What the two numbers of a place are. */
enum br2_tally_terms {
    BR2_TALLY_LINES,     /* line offset and discriminator */
    BR2_TALLY_OFFSETS,   /* offsets in the function and in the path's */
    BR2_TALLY_ADDRESSES, /* of a branch and where it went, 0: outside the image */
};

/* Names and paths of several tallies, which then have the same numbers. Zero-initialise, then use.
 * A path leads from a function to what is inlined in it, over call sites; or, of offsets, is the
 * function that a branch went to. */
struct br2_tally_names {
    struct br2_strings names;
    struct br2_strings paths; /* struct path_step as bytes, see tally.c */
};
#define BR2_NO_PATH BR2_NO_STRING /* the place is in the function itself */
void br2_tally_names_done(struct br2_tally_names *names);

struct br2_tally_item {
    uint32_t function; /* name number */
    uint32_t path;     /* path number, or BR2_NO_PATH */
    uint64_t first;
    uint64_t second;
    uint64_t count;
    bool copied; /* it is also counted in the inlined function's own profile */
};

struct br2_tally_function {
    uint32_t name;
    uint64_t sum;  /* of its items' counts */
    uint64_t max;  /* of them */
    uint64_t head; /* head count, 0 where the format has none */
    size_t first;  /* its items */
    size_t item_count;
};

/* Zero-initialise, then use. */
struct br2_tally {
    struct br2_tally_names *names; /* not owned */
    enum br2_tally_terms terms;
    struct br2_tally_item *items; /* sorted by function, path, first, second when finished */
    size_t item_count;
    size_t item_capacity;
    struct br2_tally_function *functions; /* sorted by name number when finished */
    size_t function_count;
    size_t function_capacity;
    uint64_t sum; /* of all */
};

/* Adds a function, perhaps one without items, and its head count. False when memory runs out. */
bool br2_tally_add_function(struct br2_tally *tally, uint32_t name, uint64_t head);
bool br2_tally_add_item(struct br2_tally *tally, const struct br2_tally_item *item);
/* The path that goes on from `path` over the call site (first, second) into `name`; BR2_NO_PATH
 * when memory runs out. */
uint32_t br2_tally_path(struct br2_tally_names *names, uint32_t path, const uint64_t place[2],
                        uint32_t name);
/* Sorts, and adds up what has all in common. BR2PGO_NO_MEMORY. */
int br2_tally_finish(struct br2_tally *tally, struct br2pgo_error *err);
void br2_tally_done(struct br2_tally *tally);

/* The tally of a source profile, and of an edge table, finished; `ret` has nothing but its names
 * before. Functions of an edge table that have no name are one for each image. */
int br2_tally_profile(struct br2_tally *ret, const struct br2_profile *profile,
                      struct br2pgo_error *err);
int br2_tally_edges(struct br2_tally *ret, const struct br2_edge_table *table,
                    struct br2pgo_error *err);

/* The order of places in a function: its own first, then by path, first and second. */
int br2_tally_compare_places(const struct br2_tally_item *a, const struct br2_tally_item *b);
/* The function of that name number, or NULL. */
const struct br2_tally_function *br2_tally_find(const struct br2_tally *tally, uint32_t name);
const char *br2_tally_name(const struct br2_tally *tally, uint32_t name);
/* Whether a function is the one that is asked for: BOLT's names of local symbols go on behind a
 * slash, "NAME/1" or "NAME/FILE/1". */
bool br2_tally_is_named(const char *name, const char *asked);
/* The name of the function that a place by line is in: what is inlined last on its path. */
uint32_t br2_tally_innermost(const struct br2_tally *tally, const struct br2_tally_item *item);
/* Takes out the functions that are not marked, by their place in `functions`. */
void br2_tally_keep(struct br2_tally *tally, const bool *keep);
/* "12.1", "3 foo 2.1" (in what is inlined from line 3), "10 -> foo+20", "0x10 -> 0x20". */
void br2_tally_print_place(const struct br2_tally *tally, const struct br2_tally_item *item,
                           struct br2_buf *out);
/* All functions, those with the most counts first; owned by the caller, freed with br2_free. NULL
 * when memory runs out. */
const struct br2_tally_function **br2_tally_ranking(const struct br2_tally *tally);

/* From which count on are the hottest items that make up `parts` per million of all, copied ones
 * left out: LLVM's threshold for what is hot is that of 990000. BR2PGO_NO_MEMORY. */
int br2_tally_threshold(const struct br2_tally *tally, uint32_t parts, uint64_t *ret,
                        struct br2pgo_error *err);

/*
 * LLVM's profile density: the least density, a function's counts by its places, of the densest
 * functions that make up `cutoff` per million of all counts; 0 where there are none. As
 * llvm-profgen 19 computes it, whose threshold is 50 at a cutoff of 990000. BR2PGO_NO_MEMORY.
 */
int br2_tally_density(const struct br2_tally *tally, uint32_t cutoff, double *ret,
                      struct br2pgo_error *err);

#endif
