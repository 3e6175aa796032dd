/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The steps of a conversion, in order. */
#include <string.h>

#include "base/mem.h"
#include "image/bolt_table.h"
#include "lib/all_images.h"
#include "lib/conversion.h"
#include "lib/like.h"

/* Share of the image's branch records that may contradict its code before it is taken to be another
 * build of the program. Glitches are below 1 in 1000 in every recording seen. */
#define CONTRADICTIONS_MAX 0.5

bool br2_recording_contributes(const struct br2_recording *recording)
{
    size_t count = br2_recording_dsos(recording)->count;
    for (size_t i = 0; i < count; i++) {
        if (recording->is_image[i] && recording->sources[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Mispredictions are known where every recording that contributes has them: of a sum of some,
 * nobody knows of how many branches it is. */
static bool predictions_known(struct br2pgo_conversion *conversion)
{
    const struct br2_recording *with = NULL;
    const struct br2_recording *without = NULL;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_recording *recording = &conversion->recordings[i];
        if (recording->stats.records != 0 && br2_recording_contributes(recording)) {
            *(recording->stats.predictions != 0 ? &with : &without) = recording;
        }
    }
    if (with != NULL && without != NULL) {
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s' does not say which branches were mispredicted, '%s' does: they are left out",
                 without->path, with->path);
    }
    return with != NULL && without == NULL;
}

/* Whether a BOLT that may read traces gets them. */
static bool needs_traces(const struct br2pgo_conversion *conversion)
{
    bool needed = false;
    for (size_t i = 0; i < conversion->target_count; i++) {
        needed = needed || conversion->targets[i].options.bolt_version != 0;
    }
    return needed;
}

static int build_graph(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct br2_flow_source *sources = br2_calloc(conversion->recording_count, sizeof *sources);
    if (sources == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        if (recording->first_alike != NULL) {
            continue;
        }
        sources[count++] = (struct br2_flow_source){
            .folded = &recording->folded,
            .dsos = br2_recording_dsos(recording),
            .is_image = recording->is_image,
            .first_time = recording->stats.first_time,
            .base = recording->base,
            .of_file = recording->of_file,
        };
    }
    struct br2_flow_evidence evidence = {sources, count, needs_traces(conversion)};
    int rc = br2_flow_graph_build(conversion->image, &evidence, &conversion->graph, err);
    br2_free(sources);
    if (rc == 0) {
        conversion->graph->predictions_known = predictions_known(conversion);
    }
    return rc;
}

/* Whether no branch was recorded at all, only straight runs. */
static bool only_runs(const struct br2pgo_conversion *conversion)
{
    uint64_t records = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        records += conversion->recordings[i].stats.records;
    }
    return records == 0;
}

/* Does the code say the same as the records? */
static int check_graph(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    const char *path = conversion->image_path;
    const uint64_t *branches = conversion->graph->branches;
    unsigned long long kept = branches[BR2_BRANCH_KEPT];
    unsigned long long unknown = branches[BR2_BRANCH_NO_CODE];
    unsigned long long wrong = branches[BR2_BRANCH_NOT_A_BRANCH] +
                               branches[BR2_BRANCH_WRONG_TARGET] + branches[BR2_BRANCH_INTO_INSN];
    unsigned long long all = kept + unknown + wrong;
    if (all == 0 && conversion->graph->run_count != 0 && only_runs(conversion)) {
        return 0; /* settling what the addresses are has held the runs against the code */
    }
    if (all == 0) {
        br2_fail(err, BR2PGO_USELESS, "no branch record starts in '%s' and stays out of the kernel",
                 path);
        br2_hint(err, "record in user mode, or longer; -v shows what was lost");
        return BR2PGO_USELESS;
    }
    if ((double)unknown > CONTRADICTIONS_MAX * (double)all) {
        br2_fail(err, BR2PGO_USELESS,
                 "%llu of %llu branch records in '%s' are in no function that it knows", unknown,
                 all, path);
        br2_hint(err, "the file is cut short, or has neither symbols nor call frames: give "
                      "the complete file with --binary");
        return BR2PGO_USELESS;
    }
    if (kept == 0 || (double)wrong > CONTRADICTIONS_MAX * (double)(kept + wrong)) {
        br2_fail(err, BR2PGO_USELESS,
                 "%llu of %llu branch records in '%s' contradict its code: it is not the file that "
                 "was recorded",
                 wrong + unknown, all, path);
        br2_hint(err, "give the file that ran during the recording with --binary");
        return BR2PGO_USELESS;
    }
    return 0;
}

static bool needs(const struct br2pgo_conversion *conversion, enum br2_product product)
{
    for (size_t i = 0; i < conversion->target_count; i++) {
        if (conversion->targets[i].format->product == product) {
            return true;
        }
    }
    return false;
}

static bool needs_debug(const struct br2pgo_conversion *conversion)
{
    return needs(conversion, BR2_PRODUCT_PROFILE);
}

static enum br2_suffix_policy suffix_policy(const struct br2pgo_conversion *conversion,
                                            bool unique_names)
{
    switch (conversion->options.suffixes) {
    case BR2PGO_SUFFIXES_ALL:
        return BR2_SUFFIX_ALL;
    case BR2PGO_SUFFIXES_SELECTED:
        return BR2_SUFFIX_SELECTED;
    case BR2PGO_SUFFIXES_NONE:
        return BR2_SUFFIX_NONE;
    default:
        return unique_names ? BR2_SUFFIX_SELECTED : BR2_SUFFIX_ALL;
    }
}

static bool is_unique_name(const char *name)
{
    return strstr(name, ".__uniq.") != NULL;
}

static bool has_unique_symbols(const struct br2_image *image)
{
    const struct br2_code_range *ranges;
    size_t count = br2_image_ranges(image, &ranges);
    for (size_t i = 0; i < count; i++) {
        if (is_unique_name(ranges[i].name)) {
            return true;
        }
    }
    return false;
}

/* Whether the image was built with -funique-internal-linkage-names. Where all such functions are
 * inlined, only the debug information of what ran says so. */
static int find_unique_names(const struct br2pgo_conversion *conversion, bool *ret,
                             struct br2pgo_error *err)
{
    const struct br2_flow_graph *graph = conversion->graph;
    *ret = has_unique_symbols(conversion->image);
    for (size_t i = 0; !*ret && i < graph->function_count; i++) {
        const struct br2_debug_function *function;
        int rc = br2_debug_function_at(conversion->debug, graph->functions[i].range->start,
                                       &function, err);
        if (rc != 0) {
            return rc;
        }
        for (size_t k = 0; function != NULL && !*ret && k < function->scope_count; k++) {
            *ret = is_unique_name(function->scopes[k].name);
        }
    }
    return 0;
}

static bool needs_rules(const struct br2pgo_conversion *conversion, bool gcc)
{
    for (size_t i = 0; i < conversion->target_count; i++) {
        const struct br2_format *format = conversion->targets[i].format;
        if (format->product == BR2_PRODUCT_PROFILE && format->gcc_rules == gcc) {
            return true;
        }
    }
    return false;
}

static int build_llvm_profile(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    bool unique_names;
    int rc = find_unique_names(conversion, &unique_names, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_build_options options = {
        .suffixes = suffix_policy(conversion, unique_names),
        .keep_unique = unique_names,
        .symbol_list = conversion->options.symbol_list != 0,
        .flow_inference = conversion->options.flow_inference != 0,
    };
    br2_note_llvm_builder(conversion);
    return br2_profile_build(conversion->graph, conversion->debug, &options, &conversion->profile,
                             &conversion->build_stats, err);
}

static int build_gcc_profile(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct br2_build_options options = {0};
    int rc = br2_choose_gcc(conversion, &options.rules, err);
    if (rc != 0) {
        return rc;
    }
    options.suffixes = options.rules == BR2_RULES_GCC_16 ? BR2_SUFFIX_GCC_16 : BR2_SUFFIX_GCC;
    return br2_profile_build(conversion->graph, conversion->debug, &options,
                             &conversion->gcc_profile, &conversion->build_stats, err);
}

/* GCC's profiles follow GCC's own rules, the others have no names of functions to shorten and no
 * counts of source lines. */
static int check_llvm_options(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    bool suffixes = conversion->options.suffixes != BR2PGO_SUFFIXES_AUTO;
    if ((!suffixes && conversion->options.flow_inference == 0) || needs_rules(conversion, false)) {
        return 0;
    }
    br2_fail(err, BR2PGO_INVALID, "no output %s",
             suffixes ? "cuts the suffixes of names in a way to be chosen"
                      : "is for a compiler with flow inference");
    br2_hint(err, "leave %s out; profiles for LLVM's compilers %s",
             suffixes ? "--names" : "--flow-inference", suffixes ? "do" : "are");
    return BR2PGO_INVALID;
}

static int build_profiles(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_open_debug(conversion, err);
    if (rc == 0) { /* it may have been found where an output is to go */
        rc = br2_check_outputs(conversion, err);
    }
    if (rc == 0) {
        rc = br2_settle_formats(conversion, err);
    }
    if (rc == 0) {
        rc = check_llvm_options(conversion, err);
    }
    if (rc == 0 && needs_rules(conversion, true)) {
        rc = build_gcc_profile(conversion, err);
    }
    if (rc == 0 && needs_rules(conversion, false)) {
        rc = build_llvm_profile(conversion, err);
    }
    return rc != 0 ? rc : br2_check_profile(conversion, err);
}

/* An option that nothing comes of is a mistake somewhere. */
static int check_options(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    bool listed = conversion->options.symbol_list == 0;
    for (size_t i = 0; i < conversion->target_count; i++) {
        listed = listed || conversion->targets[i].options.symbol_list;
    }
    if (!listed) {
        br2_fail(err, BR2PGO_INVALID, "no output has a place for the list of all functions");
        br2_hint(err, "llvm-extbinary (.prof) has; else leave --symbol-list out");
        return BR2PGO_INVALID;
    }
    if (conversion->options.bolt_version != 0 && !needs_traces(conversion)) {
        br2_fail(err, BR2PGO_INVALID, "no output is for a version of BOLT");
        br2_hint(err,
                 "bolt-preagg (.preagg) is; fdata is the same for all: leave --bolt-version out");
        return BR2PGO_INVALID;
    }
    if (!needs_debug(conversion) && check_llvm_options(conversion, err) != 0) {
        return BR2PGO_INVALID;
    }
    if (conversion->options.debug_binary != NULL && !needs_debug(conversion) &&
        !conversion->wanted.any) {
        br2_fail(err, BR2PGO_INVALID, "no output needs the debug information of '%s'",
                 conversion->options.debug_binary);
        br2_hint(err, "profiles for compilers do, edge tables do not: see the formats in --help");
        return BR2PGO_INVALID;
    }
    return br2_check_outputs(conversion, err);
}

int br2_run_image(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_choose_image(conversion, err);
    if (rc == 0 && conversion->image_chosen) {
        rc = br2_check_outputs(conversion, err);
    }
    if (rc == 0 && needs(conversion, BR2_PRODUCT_FLOW)) {
        rc = br2_check_image_for_bolt(conversion, err);
    }
    if (rc == 0) {
        rc = br2_progress(conversion, "checking records against the code", 0, 1, err);
    }
    if (rc == 0) {
        rc = br2_settle_addressing(conversion, err);
    }
    if (rc == 0) {
        rc = build_graph(conversion, err);
    }
    if (rc == 0) {
        rc = check_graph(conversion, err);
    }
    if (rc == 0 && needs_debug(conversion)) {
        rc = br2_progress(conversion, "reading debug information", 0, 1, err);
        rc = rc != 0 ? rc : build_profiles(conversion, err);
    }
    if (rc == 0 && needs(conversion, BR2_PRODUCT_FLOW)) {
        rc = br2_make_block_flow(conversion, err);
    }
    if (rc == 0 && needs(conversion, BR2_PRODUCT_EDGES)) {
        rc = br2_flow_graph_edges(conversion->graph, br2_base_name(conversion->image_path),
                                  &conversion->edges, err);
    }
    if (rc == 0 && conversion->wanted.any) {
        rc = br2_follow_histories(conversion, err);
    }
    if (rc == 0 && needs(conversion, BR2_PRODUCT_RANGES)) {
        rc = br2_range_table_build(conversion->graph, &conversion->ranges, err);
    }
    return rc;
}

void br2_forget_image(struct br2pgo_conversion *conversion)
{
    br2_edge_table_done(&conversion->edges);
    br2_block_flow_done(&conversion->block_flow);
    br2_range_table_done(&conversion->ranges);
    br2_histories_done(&conversion->histories);
    br2_profile_free(conversion->profile);
    br2_profile_free(conversion->gcc_profile);
    br2_debug_close(conversion->debug);
    br2_flow_graph_free(conversion->graph);
    br2_image_close(conversion->image);
    conversion->profile = conversion->gcc_profile = NULL;
    conversion->debug = NULL;
    conversion->graph = NULL;
    conversion->image = NULL;
}

/* What can be done when all recordings are counted. */
static int finish_reading(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = br2_chosen_check(conversion, err);
    if (rc == 0 && conversion->options.min_count > 1) {
        rc = br2_leave_out_rare(conversion, err);
        for (size_t i = 0; rc == 0 && i < conversion->recording_count; i++) {
            rc = br2_recording_count_sources(&conversion->recordings[i], err);
        }
    }
    rc = rc != 0 ? rc : br2_leave_out_check(conversion, err);
    return rc != 0 ? rc : br2_weigh(conversion, err);
}

/* What is wrong with one recording and says nothing of the others. */
static bool is_of_one(int status)
{
    return status == BR2PGO_IO || status == BR2PGO_UNSUPPORTED || status == BR2PGO_CORRUPT ||
           status == BR2PGO_USELESS || status == BR2PGO_LIMIT;
}

static void leave_out_recording(struct br2pgo_conversion *conversion, size_t number,
                                const struct br2pgo_error *why)
{
    struct br2_recording *recording = &conversion->recordings[number];
    br2_note(conversion, BR2PGO_NOTE_WARNING, "left out: %s", why->message);
    br2_recording_done(recording);
    conversion->recording_count--;
    for (size_t i = number; i < conversion->recording_count; i++) {
        conversion->recordings[i] = conversion->recordings[i + 1];
    }
}

static int read_recordings(struct br2pgo_conversion *conversion, struct br2_kinds *kinds,
                           struct br2pgo_error *err)
{
    struct br2pgo_error why = {0};
    size_t i = 0;
    while (i < conversion->recording_count) {
        int rc = br2_recording_read(conversion, &conversion->recordings[i], &why);
        if (rc == 0) {
            rc = br2_kinds_take(kinds, conversion, &conversion->recordings[i], &why);
        }
        bool last = conversion->recording_count == 1;
        if (rc != 0 && (!conversion->options.skip_bad || !is_of_one(rc) || last)) {
            if (err != NULL) {
                *err = why;
            }
            return rc;
        }
        if (rc != 0) {
            leave_out_recording(conversion, i, &why);
        } else {
            i++;
        }
    }
    return 0;
}

static int run_steps(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    bool all = conversion->options.all_images != 0;
    int rc = all ? br2_check_patterns(conversion, err) : 0;
    rc = rc != 0 ? rc : check_options(conversion, err);
    struct br2_kinds kinds = {0};
    rc = rc != 0 ? rc : read_recordings(conversion, &kinds, err);
    br2_kinds_done(&kinds);
    rc = rc != 0 ? rc : finish_reading(conversion, err);
    if (rc != 0) {
        return rc;
    }
    return all ? br2_run_all_images(conversion, err) : br2_run_image(conversion, err);
}

int br2pgo_run(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (conversion->recording_count == 0) {
        br2_fail(err, BR2PGO_INVALID, "no recording to read");
        br2_hint(err, "add one with br2pgo_add_recording");
        return BR2PGO_INVALID;
    }
    if (conversion->has_run) {
        br2_fail(err, BR2PGO_INVALID, "a conversion runs once");
        br2_hint(err, "open another conversion");
        return BR2PGO_INVALID;
    }
    conversion->has_run = true;
    int rc = run_steps(conversion, err);
    br2_make_funnel(conversion);
    conversion->complete = rc == 0;
    return rc;
}
