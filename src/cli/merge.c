/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The commands on finished profiles. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/gcc.h"
#include "cli/signals.h"
#include "cli/text_file.h"

int br2_show(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    char *text;
    struct br2pgo_show_options options = BR2PGO_SHOW_OPTIONS_INIT;
    options.format = arguments->format;
    options.function = arguments->look.function;
    options.top = arguments->look.top;
    options.json = arguments->json;
    options.annotate = arguments->annotate;
    options.sysroot = arguments->sysroot;
    if (arguments->sysroot != NULL && arguments->annotate == NULL) {
        br2_fail(err, BR2PGO_INVALID, "--sysroot says where sources are, and none are shown");
        br2_hint(err, "give --annotate IMAGE too, or leave it out");
        return BR2PGO_INVALID;
    }
    int rc = br2pgo_show_with(arguments->recordings[0], &options, &text, err);
    if (rc == 0) {
        const char *path = arguments->output_count != 0 ? arguments->outputs[0].path : "-";
        rc = br2_write_text_holding(path, text, err);
        br2pgo_free(text);
    }
    return rc;
}

static void print_note(void *user, int kind, const char *text)
{
    const struct br2_arguments *arguments = user;
    if (!arguments->quiet && (kind != BR2PGO_NOTE_DETAIL || arguments->verbose)) {
        fprintf(stderr, "br2pgo: %s%s\n", kind == BR2PGO_NOTE_WARNING ? "warning: " : "", text);
    }
}

/* A terminal is no place for bytes that are no text. */
static int check_terminal(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    struct br2pgo_format format;
    const char *path = arguments->outputs[0].path;
    int rc = br2pgo_format_of(path, arguments->format, &format, err);
    if (rc == 0 && format.binary && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO) != 0) {
        rc = br2_fail(err, BR2PGO_INVALID, "format '%s' is not for a terminal", format.name);
        br2_hint(err, "name a file with -o; to look at a profile: br2pgo show");
    }
    return rc;
}

int br2_merge(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    struct br2pgo_options asked = BR2PGO_OPTIONS_INIT;
    asked.gcc_version = arguments->gcc_version;
    asked.gcov_version = arguments->gcov_version;
    int rc = check_terminal(arguments, err);
    if (rc == 0 && arguments->gcc != NULL) {
        rc = br2_ask_gcc(arguments->gcc, &asked, err);
    }
    if (rc != 0) {
        return rc;
    }
    struct br2_arguments copy = *arguments; /* what a note's user points to is not constant */
    struct br2pgo_merge_options options = BR2PGO_MERGE_OPTIONS_INIT;
    options.format = arguments->format;
    options.gcc_version = asked.gcc_version;
    options.gcov_version = asked.gcov_version;
    options.compress = arguments->compress;
    options.md5 = arguments->md5;
    options.partial = arguments->partial;
    options.weights = arguments->weights;
    options.trim = arguments->trim;
    options.note = print_note;
    options.note_user = &copy;
    const char *output = arguments->outputs[0].path;
    br2_signals_hold();
    rc = br2pgo_merge(arguments->recordings, arguments->recording_count, output, &options, err);
    br2_signals_release();
    if (rc == 0 && (arguments->verbose || (!arguments->quiet && isatty(STDERR_FILENO) != 0))) {
        fprintf(stderr, "br2pgo: wrote '%s'\n", output);
    }
    return rc;
}
