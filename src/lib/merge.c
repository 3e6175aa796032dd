/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adding finished profiles up, and writing the sum: in another format, or for another GCC. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "converters/gcc/gcc.h"
#include "flow/edge_merge.h"
#include "lib/conversion.h"
#include "lib/merge_parts.h"
#include "profile/fit.h"

/* One input; files are open one after the other, so that any number of them takes the memory of one
 * beside that of the sum. */
struct input {
    const char *path;
    const struct br2_format *format;
    unsigned version; /* of GCC's format */
    uint64_t factor;  /* what its counts are multiplied by */
};

struct merge {
    struct br2pgo_merge_options options;
    struct input *inputs; /* owned; known up to the one being read */
    size_t count;
    const char *output;
    const struct br2_format *format;
    struct br2_write_options write;
    enum br2_rules rules;    /* the sum is made to fit these; LLVM's: it stays as it is */
    bool has_files;          /* of GCC 16, or times of first execution */
    struct br2_profile *sum; /* owned; of one of the two */
    struct br2_fdata fdata;
    struct br2_edge_table edges;
    struct br2_buf bytes; /* the output's */
};

__attribute__((format(printf, 3, 4))) static void
say(const struct merge *merge, enum br2pgo_note_kind kind, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    br2_make_printable(text, strlen(text));
    if (merge->options.note != NULL) {
        merge->options.note(merge->options.note_user, (int)kind, text);
    }
}

static int check_input(const struct merge *merge, const struct input *file,
                       struct br2pgo_error *err)
{
    const struct input *first = &merge->inputs[0];
    const struct br2_format *format = file->format;
    if (format->product == BR2_PRODUCT_RANGES) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is %s, which cannot be merged", file->path,
                 format->name);
        br2_hint(err, "it is read as a recording: br2pgo a.unsymbolized b.unsymbolized -b app -o "
                      "sum.unsymbolized");
        return BR2PGO_INVALID;
    }
    if (format->product == BR2_PRODUCT_FLOW && format != &br2_format_fdata) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is %s, which cannot be merged", file->path,
                 format->name);
        br2_hint(err, "merge fdata profiles, or make one output from all recordings");
        return BR2PGO_INVALID;
    }
    if (format->product != first->format->product) {
        br2_fail(err, BR2PGO_INVALID, "'%s' (%s) and '%s' (%s) are for different kinds of tools",
                 first->path, first->format->name, file->path, format->name);
        br2_hint(err, "merge profiles of one kind");
        return BR2PGO_INVALID;
    }
    if (format->gcc_rules != first->format->gcc_rules) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is by the rules of %s, '%s' by those of %s",
                 first->path, br2_format_rules(first->format), file->path,
                 br2_format_rules(format));
        br2_hint(err, "each looks for lines, calls and names in its own way: make both profiles "
                      "from the recording");
        return BR2PGO_INVALID;
    }
    return 0;
}

static int check_output(const struct merge *merge, struct br2pgo_error *err)
{
    const struct br2_format *from = merge->inputs[0].format;
    const struct br2_format *to = merge->format;
    bool other_flow = to->product == BR2_PRODUCT_FLOW && to != &br2_format_fdata;
    if (to->product != from->product || other_flow) {
        br2_fail(err, BR2PGO_INVALID, "'%s' (%s) cannot be written as %s", merge->inputs[0].path,
                 from->name, to->name);
        br2_hint(err, "make it from the recording");
        return BR2PGO_INVALID;
    }
    if (to->gcc_rules != from->gcc_rules) {
        br2_fail(err, BR2PGO_INVALID, "'%s' (%s) is by the rules of %s, %s is for %s",
                 merge->inputs[0].path, from->name, br2_format_rules(from), to->name,
                 br2_format_rules(to));
        br2_hint(err, to->binary
                          ? "each looks for lines, calls and names in its own way: make it from "
                            "the recording"
                          : "each looks for lines, calls and names in its own way: make it from "
                            "the recording; to look at it, br2pgo show");
        return BR2PGO_INVALID;
    }
    if (merge->options.gcc_version != 0 && !to->gcc_rules) {
        br2_fail(err, BR2PGO_INVALID, "%s is not for GCC", to->name);
        br2_hint(err, "leave the version of GCC out");
        return BR2PGO_INVALID;
    }
    const struct br2pgo_output_options wanted = {
        .compress = merge->options.compress,
        .md5 = merge->options.md5,
        .partial = merge->options.partial,
    };
    return br2_check_capabilities(to, &wanted, err);
}

