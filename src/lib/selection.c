/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/selection.h"

#include <br2pgo/br2pgo.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/number.h"

#define NANOSECONDS UINT64_C(1000000000)
#define PERCENT     (BR2_WHOLE_TIME / 100)

const char *const br2_left_out_names[BR2_LEFT_REASONS] = {
    "", "of other processes", "of other commands", "on other processors", "at other times",
};

const char *br2_selection_option(enum br2_left_out reason)
{
    static const char *const options[BR2_LEFT_REASONS] = {"", "--pid", "--comm", "--cpu", "--time"};
    return options[reason];
}

static int refuse(const char *option, const char *text, const char *hint, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "%s does not take '%s'", option, text);
    br2_hint(err, "%s", hint);
    return BR2PGO_INVALID;
}

static bool add_span(struct br2_spans *spans, uint64_t from, uint64_t to)
{
    if (spans->count == BR2_SPANS_MAX || from > to) {
        return false;
    }
    spans->items[spans->count++] = (struct br2_span){from, to};
    return true;
}

/* "3,8-11": numbers and ranges of them. */
static int parse_numbers(const char *option, const char *text, struct br2_spans *ret,
                         struct br2pgo_error *err)
{
    const char *at = text;
    for (bool more = text != NULL; more; at++) {
        uint64_t from = 0;
        bool good = br2_number_read(&at, INT32_MAX, &from);
        uint64_t to = from;
        if (good && *at == '-') {
            at++;
            good = br2_number_read(&at, INT32_MAX, &to);
        }
        if (!good || (*at != ',' && *at != '\0') || !add_span(ret, from, to)) {
            return refuse(option, text, "it takes numbers and ranges, at most 32, like 3,8-11",
                          err);
        }
        more = *at == ',';
    }
    return 0;
}

/* "10%-20%", or "10%/2" for the second tenth. */
static bool read_part(const char **at, struct br2_spans *ret)
{
    uint64_t from;
    uint64_t to;
    if (!br2_decimal_read(at, PERCENT, &from) || **at != '%' || from > BR2_WHOLE_TIME) {
        return false;
    }
    ++*at;
    if (**at == '/') {
        uint64_t number;
        ++*at;
        if (!br2_number_read(at, BR2_WHOLE_TIME, &number) || number == 0 || from == 0 ||
            number > BR2_WHOLE_TIME / from) {
            return false;
        }
        return add_span(ret, (number - 1) * from, number * from);
    }
    if (**at != '-') {
        return false;
    }
    ++*at;
    if (!br2_decimal_read(at, PERCENT, &to) || **at != '%' || to > BR2_WHOLE_TIME || from == to) {
        return false;
    }
    ++*at;
    return add_span(ret, from, to);
}

static bool read_parts(const char *at, struct br2_spans *ret)
{
    for (;;) {
        if (!read_part(&at, ret)) {
            return false;
        }
        if (*at == '\0') {
            return true;
        }
        if (*at++ != ',') {
            return false;
        }
    }
}

/* "FROM,TO": seconds, one of which may be left out. */
static bool read_times(const char *at, struct br2_spans *ret)
{
    uint64_t from = 0;
    uint64_t to = UINT64_MAX;
    bool has_from = *at != ',';
    if (has_from && !br2_decimal_read(&at, NANOSECONDS, &from)) {
        return false;
    }
    if (*at == ',') {
        at++;
        if (*at != '\0' ? !br2_decimal_read(&at, NANOSECONDS, &to) : !has_from) {
            return false;
        }
    }
    return *at == '\0' && add_span(ret, from, to);
}

static int parse_times(const char *text, struct br2_selection *ret, struct br2pgo_error *err)
{
    if (text == NULL) {
        return 0;
    }
    ret->times_are_parts = strchr(text, '%') != NULL;
    bool good =
        ret->times_are_parts ? read_parts(text, &ret->times) : read_times(text, &ret->times);
    return good ? 0
                : refuse("--time", text,
                         "it takes FROM,TO in seconds of the recording's clock, like 12.5,14, or "
                         "parts of its time, like 10%-20%,40%-50%, or 10%/2 for the second tenth",
                         err);
}

int br2_selection_parse(const struct br2pgo_options *options, struct br2_selection *ret,
                        struct br2pgo_error *err)
{
    *ret = (struct br2_selection){.comms = options->comms};
    int rc = parse_numbers("--pid", options->pids, &ret->pids, err);
    rc = rc != 0 ? rc : parse_numbers("--cpu", options->cpus, &ret->cpus, err);
    rc = rc != 0 ? rc : parse_times(options->time, ret, err);
    if (rc == 0 && options->comms != NULL && options->comms[strspn(options->comms, ",")] == '\0') {
        rc =
            refuse("--comm", options->comms, "it takes names of commands, like nginx,php-fpm", err);
    }
    return rc;
}

bool br2_selection_chooses(const struct br2_selection *selection)
{
    return selection->pids.count != 0 || selection->cpus.count != 0 ||
           selection->times.count != 0 || selection->comms != NULL;
}

/* first + part of the time between, without an overflow. */
static uint64_t point(br2_time first, br2_time last, uint64_t part)
{
    uint64_t length = last - first;
    return first + length / BR2_WHOLE_TIME * part + length % BR2_WHOLE_TIME * part / BR2_WHOLE_TIME;
}

void br2_selection_resolve(const struct br2_selection *selection, br2_time first, br2_time last,
                           struct br2_spans *ret)
{
    *ret = selection->times;
    for (size_t i = 0; selection->times_are_parts && i < ret->count; i++) {
        struct br2_span *span = &ret->items[i];
        bool whole_end = span->to == BR2_WHOLE_TIME;
        /* A moment between two parts belongs to the later one. */
        uint64_t end = point(first, last, span->to);
        span->from = point(first, last, span->from);
        span->to = whole_end || end == span->from ? end : end - 1;
    }
}

static bool contains(const struct br2_spans *spans, uint64_t value)
{
    bool inside = spans->count == 0;
    for (size_t i = 0; !inside && i < spans->count; i++) {
        inside = spans->items[i].from <= value && value <= spans->items[i].to;
    }
    return inside;
}

/* Of what is not known, -1, nothing is chosen. */
static bool contains_number(const struct br2_spans *spans, int32_t value)
{
    return contains(spans, value < 0 ? UINT64_MAX : (uint64_t)value);
}

enum br2_left_out br2_selection_judge(const struct br2_selection *selection,
                                      const struct br2_spans *times, const struct br2_comms *comms,
                                      const struct br2_sample *sample)
{
    if (!contains_number(&selection->pids, sample->pid)) {
        return BR2_LEFT_PID;
    }
    if (selection->comms != NULL) {
        bool listed = sample->comm != NULL ? br2_comm_listed(selection->comms, sample->comm)
                                           : br2_comms_has(comms, sample->pid, sample->time);
        if (!listed) {
            return BR2_LEFT_COMM;
        }
    }
    if (!contains_number(&selection->cpus, sample->cpu)) {
        return BR2_LEFT_CPU;
    }
    return contains(times, sample->time) ? BR2_LEFT_NOT : BR2_LEFT_TIME;
}
