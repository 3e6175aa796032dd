/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Comparing two profiles, or recordings. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/source.h"

/* Rows of a table that is text. */
#define TOP_TEXT 10

struct sides {
    struct br2_cli_source source[2];
    struct br2pgo_format format[2];
    bool is_profile[2];
};

/* The format in whose terms recordings are compared: the one asked for, or that of the profile
 * beside, or clang's. */
static int choose_format(const struct sides *sides, const struct br2_arguments *arguments,
                         const char **ret, struct br2pgo_error *err)
{
    *ret = arguments->format != NULL ? arguments->format : "llvm-extbinary";
    for (size_t i = 0; i < 2; i++) {
        if (!sides->is_profile[i]) {
            continue;
        }
        if (arguments->format != NULL) {
            br2_fail(err, BR2PGO_INVALID, "'%s' is a finished profile: --format says nothing to it",
                     arguments->recordings[i]);
            br2_hint(err, "leave --format out: recordings are compared in terms of the profile");
            return BR2PGO_INVALID;
        }
        *ret = sides->format[i].name;
    }
    return 0;
}

static int open_sides(struct sides *sides, const struct br2_arguments *arguments,
                      struct br2pgo_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        sides->is_profile[i] = br2_is_profile(arguments->recordings[i], &sides->format[i]);
        sides->source[i].source.profile = arguments->recordings[i];
    }
    const char *format;
    int rc = choose_format(sides, arguments, &format, err);
    if (rc == 0 && sides->is_profile[0] && sides->is_profile[1]) {
        return br2_refuse_reading_options(arguments, err);
    }
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        if (!sides->is_profile[i]) {
            struct br2_arguments one = *arguments;
            one.recordings += i;
            one.weights += i;
            one.recording_count = 1;
            rc = br2_source_read(&sides->source[i], &one, format, err);
        }
    }
    return rc;
}

int br2_diff(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    struct sides sides = {0};
    struct br2pgo_diff_options options = BR2PGO_DIFF_OPTIONS_INIT;
    options.function = arguments->look.function;
    options.top = arguments->look.top == 0 && !arguments->json ? TOP_TEXT : arguments->look.top;
    options.json = arguments->json;
    char *text = NULL;
    int rc = open_sides(&sides, arguments, err);
    rc = rc != 0
             ? rc
             : br2pgo_diff(&sides.source[0].source, &sides.source[1].source, &options, &text, err);
    if (rc == 0) {
        fputs(text, stdout);
    }
    br2pgo_free(text);
    br2_source_done(&sides.source[0]);
    br2_source_done(&sides.source[1]);
    return rc;
}
