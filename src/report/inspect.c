/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/inspect_private.h"

/* PERF_SAMPLE_BRANCH_* of linux/perf_event.h, by bit. */
static const char *const branch_bits[] = {
    "user",       "kernel",        "hypervisor",    "any",       "any call",
    "any return", "indirect call", "tx abort",      "in tx",     "not in tx",
    "cond",       "call stack",    "indirect jump", "call",      "no flags",
    "no cycles",  "types",         "hw index",      "privilege", "counters",
};

const char *br2_branch_mode_text(uint64_t branch_sample_type, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof branch_bits / sizeof *branch_bits; i++) {
        if ((branch_sample_type >> i & 1) == 0) {
            continue;
        }
        int length =
            snprintf(text + used, size - used, "%s%s", used != 0 ? ", " : "", branch_bits[i]);
        if (length < 0 || (size_t)length >= size - used) {
            text[used] = '\0';
            break;
        }
        used += (size_t)length;
    }
    if (used == 0) {
        snprintf(text, size, "not said");
    }
    return text;
}

const char *br2_truncation_text(enum br2_truncation truncation)
{
    switch (truncation) {
    case BR2_WHOLE:
        return "whole";
    case BR2_UNCLOSED:
        return "not closed by the recorder";
    case BR2_TRUNCATED:
        return "cut short";
    case BR2_BROKEN:
        return "broken";
    }
    return "";
}

/* Busiest first; equal ones in the order of the recording. */
static int compare_images(const void *left, const void *right)
{
    const struct br2_inspected_image *a = left;
    const struct br2_inspected_image *b = right;
    if (a->records != b->records) {
        return a->records > b->records ? -1 : 1;
    }
    return a->dso < b->dso ? -1 : a->dso > b->dso;
}

int br2_inspect_order(const struct br2_inspection *inspection, struct br2_inspected_image **ret,
                      size_t *ret_count)
{
    const struct br2_dsos *dsos = inspection->dsos;
    struct br2_inspected_image *images = br2_calloc(dsos->count, sizeof *images);
    if (images == NULL) {
        return BR2PGO_NO_MEMORY;
    }
    for (size_t i = 0; i < dsos->count; i++) {
        uint64_t records = inspection->sources != NULL ? inspection->sources[i] : 0;
        images[i] = (struct br2_inspected_image){.dso = &dsos->items[i], .records = records};
    }
    qsort(images, dsos->count, sizeof *images, compare_images);
    *ret = images;
    *ret_count = dsos->count;
    return 0;
}

uint64_t br2_inspect_unmapped(const struct br2_inspection *inspection)
{
    const struct br2_count_stats *stats = inspection->stats;
    uint64_t counted =
        stats->records - stats->wrong_path - stats->not_taken - stats->empty - stats->stale;
    if (stats->records == 0) {
        return 0; /* what images have is straight runs */
    }
    for (size_t i = 0; inspection->sources != NULL && i < inspection->dsos->count; i++) {
        counted -= inspection->sources[i];
    }
    return counted;
}

/* Ends the line that begins at `start`: the names in it may hold anything. */
static void end_line(struct br2_buf *out, size_t start)
{
    if (!out->failed) {
        br2_make_printable((char *)out->bytes + start, out->size - start);
    }
    br2_buf_u8(out, '\n');
}

static void put_field(struct br2_buf *out, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        size_t start = out->size;
        br2_buf_printf(out, "%-12s %s", name, value);
        end_line(out, start);
    }
}

static void put_event(struct br2_buf *out, const struct br2_event_info *event)
{
    char mode[256];
    size_t start = out->size;
    br2_buf_printf(out, "event        '%s': %llu samples", event->name,
                   (unsigned long long)event->samples);
    if (event->period_or_frequency != 0) {
        br2_buf_printf(out, ", %s %llu", event->frequency ? "frequency" : "period",
                       (unsigned long long)event->period_or_frequency);
    }
    if (event->exclude_kernel) {
        br2_buf_str(out, ", user only");
    }
    end_line(out, start);
    br2_buf_printf(out, "             branch records: %s\n",
                   event->has_branch_stacks
                       ? br2_branch_mode_text(event->branch_sample_type, mode, sizeof mode)
                       : "none");
}

