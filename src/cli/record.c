/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recording: with branch hardware and perf where there is some, else in an emulator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/function_names.h"
#include "cli/record_hardware.h"
#include "cli/record_request.h"
#include "cli/signals.h"
#include "cli/summary.h"
#include "record/emulate.h"
#include "record/machine.h"
#include "record/program.h"

/* There is no branch hardware: what of the request needs it, or forbids to do without. */
static int check_emulation(const struct br2_arguments *arguments, const struct br2_machine *machine,
                           struct br2pgo_error *err)
{
    const char *why;
    const char *option = br2_record_needs_hardware(arguments, &why);
    if (option == NULL && !arguments->record.no_emulate) {
        return 0;
    }
    if (option != NULL) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "--%s needs branch hardware: %s", option,
                 machine->reason);
    } else {
        br2_fail(err, BR2PGO_UNSUPPORTED, "no branch hardware: %s", machine->reason);
    }
    br2_hint(err, "%s",
             machine->hint[0] != '\0' ? machine->hint : "record on another machine, or --emulate");
    return BR2PGO_UNSUPPORTED;
}

/* Whether the machine's hardware does it; else the machine is given the reason why not. */
static int choose_event(const struct br2_arguments *arguments,
                        const struct br2_record_request *request, struct br2_machine *machine,
                        size_t *ret_event, struct br2pgo_error *err)
{
    *ret_event = 0;
    if (machine->hardware == BR2_HARDWARE_NONE || arguments->record.dry_run) {
        return 0;
    }
    struct br2pgo_error said = {0};
    int rc = br2_perf_try(machine, request, ret_event, &said);
    if (rc == BR2PGO_UNSUPPORTED) {
        br2_machine_lacks(machine, said.message, said.hint);
        return 0;
    }
    if (rc != 0) {
        *err = said;
    }
    return rc;
}

/* What the emulator's plugin could not follow. */
static void print_gaps(const struct br2_emulation *emulation)
{
    if (emulation->lost_processes != 0) {
        fprintf(stderr, "br2pgo: warning: programs that ran unrecorded: %llu%s%s\n",
                (unsigned long long)emulation->lost_processes,
                emulation->lost_program[0] != '\0' ? ", the first " : "", emulation->lost_program);
    }
    if (emulation->lost_threads + emulation->lost_blocks != 0) {
        fprintf(stderr,
                "br2pgo: warning: not recorded, because there are more than the recorder has room "
                "for: threads %llu, pieces of code %llu\n",
                (unsigned long long)emulation->lost_threads,
                (unsigned long long)emulation->lost_blocks);
    }
}

static void print_totals(const struct br2_emulation *emulation)
{
    fprintf(
        stderr,
        "br2pgo: executed in all: instructions %llu, taken branches %llu, mispredicted branches "
        "%llu, processes %llu, threads %llu\n",
        (unsigned long long)emulation->instructions, (unsigned long long)emulation->taken,
        (unsigned long long)emulation->mispredicted, (unsigned long long)emulation->processes,
        (unsigned long long)emulation->threads);
}

static int print_summary(const char *path, struct br2pgo_error *err)
{
    struct br2_summary summary;
    int rc = br2_summary_read(path, &summary, err);
    if (rc == 0) {
        br2_summary_print(&summary, path, false);
    }
    br2_summary_done(&summary);
    return rc;
}

static int record_emulated(const struct br2_arguments *arguments, const struct br2_machine *machine,
                           const struct br2_record_request *request,
                           struct br2_record_result *result, struct br2pgo_error *err)
{
    struct br2_emulation emulation;
    if (!arguments->quiet && !br2_record_wants_emulation(arguments)) {
        fprintf(stderr, "br2pgo: no branch hardware: %s\n", machine->reason);
        fprintf(stderr, "br2pgo: recording in an emulator\n");
    }
    int rc = br2_record_emulated(request, result, &emulation, err);
    if (rc == 0 && !arguments->quiet) {
        print_gaps(&emulation);
    }
    if (rc == 0 && arguments->verbose) {
        print_totals(&emulation);
    }
    return rc == 0 && !arguments->quiet ? print_summary(request->output, err) : rc;
}

