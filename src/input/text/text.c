/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "input/text/text.h"

#include <stdio.h>

#include "base/limits.h"

#define TICK_LINES 4096

void br2_lines_start(struct br2_lines *lines, struct br2_input *input)
{
    const char *text = (const char *)input->file.bytes;
    *lines = (struct br2_lines){
        .input = input,
        .rest = {.at = text, .end = text + input->file.size},
    };
}

bool br2_span_take_line(struct br2_span *rest, struct br2_span *ret)
{
    const char *start = rest->at;
    size_t left = br2_span_left(rest);
    if (left == 0) {
        return false;
    }
    size_t most = left < BR2_LINE_MAX ? left : BR2_LINE_MAX;
    const char *newline = memchr(start, '\n', most);
    const char *end = newline != NULL ? newline : start + most;
    rest->at = newline != NULL ? newline + 1 : rest->end;
    while (end > start && (br2_is_blank(end[-1]) || end[-1] == '\r')) {
        end--;
    }
    *ret = (struct br2_span){.at = start, .end = end};
    return true;
}

int br2_lines_next(struct br2_lines *lines, struct br2_span *ret, struct br2pgo_error *err)
{
    struct br2_input *input = lines->input;
    const char *start = lines->rest.at;
    if (!br2_span_take_line(&lines->rest, ret)) {
        return 0;
    }
    if (lines->rest.at == lines->rest.end && lines->rest.end - start > (ptrdiff_t)BR2_LINE_MAX) {
        input->info.bytes_lost = (uint64_t)(lines->rest.end - start) - BR2_LINE_MAX;
    }
    lines->number++;
    input->done = input->file.size - br2_span_left(&lines->rest);
    if (lines->number % TICK_LINES == 0 && input->tick != NULL) {
        int rc = input->tick(input->tick_user, err);
        return rc != 0 ? rc : 1;
    }
    return 1;
}

int br2_lines_fail(const struct br2_lines *lines, const char *what, const char *cure,
                   struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "'%s', line %llu: %s", lines->input->path,
             (unsigned long long)lines->number, what);
    br2_hint(err, "%s", cure);
    return BR2PGO_CORRUPT;
}

/* The value of a hexadecimal digit, 16 of anything else. */
static inline unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    unsigned letter = ((unsigned char)c | 0x20u) - 'a';
    return letter < 6 ? letter + 10 : 16;
}

bool br2_span_take_hex(struct br2_span *span, uint64_t *ret)
{
    const char *at = span->at;
    if (span->end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' && hex_digit(at[2]) < 16) {
        at += 2;
    }
    const char *first = at;
    uint64_t value = 0;
    unsigned digit;
    for (; at < span->end && (digit = hex_digit(*at)) < 16; at++) {
        if (value >> 60 != 0) {
            return false;
        }
        value = value << 4 | digit;
    }
    if (at == first) {
        return false;
    }
    span->at = at;
    *ret = value;
    return true;
}

bool br2_span_take_decimal(struct br2_span *span, uint64_t *ret)
{
    const char *at = span->at;
    uint64_t value = 0;
    for (; at < span->end && *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    if (at == span->at) {
        return false;
    }
    span->at = at;
    *ret = value;
    return true;
}

bool br2_span_take_build_id(struct br2_span *span, struct br2_build_id *ret)
{
    const char *at = span->at;
    uint8_t any = 0;
    *ret = (struct br2_build_id){0};
    while (span->end - at >= 2 && hex_digit(at[0]) < 16 && hex_digit(at[1]) < 16 &&
           ret->size < BR2_BUILD_ID_MAX) {
        uint8_t byte = (uint8_t)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
        ret->bytes[ret->size++] = byte;
        any |= byte;
        at += 2;
    }
    bool taken = ret->size != 0 && (at == span->end || hex_digit(*at) == 16);
    if (!taken || any == 0) {
        *ret = (struct br2_build_id){0};
    }
    span->at = taken ? at : span->at;
    return taken;
}

int br2_text_map_file(const struct br2_text_file *file, br2_task_sink sink, void *user,
                      struct br2pgo_error *err)
{
    char name[2 * BR2_BUILD_ID_MAX + 16];
    char id[2 * BR2_BUILD_ID_MAX + 1];
    struct br2_task_event event = {
        .kind = BR2_TASK_MMAP,
        .address = (uint64_t)file->number << BR2_TEXT_FILE_BITS,
        .length = UINT64_C(1) << BR2_TEXT_FILE_BITS,
        .build_id = file->build_id,
        .name = file->name,
    };
    if (file->name[0] == '\0' && file->build_id.size != 0) {
        snprintf(name, sizeof name, "[build-id %s]", br2_build_id_text(&file->build_id, id));
        event.name = name;
    }
    return sink(user, &event, err);
}

int br2_lines_add(const struct br2_lines *lines, uint64_t *sum, uint64_t count, uint64_t each,
                  struct br2pgo_error *err)
{
    uint64_t more;
    if (!__builtin_mul_overflow(count, each, &more) && more <= BR2_TEXT_SUM_MAX &&
        *sum <= BR2_TEXT_SUM_MAX - more) {
        *sum += more;
        return 0;
    }
    return br2_lines_fail(lines, "the counts up to here add up to more than 2^60",
                          "the file is damaged, or its counts must be scaled down", err);
}