static void put_losses(struct br2_buf *out, const struct br2_recording_info *info)
{
    const struct {
        const char *what;
        uint64_t count;
    } losses[] = {
        {"records lost by the recorder", info->lost_records},
        {"samples of no known event", info->unknown_event_samples},
        {info->text ? "lines that are damaged" : "records that contradict their size",
         info->malformed_records},
        {"records of unknown type, skipped", info->unknown_records},
        {"times the recorder was throttled", info->throttled},
        {"bytes that could not be read", info->bytes_lost},
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        if (losses[i].count != 0) {
            br2_buf_printf(out, "losses       %llu %s\n", (unsigned long long)losses[i].count,
                           losses[i].what);
        }
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Branch records that are in no image. */
static void put_others(struct br2_buf *out, const struct br2_inspection *inspection)
{
    const struct br2_count_stats *stats = inspection->stats;
    const struct {
        const char *what;
        uint64_t count;
    } others[] = {
        {"in no mapping", br2_inspect_unmapped(inspection)},
        {"of a wrong path", stats->wrong_path},
        {"of branches that were not taken", stats->not_taken},
        {"empty", stats->empty},
        {"older than an empty one", stats->stale},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].count != 0) {
            br2_buf_printf(out, "%20llu %6.2f%%  %-40s  %s\n", (unsigned long long)others[i].count,
                           percent(others[i].count, stats->records), "-", others[i].what);
        }
    }
}

/* Images without a record are many and say little. */
static void put_images(struct br2_buf *out, const struct br2_inspection *inspection)
{
    struct br2_inspected_image *images;
    size_t count;
    if (br2_inspect_order(inspection, &images, &count) != 0) {
        out->failed = true;
        return;
    }
    size_t silent = 0;
    br2_buf_str(out, "\nimages       records   share  build-id\n");
    for (size_t i = 0; i < count; i++) {
        if (images[i].records == 0) {
            silent++;
            continue;
        }
        char id[2 * BR2_BUILD_ID_MAX + 1];
        br2_build_id_text(&images[i].dso->build_id, id);
        size_t start = out->size;
        br2_buf_printf(out, "%20llu %6.2f%%  %-40s  %s%s", (unsigned long long)images[i].records,
                       percent(images[i].records, inspection->stats->records),
                       id[0] != '\0' ? id : "-", images[i].dso->path,
                       images[i].dso->deleted ? " (deleted)" : "");
        end_line(out, start);
    }
    put_others(out, inspection);
    if (silent != 0) {
        br2_buf_printf(out, "             %zu more without branch records\n", silent);
    }
    br2_free(images);
}

static void put_container(struct br2_buf *out, const struct br2_recording_info *info)
{
    if (info->text) { /* has neither an order of bytes nor a size to compare with */
        put_field(out, "container", info->container);
        return;
    }
    br2_buf_printf(out, "%-12s %s, %s-endian%s, %s\n", "container", info->container,
                   info->big_endian ? "big" : "little", info->compressed ? ", compressed" : "",
                   br2_truncation_text(info->truncation));
}

static void put_branches(struct br2_buf *out, const struct br2_inspection *inspection)
{
    const struct br2_count_stats *stats = inspection->stats;
    br2_buf_printf(out, "branches     %llu records", (unsigned long long)stats->records);
    if (inspection->info->counted) {
        br2_buf_printf(out, ", counted; %llu straight runs without their branch",
                       (unsigned long long)stats->lone_runs);
    } else {
        br2_buf_printf(out, " in %llu samples", (unsigned long long)stats->samples);
    }
    if (stats->depth != 0) {
        br2_buf_printf(out, ", at most %llu each", (unsigned long long)stats->depth);
    }
    if (stats->records != 0) {
        br2_buf_printf(out, ", %.1f%% with a prediction",
                       percent(stats->predictions, stats->records));
    }
    br2_buf_str(out, "\n");
}

static void put_trace(struct br2_buf *out, const struct br2_inspection *inspection)
{
    const struct br2_recording_info *info = inspection->info;
    if (!info->has_trace) {
        return;
    }
    br2_buf_printf(out, "%-12s %s, ", "trace",
                   info->trace_kind != NULL ? info->trace_kind : "of an unknown kind");
    if (inspection->trace_streams == 0) {
        br2_buf_str(out, "not decoded\n");
        return;
    }
    br2_buf_printf(
        out, "%llu bytes in %llu stream%s, %llu gap%s; decoded with the code that ran\n",
        (unsigned long long)inspection->trace_bytes, (unsigned long long)inspection->trace_streams,
        inspection->trace_streams == 1 ? "" : "s", (unsigned long long)inspection->trace_gaps,
        inspection->trace_gaps == 1 ? "" : "s");
}

void br2_inspect_text(const struct br2_inspection *inspection, struct br2_buf *out)
{
    const struct br2_recording_info *info = inspection->info;
    const struct br2_count_stats *stats = inspection->stats;
    put_field(out, "file", inspection->path);
    put_container(out, info);
    put_field(out, "recorder", info->perf_version);
    put_field(out, "command", info->command_line);
    put_field(out, "machine", info->arch);
    put_field(out, "processor", info->cpu_description);
    put_field(out, "kernel", info->os_release);
    put_trace(out, inspection);
    for (size_t i = 0; i < info->event_count; i++) {
        put_event(out, &info->events[i]);
    }
    put_branches(out, inspection);
    put_losses(out, info);
    if (stats->records != 0) {
        put_images(out, inspection);
    }
}
