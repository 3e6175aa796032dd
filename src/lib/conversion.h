/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The insides of a conversion, shared by the files of this part; br2pgo.h is its interface. */
#ifndef BR2_LIB_CONVERSION_H
#define BR2_LIB_CONVERSION_H

#include <br2pgo/br2pgo.h>

#include "base/file.h"
#include "converters/converter.h"
#include "flow/flow_graph.h"
#include "flow/histories.h"
#include "image/debug.h"
#include "input/input.h"
#include "lib/selection.h"
#include "process/address_space.h"
#include "profile/build.h"

/* What a selection means for one recording, and how many samples it left out. */
struct br2_chosen {
    struct br2_spans times;
    struct br2_comms comms;
    uint64_t left[BR2_LEFT_REASONS];
    uint64_t without_cpu; /* of those: it is not known where they were taken */
};

struct br2_recording {
    char *path;
    struct br2_recording *first_alike; /* NULL, or the one whose spaces and traces stand for both:
                                          then this one's are freed, and so is its input */
    struct br2_input *input;
    struct br2_spaces *spaces;
    struct br2_folded folded;
    struct br2_count_stats stats;
    uint64_t samples;               /* of all events ... */
    uint64_t unknown_event_samples; /* ... and of none that the header knows */
    bool counted;                   /* it is made of counts, not of samples */
    bool counted_early;             /* folded and stats are there when it is open */
    bool of_file;                   /* its addresses are those of a file: see addressing.c */
    uint64_t event_samples;         /* of the events in use */
    uint64_t malformed_samples;
    enum br2_address_base base; /* what folded addresses are */
    struct br2_chosen chosen;
    uint64_t weight;         /* in millionths */
    uint64_t factor;         /* what its counts were multiplied by; those of `stats` were not */
    uint64_t kernel_records; /* branch records left out by ignore_kernel ... */
    uint64_t rare_records;   /* ... and by min_count */
    uint64_t *sources; /* per image number: branch records with their source in it; of a recording
                          without any, straight runs */
    bool *is_image;    /* per image number: whether it is the image in use; that of first_alike */
};

struct br2_target {
    char *path;
    const struct br2_format *format;
    bool by_producer; /* the format: the compiler that built the image decides */
    struct br2_write_options options;
    struct br2_buf bytes;
    struct br2_output file;
};

struct br2_note {
    char *text;
    enum br2pgo_note_kind kind;
};

/* A report beside the outputs. */
struct br2_wanted_report {
    bool any;
    struct br2pgo_report_options options; /* strings owned */
};

struct br2pgo_conversion {
    struct br2pgo_options options; /* strings owned */
    struct br2_selection selection;
    struct br2_recording *recordings;
    size_t recording_count;
    size_t recording_capacity;
    uint64_t weight; /* of the recordings to come */
    struct br2_target *targets;
    size_t target_count;
    size_t target_capacity;
    char *image_path; /* as set, or chosen */
    bool image_chosen;
    struct br2_image *image;
    struct br2_flow_graph *graph;
    struct br2_debug *debug;
    struct br2_profile *profile;     /* by LLVM's rules, if an output needs it */
    struct br2_profile *gcc_profile; /* by GCC's */
    struct br2_build_stats build_stats;
    struct br2_edge_table edges;
    struct br2_block_flow block_flow;
    struct br2_range_table ranges;
    struct br2_wanted_report wanted;
    struct br2_histories histories; /* followed where the report needs them */
    bool borrows_recordings;        /* part of a run over all images */
    struct br2_image_part *parts;
    size_t part_count;
    bool has_run;
    bool complete; /* it ran to its end: there is something to write */
    struct br2_note *notes;
    size_t note_count;
    size_t note_capacity;
    struct br2pgo_funnel_row *funnel;
    size_t funnel_count;
    size_t funnel_capacity;
};

/* Adds a note; a note that finds no memory is left out. */
void br2_note(struct br2pgo_conversion *conversion, enum br2pgo_note_kind kind, const char *format,
              ...) __attribute__((format(printf, 3, 4)));

