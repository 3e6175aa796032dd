/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/reading.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/signals.h"

static bool show_progress(const struct br2_arguments *arguments)
{
    if (arguments->progress == BR2_WHEN_AUTO) {
        return !arguments->quiet && isatty(STDERR_FILENO) != 0;
    }
    return arguments->progress == BR2_WHEN_ALWAYS;
}

void br2_reading_begin(struct br2_progress_line *line, const struct br2_arguments *arguments)
{
    br2_progress_begin(line, show_progress(arguments), br2_signals_stop());
    line->at_once = arguments->progress == BR2_WHEN_ALWAYS;
}

/* A recording that comes through a pipe is complete when anything but reading begins. */
static int show(void *user, const char *phase, uint64_t done, uint64_t total)
{
    if (strcmp(phase, "scanning") != 0 && strcmp(phase, "reading") != 0) {
        br2_signals_spare_no_more();
    }
    return br2_progress_show(user, phase, done, total);
}

struct br2pgo_options br2_reading_options(const struct br2_arguments *arguments,
                                          struct br2_progress_line *line)
{
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.event = arguments->event;
    options.sysroot = arguments->sysroot;
    options.debug_binary = arguments->debug_binary;
    options.ignore_build_id = arguments->ignore_build_id;
    options.pids = arguments->record.processes;
    options.comms = arguments->comms;
    options.cpus = arguments->cpus;
    options.time = arguments->time;
    options.ignore_kernel = arguments->ignore_kernel;
    options.min_count = arguments->min_count;
    options.skip_bad = arguments->skip_bad;
    options.progress = show;
    options.progress_user = line;
    options.threads = arguments->threads;
    return options;
}

int br2_reading_add(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                    struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < arguments->recording_count; i++) {
        const char *weight = arguments->weights[i];
        rc = weight != NULL ? br2pgo_set_weight(conversion, weight, err) : 0;
        rc = rc != 0 ? rc : br2pgo_add_recording(conversion, arguments->recordings[i], err);
    }
    if (rc == 0 && arguments->binary != NULL) {
        rc = br2pgo_set_image(conversion, arguments->binary, err);
    }
    return rc;
}

/* Whether a recording comes through a pipe, from a recorder that may be running. */
static bool reads_from_pipe(const struct br2_arguments *arguments)
{
    struct stat st;
    bool pipe = fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode);
    bool reads = false;
    for (size_t i = 0; i < arguments->recording_count; i++) {
        reads = reads || strcmp(arguments->recordings[i], "-") == 0;
    }
    return reads && pipe;
}

void br2_reading_spare(const struct br2_arguments *arguments)
{
    if (reads_from_pipe(arguments)) {
        br2_signals_spare();
    }
}

void br2_print_notes(const struct br2pgo_conversion *conversion,
                     const struct br2_arguments *arguments)
{
    const char *note;
    int kind;
    for (size_t i = 0; (note = br2pgo_note(conversion, i, &kind)) != NULL; i++) {
        if (!arguments->quiet && (kind != BR2PGO_NOTE_DETAIL || arguments->verbose)) {
            fprintf(stderr, "br2pgo: %s%s\n", kind == BR2PGO_NOTE_WARNING ? "warning: " : "", note);
        }
    }
}

void br2_print_funnel(const struct br2pgo_conversion *conversion)
{
    const struct br2pgo_funnel_row *rows;
    size_t count = br2pgo_funnel(conversion, &rows);
    const char *stage = "";
    for (size_t i = 0; i < count; i++) {
        bool same = strcmp(stage, rows[i].stage) == 0;
        stage = rows[i].stage;
        fprintf(stderr, "%-15s %-36s %15llu %7.2f%%\n", same ? "" : stage, rows[i].reason,
                (unsigned long long)rows[i].count, 100 * rows[i].share);
    }
}
