/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts both binary formats are made of: magic, summary, name table, function records. All
 * numbers are unsigned LEB128. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/number.h"
#include "converters/llvm/internal.h"

/* "SPROF42" and a format byte, as one big-endian number in LEB128. */
const uint8_t br2_llvm_magic_binary[] = {0xff, 0xe5, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53};
const uint8_t br2_llvm_magic_extbinary[] = {0x84, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53};
static const uint8_t magic_compact[] = {0x82, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9, 0x94, 0xa8, 0x53};
#define MAGIC_FORMAT_BYTES 2 /* how many of them depend on the format byte */

bool br2_llvm_has_magic(const uint8_t *bytes, size_t size)
{
    return size >= BR2_LLVM_MAGIC_SIZE &&
           memcmp(bytes + MAGIC_FORMAT_BYTES, br2_llvm_magic_binary + MAGIC_FORMAT_BYTES,
                  BR2_LLVM_MAGIC_SIZE - MAGIC_FORMAT_BYTES) == 0;
}

int br2_llvm_write_summary(const struct br2_profile *profile, struct br2_buf *out,
                           struct br2pgo_error *err)
{
    struct br2_summary summary;
    int status = br2_profile_summarise(profile, &summary, err);
    if (status) {
        return status;
    }
    br2_buf_uleb(out, summary.total_count);
    br2_buf_uleb(out, summary.max_count);
    br2_buf_uleb(out, summary.max_head);
    br2_buf_uleb(out, summary.count_count);
    br2_buf_uleb(out, summary.function_count);
    br2_buf_uleb(out, BR2_SUMMARY_ENTRIES);
    for (size_t i = 0; i < BR2_SUMMARY_ENTRIES; i++) {
        br2_buf_uleb(out, br2_summary_cutoffs[i]);
        br2_buf_uleb(out, summary.entries[i].min_count);
        br2_buf_uleb(out, summary.entries[i].count_count);
    }
    return BR2PGO_OK;
}

static void write_name(struct br2_llvm_writer *writer, uint32_t name)
{
    br2_buf_uleb(writer->out, writer->names->places[name]);
}

static void write_place(struct br2_llvm_writer *writer, struct br2_place place)
{
    br2_buf_uleb(writer->out, place.offset);
    br2_buf_uleb(writer->out, place.discriminator);
}

static bool write_body(struct br2_llvm_writer *writer, const struct br2_function_profile *function)
{
    write_name(writer, function->name);
    br2_buf_uleb(writer->out, function->total);
    br2_buf_uleb(writer->out, function->sample_count);
    for (size_t i = 0; i < function->sample_count; i++) {
        const struct br2_body_sample *sample = &function->samples[i];
        const struct br2_call_target *targets =
            br2_llvm_target_order(writer->profile, sample, &writer->scratch);
        if (!targets) {
            return false;
        }
        write_place(writer, sample->place);
        br2_buf_uleb(writer->out, sample->count);
        br2_buf_uleb(writer->out, sample->target_count);
        for (size_t t = 0; t < sample->target_count; t++) {
            write_name(writer, targets[t].name);
            br2_buf_uleb(writer->out, targets[t].count);
        }
    }
    br2_buf_uleb(writer->out, function->callsite_count);
    for (size_t i = 0; i < function->callsite_count; i++) {
        write_place(writer, function->callsites[i].place);
        if (!write_body(writer, function->callsites[i].callee)) {
            return false;
        }
    }
    return true;
}

bool br2_llvm_write_function(struct br2_llvm_writer *writer,
                             const struct br2_function_profile *function)
{
    br2_buf_uleb(writer->out, function->head);
    return write_body(writer, function);
}

void br2_llvm_reader_done(struct br2_llvm_reader *reader)
{
    br2_free(reader->names);
    reader->names = NULL;
}

int br2_llvm_corrupt(const struct br2_llvm_reader *reader, struct br2pgo_error *err,
                     const char *what)
{
    return br2_fail(err, BR2PGO_CORRUPT, "%s (offset %zu of %s)",
                    reader->cursor.failed ? "the data ends too early" : what,
                    br2_cursor_offset(&reader->cursor), reader->where);
}

