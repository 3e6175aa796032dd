/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading LLVM's text sample profile. The grammar is LLVM's own, down to where it is lenient: a
 * line that is indented deeper than any function open belongs to the innermost one. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/number.h"
#include "converters/llvm/text.h"

struct piece {
    const char *text;
    size_t length;
};

struct line_target {
    uint32_t name;
    uint32_t order; /* in the line: of two targets of one name the later counts */
    uint64_t count;
};

struct text_reader {
    struct br2_profile *profile;
    struct br2pgo_error *err;
    const char *at;
    const char *end;
    size_t line_number;
    struct br2_function_profile *stack[BR2_PROFILE_DEPTH_MAX + 1];
    size_t depth;                /* functions on the stack */
    size_t metadata_depth;       /* of the last metadata line, 0 = none since the last function */
    struct line_target *targets; /* owned: of the current line */
    size_t target_count;
    size_t target_capacity;
};

static int corrupt(struct text_reader *r, const char *what)
{
    return br2_fail(r->err, BR2PGO_CORRUPT, "line %zu: %s", r->line_number, what);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits only, all of them, at most `max`. */
static bool parse_number(const char *text, size_t length, uint64_t max, uint64_t *ret)
{
    return br2_parse_number(text, length, 10, ret) && *ret <= max;
}

/* The next line that is neither blank nor a comment, without its end. */
static bool next_line(struct text_reader *r, struct piece *ret)
{
    while (r->at < r->end) {
        const char *start = r->at;
        const char *stop = memchr(start, '\n', (size_t)(r->end - start));
        r->at = stop ? stop + 1 : r->end;
        r->line_number++;
        if (!stop) {
            stop = r->end;
        } else if (stop > start && stop[-1] == '\r') {
            stop--;
        }
        const char *first = start;
        while (first < stop && *first == ' ') {
            first++;
        }
        if (first < stop && *first != '#') {
            *ret = (struct piece){start, (size_t)(stop - start)};
            return true;
        }
    }
    return false;
}

/* The last colon in text[0..length), or NULL. */
static const char *last_colon(const char *text, size_t length)
{
    return memrchr(text, ':', length);
}

/* NAME:TOTAL:HEAD; the name may contain colons. */
static bool parse_header(struct piece line, struct piece *ret_name, uint64_t *ret_total,
                         uint64_t *ret_head)
{
    const char *second = last_colon(line.text, line.length);
    const char *first = second ? last_colon(line.text, (size_t)(second - line.text)) : NULL;
    if (!first || first == line.text || line.text[0] == ' ') {
        return false;
    }
    *ret_name = (struct piece){line.text, (size_t)(first - line.text)};
    size_t head_length = line.length - (size_t)(second + 1 - line.text);
    return parse_number(first + 1, (size_t)(second - first - 1), UINT64_MAX, ret_total) &&
           parse_number(second + 1, head_length, UINT64_MAX, ret_head);
}

bool br2_llvm_probe_text(const uint8_t *bytes, size_t size)
{
    if (size == 0) {
        return false;
    }
    struct text_reader r = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct piece line, name;
    uint64_t total, head;
    return next_line(&r, &line) && parse_header(line, &name, &total, &head);
}

static int read_header(struct text_reader *r, struct piece line)
{
    struct piece name;
    uint64_t total, head;
    if (!parse_header(line, &name, &total, &head)) {
        return corrupt(r, "expected NAME:TOTAL:HEAD");
    }
    if (name.text[0] == '[') {
        br2_fail(r->err, BR2PGO_UNSUPPORTED,
                 "line %zu: this is a context-sensitive LLVM profile (CSSPGO)", r->line_number);
        br2_hint(r->err, "make it context-free with llvm-profdata merge --sample --text "
                         "--convert-sample-profile-layout=flat");
        return BR2PGO_UNSUPPORTED;
    }
    uint32_t number = br2_profile_name(r->profile, name.text, name.length);
    struct br2_function_profile *function = NULL;
    if (number != BR2_NO_STRING) {
        function = br2_profile_function(r->profile, number);
    }
    if (!function) {
        return br2_fail_memory(r->err);
    }
    function->total = br2_add_saturated(function->total, total);
    function->head = br2_add_saturated(function->head, head);
    r->stack[0] = function;
    r->depth = 1;
    r->metadata_depth = 0;
    return BR2PGO_OK;
}

/* OFFSET[.DISCRIMINATOR] */
static bool parse_place(struct piece text, struct br2_place *ret)
{
    const char *dot = memchr(text.text, '.', text.length);
    size_t offset_length = dot ? (size_t)(dot - text.text) : text.length;
    uint64_t offset, discriminator = 0;
    if (!parse_number(text.text, offset_length, BR2_LLVM_MAX_OFFSET, &offset)) {
        return false;
    }
    if (dot &&
        !parse_number(dot + 1, text.length - offset_length - 1, UINT32_MAX, &discriminator)) {
        return false;
    }
    *ret = (struct br2_place){(uint32_t)offset, (uint32_t)discriminator};
    return true;
}

static int keep_target(struct text_reader *r, const char *name, size_t length, uint64_t count)
{
    uint32_t number = br2_profile_name(r->profile, name, length);
    if (number == BR2_NO_STRING ||
        !br2_grow(&r->targets, &r->target_capacity, r->target_count, sizeof *r->targets)) {
        return br2_fail_memory(r->err);
    }
    r->targets[r->target_count] = (struct line_target){number, (uint32_t)r->target_count, count};
    r->target_count++;
    return BR2PGO_OK;
}

/* The end of the call target at `at`, its colon and count; NULL where there is no count. Names that
 * are not mangled contain spaces and colons themselves, so a name ends at the first colon that a
 * number and a space, or the end of the line, follow. */
static const char *find_count(const char *at, const char *end, const char **ret_colon,
                              uint64_t *ret_count)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));
    while (colon) {
        const char *stop = colon + 1;
        while (stop < end && is_digit(*stop)) {
            stop++;
        }
        if ((stop == end || *stop == ' ') &&
            parse_number(colon + 1, (size_t)(stop - colon - 1), UINT64_MAX, ret_count)) {
            *ret_colon = colon;
            return stop;
        }
        colon = memchr(stop, ':', (size_t)(end - stop));
    }
    return NULL;
}

