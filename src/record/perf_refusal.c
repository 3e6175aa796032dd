/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/perf_refusal.h"

#include <limits.h>
#include <string.h>

#define PACKAGES                                                                                   \
    "install it: package linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu), perf (Fedora, "    \
    "Arch, SUSE)"

enum kind {
    KIND_EVENT,      /* try another event, or none */
    KIND_PERMISSION, /* what is needed depends on what is asked for */
    KIND_OTHER,
};

/* Parts of perf's texts, versions 3 to 6; the first that occurs decides. */
static const struct refusal {
    const char *text;
    enum kind kind;
    const char *message;
    const char *hint;
} refusals[] = {
    {"perf not found for kernel", KIND_OTHER, "perf is not installed for this kernel",
     "install it: package linux-tools-$(uname -r); any other version of perf will do too, first on "
     "the PATH"},
    {"Access to performance monitoring", KIND_PERMISSION, NULL, NULL},
    {"No permission to enable", KIND_PERMISSION, NULL, NULL},
    {"You may not have permission", KIND_PERMISSION, NULL, NULL},
    {"Operation not permitted", KIND_PERMISSION, NULL, NULL},
    {"Permission error mapping pages", KIND_OTHER,
     "perf may not lock as much memory as its buffers need",
     "raise kernel.perf_event_mlock_kb (sysctl) or the limit of locked memory (ulimit -l), or record "
     "as root"},
    {"No such process", KIND_OTHER, "there is no such process to record",
     "see with ps that it still runs"},
    {"doesn't support branch stack sampling", KIND_EVENT, NULL, NULL},
    {"doesn't support sampling/overflow-interrupts", KIND_EVENT, NULL, NULL},
    {"No hardware sampling interrupt available", KIND_EVENT, NULL, NULL},
    {"event is not supported", KIND_EVENT, NULL, NULL},
    {"syscall returned with 2 ", KIND_EVENT, NULL, NULL},  /* ENOENT */
    {"syscall returned with 22 ", KIND_EVENT, NULL, NULL}, /* EINVAL */
    {"syscall returned with 95 ", KIND_EVENT, NULL, NULL}, /* EOPNOTSUPP */
    {"Cannot find PMU", KIND_EVENT, NULL, NULL},
    {"Unable to find PMU", KIND_EVENT, NULL, NULL},
    {"Bad event", KIND_EVENT, NULL, NULL},
    {"event syntax error", KIND_EVENT, NULL, NULL},
    {"invalid or unsupported event", KIND_EVENT, NULL, NULL},
    {"nown switch", KIND_OTHER, "this perf is too old for branch records",
     "branch records need perf 3.4, the options br2pgo uses 4.5; any later version will do, "
     "also on an older kernel"},
    {"nown option", KIND_OTHER, "this perf does not know an option that br2pgo gives it",
     "branch records need perf 3.4, the options br2pgo uses 4.5; any later version will do, "
     "also on an older kernel"},
    {"Too many events are opened", KIND_OTHER, "perf may not open as many files as it needs",
     "raise the limit: ulimit -n 65536"},
    {"busy/taken by another profiler", KIND_OTHER,
     "the processor's counters are taken by another profiler",
     "end it; the kernel's own use of one is switched off with sysctl kernel.nmi_watchdog=0"},
    {"syscall returned with 16 ", KIND_OTHER,
     "the processor's branch records are taken", /* EBUSY */
     "end the other profiler, or the virtual machine, that uses them"},
};
#define REFUSAL_COUNT (sizeof refusals / sizeof *refusals)

/* The first line that says something. */
static void first_line(const char *said, const char **ret, int *ret_length)
{
    static const char heading[] = "Error:";
    for (;;) {
        said += strspn(said, " \t\r\n");
        size_t length = strcspn(said, "\r\n");
        if (length != sizeof heading - 1 || strncmp(said, heading, length) != 0) {
            *ret = said;
            *ret_length = length > 300 ? 300 : (int)length;
            return;
        }
        said += length;
    }
}

/* Highest kernel.perf_event_paranoid that allows the request without privileges, by the kernel's
 * documentation of it (admin-guide/sysctl/kernel.rst). */
static int paranoid_needed(const struct br2_record_request *request)
{
    if (request->all_cpus) {
        return 0;
    }
    return request->kernel ? 1 : 2;
}

static int refuse_permission(const struct br2_machine *machine,
                             const struct br2_record_request *request, struct br2pgo_error *err)
{
    int needed = paranoid_needed(request);
    if (machine->paranoid > needed) {
        br2_fail(err, BR2PGO_IO, "no permission: kernel.perf_event_paranoid is %d, %s needs %d",
                 machine->paranoid,
                 request->all_cpus ? "--all-cpus"
                 : request->kernel ? "--kernel"
                                   : "recording one's own programs",
                 needed);
        br2_hint(err, "as root: sysctl kernel.perf_event_paranoid=%d; or record as root", needed);
    } else if (request->processes != NULL) {
        br2_fail(err, BR2PGO_IO, "no permission to record process %s", request->processes);
        br2_hint(err, "record as its user, or as root");
    } else {
        br2_fail(err, BR2PGO_IO,
                 "no permission: the system call perf_event_open is forbidden here");
        br2_hint(err, "in a container: start it with --cap-add=PERFMON and a seccomp profile that "
                      "allows perf_event_open; else record as root");
    }
    return BR2PGO_IO;
}

int br2_perf_refusal(const char *said, const struct br2_machine *machine,
                     const struct br2_record_request *request, struct br2pgo_error *err)
{
    const char *line;
    int length;
    first_line(said, &line, &length);
    const struct refusal *found = NULL;
    for (size_t i = 0; found == NULL && i < REFUSAL_COUNT; i++) {
        found = strstr(said, refusals[i].text) != NULL ? &refusals[i] : NULL;
    }
    if (found != NULL && found->kind == KIND_PERMISSION) {
        return refuse_permission(machine, request, err);
    }
    if (found != NULL && found->kind == KIND_OTHER) {
        br2_fail(err, BR2PGO_IO, "%s", found->message);
        br2_hint(err, "%s", found->hint);
        return BR2PGO_IO;
    }
    int status = found != NULL ? BR2PGO_UNSUPPORTED : BR2PGO_IO;
    if (length == 0) {
        br2_fail(err, status, "perf fails without a word");
    } else {
        br2_fail(err, status, "perf cannot record branches here: %.*s", length, line);
    }
    br2_hint(err, "--dry-run shows the command");
    return status;
}

int br2_perf_missing(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_IO, "perf is not installed");
    br2_hint(err, PACKAGES "; --emulate needs none");
    return BR2PGO_IO;
}
