/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Judging a recording or a finished profile. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/source.h"

#define MILLION UINT64_C(1000000)

/* "12.5", of shares in percent and with or without a '%'. */
static int read_limit(const struct br2_arguments *arguments, int figure, double *ret,
                      struct br2pgo_error *err)
{
    const char *value = arguments->check.limits[figure];
    const char *at = value;
    bool share = figure != BR2PGO_CHECK_DENSITY && figure != BR2PGO_CHECK_BOLT_DENSITY;
    uint64_t number;
    if (share && br2_percent_read(value, ret)) {
        return 0;
    }
    if (!share && br2_decimal_read(&at, MILLION, &number) && *at == '\0') {
        *ret = (double)number / (double)MILLION;
        return 0;
    }
    int at_least;
    const char *name = br2pgo_check_figure_name((size_t)figure, &at_least);
    br2_fail(err, BR2PGO_INVALID, "option '--%s-%s' does not take '%s'",
             at_least != 0 ? "min" : "max", name, value);
    br2_hint(err, share ? "it takes a share in percent, like 2.5 or 95%%"
                        : "it takes a number, like 10 or 2.5");
    return BR2PGO_INVALID;
}

/* Recordings are judged in terms of the baseline, else of the format asked for, else of clang's. */
static int choose_format(const struct br2_arguments *arguments, const char **ret,
                         struct br2pgo_format *baseline, struct br2pgo_error *err)
{
    *ret = arguments->format != NULL ? arguments->format : "llvm-extbinary";
    if (arguments->check.baseline == NULL) {
        return 0;
    }
    int rc = br2pgo_profile_format(arguments->check.baseline, baseline, err);
    if (rc == 0 && arguments->format != NULL) {
        br2_fail(err, BR2PGO_INVALID, "the baseline '%s' is %s: --format says nothing beside it",
                 arguments->check.baseline, baseline->name);
        br2_hint(err, "leave --format out");
        return BR2PGO_INVALID;
    }
    *ret = baseline->name;
    return rc;
}

static int open_source(struct br2_cli_source *source, const struct br2_arguments *arguments,
                       struct br2pgo_error *err)
{
    struct br2pgo_format format;
    struct br2pgo_format baseline;
    const char *name;
    if (!br2_is_profile(arguments->recordings[0], &format)) {
        int rc = choose_format(arguments, &name, &baseline, err);
        return rc != 0 ? rc : br2_source_read(source, arguments, name, err);
    }
    source->source.profile = arguments->recordings[0];
    if (arguments->recording_count > 1) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is a finished profile: check takes one at a time",
                 arguments->recordings[0]);
        br2_hint(err, "call it once for each; several recordings are judged together");
        return BR2PGO_INVALID;
    }
    if (arguments->format != NULL) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is a finished profile: --format says nothing to it",
                 arguments->recordings[0]);
        br2_hint(err, "leave --format out");
        return BR2PGO_INVALID;
    }
    return br2_refuse_reading_options(arguments, err);
}

int br2_check(const struct br2_arguments *arguments, int *ret_exit, struct br2pgo_error *err)
{
    struct br2pgo_check_options options = BR2PGO_CHECK_OPTIONS_INIT;
    struct br2_cli_source source = {0};
    options.baseline = arguments->check.baseline;
    options.against = arguments->check.against;
    options.json = arguments->json;
    int rc = 0;
    for (int i = 0; rc == 0 && i < BR2PGO_CHECK_FIGURES; i++) {
        if (arguments->check.limits[i] != NULL) {
            rc = read_limit(arguments, i, &options.limits[i], err);
        }
    }
    char *text = NULL;
    int missed = 0;
    rc = rc != 0 ? rc : open_source(&source, arguments, err);
    rc = rc != 0 ? rc : br2pgo_check(&source.source, &options, &text, &missed, err);
    if (rc == 0) {
        fputs(text, stdout);
        *ret_exit = missed != 0 ? br2_exit_status(BR2PGO_USELESS) : 0;
    }
    br2pgo_free(text);
    br2_source_done(&source);
    return rc;
}
