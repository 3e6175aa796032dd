/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/gcc.h"
#include "cli/reading.h"
#include "cli/signals.h"
#include "cli/text_file.h"

/* Options for formats hold for every output that has a place for them; one at least must. */
static int check_format_option(const struct br2_arguments *arguments, bool wanted, unsigned can,
                               const char *name, struct br2pgo_error *err)
{
    if (!wanted) {
        return 0;
    }
    for (size_t i = 0; i < arguments->output_count; i++) {
        struct br2pgo_format format;
        const struct br2_wanted_output *output = &arguments->outputs[i];
        if (br2pgo_format_of(output->path, output->format, &format, NULL) == 0 &&
            (format.can & can) != 0) {
            return 0;
        }
    }
    br2_fail(err, BR2PGO_INVALID, "no output has a place for --%s", name);
    br2_hint(err, "%s has",
             can == BR2PGO_CAN_GCC_VERSION ? "gcov (.gcov)" : "llvm-extbinary (.prof)");
    return BR2PGO_INVALID;
}

static int add_output(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                      const struct br2_wanted_output *output, struct br2pgo_error *err)
{
    struct br2pgo_format format;
    int rc = br2pgo_format_of(output->path, output->format, &format, err);
    if (rc != 0) {
        return rc;
    }
    if (format.binary && strcmp(output->path, "-") == 0 && isatty(STDOUT_FILENO) != 0) {
        br2_fail(err, BR2PGO_INVALID, "format '%s' is not for a terminal", format.name);
        br2_hint(err, "name a file with -o, or use -f llvm-text");
        return BR2PGO_INVALID;
    }
    struct br2pgo_output_options options = BR2PGO_OUTPUT_OPTIONS_INIT;
    options.format = output->format;
    options.compress = arguments->compress && (format.can & BR2PGO_CAN_COMPRESS) != 0;
    options.md5 = arguments->md5 && (format.can & BR2PGO_CAN_MD5) != 0;
    options.partial = arguments->partial && (format.can & BR2PGO_CAN_PARTIAL) != 0;
    return br2pgo_add_output(conversion, output->path, &options, err);
}

static int add_all(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                   struct br2pgo_error *err)
{
    int rc = br2_reading_add(conversion, arguments, err);
    for (size_t i = 0; rc == 0 && i < arguments->output_count; i++) {
        rc = add_output(conversion, arguments, &arguments->outputs[i], err);
    }
    rc = rc != 0 ? rc
                 : check_format_option(arguments, arguments->compress, BR2PGO_CAN_COMPRESS,
                                       "compress", err);
    rc = rc != 0 ? rc : check_format_option(arguments, arguments->md5, BR2PGO_CAN_MD5, "md5", err);
    rc = rc != 0 ? rc
                 : check_format_option(arguments, arguments->partial, BR2PGO_CAN_PARTIAL, "partial",
                                       err);
    rc = rc != 0 ? rc
                 : check_format_option(arguments, arguments->symbol_list, BR2PGO_CAN_SYMBOL_LIST,
                                       "symbol-list", err);
    rc = rc != 0 ? rc
                 : check_format_option(arguments, arguments->gcc_version != 0,
                                       BR2PGO_CAN_GCC_VERSION, "gcc-version", err);
    rc = rc != 0 ? rc
                 : check_format_option(arguments, arguments->gcov_version != 0,
                                       BR2PGO_CAN_GCC_VERSION, "gcov-version", err);
    return rc != 0 ? rc
                   : check_format_option(arguments, arguments->gcc != NULL, BR2PGO_CAN_GCC_VERSION,
                                         "gcc", err);
}

/* One line for each image; of those with too few records, only how many there are. */
static void print_images(const struct br2pgo_conversion *conversion,
                         const struct br2_arguments *arguments)
{
    struct br2pgo_image_result image;
    for (size_t i = 0; br2pgo_image_result(conversion, i, &image) == 0; i++) {
        if (i == 0) {
            fprintf(stderr, "%7s %12s  %s\n", "share", "records", "image and result");
        }
        if (image.output != NULL || image.share >= 0.001 || arguments->verbose) {
            fprintf(stderr, "%6.2f%% %12llu  %s: %s\n", 100 * image.share,
                    (unsigned long long)image.records, image.path,
                    image.output != NULL ? image.output : image.reason);
        }
    }
}

static void print_outputs(const struct br2pgo_conversion *conversion,
                          const struct br2_arguments *arguments)
{
    for (size_t i = 0; i < arguments->output_count; i++) {
        fprintf(stderr, "br2pgo: wrote '%s' (%s)\n", arguments->outputs[i].path,
                br2pgo_output_format(conversion, i));
    }
}

static int write_report(const struct br2pgo_conversion *conversion, const char *path,
                        struct br2pgo_error *err)
{
    char *text;
    int rc = br2pgo_report_json(conversion, &text, err);
    if (rc == 0) {
        rc = br2_write_text(path, text, err);
        br2pgo_free(text);
    }
    return rc;
}

/* Writes the outputs where the run went well, and the report either way: it is wanted most when the
 * conversion failed. It goes first, so that no output appears when it cannot be written. */
static int write_all(struct br2pgo_conversion *conversion, const char *report, int rc,
                     struct br2pgo_error *err)
{
    int report_rc =
        report != NULL ? write_report(conversion, report, rc == 0 ? err : NULL) : BR2PGO_OK;
    rc = rc == 0 ? report_rc : rc;
    return rc == 0 ? br2pgo_write(conversion, err) : rc;
}

static int run(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
               struct br2_progress_line *line, struct br2pgo_error *err)
{
    const char *report = arguments->report;
    int rc = report != NULL ? br2pgo_check_path(conversion, report, err) : 0;
    if (rc != 0) {
        return rc;
    }
    br2_reading_spare(arguments);
    rc = br2pgo_run(conversion, err);
    /* More files are known now. */
    if (report != NULL && br2pgo_check_path(conversion, report, rc == 0 ? err : NULL) != 0) {
        rc = rc == 0 ? BR2PGO_INVALID : rc;
        report = NULL;
    }
    br2_signals_hold();
    rc = write_all(conversion, report, rc, err);
    br2_signals_release();
    br2_progress_clear(line);
    br2_print_notes(conversion, arguments);
    if (arguments->verbose) {
        br2_print_funnel(conversion);
    }
    bool speaks = arguments->verbose || (!arguments->quiet && isatty(STDERR_FILENO) != 0);
    if (arguments->all_images && !arguments->quiet) {
        print_images(conversion, arguments);
    } else if (rc == 0 && speaks) {
        print_outputs(conversion, arguments);
    }
    return rc;
}

int br2_convert(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    struct br2_progress_line line;
    br2_reading_begin(&line, arguments);
    struct br2pgo_options options = br2_reading_options(arguments, &line);
    options.all_images = arguments->all_images;
    options.suffixes = arguments->suffixes;
    options.symbol_list = arguments->symbol_list;
    options.flow_inference = arguments->flow_inference;
    options.gcc_version = arguments->gcc_version;
    options.gcov_version = arguments->gcov_version;
    options.bolt_version = arguments->bolt_version;
    int rc = arguments->gcc != NULL ? br2_ask_gcc(arguments->gcc, &options, err) : 0;
    struct br2pgo_conversion *conversion = NULL;
    rc = rc != 0 ? rc : br2pgo_open(&options, &conversion, err);
    if (rc != 0) {
        return rc;
    }
    rc = add_all(conversion, arguments, err);
    if (rc == 0) {
        rc = run(conversion, arguments, &line, err);
    }
    br2pgo_close(conversion);
    return rc;
}