/* BR2PGO_INVALID for a conversion that has run: what is added to it would never be read or made. */
int br2_check_not_run(const struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* look.c. */
void br2_wanted_report_done(struct br2_wanted_report *wanted);
/* histories.c: reads the recordings again and follows their histories through the graph. */
int br2_follow_histories(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* read.c: the samples of the events in use once more. */
int br2_recording_reread(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                         br2_sample_sink sink, void *user, struct br2pgo_error *err);

/* Calls the progress function, if there is one. */
int br2_progress(const struct br2pgo_conversion *conversion, const char *phase, uint64_t done,
                 uint64_t total, struct br2pgo_error *err);

/* read.c: opens a recording and follows its address spaces ... */
int br2_recording_open(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                       struct br2pgo_error *err);
/* ... counts its traces, folded ... */
int br2_recording_count(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                        struct br2pgo_error *err);
/* ... or does both, and refuses what cannot become a profile. */
int br2_recording_read(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                       struct br2pgo_error *err);
void br2_recording_done(struct br2_recording *recording);
/* The address spaces that say what a counted recording's image numbers are ... */
const struct br2_spaces *br2_recording_spaces(const struct br2_recording *recording);
/* ... and the images. */
const struct br2_dsos *br2_recording_dsos(const struct br2_recording *recording);
/* Adds up, per image, the branch records that start in it, or, where there are none, the straight
 * runs; again when counts have changed. */
int br2_recording_count_sources(struct br2_recording *recording, struct br2pgo_error *err);

/* chosen.c: takes in a task event; readies the selection for a recording, after all of them;
 * whether a sample is used, counted where not ... */
int br2_chosen_add_task(struct br2_recording *recording, const struct br2_selection *selection,
                        const struct br2_task_event *event, struct br2pgo_error *err);
int br2_chosen_prepare(const struct br2_selection *selection, struct br2_recording *recording,
                       const bool *wanted, struct br2pgo_error *err);
bool br2_chosen_takes(const struct br2_selection *selection, struct br2_recording *recording,
                      const struct br2_sample *sample);
/* ... how many are not ... */
uint64_t br2_chosen_left(const struct br2_recording *recording);
/* ... and, when all are read, whether any is: BR2PGO_USELESS. */
int br2_chosen_check(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* weights.c: multiplies the counts of all recordings so that they have their weights' ratios.
 * BR2PGO_LIMIT. */
int br2_weigh(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
#define BR2_WEIGHT_ONE UINT64_C(1000000) /* a weight of 1 */

/* leave_out.c: takes counted branch records with a side in the kernel out of a recording, and those
 * of branches that all recordings together have fewer than options.min_count records of. */
int br2_leave_out_kernel(struct br2_recording *recording, struct br2pgo_error *err);
int br2_leave_out_rare(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* BR2PGO_USELESS where these have left nothing. */
int br2_leave_out_check(const struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* damage.c: says what of a recording is not whole, after the first pass ... */
void br2_note_damage(struct br2pgo_conversion *conversion, const struct br2_recording *recording);
/* ... and counts and tells the samples found malformed in the second. */
void br2_note_malformed(struct br2pgo_conversion *conversion, struct br2_recording *recording);

/* choose.c: the number of what makes two recordings' images one: the build-id, else path and inode.
 * BR2_NO_STRING: no memory. */
uint32_t br2_image_number(struct br2_strings *images, const struct br2_dso *dso);

/* choose.c: opens the image, sets `is_image` of every recording. */
int br2_choose_image(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* choose.c: takes the recorded image from where it lies, below the sysroot. */
int br2_take_recorded_image(struct br2pgo_conversion *conversion, const char *path,
                            struct br2pgo_error *err);

/* choose.c: the images of all recordings as `parts`, busiest first. */
int br2_list_images(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* run.c: whether a recording has anything of the image in use. */
bool br2_recording_contributes(const struct br2_recording *recording);

/* addressing.c: finds out what the addresses of recordings are that do not say it, by holding them
 * against the image's code. */
int br2_settle_addressing(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* run.c: the steps behind reading, for one image: opened, checked, its products made ... */
int br2_run_image(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* ... and freed again. */
void br2_forget_image(struct br2pgo_conversion *conversion);

/* output.c: the bytes of all outputs, read back. */
int br2_encode_targets(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* block_flow.c: refuses an image that llvm-bolt does not take ... */
int br2_check_image_for_bolt(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* ... and makes the block flow of the graph. */
int br2_make_block_flow(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* A structure of the caller's of a size this library does not know: BR2PGO_INVALID. */
int br2_check_size(size_t size, size_t known, const char *what, struct br2pgo_error *err);
/* Options that the format has no place for: BR2PGO_INVALID. */
int br2_check_capabilities(const struct br2_format *format,
                           const struct br2pgo_output_options *options, struct br2pgo_error *err);
/* Whether an output is for the compiler of what it is made from: ".afdo", its format not named. */
bool br2_is_by_producer(const char *path, const char *name);

/* compiler.c: the rules that a version of GCC follows, and the version of the format it reads;
 * BR2PGO_INVALID where it reads none ... */
int br2_gcc_reads(int major, enum br2_rules *ret_rules, unsigned *ret_version,
                  struct br2pgo_error *err);
/* ... or is newer than what is known of GCC ... */
bool br2_gcc_is_unknown(int major);
/* ... the newest known one that reads a version, 1 to 3, of the format ... */
int br2_gcc_newest(unsigned version);
/* ... gives outputs that are for the compiler of the image their format ... */
int br2_settle_formats(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* ... finds out which GCC the GCC outputs are for, and tells them ... */
int br2_choose_gcc(struct br2pgo_conversion *conversion, enum br2_rules *ret,
                   struct br2pgo_error *err);
/* ... and warns where clang gets a profile of what GCC built. */
void br2_note_llvm_builder(struct br2pgo_conversion *conversion);

/* download.c: opens the debug information, whatever there is, also by debuginfod; errors of
 * br2_debug_open ... */
int br2_find_debug(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* ... and opens the image that the recording names, which is not here; false: debuginfod is not to
 * be asked or has not got it, which a note says. */
bool br2_download_image(struct br2pgo_conversion *conversion);

/* debug_information.c: opens the debug information; BR2PGO_USELESS where no profile can come of it
 * ... */
int br2_open_debug(struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* ... and, once a profile is built, refuses one that means nothing, and warns of what it lacks. */
int br2_check_profile(struct br2pgo_conversion *conversion, struct br2pgo_error *err);

/* output.c: no output may replace a file that is read, or another output. */
int br2_check_outputs(const struct br2pgo_conversion *conversion, struct br2pgo_error *err);
/* Says that an output is named twice. */
int br2_refuse_twice(const char *path, struct br2pgo_error *err);

/* funnel.c: makes the rows of what is known so far. */
void br2_make_funnel(struct br2pgo_conversion *conversion);

#endif
