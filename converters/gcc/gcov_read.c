/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader of GCC's AutoFDO profiles, those of create_gcov included. */
#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "base/limits.h"
#include "base/number.h"
#include "converters/gcc/internal.h"

/* The fewest bytes each can take. */
#define MIN_NAME_SIZE     5
#define MIN_FUNCTION_SIZE 20
#define MIN_SAMPLE_SIZE   16
#define MIN_CALLSITE_SIZE 16
#define TARGET_SIZE       20
#define SUMMARY_LINE_SIZE 20
#define WORKING_SET_WORDS (3 * BR2_GCOV_WORKING_SETS)

struct reader {
    struct br2_profile *profile;
    struct br2_cursor cursor;
    uint32_t version;
    bool words;      /* strings are made of words */
    uint32_t *names; /* owned: name numbers by their place in the file's table */
    size_t name_count;
};

static int corrupt(const struct reader *reader, struct br2pgo_error *err, const char *what)
{
    return br2_fail(err, BR2PGO_CORRUPT, "the GCC profile is damaged at byte %zu: %s",
                    br2_cursor_offset(&reader->cursor),
                    reader->cursor.failed ? "it ends too early" : what);
}

static int read_header(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint32_t magic = br2_cursor_u32(c);
    reader->version = br2_cursor_u32(c);
    br2_cursor_u32(c); /* time stamp */
    if (c->failed) {
        return corrupt(reader, err, "");
    }
    if (magic != BR2_GCOV_MAGIC) {
        if (magic != __builtin_bswap32(BR2_GCOV_MAGIC)) {
            return br2_fail(err, BR2PGO_CORRUPT, "it does not begin as a GCC profile does");
        }
        br2_fail(err, BR2PGO_UNSUPPORTED, "the GCC profile is of a big-endian machine");
        br2_hint(err, "make it from the recording with br2pgo, for a little-endian machine");
        return BR2PGO_UNSUPPORTED;
    }
    bool known = reader->version >= 1 && reader->version <= BR2_GCOV_VERSION_3;
    if (!known && reader->version != BR2_GCOV_GOOGLE) {
        br2_fail(err, BR2PGO_UNSUPPORTED,
                 "the GCC profile has version 0x%" PRIx32 "; only 1, 2 and 3 are supported",
                 reader->version);
        br2_hint(err, "a .gcda file, which instrumented programs write, begins the same way but is "
                      "none");
        return BR2PGO_UNSUPPORTED;
    }
    return 0;
}

unsigned br2_gcov_version(const uint8_t *bytes, size_t size)
{
    struct br2_cursor c = br2_cursor_make(bytes, size, false);
    br2_cursor_skip(&c, sizeof(uint32_t)); /* magic */
    uint32_t version = br2_cursor_u32(&c);
    return !c.failed && version <= BR2_GCOV_VERSION_3 ? version : 0;
}

/* The summary's shape is checked; its numbers follow from the counts. */
static int read_summary(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    if (br2_cursor_u32(c) != BR2_GCOV_SUMMARY) {
        return corrupt(reader, err, "there is no summary");
    }
    br2_cursor_skip(c, 5 * sizeof(uint64_t)); /* total, maximum, maximal head, counts, functions */
    uint64_t lines = br2_cursor_u64(c);
    if (c->failed || lines > br2_cursor_left(c) / SUMMARY_LINE_SIZE) {
        return corrupt(reader, err, "the summary has more lines than fit");
    }
    br2_cursor_skip(c, (size_t)lines * SUMMARY_LINE_SIZE);
    return 0;
}

/* A string; NULL when it is none in this encoding. */
static const char *read_string(struct br2_cursor *c, bool words, size_t *ret_length)
{
    uint32_t number = br2_cursor_u32(c);
    size_t unit = words ? 4 : 1;
    if (c->failed || number == 0 || number > br2_cursor_left(c) / unit) {
        return NULL;
    }
    size_t size = number * unit;
    const char *text = (const char *)br2_cursor_bytes(c, size);
    *ret_length = strnlen(text, size);
    /* The NUL is in the last unit, and only zeros follow it. */
    for (size_t i = *ret_length; i < size; i++) {
        if (text[i] != '\0') {
            return NULL;
        }
    }
    return *ret_length < size && *ret_length >= size - unit ? text : NULL;
}