int br2_llvm_read_magic(struct br2_llvm_reader *reader, const uint8_t *magic,
                        struct br2pgo_error *err)
{
    const uint8_t *bytes = br2_cursor_bytes(&reader->cursor, BR2_LLVM_MAGIC_SIZE);
    if (bytes && memcmp(bytes, magic_compact, BR2_LLVM_MAGIC_SIZE) == 0) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "this is LLVM's compact binary profile format");
        br2_hint(err, "convert it with llvm-profdata 17 or older: merge --sample --extbinary");
        return BR2PGO_UNSUPPORTED;
    }
    if (!bytes || memcmp(bytes, magic, BR2_LLVM_MAGIC_SIZE) != 0) {
        return br2_llvm_corrupt(reader, err, "this is not the expected LLVM profile format");
    }
    uint64_t version = br2_cursor_uleb(&reader->cursor);
    if (reader->cursor.failed) {
        return br2_llvm_corrupt(reader, err, "");
    }
    if (version != BR2_LLVM_VERSION) {
        br2_fail(err, BR2PGO_UNSUPPORTED,
                 "the LLVM profile has version %" PRIu64 "; only version %d is supported", version,
                 BR2_LLVM_VERSION);
        br2_hint(err, "convert it with the llvm-profdata that belongs to its writer: merge "
                      "--sample --text");
        return BR2PGO_UNSUPPORTED;
    }
    return BR2PGO_OK;
}

int br2_llvm_read_summary(struct br2_llvm_reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    for (int i = 0; i < 5; i++) {
        br2_cursor_uleb(c); /* total, maximum, maximal head count, records, functions */
    }
    uint64_t entries = br2_cursor_uleb(c);
    if (c->failed || entries > br2_cursor_left(c) / 3) {
        return br2_llvm_corrupt(reader, err, "the summary has more entries than fit");
    }
    for (uint64_t i = 0; i < entries * 3; i++) {
        br2_cursor_uleb(c); /* cutoff, least count, records */
    }
    return c->failed ? br2_llvm_corrupt(reader, err, "") : BR2PGO_OK;
}

/* Room for `count` more names. */
static int reserve_names(struct br2_llvm_reader *reader, uint64_t count, struct br2pgo_error *err)
{
    if (reader->has_names) {
        return br2_llvm_corrupt(reader, err, "there is a second name table");
    }
    reader->names = br2_realloc_array(NULL, count ? (size_t)count : 1, sizeof *reader->names);
    if (!reader->names) {
        return br2_fail_memory(err);
    }
    reader->has_names = true;
    return BR2PGO_OK;
}

static int add_name(struct br2_llvm_reader *reader, const char *text, size_t length,
                    struct br2pgo_error *err)
{
    uint32_t name = br2_profile_name(reader->profile, text, length);
    if (name == BR2_NO_STRING) {
        return br2_fail_memory(err);
    }
    reader->names[reader->name_count++] = name;
    return BR2PGO_OK;
}

int br2_llvm_read_names(struct br2_llvm_reader *reader, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint64_t count = br2_cursor_uleb(c);
    if (c->failed || count > br2_cursor_left(c)) {
        return br2_llvm_corrupt(reader, err, "the name table has more names than fit");
    }
    int status = reserve_names(reader, count, err);
    for (uint64_t i = 0; !status && i < count; i++) {
        size_t length;
        const char *text = br2_cursor_string(c, &length);
        status = text ? add_name(reader, text, length, err) : br2_llvm_corrupt(reader, err, "");
    }
    return status;
}

int br2_llvm_read_names_md5(struct br2_llvm_reader *reader, bool fixed_length,
                            struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    uint64_t count = br2_cursor_uleb(c);
    if (c->failed || count > br2_cursor_left(c) / (fixed_length ? 8 : 1)) {
        return br2_llvm_corrupt(reader, err, "the name table has more hashes than fit");
    }
    int status = reserve_names(reader, count, err);
    for (uint64_t i = 0; !status && i < count; i++) {
        uint64_t hash = fixed_length ? br2_cursor_u64(c) : br2_cursor_uleb(c);
        if (c->failed) {
            return br2_llvm_corrupt(reader, err, "");
        }
        char text[24];
        int length = snprintf(text, sizeof text, "%" PRIu64, hash);
        status = add_name(reader, text, (size_t)length, err);
    }
    return status;
}

int br2_llvm_read_name(struct br2_llvm_reader *reader, uint32_t *ret, struct br2pgo_error *err)
{
    uint64_t place = br2_cursor_uleb(&reader->cursor);
    if (reader->cursor.failed || place >= reader->name_count) {
        return br2_llvm_corrupt(reader, err, "a name is not in the name table");
    }
    *ret = reader->names[place];
    return BR2PGO_OK;
}

