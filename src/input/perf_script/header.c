/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What stands before a branch stack: comm, pid or pid/tid, [cpu], time:, period, event:, ip, sym,
 * (dso), each only if it was asked for, always in this order. A comm may hold blanks and digits, so
 * what follows it is found from the marks that cannot be mistaken: the time, the cpu, the event.
 */
#include "input/perf_script/perf_script.h"

/* A comm has 15 bytes; symbols may have many words, but they come last. */
#define WORDS_MAX 24

/* Above it no Linux gives a pid (PID_MAX_LIMIT). */
#define PID_MAX 4194304

struct words {
    struct br2_span items[WORDS_MAX];
    size_t count;
};

static void split(struct br2_span text, struct words *ret)
{
    ret->count = 0;
    for (br2_span_skip_blanks(&text); text.at < text.end && ret->count < WORDS_MAX;
         br2_span_skip_blanks(&text)) {
        const char *start = text.at;
        while (text.at < text.end && !br2_is_blank(*text.at)) {
            text.at++;
        }
        ret->items[ret->count++] = (struct br2_span){.at = start, .end = text.at};
    }
}

static bool take_small(struct br2_span *span, int32_t *ret)
{
    uint64_t value;
    bool negative = br2_span_take(span, '-'); /* -1: a process that is gone */
    if (!br2_span_take_decimal(span, &value) || value > INT32_MAX) {
        return false;
    }
    *ret = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

bool br2_script_is_remark(struct br2_span line)
{
    br2_span_skip_blanks(&line);
    return br2_span_begins(&line, "//") || br2_span_begins(&line, "; ");
}

bool br2_script_take_pid(struct br2_span *span, int32_t *ret_pid, int32_t *ret_tid)
{
    if (!take_small(span, ret_pid)) {
        return false;
    }
    *ret_tid = *ret_pid;
    return !br2_span_take(span, '/') || take_small(span, ret_tid);
}

bool br2_script_take_time(struct br2_span *span, br2_time *ret)
{
    uint64_t seconds, fraction;
    if (!br2_span_take_decimal(span, &seconds) || !br2_span_take(span, '.')) {
        return false;
    }
    const char *digits = span->at;
    if (!br2_span_take_decimal(span, &fraction) || span->at - digits > 9) {
        return false;
    }
    for (ptrdiff_t i = span->at - digits; i < 9; i++) {
        fraction *= 10;
    }
    return br2_span_take(span, ':') && !__builtin_mul_overflow(seconds, 1000000000, ret) &&
           !__builtin_add_overflow(*ret, fraction, ret);
}

static bool is_time(struct br2_span word, br2_time *ret)
{
    return br2_script_take_time(&word, ret) && word.at == word.end;
}

static bool is_pid(struct br2_span word, struct br2_script_header *ret)
{
    return br2_script_take_pid(&word, &ret->pid, &ret->tid) && word.at == word.end;
}

static bool is_decimal(struct br2_span word)
{
    uint64_t value;
    return br2_span_take_decimal(&word, &value) && word.at == word.end;
}

static bool is_hex(struct br2_span word)
{
    uint64_t value;
    return br2_span_take_hex(&word, &value) && word.at == word.end;
}

static bool take_cpu(struct br2_span word, int32_t *ret)
{
    return br2_span_take(&word, '[') && take_small(&word, ret) && br2_span_take(&word, ']') &&
           word.at == word.end;
}

static bool is_cpu(struct br2_span word)
{
    int32_t cpu;
    return take_cpu(word, &cpu);
}

static bool is_event(struct br2_span word)
{
    return br2_span_left(&word) > 1 && word.end[-1] == ':' && word.at[0] != ':';
}

static bool has_slash(struct br2_span word)
{
    return memchr(word.at, '/', br2_span_left(&word)) != NULL;
}

static void set_event(struct br2_span word, struct br2_script_header *ret)
{
    ret->event = (struct br2_span){.at = word.at, .end = word.end - 1};
}

/* The first event among words[first..]. */
static size_t find_event(const struct words *words, size_t first)
{
    for (size_t i = first; i < words->count && words->items[i].at[0] != '('; i++) {
        if (is_event(words->items[i])) {
            return i;
        }
    }
    return words->count;
}

/* Behind the time: a period, perhaps, and the event. */
static void read_behind_time(const struct words *words, size_t first, struct br2_script_header *ret)
{
    size_t at = first;
    if (at < words->count && is_decimal(words->items[at])) {
        at++;
    }
    if (at < words->count && is_event(words->items[at])) {
        set_event(words->items[at], ret);
    }
}

/* All words before words[end]. */
static void set_comm(const struct words *words, size_t end, struct br2_script_header *ret)
{
    if (end != 0) {
        ret->comm = (struct br2_span){.at = words->items[0].at, .end = words->items[end - 1].end};
    }
}

/* The pid before words[end], where a cpu may be between. */
static void read_pid_before(const struct words *words, size_t end, struct br2_script_header *ret)
{
    if (end != 0 && take_cpu(words->items[end - 1], &ret->cpu)) {
        end--;
    }
    ret->has_pid = end != 0 && is_pid(words->items[end - 1], ret);
    set_comm(words, ret->has_pid ? end - 1 : end, ret);
}

/* Before an event, without a time: the pid, and a period perhaps. */
static void read_before_event(const struct words *words, size_t event,
                              struct br2_script_header *ret)
{
    size_t end = event;
    bool period = end >= 2 && is_decimal(words->items[end - 1]) &&
                  (is_decimal(words->items[end - 2]) || has_slash(words->items[end - 2]) ||
                   is_cpu(words->items[end - 2]));
    read_pid_before(words, period ? end - 1 : end, ret);
}

/* Neither time nor event: "comm pid ip", any of them left out. */
static bool read_bare(const struct words *words, struct br2_script_header *ret)
{
    for (size_t i = 0; i < words->count; i++) {
        if (has_slash(words->items[i]) && is_pid(words->items[i], ret)) {
            ret->has_pid = true;
            set_comm(words, i, ret);
            return true;
        }
    }
    if (words->count == 1) {
        ret->has_lone = is_hex(words->items[0]);
        ret->lone_fits_pid =
            is_decimal(words->items[0]) && is_pid(words->items[0], ret) && ret->pid <= PID_MAX;
        ret->lone = ret->lone_fits_pid ? ret->pid : 0;
        return ret->has_lone;
    }
    /* The comm ends at the first number behind it. An address alone has a symbol behind it. */
    bool comm = words->count != 0 && !is_hex(words->items[0]);
    for (size_t i = comm; i < words->count; i++) {
        if (is_decimal(words->items[i])) {
            bool address_behind = i + 1 < words->count && is_hex(words->items[i + 1]);
            ret->has_pid = (comm || address_behind) && is_pid(words->items[i], ret);
            set_comm(words, i, ret);
            return true;
        }
        if (!comm) {
            return true;
        }
    }
    return words->count == 0;
}

bool br2_script_header(struct br2_span text, struct br2_script_header *ret)
{
    struct words words;
    *ret = (struct br2_script_header){.cpu = -1};
    split(text, &words);
    for (size_t i = 0; i < words.count; i++) {
        if (is_time(words.items[i], &ret->time)) {
            ret->has_time = true;
            read_pid_before(&words, i, ret);
            read_behind_time(&words, i + 1, ret);
            return true;
        }
    }
    size_t event = find_event(&words, 0);
    if (event < words.count) {
        set_event(words.items[event], ret);
        read_before_event(&words, event, ret);
        return true;
    }
    for (size_t i = 0; i < words.count; i++) {
        if (is_cpu(words.items[i])) {
            read_pid_before(&words, i + 1, ret);
            return true;
        }
    }
    return read_bare(&words, ret);
}