/* Whether the cursor, at the start of the string tables, stands before ones of this encoding. */
static bool are_tables(struct br2_cursor c, bool words, bool has_files)
{
    size_t length;
    uint32_t files = has_files ? br2_cursor_u32(&c) : 0;
    for (uint32_t i = 0; i < files; i++) {
        if (read_string(&c, words, &length) == NULL) {
            return false;
        }
    }
    uint32_t names = br2_cursor_u32(&c);
    for (uint32_t i = 0; i < names; i++) {
        if (read_string(&c, words, &length) == NULL) {
            return false;
        }
        uint32_t file = has_files ? br2_cursor_u32(&c) : BR2_GCOV_NO_FILE;
        if (file != BR2_GCOV_NO_FILE && file >= files) {
            return false;
        }
    }
    return br2_cursor_u32(&c) == BR2_GCOV_FUNCTIONS && !c.failed;
}

/* File numbers by their place in the file's table; freed by the caller. */
static int read_files(struct reader *reader, const char ***ret, struct br2pgo_error *err)
{
    uint32_t count = br2_cursor_u32(&reader->cursor);
    *ret = br2_calloc(count != 0 ? count : 1, sizeof **ret);
    if (*ret == NULL) {
        return br2_fail_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        (*ret)[i] = read_string(&reader->cursor, reader->words, &length); /* NUL-terminated */
    }
    return 0;
}

/* Tables that were looked through before. */
static int take_tables(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    bool has_files = reader->version == BR2_GCOV_VERSION_3;
    const char **files = NULL;
    int rc = has_files ? read_files(reader, &files, err) : 0;
    uint32_t count = rc == 0 ? br2_cursor_u32(c) : 0;
    reader->names = br2_calloc(count != 0 ? count : 1, sizeof *reader->names);
    if (rc == 0 && reader->names == NULL) {
        rc = br2_fail_memory(err);
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        size_t length = 0;
        const char *text = read_string(c, reader->words, &length);
        uint32_t name = br2_profile_name(reader->profile, text, length);
        uint32_t file = has_files ? br2_cursor_u32(c) : BR2_GCOV_NO_FILE;
        bool taken = name != BR2_NO_STRING;
        if (taken && file != BR2_GCOV_NO_FILE) {
            taken = br2_profile_set_file(reader->profile, name, files[file], strlen(files[file]));
        }
        rc = taken ? 0 : br2_fail_memory(err);
        reader->names[reader->name_count++] = name;
    }
    br2_free(files);
    return rc;
}

/*
 * Version 1 has strings of words, the others of bytes. create_gcov 0.19 writes words under any
 * version (its option only changes the number), so the tables themselves say what they are.
 */
static int read_names(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    if (br2_cursor_u32(c) != BR2_GCOV_NAMES) {
        return corrupt(reader, err, "there is no table of names");
    }
    br2_cursor_u32(c); /* length */
    bool has_files = reader->version == BR2_GCOV_VERSION_3;
    reader->words = reader->version == 1 || reader->version == BR2_GCOV_GOOGLE;
    if (!are_tables(*c, reader->words, has_files)) {
        reader->words = !reader->words;
        if (has_files || !are_tables(*c, reader->words, has_files)) {
            return corrupt(reader, err, "the table of names cannot be read");
        }
    }
    return take_tables(reader, err);
}

static int read_name(struct reader *reader, uint64_t place, uint32_t *ret, struct br2pgo_error *err)
{
    size_t length = 0;
    if (!reader->cursor.failed && place < reader->name_count) {
        *ret = reader->names[place];
        br2_strings_get(&reader->profile->names, *ret, &length);
    }
    return length != 0 ? 0 : corrupt(reader, err, "a name is not in the table");
}

static struct br2_place read_place(struct br2_cursor *c)
{
    uint32_t word = br2_cursor_u32(c);
    return (struct br2_place){.offset = word >> 16, .discriminator = word & 0xffff};
}

static int read_target(struct reader *reader, struct br2_body_sample *sample,
                       struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint32_t name = 0;
    if (br2_cursor_u32(c) != BR2_GCOV_INDIRECT_CALL) {
        return corrupt(reader, err, "a call target is of an unknown kind");
    }
    int rc = read_name(reader, br2_cursor_u64(c), &name, err);
    if (rc == 0 && !br2_profile_append_target(sample, name, br2_cursor_u64(c))) {
        rc = br2_fail_memory(err);
    }
    return rc;
}

static int read_sample(struct reader *reader, struct br2_function_profile *function,
                       struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    struct br2_body_sample *sample = br2_profile_append_sample(function, read_place(c));
    if (sample == NULL) {
        return br2_fail_memory(err);
    }
    uint32_t targets = br2_cursor_u32(c);
    sample->count = br2_cursor_u64(c);
    if (c->failed || targets > br2_cursor_left(c) / TARGET_SIZE) {
        return corrupt(reader, err, "a place has more call targets than fit");
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < targets; i++) {
        rc = read_target(reader, sample, err);
    }
    return rc;
}