/* A ".afdo" file is for the compiler that the inputs are for, unless its format is named. */
static int choose_format(struct merge *merge, struct br2pgo_error *err)
{
    struct br2pgo_format info;
    int rc = br2pgo_format_of(merge->output, merge->options.format, &info, err);
    if (rc != 0) {
        return rc;
    }
    merge->format = br2_format_by_name(info.name);
    if (br2_is_by_producer(merge->output, merge->options.format) &&
        merge->inputs[0].format->gcc_rules) {
        merge->format = &br2_format_gcov;
    }
    return 0;
}

/* Without a word about it, GCC profiles keep the version they have. */
static int keep_version(struct merge *merge, struct br2pgo_error *err)
{
    unsigned version = merge->inputs[0].version;
    for (size_t i = 1; i < merge->count; i++) {
        if (merge->inputs[i].version != version) {
            br2_fail(err, BR2PGO_AMBIGUOUS,
                     "'%s' is for another GCC than '%s': which one is '%s' for?",
                     merge->inputs[0].path, merge->inputs[i].path, merge->output);
            br2_hint(err, "say it with --gcc-version N or --gcc FILE");
            return BR2PGO_AMBIGUOUS;
        }
    }
    if (version == 0) {
        br2_fail(err, BR2PGO_AMBIGUOUS,
                 "'%s' has a version that no GCC reads: which one is '%s' for?",
                 merge->inputs[0].path, merge->output);
        br2_hint(err, "say it with --gcc-version N or --gcc FILE; create_gcov writes such a file "
                      "without its option -gcov_version");
        return BR2PGO_AMBIGUOUS;
    }
    merge->write.gcov_version = version;
    return 0;
}

/* A profile that was made for one GCC is not quite what another one looks for. */
static void note_rules(const struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        unsigned version = merge->inputs[i].version;
        bool others = (version <= 1 && merge->rules != BR2_RULES_GCC_5) ||
                      (version == 2 && merge->rules == BR2_RULES_GCC_16) ||
                      (version == 3 && merge->rules != BR2_RULES_GCC_16);
        if (others) {
            say(merge, BR2PGO_NOTE_WARNING,
                "'%s' was made for another GCC: GCC %d will find less of it in the source than of a "
                "profile made from the recording",
                merge->inputs[i].path, merge->options.gcc_version);
        }
    }
}

/* The rules of the GCC that was asked for; of none, those of the inputs. */
static int choose_rules(struct merge *merge, struct br2pgo_error *err)
{
    int major = merge->options.gcc_version;
    if (major == 0) {
        return 0;
    }
    int rc = br2_gcc_reads(major, &merge->rules, &merge->write.gcov_version, err);
    if (rc != 0) {
        return rc;
    }
    if (merge->options.gcov_version != 0) {
        merge->write.gcov_version = (unsigned)merge->options.gcov_version;
    } else if (br2_gcc_is_unknown(major)) {
        say(merge, BR2PGO_NOTE_WARNING,
            "GCC %d is newer than what is known of GCC: written as for the newest that is known "
            "(--gcc FILE asks the compiler)",
            major);
    }
    return 0;
}

static bool has_times(const struct br2_profile *profile)
{
    for (size_t i = 0; i < profile->function_count; i++) {
        if (profile->functions[i]->first_seen != 0) {
            return true;
        }
    }
    return false;
}

static int add_profile(struct merge *merge, const struct br2_profile_file *file, uint64_t factor,
                       struct br2pgo_error *err)
{
    struct br2_profile *fitting = NULL;
    struct br2_profile *profile = br2_profile_new();
    int rc = profile != NULL ? br2_profile_file_profile(file, profile, err) : br2_fail_memory(err);
    if (rc == 0 && merge->rules != BR2_RULES_LLVM) {
        rc = br2_profile_fit(profile, merge->rules, &fitting, err);
    }
    if (rc == 0) {
        merge->has_files |= profile->files.count != 0 || has_times(profile);
        rc = br2_profile_merge(merge->sum, fitting != NULL ? fitting : profile, factor, NULL, err);
        if (rc != 0 && rc != BR2PGO_NO_MEMORY) {
            br2_prefix(err, "'%s'", file->path);
        }
    }
    br2_profile_free(fitting);
    br2_profile_free(profile);
    return rc;
}

