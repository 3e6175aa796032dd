/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The source profile: function -> (line offset, discriminator) -> count, call targets, inlined
 * callees. What LLVM and GCC sample profiles have in common. No input or output here.
 *
 * Everything a profile hands out lives until br2_profile_free. A function that returns a pointer
 * returns NULL only when memory ran out.
 */
#ifndef BR2_PROFILE_PROFILE_H
#define BR2_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strings.h"

/* A place in a function: line minus declaration line (16 bits), and base discriminator. */
struct br2_place {
    uint32_t offset;
    uint32_t discriminator;
};

struct br2_call_target {
    uint32_t name; /* string number in the profile */
    uint64_t count;
};

/* One place's body samples. A count of 0 says "known not to run". */
struct br2_body_sample {
    struct br2_place place;
    uint64_t count;
    struct br2_call_target *targets; /* sorted by name number; writers sort as they need */
    size_t target_count;
    size_t target_capacity;
};

/* A bit of ContextAttributes: counted in the function's own profile already. */
#define BR2_DUPLICATED_INTO_BASE 4u

/* A function inlined at a place. */
struct br2_callsite {
    struct br2_place place;
    struct br2_function_profile *callee;
};

struct br2_function_profile {
    uint32_t name;                   /* string number in the profile */
    uint64_t total;                  /* total samples, inlined callees included */
    uint64_t head;                   /* head count: entries; only used at top level */
    struct br2_body_sample *samples; /* sorted by place */
    size_t sample_count;
    size_t sample_capacity;
    struct br2_callsite *callsites; /* sorted by place, then name bytes */
    size_t callsite_count;
    size_t callsite_capacity;
    uint64_t checksum;   /* pseudo-probe CFG checksum, 0 = none */
    uint32_t attributes; /* LLVM ContextAttributes */
    /* A time on any clock (0 = unknown): only the order counts. At top level; GCC 16 reads it. */
    uint64_t first_seen;
    struct br2_function_profile *made_before; /* private: chain of all, for freeing */
};

struct br2_profile {
    struct br2_strings names;
    struct br2_function_profile **functions; /* in order of first appearance */
    size_t function_count;
    size_t function_capacity;
    bool fs_discriminators;
    bool partial;
    /* Names are decimal MD5 hashes: the strings were lost before. Decides the order of names, so
     * set it before anything is added. */
    bool md5_names;
    bool has_checksums;
    /* Names of functions known to the program, with or without samples; sorted by the writer. */
    struct br2_strings symbol_list;
    bool has_symbol_list;
    /* Files that functions are declared in, by name, as far as known (GCC 16). */
    struct br2_strings files;
    uint32_t *name_files; /* private: by name number: file number + 1, 0 = unknown, ~0 = disputed */
    size_t name_file_capacity;
    /* Totals were added up from the counts, by a reader of a format that does not store them. */
    bool derived_totals;
    struct br2_profile_index *index;        /* private: name -> top-level function */
    struct br2_function_profile *made_last; /* private */
    struct br2_arena arena;
};

struct br2_profile *br2_profile_new(void);
void br2_profile_free(struct br2_profile *profile);

/* The name's number, added when new; BR2_NO_STRING when memory runs out. */
uint32_t br2_profile_name(struct br2_profile *profile, const char *text, size_t length);

/* Says which file the functions of that name are declared in, where that was not said before. False
 * when memory runs out. */
bool br2_profile_set_file(struct br2_profile *profile, uint32_t name, const char *text,
                          size_t length);
/* Makes the file of a name that has one unknown, for ever: GCC 16 takes a function of an unknown
 * file for the one it looks for, but not one of another file. */
void br2_profile_dispute_file(struct br2_profile *profile, uint32_t name);
/* That file, NULL where it is unknown. */
const char *br2_profile_file(const struct br2_profile *profile, uint32_t name, size_t *ret_length);

/* The top-level function of that name, added when new. */
struct br2_function_profile *br2_profile_function(struct br2_profile *profile, uint32_t name);
/* The top-level function of that name, or NULL. */
struct br2_function_profile *br2_profile_find(const struct br2_profile *profile, uint32_t name);
/* The callee inlined in `function` at `place`, added when new. */
struct br2_function_profile *br2_profile_inlinee(struct br2_profile *profile,
                                                 struct br2_function_profile *function,
                                                 struct br2_place place, uint32_t name);
