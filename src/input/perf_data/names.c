/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words for numbers: events, traces, record types. */
#include <inttypes.h>
#include <stdio.h>

#include "input/perf_data/perf_data.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* enum perf_type_id: PERF_TYPE_HARDWARE, SOFTWARE, ... */
enum {
    TYPE_HARDWARE,
    TYPE_SOFTWARE,
    TYPE_TRACEPOINT,
    TYPE_CACHE,
    TYPE_RAW,
    TYPE_BREAKPOINT
};

/* enum perf_hw_id, perf_sw_ids; perf's own names */
static const char *const hardware_names[] = {"cycles",
                                             "instructions",
                                             "cache-references",
                                             "cache-misses",
                                             "branches",
                                             "branch-misses",
                                             "bus-cycles",
                                             "stalled-cycles-frontend",
                                             "stalled-cycles-backend",
                                             "ref-cycles"};
static const char *const software_names[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

const char *br2_perf_event_name(struct br2_arena *arena, uint32_t type, uint64_t config)
{
    /* On hybrid CPUs the upper half of a hardware event's config is the type of its PMU. */
    uint32_t number = (uint32_t)config;
    char text[64];
    if (type == TYPE_HARDWARE && number < COUNT(hardware_names)) {
        snprintf(text, sizeof text, "%s", hardware_names[number]);
    } else if (type == TYPE_SOFTWARE && config < COUNT(software_names)) {
        snprintf(text, sizeof text, "%s", software_names[config]);
    } else if (type == TYPE_TRACEPOINT) {
        snprintf(text, sizeof text, "tracepoint %" PRIu64, config);
    } else if (type == TYPE_RAW) {
        snprintf(text, sizeof text, "r%" PRIx64, config);
    } else {
        snprintf(text, sizeof text, "event %" PRIu32 ":0x%" PRIx64, type, config);
    }
    return br2_arena_strndup(arena, text, strlen(text));
}

const char *br2_perf_trace_name(uint32_t type)
{
    /* enum auxtrace_type of tools/perf/util/auxtrace.h, from 1 */
    static const char *const names[] = {"Intel PT", "Intel BTS",   "CoreSight ETM",
                                        "Arm SPE",  "s390 CPU-MF", "HiSilicon PTT"};
    if (type >= 1 && type <= COUNT(names)) {
        return names[type - 1];
    }
    return "a trace of unknown kind";
}

bool br2_perf_known_record(uint32_t type)
{
    return (type >= 1 && type <= BR2_PERF_LAST_KERNEL) ||
           (type >= BR2_PERF_HEADER_ATTR && type <= BR2_PERF_LAST_TOOL) ||
           (type >= BR2_PERF_FIRST_SIMPLEPERF && type <= BR2_PERF_LAST_SIMPLEPERF);
}
