/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading fdata. BOLT ends at the first line it does not understand and says nothing more; here
 * such a line is an error. */
#include <string.h>

#include "base/number.h"
#include "converters/bolt/fdata.h"

struct reader {
    struct br2_fdata *fdata;
    const char *at; /* in the line */
    const char *end;
    size_t line;
    struct br2_buf name; /* of the place in hand, without escapes */
    struct br2pgo_error *err;
};

static int corrupt(const struct reader *r, const char *what)
{
    return br2_fail(r->err, BR2PGO_CORRUPT, "line %zu: %s", r->line, what);
}

static void skip_spaces(struct reader *r)
{
    while (r->at < r->end && *r->at == ' ') {
        r->at++;
    }
}

/* A number and the spaces behind it. */
static bool take_number(struct reader *r, unsigned base, uint64_t *ret)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at != ' ') {
        r->at++;
    }
    *ret = 0;
    bool good = br2_parse_number(start, (size_t)(r->at - start), base, ret);
    skip_spaces(r);
    return good;
}

static int take_name(struct reader *r, uint32_t *ret)
{
    r->name.size = 0;
    while (r->at < r->end && *r->at != ' ') {
        if (*r->at == '\\') {
            r->at++;
        }
        if (r->at == r->end || *r->at == '\0') {
            return corrupt(r, "a name with a backslash at its end, or a NUL byte");
        }
        br2_buf_u8(&r->name, (uint8_t)*r->at++);
    }
    if (r->name.failed) {
        return br2_fail_memory(r->err);
    }
    if (r->name.size == 0) {
        return corrupt(r, "expected a name");
    }
    skip_spaces(r);
    *ret = br2_strings_add(&r->fdata->names, (const char *)r->name.bytes, r->name.size);
    return *ret != BR2_NO_STRING ? 0 : br2_fail_memory(r->err);
}

static int take_place(struct reader *r, bool memory, struct br2_fdata_place *ret)
{
    uint64_t kind;
    uint64_t first = memory ? 3 : 0;
    if (!take_number(r, 10, &kind) || kind < first || kind > first + 2) {
        return corrupt(r, memory ? "expected a kind, 3 to 5" : "expected a kind, 0 to 2");
    }
    ret->symbol = kind != first;
    int rc = take_name(r, &ret->name);
    if (rc == 0 && !take_number(r, 16, &ret->offset)) {
        rc = corrupt(r, "expected an offset, hexadecimal");
    }
    return rc;
}

static int take_count(struct reader *r, uint64_t *ret)
{
    return take_number(r, 10, ret) ? 0 : corrupt(r, "expected a count");
}

static int take_record(struct reader *r)
{
    struct br2_fdata_record record = {.class = BR2_FDATA_BRANCH};
    bool memory = *r->at >= '3' && *r->at <= '5';
    if (memory) {
        record.class = BR2_FDATA_MEMORY;
    } else if (r->fdata->no_lbr) {
        record.class = BR2_FDATA_SAMPLE;
    }
    int rc = take_place(r, memory, &record.from);
    if (rc == 0 && record.class != BR2_FDATA_SAMPLE) {
        rc = take_place(r, memory, &record.to);
    }
    if (rc == 0 && record.class == BR2_FDATA_BRANCH) {
        rc = take_count(r, &record.mispredicted);
    }
    rc = rc != 0 ? rc : take_count(r, &record.count);
    if (rc == 0 && r->at != r->end) {
        rc = corrupt(r, "more fields than a record has");
    }
    if (rc == 0 && !br2_fdata_add(r->fdata, &record)) {
        rc = br2_fail_memory(r->err);
    }
    return rc;
}

/* Whether the line starts with `word`, alone or with more behind a space. */
static bool starts_with(const struct reader *r, const char *word)
{
    size_t length = strlen(word);
    size_t left = (size_t)(r->end - r->at);
    return left >= length && memcmp(r->at, word, length) == 0 &&
           (left == length || r->at[length] == ' ');
}

static int take_line(struct reader *r)
{
    struct br2_fdata *fdata = r->fdata;
    bool is_header = fdata->count == 0;
    if (is_header && !fdata->no_lbr && starts_with(r, "no_lbr")) {
        fdata->no_lbr = true;
        r->at += strlen("no_lbr");
        br2_buf_put(&fdata->events, r->at, (size_t)(r->end - r->at));
        return fdata->events.failed ? br2_fail_memory(r->err) : 0;
    }
    if (is_header && !fdata->bolted && starts_with(r, "boltedcollection")) {
        fdata->bolted = true;
        return 0;
    }
    if (r->at == r->end) {
        return corrupt(r, "it is empty");
    }
    return take_record(r);
}

int br2_fdata_read(struct br2_fdata *ret, const uint8_t *bytes, size_t size,
                   struct br2pgo_error *err)
{
    struct reader r = {.fdata = ret, .err = err};
    const char *at = (const char *)bytes;
    const char *end = at + size;
    int rc = 0;
    while (rc == 0 && at < end) {
        r.line++;
        r.at = at;
        r.end = memchr(at, '\n', (size_t)(end - at));
        if (r.end == NULL) {
            rc = corrupt(&r, "it has no end: the file was cut short");
            break;
        }
        at = r.end + 1;
        rc = take_line(&r);
    }
    br2_buf_done(&r.name);
    return rc;
}