/* The body sample at `place`, added with count 0 when new. The pointer is valid until the next
 * call for the same function. */
struct br2_body_sample *br2_profile_sample(struct br2_function_profile *function,
                                           struct br2_place place);
/* Adds `count` to the target; saturates. False when memory runs out. */
bool br2_profile_target(struct br2_body_sample *sample, uint32_t name, uint64_t count);

/* The function was seen at that time (0: unknown), perhaps for the first time. */
void br2_profile_see(struct br2_function_profile *function, uint64_t time);

/* The callee inlined in `function` at `place`, or NULL. */
struct br2_function_profile *br2_profile_find_inlinee(const struct br2_profile *profile,
                                                      const struct br2_function_profile *function,
                                                      struct br2_place place, uint32_t name);

/*
 * The same three without looking: put at the end, in any order and with repetitions, for readers of
 * files, whose order nobody has checked. Between the first of these calls and br2_profile_finish
 * the functions above must not be used on the same function.
 */
struct br2_body_sample *br2_profile_append_sample(struct br2_function_profile *function,
                                                  struct br2_place place);
struct br2_function_profile *br2_profile_append_inlinee(struct br2_profile *profile,
                                                        struct br2_function_profile *function,
                                                        struct br2_place place, uint32_t name);
bool br2_profile_append_target(struct br2_body_sample *sample, uint32_t name, uint64_t count);
/* Brings what was appended into order and adds up repetitions, in n log n time.
 * Errors: BR2PGO_NO_MEMORY; the profile can then only be freed. */
int br2_profile_finish(struct br2_profile *profile, struct br2pgo_error *err);

/* Takes out the top-level functions whose place in `functions` is not marked; names stay. */
void br2_profile_keep(struct br2_profile *profile, const bool *keep);

/* Sets every total to the sum of the counts in the function and what is inlined in it, as GCC adds
 * them up when it reads a profile. */
void br2_profile_derive_totals(struct br2_profile *profile);

/* Gives the name's number in `into`; BR2_NO_STRING when memory runs out. */
typedef uint32_t (*br2_profile_rename)(struct br2_profile *into, const char *text, size_t length);

/*
 * Adds `weight` times everything in `from` to `into`. Every name goes through `rename` unless that
 * is NULL. The result does not depend on the order in which profiles are added.
 * Errors: BR2PGO_NO_MEMORY; BR2PGO_INVALID when the two cannot be added up: names on one side and
 * hashes on the other, different kinds of discriminators, checksums of different code. `into` can
 * then only be freed.
 */
int br2_profile_merge(struct br2_profile *into, const struct br2_profile *from, uint64_t weight,
                      br2_profile_rename rename, struct br2pgo_error *err);

/* Order of names in LLVM's files: bytes of strings, numbers of hashes. */
int br2_profile_compare_names(const struct br2_profile *profile, uint32_t a, uint32_t b);

/* Order of places: offset, then discriminator. */
int br2_place_compare(struct br2_place a, struct br2_place b);

/*
 * NULL when equal, else a short description of the first difference, in the caller's memory.
 * What only some formats store is compared where both profiles have any: checksums, attributes,
 * files, totals that were not derived. Order of functions, first_seen, the symbol list and flags
 * other than md5_names do not count.
 */
const char *br2_profile_difference(const struct br2_profile *a, const struct br2_profile *b,
                                   char *text, size_t size);

/* LLVM's (and GCC 16's) detailed summary. */
#define BR2_SUMMARY_ENTRIES 16
extern const uint32_t br2_summary_cutoffs[BR2_SUMMARY_ENTRIES]; /* parts per million */
struct br2_summary_entry {
    uint64_t min_count;   /* the smallest */
    uint64_t count_count; /* how many */
};
struct br2_summary {
    uint64_t total_count;
    uint64_t max_count;
    uint64_t max_head;
    uint64_t count_count; /* body samples, recursively */
    uint64_t function_count;
    struct br2_summary_entry entries[BR2_SUMMARY_ENTRIES];
};
int br2_profile_summarise(const struct br2_profile *profile, struct br2_summary *ret,
                          struct br2pgo_error *err);
/* gcov's working sets: entry i is about the largest counts that make up (i + 1) / `parts` of all.
 */
int br2_profile_working_sets(const struct br2_profile *profile, size_t parts,
                             struct br2_summary_entry *ret, struct br2pgo_error *err);

#endif