/* [NAME:COUNT]*, separated by spaces */
static int parse_targets(struct text_reader *r, const char *at, const char *end)
{
    r->target_count = 0;
    for (;;) {
        while (at < end && *at == ' ') {
            at++;
        }
        if (at == end) {
            return BR2PGO_OK;
        }
        const char *colon;
        uint64_t count;
        const char *stop = *at != ':' ? find_count(at, end, &colon, &count) : NULL;
        if (!stop) {
            return corrupt(r, "expected call targets, NAME:COUNT each, after the count");
        }
        int status = keep_target(r, at, (size_t)(colon - at), count);
        if (status) {
            return status;
        }
        at = stop;
    }
}

static int compare_line_targets(const void *a, const void *b)
{
    const struct line_target *x = a, *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static int add_targets(struct text_reader *r, struct br2_body_sample *sample)
{
    if (r->target_count > 1) {
        qsort(r->targets, r->target_count, sizeof *r->targets, compare_line_targets);
    }
    for (size_t i = 0; i < r->target_count; i++) {
        bool last = i + 1 == r->target_count || r->targets[i + 1].name != r->targets[i].name;
        if (last && !br2_profile_append_target(sample, r->targets[i].name, r->targets[i].count)) {
            return br2_fail_memory(r->err);
        }
    }
    return BR2PGO_OK;
}

/* COUNT[ TARGET:COUNT]* */
static int read_sample(struct text_reader *r, struct br2_place place, struct piece rest)
{
    const char *end = rest.text + rest.length;
    const char *space = memchr(rest.text, ' ', rest.length);
    size_t length = space ? (size_t)(space - rest.text) : rest.length;
    uint64_t count;
    if (!parse_number(rest.text, length, UINT64_MAX, &count)) {
        return corrupt(r, "expected a sample count");
    }
    int status = parse_targets(r, rest.text + length, end);
    if (status) {
        return status;
    }
    struct br2_body_sample *sample = br2_profile_append_sample(r->stack[r->depth - 1], place);
    if (!sample) {
        return br2_fail_memory(r->err);
    }
    sample->count = count;
    return add_targets(r, sample);
}

/* CALLEE:TOTAL */
static int read_callsite(struct text_reader *r, struct br2_place place, struct piece rest)
{
    size_t prefix = sizeof BR2_LLVM_VTABLE_PREFIX - 1;
    if (rest.length >= prefix && memcmp(rest.text, BR2_LLVM_VTABLE_PREFIX, prefix) == 0) {
        return br2_fail(r->err, BR2PGO_UNSUPPORTED,
                        "line %zu: this LLVM profile has vtable records, which are not supported",
                        r->line_number);
    }
    const char *colon = last_colon(rest.text, rest.length);
    uint64_t total;
    if (!colon || colon == rest.text ||
        !parse_number(colon + 1, rest.length - (size_t)(colon + 1 - rest.text), UINT64_MAX,
                      &total)) {
        return corrupt(r, "expected COUNT or CALLEE:TOTAL after the place");
    }
    if (r->depth > BR2_PROFILE_DEPTH_MAX) {
        return corrupt(r, "inlined functions are nested too deep");
    }
    uint32_t name = br2_profile_name(r->profile, rest.text, (size_t)(colon - rest.text));
    struct br2_function_profile *callee = NULL;
    if (name != BR2_NO_STRING) {
        callee = br2_profile_append_inlinee(r->profile, r->stack[r->depth - 1], place, name);
    }
    if (!callee) {
        return br2_fail_memory(r->err);
    }
    callee->total = total;
    r->stack[r->depth++] = callee;
    r->metadata_depth = 0;
    return BR2PGO_OK;
}

/* The number after the keyword, spaces around it allowed. */
static bool parse_metadata(struct piece text, const char *keyword, uint64_t max, uint64_t *ret)
{
    size_t length = strlen(keyword);
    if (text.length < length || memcmp(text.text, keyword, length) != 0) {
        return false;
    }
    const char *at = text.text + length, *end = text.text + text.length;
    while (at < end && *at == ' ') {
        at++;
    }
    while (end > at && end[-1] == ' ') {
        end--;
    }
    return parse_number(at, (size_t)(end - at), max, ret);
}

static int read_metadata(struct text_reader *r, size_t depth, struct piece text)
{
    struct br2_function_profile *function = r->stack[r->depth - 1];
    uint64_t value;
    /* LLVM's reader takes a checksum of 0 for none: one before it stays. */
    if (parse_metadata(text, "!CFGChecksum:", UINT64_MAX, &value)) {
        function->checksum = value != 0 ? value : function->checksum;
        if (depth == 1 && value != 0) {
            r->profile->has_checksums = true;
        }
    } else if (parse_metadata(text, "!Attributes:", UINT32_MAX, &value)) {
        function->attributes = (uint32_t)value;
    } else if (text.length != strlen("!Flat") || memcmp(text.text, "!Flat", text.length) != 0) {
        /* "!Flat" says that there are no callsites, which is plain to see. */
        return corrupt(r, "expected !CFGChecksum: N, !Attributes: N or !Flat");
    }
    r->metadata_depth = depth;
    return BR2PGO_OK;
}

/* A line that begins with spaces. */
static int read_body_line(struct text_reader *r, struct piece line)
{
    size_t depth = 0;
    while (line.text[depth] == ' ') { /* ends: the line is not blank */
        depth++;
    }
    if (r->depth == 0) {
        return corrupt(r, "expected NAME:TOTAL:HEAD before the first sample");
    }
    while (r->depth > depth) {
        r->depth--;
    }
    struct piece text = {line.text + depth, line.length - depth};
    if (text.text[0] == '!') {
        return read_metadata(r, depth, text);
    }
    if (depth == r->metadata_depth) {
        return corrupt(r, "a sample follows the function's metadata");
    }
    const char *colon = memchr(text.text, ':', text.length);
    struct br2_place place;
    size_t place_length = colon ? (size_t)(colon - text.text) : 0;
    if (!colon || !parse_place((struct piece){text.text, place_length}, &place)) {
        return corrupt(r, "expected OFFSET[.DISCRIMINATOR]: (an offset is at most 65535)");
    }
    struct piece rest = {colon + 1, text.length - place_length - 1};
    if (rest.length < 2 || rest.text[0] != ' ') {
        return corrupt(r, "expected a space and a count or a callee after the place");
    }
    rest.text++;
    rest.length--;
    return is_digit(rest.text[0]) ? read_sample(r, place, rest) : read_callsite(r, place, rest);
}

int br2_llvm_read_text(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                       struct br2pgo_error *err)
{
    struct text_reader *r = br2_calloc(1, sizeof *r);
    if (!r) {
        return br2_fail_memory(err);
    }
    r->profile = profile;
    r->err = err;
    r->at = size > 0 ? (const char *)bytes : "";
    r->end = r->at + size;
    int status = BR2PGO_OK;
    struct piece line;
    while (!status && next_line(r, &line)) {
        if (memchr(line.text, '\0', line.length)) {
            status = corrupt(r, "there is a NUL byte");
        } else if (line.text[0] == ' ') {
            status = read_body_line(r, line);
        } else {
            status = read_header(r, line);
        }
    }
    br2_free(r->targets);
    br2_free(r);
    return status ? status : br2_profile_finish(profile, err);
}
