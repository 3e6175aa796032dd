/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/record_hardware.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/summary.h"

/* What the kernel takes of the hardware. */
static int check_period(const struct br2_machine *machine, const struct br2_record_request *request,
                        struct br2pgo_error *err)
{
    if (machine->traces && (request->frequency != 0 || request->period != 0)) {
        br2_fail(err, BR2PGO_INVALID, "%s traces every branch: it takes no --%s", machine->name,
                 request->period != 0 ? "period" : "frequency");
        br2_hint(err, "leave it out; --duration keeps the recording short");
        return BR2PGO_INVALID;
    }
    if (machine->traces && request->kernel) {
        br2_fail(err, BR2PGO_INVALID, "what the kernel did is not decoded of a trace (%s)",
                 machine->name);
        br2_hint(err, "leave --kernel out");
        return BR2PGO_INVALID;
    }
    if (machine->fixed_period && request->frequency != 0) {
        br2_fail(err, BR2PGO_INVALID, "%s takes a period, no frequency", machine->name);
        br2_hint(err, "give --period in place of --frequency");
        return BR2PGO_INVALID;
    }
    if (machine->fixed_period && request->period != 0 && request->period <= machine->depth) {
        br2_fail(err, BR2PGO_INVALID, "%s needs a period above the %u records of a history",
                 machine->name, machine->depth);
        br2_hint(err, "give a larger --period");
        return BR2PGO_INVALID;
    }
    return 0;
}

/* The command under the output's own name: what a person would run. */
static int print_command(FILE *to, const char *prefix, const struct br2_machine *machine,
                         size_t event, const struct br2_record_request *request,
                         struct br2pgo_error *err)
{
    struct br2_perf_command command;
    int rc = br2_perf_command_make(&command, machine, event, request, err);
    char *text = rc == 0 ? br2_perf_command_text(&command) : NULL;
    if (rc == 0 && text == NULL) {
        rc = br2_fail_memory(err);
    }
    if (rc == 0) {
        fprintf(to, "%s%s\n", prefix, text);
    }
    br2_free(text);
    br2_perf_command_done(&command);
    return rc;
}

static void print_hardware(const struct br2_machine *machine, size_t event)
{
    fprintf(stderr, "br2pgo: branch hardware: %s", machine->name);
    if (machine->depth != 0) {
        fprintf(stderr, ", histories of %u records", machine->depth);
    }
    fprintf(stderr, "\n");
    for (size_t i = 0; i < event; i++) {
        fprintf(stderr, "br2pgo: perf does not take the event %s here\n", machine->events[i]);
    }
}

/* Keeps what perf had written when it failed, in a file of its own. */
static int keep_part(struct br2_output *out, const struct br2_summary *summary,
                     struct br2pgo_error *err)
{
    char *part;
    int rc = br2_output_keep_part(out, &part, err);
    if (rc != 0) {
        return rc;
    }
    br2_fail(err, BR2PGO_IO, "perf did not finish the recording; it says why above");
    br2_hint(err, "the %llu samples until then are in '%s', which br2pgo reads",
             (unsigned long long)summary->samples, part);
    br2_free(part);
    return BR2PGO_IO;
}

static int fail_empty(const struct br2_record_result *result, bool readable,
                      struct br2pgo_error *err)
{
    if (!readable) {
        br2_fail(err, BR2PGO_IO, "perf ended with status %d and made no recording",
                 result->exit_status);
        br2_hint(err, "it says why above; --dry-run shows the command");
        return BR2PGO_IO;
    }
    br2_fail(err, BR2PGO_USELESS, "no branch record was taken");
    br2_hint(err, "run longer, or with a smaller --period; user code only is recorded without "
                  "--kernel");
    return BR2PGO_USELESS;
}

/* Puts a whole recording in place, and says what is in it. */
static int finish(const struct br2_arguments *arguments, struct br2_output *out,
                  const struct br2_record_result *result, struct br2pgo_error *err)
{
    struct br2_summary summary;
    bool readable = br2_summary_read(out->temporary, &summary, NULL) == 0;
    int rc;
    if (!readable || (summary.records == 0 && summary.trace_bytes == 0)) {
        rc = fail_empty(result, readable, err);
    } else if (!summary.whole) {
        rc = keep_part(out, &summary, err);
    } else {
        rc = br2_output_commit(out, err);
        if (rc == 0 && !arguments->quiet) {
            const char *path =
                arguments->output_count != 0 ? arguments->outputs[0].path : "perf.data";
            br2_summary_print(&summary, path, arguments->record.all_cpus);
        }
    }
    br2_summary_done(&summary);
    return rc;
}

static int run(const struct br2_arguments *arguments, const struct br2_machine *machine,
               size_t event, const struct br2_record_request *request,
               struct br2_record_result *ret, struct br2pgo_error *err)
{
    struct br2_output out;
    int rc = br2_output_open(&out, request->output, err);
    if (rc != 0) {
        return rc;
    }
    if (out.temporary == NULL) {
        br2_output_abandon(&out);
        br2_fail(err, BR2PGO_INVALID, "'%s' is no file that a recording can be written to",
                 request->output);
        br2_hint(err, "perf goes back to the file's beginning at the end: name an ordinary file");
        return BR2PGO_INVALID;
    }
    if (out.is_new) {
        (void)fchmod(out.fd, 0600); /* as perf makes it: addresses are not for everybody */
    }
    struct br2_record_request inner = *request;
    inner.output = out.temporary;
    struct br2_perf_command command;
    rc = br2_perf_command_make(&command, machine, event, &inner, err);
    rc = rc != 0 ? rc : br2_perf_run(&command, &inner, ret, err);
    rc = rc != 0 ? rc : finish(arguments, &out, ret, err);
    br2_perf_command_done(&command);
    br2_output_abandon(&out);
    return rc;
}

int br2_record_hardware(const struct br2_arguments *arguments, const struct br2_machine *machine,
                        size_t event, const struct br2_record_request *request,
                        struct br2_record_result *ret, struct br2pgo_error *err)
{
    int rc = check_period(machine, request, err);
    if (rc != 0) {
        return rc;
    }
    if (arguments->record.dry_run) {
        return print_command(stdout, "", machine, event, request, err);
    }
    if (arguments->verbose) {
        print_hardware(machine, event);
    }
    if (!arguments->quiet) {
        rc = print_command(stderr, "br2pgo: ", machine, event, request, err);
    }
    return rc != 0 ? rc : run(arguments, machine, event, request, ret, err);
}