static int read_callsites(struct reader *reader, struct br2_function_profile *function,
                          uint32_t count, unsigned depth, struct br2pgo_error *err);

/* What follows the name. */
static int read_body(struct reader *reader, struct br2_function_profile *function, unsigned depth,
                     struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint32_t samples = br2_cursor_u32(c);
    uint32_t callsites = br2_cursor_u32(c);
    if (c->failed || samples > br2_cursor_left(c) / MIN_SAMPLE_SIZE) {
        return corrupt(reader, err, "a function has more places than fit");
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < samples; i++) {
        rc = read_sample(reader, function, err);
    }
    return rc != 0 ? rc : read_callsites(reader, function, callsites, depth, err);
}

static int read_callsites(struct reader *reader, struct br2_function_profile *function,
                          uint32_t count, unsigned depth, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    if (count > br2_cursor_left(c) / MIN_CALLSITE_SIZE) {
        return corrupt(reader, err, "a function has more inlined functions than fit");
    }
    if (count != 0 && depth == BR2_PROFILE_DEPTH_MAX) {
        return corrupt(reader, err, "inlined functions are nested too deep");
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct br2_place place = read_place(c);
        uint32_t name = 0;
        rc = read_name(reader, br2_cursor_u32(c), &name, err);
        if (rc != 0) {
            return rc;
        }
        struct br2_function_profile *callee =
            br2_profile_append_inlinee(reader->profile, function, place, name);
        rc = callee != NULL ? read_body(reader, callee, depth + 1, err) : br2_fail_memory(err);
    }
    return rc;
}

/* Of two functions of one name GCC up to 15 takes the last, and 16 stops; here they add up. */
static int read_function(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint64_t head = br2_cursor_u64(c);
    uint64_t first_seen = reader->version == BR2_GCOV_VERSION_3 ? br2_cursor_u64(c) : 0;
    uint32_t name = 0;
    int rc = read_name(reader, br2_cursor_u32(c), &name, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_function_profile *function = br2_profile_function(reader->profile, name);
    if (function == NULL) {
        return br2_fail_memory(err);
    }
    function->head = br2_add_saturated(function->head, head);
    br2_profile_see(function, first_seen);
    return read_body(reader, function, 0, err);
}

static int read_functions(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    br2_cursor_skip(c, 2 * sizeof(uint32_t)); /* the tag, seen before, and a length */
    uint32_t count = br2_cursor_u32(c);
    if (c->failed || count > br2_cursor_left(c) / MIN_FUNCTION_SIZE) {
        return corrupt(reader, err, "there are more functions than fit");
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = read_function(reader, err);
    }
    return rc;
}

/* Modules, of which only Google's GCC knew any, and a working set that no GCC reads. */
static int read_rest(struct reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint32_t tag = br2_cursor_u32(c);
    br2_cursor_u32(c); /* length */
    uint32_t modules = br2_cursor_u32(c);
    if (c->failed || tag != BR2_GCOV_MODULES) {
        return corrupt(reader, err, "there is no table of modules");
    }
    if (modules != 0) {
        return br2_fail(err, BR2PGO_UNSUPPORTED,
                        "the GCC profile has modules (LIPO), which only Google's GCC 4 reads");
    }
    if (br2_cursor_left(c) == 0) {
        return 0;
    }
    tag = br2_cursor_u32(c);
    uint32_t words = br2_cursor_u32(c);
    br2_cursor_skip(c, WORKING_SET_WORDS * sizeof(uint32_t));
    if (c->failed || tag != BR2_GCOV_WORKING_SET || words != WORKING_SET_WORDS ||
        br2_cursor_left(c) != 0) {
        return corrupt(reader, err, "something unknown follows its last section");
    }
    return 0;
}

int br2_gcov_read(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                  struct br2pgo_error *err)
{
    struct reader reader = {.profile = profile};
    reader.cursor = br2_cursor_make(bytes, size, false);
    int rc = read_header(&reader, err);
    if (rc == 0 && reader.version == BR2_GCOV_VERSION_3) {
        rc = read_summary(&reader, err);
    }
    rc = rc != 0 ? rc : read_names(&reader, err);
    rc = rc != 0 ? rc : read_functions(&reader, err);
    rc = rc != 0 ? rc : read_rest(&reader, err);
    br2_free(reader.names);
    rc = rc != 0 ? rc : br2_profile_finish(profile, err);
    if (rc == 0) {
        br2_profile_derive_totals(profile);
    }
    return rc;
}