/* What is in the sum, but has no place in the output. */
static void note_losses(const struct merge *merge)
{
    if (merge->has_files && merge->format->gcc_rules && merge->write.gcov_version < 3) {
        say(merge, BR2PGO_NOTE_WARNING,
            "'%s': version %u of GCC's profiles has no place for the files of functions and the "
            "times they first ran: they are left out",
            merge->output, merge->write.gcov_version);
    }
    if (merge->sum->has_symbol_list && !merge->write.symbol_list) {
        say(merge, BR2PGO_NOTE_WARNING, "'%s': %s has no place for the symbol list: it is left out",
            merge->output, merge->format->name);
    }
    if (merge->sum->partial && (merge->format->capabilities & BR2_CAN_PARTIAL) == 0) {
        say(merge, BR2PGO_NOTE_WARNING,
            "'%s': %s has no place for the mark of a partial profile: it is left out",
            merge->output, merge->format->name);
    }
}

static int encode_profile(struct merge *merge, struct br2pgo_error *err)
{
    int rc = 0;
    if (merge->format->gcc_rules && merge->options.gcc_version == 0) {
        rc = keep_version(merge, err);
    } else if (merge->format->gcc_rules) {
        note_rules(merge);
    }
    if (rc == 0 && merge->options.trim > 0) {
        rc = br2_trim_profile(merge->sum, merge->options.trim, err);
    }
    if (rc != 0) {
        return rc;
    }
    merge->write.symbol_list =
        merge->sum->has_symbol_list && (merge->format->capabilities & BR2_CAN_SYMBOL_LIST) != 0;
    note_losses(merge);
    return br2_format_encode_profile(merge->format, merge->sum, &merge->write, &merge->bytes, err);
}

static int add_fdata(struct merge *merge, const struct br2_profile_file *file, uint64_t factor,
                     struct br2pgo_error *err)
{
    struct br2_fdata fdata = {0};
    int rc = br2_profile_file_fdata(file, &fdata, err);
    if (rc == 0) {
        br2_fdata_multiply(&fdata, factor);
        rc = br2_fdata_merge(&merge->fdata, &fdata, err);
        if (rc != 0 && rc != BR2PGO_NO_MEMORY) {
            br2_prefix(err, "'%s'", file->path);
        }
    }
    br2_fdata_done(&fdata);
    return rc;
}

static int encode_fdata(struct merge *merge, struct br2pgo_error *err)
{
    int rc = merge->options.trim > 0 ? br2_trim_fdata(&merge->fdata, merge->options.trim, err) : 0;
    return rc != 0 ? rc : br2_encode_fdata(&merge->fdata, &merge->bytes, err);
}

static int add_edges(struct merge *merge, const struct br2_profile_file *file, uint64_t factor,
                     struct br2pgo_error *err)
{
    struct br2_edge_table edges = {0};
    int rc = br2_profile_file_edges(file, &edges, err);
    if (rc == 0) {
        rc = br2_edge_table_merge(&merge->edges, &edges, factor, err);
        if (rc != 0 && rc != BR2PGO_NO_MEMORY) {
            br2_prefix(err, "'%s'", file->path);
        }
    }
    br2_edge_table_done(&edges);
    return rc;
}

static int encode_edges(struct merge *merge, struct br2pgo_error *err)
{
    int rc = merge->options.trim > 0 ? br2_trim_edges(&merge->edges, merge->options.trim, err) : 0;
    return rc != 0 ? rc : br2_format_encode_edges(merge->format, &merge->edges, &merge->bytes, err);
}

static int add_file(struct merge *merge, const struct br2_profile_file *file, uint64_t factor,
                    struct br2pgo_error *err)
{
    switch (file->format->product) {
    case BR2_PRODUCT_PROFILE:
        return add_profile(merge, file, factor, err);
    case BR2_PRODUCT_EDGES:
        return add_edges(merge, file, factor, err);
    default:
        return add_fdata(merge, file, factor, err);
    }
}

static int encode(struct merge *merge, struct br2pgo_error *err)
{
    switch (merge->format->product) {
    case BR2_PRODUCT_PROFILE:
        return encode_profile(merge, err);
    case BR2_PRODUCT_EDGES:
        return encode_edges(merge, err);
    default:
        return encode_fdata(merge, err);
    }
}

