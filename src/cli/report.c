/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report: read, made, and shown, on a terminal with a pager. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/signals.h"
#include "cli/text_file.h"

/* Rows of a table that are text. */
#define TOP_TEXT 20

/* https://no-color.org: set, and not empty. */
static bool wants_color(const struct br2_arguments *arguments)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the environment */
    const char *no_color = getenv("NO_COLOR");
    if (arguments->look.color == BR2_WHEN_AUTO) {
        return isatty(STDOUT_FILENO) != 0 && (no_color == NULL || no_color[0] == '\0');
    }
    return arguments->look.color == BR2_WHEN_ALWAYS;
}

static int form_of(const struct br2_arguments *arguments)
{
    if (arguments->look.html != NULL) {
        return BR2PGO_REPORT_HTML;
    }
    if (arguments->json) {
        return BR2PGO_REPORT_JSON;
    }
    if (arguments->look.csv) {
        return BR2PGO_REPORT_CSV;
    }
    return wants_color(arguments) ? BR2PGO_REPORT_COLOR : BR2PGO_REPORT_TEXT;
}

static bool is_text(const struct br2_arguments *arguments)
{
    return !arguments->json && !arguments->look.csv && arguments->look.html == NULL;
}

/* What the pager is called: "" for none. */
static const char *pager_of(const struct br2_arguments *arguments)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
    const char *pager = getenv("PAGER");
    if (!is_text(arguments) || arguments->look.no_pager || isatty(STDOUT_FILENO) == 0) {
        return "";
    }
    return pager != NULL ? pager : "less -FRX";
}

/* Shows the text with a pager; false where there is none that runs. */
static bool page(const char *pager, const char *text)
{
    (void)fflush(stdout);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* it may end before it has read all */
    FILE *pipe = popen(pager, "w");
    bool shown = false;
    if (pipe != NULL) {
        fputs(text, pipe);
        int status = pclose(pipe);
        shown = WIFEXITED(status) && WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127;
    }
    signal(SIGPIPE, before);
    return shown;
}

/* To standard output; who reads it may have had enough of it, as head has. */
static void print(const char *text)
{
    errno = 0;
    if ((fputs(text, stdout) == EOF || fflush(stdout) != 0) && errno == EPIPE) {
        clearerr(stdout);
    }
}

static int show(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                struct br2pgo_error *err)
{
    char *text;
    const char *file = arguments->look.html;
    int rc = file != NULL ? br2pgo_check_path(conversion, file, err) : 0;
    rc = rc != 0 ? rc : br2pgo_make_report(conversion, form_of(arguments), &text, err);
    if (rc == 0) {
        const char *pager = pager_of(arguments);
        if (file != NULL) {
            rc = br2_write_text_holding(file, text, err);
        } else if (pager[0] == '\0' || !page(pager, text)) {
            print(text);
        }
        br2pgo_free(text);
    }
    return rc;
}

static int want(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                struct br2pgo_error *err)
{
    struct br2pgo_report_options options = BR2PGO_REPORT_OPTIONS_INIT;
    options.sections = arguments->look.sections;
    options.function = arguments->look.function;
    options.top = arguments->look.top == 0 && is_text(arguments) ? TOP_TEXT : arguments->look.top;
    options.raw_names = arguments->look.raw_names;
    return br2pgo_want_report(conversion, &options, err);
}

int br2_report(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    struct br2_progress_line line;
    br2_reading_begin(&line, arguments);
    struct br2pgo_options options = br2_reading_options(arguments, &line);
    struct br2pgo_conversion *conversion = NULL;
    int rc = br2pgo_open(&options, &conversion, err);
    if (rc != 0) {
        return rc;
    }
    rc = br2_reading_add(conversion, arguments, err);
    rc = rc != 0 ? rc : want(conversion, arguments, err);
    if (rc == 0) {
        br2_reading_spare(arguments);
        rc = br2pgo_run(conversion, err);
    }
    br2_progress_clear(&line);
    br2_print_notes(conversion, arguments);
    if (arguments->verbose) {
        br2_print_funnel(conversion);
    }
    rc = rc != 0 ? rc : show(conversion, arguments, err);
    br2pgo_close(conversion);
    return rc;
}
