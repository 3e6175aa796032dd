/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the text inputs share: lines, numbers in them, and files side by side in one address space.
 * Lines are handed out where they lie in the file; nothing is copied.
 */
#ifndef BR2_INPUT_TEXT_TEXT_H
#define BR2_INPUT_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "input/input_private.h"

/* A stretch of text that is taken apart from its beginning. */
struct br2_span {
    const char *at; /* <= end */
    const char *end;
};

/* Takes the first line, `ret` is without its end (LF, CRLF) and blanks before that. False at the
 * end of `rest`. Of one that is longer than BR2_LINE_MAX only so much is taken, and nothing follows
 * it. */
bool br2_span_take_line(struct br2_span *rest, struct br2_span *ret);

/* A walk over the lines of a recording. */
struct br2_lines {
    struct br2_input *input;
    struct br2_span rest;
    uint64_t number; /* of the line handed out last, from 1 */
};

void br2_lines_start(struct br2_lines *lines, struct br2_input *input);
/* The next line, as br2_span_take_line takes it. 1, 0 at the end, or what a tick returned. */
int br2_lines_next(struct br2_lines *lines, struct br2_span *ret, struct br2pgo_error *err);
/* "line N: ..." with BR2PGO_CORRUPT; `cure` is the hint. */
int br2_lines_fail(const struct br2_lines *lines, const char *what, const char *cure,
                   struct br2pgo_error *err);

static inline size_t br2_span_left(const struct br2_span *span)
{
    return (size_t)(span->end - span->at);
}
static inline bool br2_span_is(const struct br2_span *span, char c)
{
    return span->at < span->end && *span->at == c;
}
static inline bool br2_span_take(struct br2_span *span, char c)
{
    if (!br2_span_is(span, c)) {
        return false;
    }
    span->at++;
    return true;
}
static inline bool br2_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline void br2_span_skip_blanks(struct br2_span *span)
{
    while (span->at < span->end && br2_is_blank(*span->at)) {
        span->at++;
    }
}
static inline bool br2_span_begins(const struct br2_span *span, const char *word)
{
    size_t length = strlen(word);
    return br2_span_left(span) >= length && memcmp(span->at, word, length) == 0;
}
/* Takes `word` from the beginning, if it is there. */
static inline bool br2_span_take_word(struct br2_span *span, const char *word)
{
    bool there = br2_span_begins(span, word);
    span->at += there ? strlen(word) : 0;
    return there;
}

/* Takes digits of either case, with or without 0x before them. False, and nothing taken, where
 * there are none, or the number is above UINT64_MAX. */
bool br2_span_take_hex(struct br2_span *span, uint64_t *ret);
bool br2_span_take_decimal(struct br2_span *span, uint64_t *ret);
/* Takes pairs of hexadecimal digits, 1 to 20 of them, as far as they go. All zeros are no build-id.
 */
bool br2_span_take_build_id(struct br2_span *span, struct br2_build_id *ret);

/*
 * Files side by side: the address in file number `file` of so many. What lies outside of all, and
 * an address that no file has, is br2_file_place_outside.
 */
#define BR2_TEXT_FILE_BITS 48
static inline uint64_t br2_file_place(uint32_t file, uint64_t address)
{
    uint64_t outside = (uint64_t)(BR2_TEXT_FILES_MAX + 1) << BR2_TEXT_FILE_BITS | 1;
    return address == 0 || address >> BR2_TEXT_FILE_BITS != 0
               ? outside
               : (uint64_t)file << BR2_TEXT_FILE_BITS | address;
}

struct br2_text_file {
    uint32_t number;
    const char *name; /* "" where it is not known */
    struct br2_build_id build_id;
};
/* Reports the mapping of a file in that space, for process 0. */
int br2_text_map_file(const struct br2_text_file *file, br2_task_sink sink, void *user,
                      struct br2pgo_error *err);

/* Adds `count`, times `each`, to the sum of all that a text counts: BR2PGO_CORRUPT above 2^60, so
 * that no sum of counts wraps later. */
int br2_lines_add(const struct br2_lines *lines, uint64_t *sum, uint64_t count, uint64_t each,
                  struct br2pgo_error *err);

#endif