static int write_output(const struct merge *merge, struct br2pgo_error *err)
{
    struct br2_output out = {.fd = -1};
    int rc = br2_output_open(&out, merge->output, err);
    rc = rc != 0 ? rc : br2_output_write(&out, merge->bytes.bytes, merge->bytes.size, err);
    rc = rc != 0 ? rc : br2_output_commit(&out, err);
    br2_output_abandon(&out);
    return rc;
}

/* What the first input decides. */
static int begin(struct merge *merge, struct br2pgo_error *err)
{
    int rc = choose_format(merge, err);
    rc = rc != 0 ? rc : check_output(merge, err);
    if (rc == 0 && merge->format->gcc_rules) {
        rc = choose_rules(merge, err);
    }
    if (rc == 0 && merge->format->product == BR2_PRODUCT_PROFILE) {
        merge->sum = br2_profile_new();
        rc = merge->sum != NULL ? 0 : br2_fail_memory(err);
    }
    return rc;
}

static int add_input(struct merge *merge, size_t number, struct br2pgo_error *err)
{
    struct input *input = &merge->inputs[number];
    struct br2_profile_file file = {0};
    int rc = br2_profile_file_open(&file, input->path, err);
    if (rc != 0) {
        return rc;
    }
    input->format = file.format;
    rc = check_input(merge, input, err);
    if (rc == 0 && file.format->gcc_rules) {
        input->version = br2_gcov_version(file.file.bytes, file.file.size);
    }
    rc = rc == 0 && number == 0 ? begin(merge, err) : rc;
    rc = rc != 0 ? rc : add_file(merge, &file, input->factor, err);
    br2_profile_file_close(&file);
    return rc;
}

static int run(struct merge *merge, const char *const *inputs, struct br2pgo_error *err)
{
    merge->inputs = br2_calloc(merge->count, sizeof *merge->inputs);
    uint64_t *factors = br2_calloc(merge->count, sizeof *factors);
    int rc = merge->inputs != NULL && factors != NULL ? 0 : br2_fail_memory(err);
    rc = rc != 0 ? rc : br2_merge_factors(merge->options.weights, merge->count, factors, err);
    for (size_t i = 0; rc == 0 && i < merge->count; i++) {
        merge->inputs[i] = (struct input){.path = inputs[i], .factor = factors[i]};
        rc = add_input(merge, i, err);
    }
    br2_free(factors);
    rc = rc != 0 ? rc : encode(merge, err);
    return rc != 0 ? rc : write_output(merge, err);
}

int br2pgo_merge(const char *const *inputs, size_t count, const char *output,
                 const struct br2pgo_merge_options *options, struct br2pgo_error *err)
{
    struct merge merge = {.options = BR2PGO_MERGE_OPTIONS_INIT, .count = count, .output = output};
    if (options != NULL) {
        int rc = br2_check_size(options->size, sizeof *options, "struct br2pgo_merge_options", err);
        if (rc != 0) {
            return rc;
        }
        merge.options = *options;
    }
    if (merge.options.gcc_version < 0 || merge.options.gcov_version < 0 ||
        merge.options.gcov_version > 3) {
        br2_fail(err, BR2PGO_INVALID, "unknown version of GCC %d or of its profiles %d",
                 merge.options.gcc_version, merge.options.gcov_version);
        br2_hint(err, "0 leaves it as it is; the format has versions 1 to 3");
        return BR2PGO_INVALID;
    }
    if (merge.options.gcc_version == 0 && merge.options.gcov_version != 0) {
        merge.options.gcc_version = br2_gcc_newest((unsigned)merge.options.gcov_version);
    }
    if (!(merge.options.trim >= 0 && merge.options.trim < 1)) {
        br2_fail(err, BR2PGO_INVALID, "trim is a share from 0 to 1, and less than all");
        br2_hint(err, "0 trims nothing");
        return BR2PGO_INVALID;
    }
    if (count == 0) {
        br2_fail(err, BR2PGO_INVALID, "no profile to merge");
        br2_hint(err, "name one or more");
        return BR2PGO_INVALID;
    }
    merge.write = (struct br2_write_options){
        .compress = merge.options.compress != 0,
        .md5 = merge.options.md5 != 0,
        .partial = merge.options.partial != 0,
    };
    int rc = run(&merge, inputs, err);
    br2_free(merge.inputs);
    br2_profile_free(merge.sum);
    br2_fdata_done(&merge.fdata);
    br2_edge_table_done(&merge.edges);
    br2_buf_done(&merge.bytes);
    return rc;
}
