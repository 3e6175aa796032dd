/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files that build a source profile share. */
#ifndef BR2_PROFILE_BUILD_PRIVATE_H
#define BR2_PROFILE_BUILD_PRIVATE_H

#include "profile/build.h"
#include "profile/discriminator.h"

/* A conditional branch that ran; of a place that has several, loops are told by their targets. */
struct source_branch {
    struct br2_function_profile *node;
    struct br2_place place;
    uint64_t address;
    uint64_t target;
    uint64_t count; /* times the factor */
};

/* A function of the debug information, while instructions are counted into it. */
struct source_function {
    const struct br2_debug_function *debug;
    enum br2_discriminator_scheme scheme;
    struct br2_function_profile **nodes; /* per scope; NULL: has no place in a profile */
    uint64_t *most; /* per location: the highest count of its instructions, times the factor */
    struct source_branch *branches; /* freed with the builder */
    size_t branch_count;
    size_t branch_capacity;
};

/* Functions of one name that are declared in different files: GCC 16 tells them apart. */
struct name_files {
    struct br2_strings names; /* names */
    struct br2_strings pairs; /* name, NUL, base name of the file */
    uint32_t *files;          /* per name: files it is declared in */
    uint32_t *ordinals;       /* per pair: its number among those of the name */
    size_t files_capacity;    /* of `files` */
    size_t ordinals_capacity; /* of `ordinals` */
};

/* A call site that GCC 13 to 15 look for under another discriminator than 0. */
struct second_callsite {
    struct br2_function_profile *caller;
    struct br2_function_profile *callee; /* as inlined under discriminator 0 */
    struct br2_place place;
};

struct builder {
    const struct br2_flow_graph *graph;
    struct br2_debug *debug;
    const struct br2_build_options *options;
    struct br2_profile *profile;
    struct br2_build_stats *stats;
    struct source_function *functions; /* in order of first hit */
    size_t count;
    size_t capacity;
    struct br2_strings known; /* debug function pointers as bytes: same numbers as functions */
    struct br2_arena arena;   /* what is needed only while building */
    bool fs_discriminators;
    uint64_t branches; /* into the image, and the runs in it: set by br2_build_calls */
    uint64_t runs;
    struct name_files files;        /* only for GCC 16 */
    struct second_callsite *second; /* only for GCC 13 to 15 */
    size_t second_count;
    size_t second_capacity;
};

/* build.c: */

/* A name as the compiler looks for it. `file` is where the function is declared, "" where that is
 * unknown. `*ret` is BR2_NO_STRING for a name that cannot be in a profile. */
int br2_build_name(struct builder *builder, const char *name, size_t length,
                   struct br2_debug_file file, uint32_t *ret, struct br2pgo_error *err);

/* The place of a line and a raw discriminator of the line table. */
struct br2_place br2_build_place(const struct builder *builder,
                                 const struct source_function *function,
                                 const struct br2_scope *scope, uint32_t line,
                                 uint32_t discriminator);

/* The function as far as its body was counted; NULL where no run hit it. */
struct source_function *br2_build_known(struct builder *builder,
                                        const struct br2_debug_function *debug);

/* build_loops.c: */

/* Notes a conditional branch of `location`, whose scope has a node, that ran `count` times, times
 * the factor. BR2PGO_NO_MEMORY. */
int br2_build_note_branch(const struct builder *builder, struct source_function *function,
                          const struct br2_location *location, const struct br2_insn *insn,
                          uint64_t count);
/* Leaves one branch for each place that is a loop's condition, with the condition's count. */
void br2_build_join_branches(struct source_function *function);

/* build_calls.c: adds head counts and call targets. */
int br2_build_calls(struct builder *builder, struct br2pgo_error *err);

/* build_labels.c: gives lines above the code at which an indirect jump arrives that code's count.
 * For GCC up to 12, when all bodies are counted. */
int br2_build_labels(struct builder *builder, struct br2pgo_error *err);

/* build_gcc.c: */

/* Learns the files of the names in a function, before the first is named. */
int br2_build_note_files(struct builder *builder, const struct br2_debug_function *debug,
                         struct br2pgo_error *err);
/* The name under which GCC 16 finds the function of `file`, added to the profile. */
int br2_build_file_name(struct builder *builder, const char *name, size_t length, const char *file,
                        uint32_t *ret, struct br2pgo_error *err);
/* Notes under which discriminators GCC 13 to 15 look for the inlined functions of `function`. */
int br2_build_second_callsites(struct builder *builder, const struct source_function *function,
                               struct br2pgo_error *err);
/* What GCC needs of a whole profile: totals, head counts, second call sites. */
int br2_build_finish_gcc(struct builder *builder, struct br2pgo_error *err);
void br2_build_gcc_done(struct builder *builder);

#endif