int br2_llvm_read_place(struct br2_llvm_reader *reader, struct br2_place *ret,
                        struct br2pgo_error *err)
{
    uint64_t offset = br2_cursor_uleb(&reader->cursor);
    uint64_t discriminator = br2_cursor_uleb(&reader->cursor);
    if (reader->cursor.failed || offset > BR2_LLVM_MAX_OFFSET) {
        return br2_llvm_corrupt(reader, err, "a line offset is larger than 65535");
    }
    if (discriminator > UINT32_MAX) {
        return br2_llvm_corrupt(reader, err, "a discriminator has more than 32 bits");
    }
    *ret = (struct br2_place){.offset = (uint32_t)offset, .discriminator = (uint32_t)discriminator};
    return BR2PGO_OK;
}

/* The fewest bytes each can take. */
#define MIN_TARGET_SIZE   2
#define MIN_SAMPLE_SIZE   4
#define MIN_CALLSITE_SIZE 6

static int read_sample(struct br2_llvm_reader *reader, struct br2_function_profile *function,
                       struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    struct br2_place place = {0};
    int status = br2_llvm_read_place(reader, &place, err);
    if (status) {
        return status;
    }
    struct br2_body_sample *sample = br2_profile_append_sample(function, place);
    if (!sample) {
        return br2_fail_memory(err);
    }
    sample->count = br2_cursor_uleb(c);
    uint64_t targets = br2_cursor_uleb(c);
    if (c->failed || targets > br2_cursor_left(c) / MIN_TARGET_SIZE) {
        return br2_llvm_corrupt(reader, err, "a sample has more call targets than fit");
    }
    for (uint64_t i = 0; i < targets; i++) {
        uint32_t name = 0;
        status = br2_llvm_read_name(reader, &name, err);
        if (status) {
            return status;
        }
        if (!br2_profile_append_target(sample, name, br2_cursor_uleb(c))) {
            return br2_fail_memory(err);
        }
    }
    return c->failed ? br2_llvm_corrupt(reader, err, "") : BR2PGO_OK;
}

/* What follows the name. */
static int read_body(struct br2_llvm_reader *reader, struct br2_function_profile *function,
                     unsigned depth, struct br2pgo_error *err)
{
    struct br2_cursor *c = &reader->cursor;
    function->total = br2_add_saturated(function->total, br2_cursor_uleb(c));
    uint64_t samples = br2_cursor_uleb(c);
    if (c->failed || samples > br2_cursor_left(c) / MIN_SAMPLE_SIZE) {
        return br2_llvm_corrupt(reader, err, "a function has more samples than fit");
    }
    int status = BR2PGO_OK;
    for (uint64_t i = 0; !status && i < samples; i++) {
        status = read_sample(reader, function, err);
    }
    if (status) {
        return status;
    }
    uint64_t callsites = br2_cursor_uleb(c);
    if (c->failed || callsites > br2_cursor_left(c) / MIN_CALLSITE_SIZE) {
        return br2_llvm_corrupt(reader, err, "a function has more callsites than fit");
    }
    if (callsites > 0 && depth == BR2_PROFILE_DEPTH_MAX) {
        return br2_llvm_corrupt(reader, err, "inlined functions are nested too deep");
    }
    for (uint64_t i = 0; i < callsites; i++) {
        struct br2_place place = {0};
        uint32_t name = 0;
        status = br2_llvm_read_place(reader, &place, err);
        if (!status) {
            status = br2_llvm_read_name(reader, &name, err);
        }
        if (status) {
            return status;
        }
        struct br2_function_profile *callee =
            br2_profile_append_inlinee(reader->profile, function, place, name);
        if (!callee) {
            return br2_fail_memory(err);
        }
        status = read_body(reader, callee, depth + 1, err);
        if (status) {
            return status;
        }
    }
    return BR2PGO_OK;
}

int br2_llvm_read_function(struct br2_llvm_reader *reader, uint32_t *ret_name,
                           struct br2pgo_error *err)
{
    uint64_t head = br2_cursor_uleb(&reader->cursor);
    int status = br2_llvm_read_name(reader, ret_name, err);
    if (status) {
        return status;
    }
    struct br2_function_profile *function = br2_profile_function(reader->profile, *ret_name);
    if (!function) {
        return br2_fail_memory(err);
    }
    function->head = br2_add_saturated(function->head, head);
    return read_body(reader, function, 0, err);
}