/* How the program ended, where that is not simply the end of it. */
static void print_end(const struct br2_arguments *arguments, const struct br2_record_result *result,
                      bool kept)
{
    if (arguments->quiet) {
        return;
    }
    if (result->was_stopped) {
        fprintf(stderr, "br2pgo: stopped%s\n",
                kept ? "; what was recorded until then is kept" : "");
    } else if (result->signal != 0) {
        fprintf(stderr, "br2pgo: the program was ended by signal %d (%s)\n", result->signal,
                strsignal(result->signal));
    } else if (result->exit_status != 0) {
        fprintf(stderr, "br2pgo: the program ended with status %d\n", result->exit_status);
    }
}

static int record(const struct br2_arguments *arguments, struct br2_record_request *request,
                  struct br2_record_result *result, struct br2pgo_error *err)
{
    struct br2_machine machine;
    const char *root = getenv("BR2PGO_MACHINE_ROOT");
    int rc = br2_machine_examine(root != NULL ? root : "", &machine, err);
    size_t event = 0;
    bool emulate = br2_record_wants_emulation(arguments);
    if (rc == 0 && !emulate) {
        rc = choose_event(arguments, request, &machine, &event, err);
        emulate = machine.hardware == BR2_HARDWARE_NONE;
        rc = rc != 0 || !emulate ? rc : check_emulation(arguments, &machine, err);
    }
    if (rc != 0) {
        return rc;
    }
    return emulate ? record_emulated(arguments, &machine, request, result, err)
                   : br2_record_hardware(arguments, &machine, event, request, result, err);
}

/* An interruption is answered at once, a recording ends when the program does. */
static void hold_signals(const struct br2_arguments *arguments,
                         const struct br2_record_request *request)
{
    static const char last[] = "br2pgo: ended at once, without a recording\n";
    static const char *const of_program[BR2_SIGNALS_REQUESTS] = {
        "br2pgo: the program is told to end; interrupted again, it is killed; the recording is "
        "kept\n",
        "br2pgo: the program is killed, the recording is kept; interrupted again, all ends at "
        "once, without it\n",
        last,
    };
    static const char *const of_perf[BR2_SIGNALS_REQUESTS] = {
        "br2pgo: the recording is ended and kept\n",
        "br2pgo: waiting for perf to end; interrupted again, all ends at once, without a "
        "recording\n",
        last,
    };
    const char *const *lines = request->command != NULL ? of_program : of_perf;
    br2_signals_hold_recording(arguments->quiet ? NULL : lines);
}

int br2_record(const struct br2_arguments *arguments, int *ret_exit, struct br2pgo_error *err)
{
    struct br2_record_request request;
    struct br2_record_result result = {0};
    int rc = br2_record_request_read(arguments, &request, err);
    if (rc == 0 && request.command != NULL && !arguments->record.dry_run) {
        char *path = NULL;
        rc = br2_program_find(request.command[0], &path, err);
        br2_free(path);
    }
    if (rc != 0) {
        return rc;
    }
    struct br2_function_names names = {0};
    request.function_name = br2_function_names_get;
    request.function_user = &names;
    request.stop = br2_signals_stop_recording();
    hold_signals(arguments, &request);
    rc = record(arguments, &request, &result, err);
    br2_signals_release();
    br2_function_names_done(&names);
    if (rc == 0 || rc == BR2PGO_USELESS) {
        print_end(arguments, &result, rc == 0);
    }
    if (rc == 0) {
        *ret_exit = result.was_stopped ? 0 : result.exit_status;
        if (request.command == NULL) {
            br2_signals_forget(); /* that is how such a recording ends */
        }
    }
    return rc;
}
