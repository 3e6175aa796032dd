/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The writer of GCC's AutoFDO profiles. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converters/gcc/internal.h"

#define UNUSED UINT32_MAX

struct writer {
    const struct br2_profile *profile;
    struct br2_buf *out;
    unsigned version;
    uint32_t *order; /* owned: name numbers that occur, sorted by their bytes */
    size_t count;
    uint32_t *places; /* owned: by name number: its place in the file's table */
    uint32_t *files;  /* owned: numbers of the files that occur, in the order of the names */
    size_t file_count;
    uint32_t *file_places;           /* owned: by file number: its place in the file's table */
    struct br2_call_target *targets; /* owned scratch */
    size_t target_capacity;
};

static void writer_done(struct writer *writer)
{
    br2_free(writer->order);
    br2_free(writer->places);
    br2_free(writer->files);
    br2_free(writer->file_places);
    br2_free(writer->targets);
}

static int refuse(struct br2pgo_error *err, const char *what)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "a GCC profile cannot hold %s", what);
    br2_hint(err, "write llvm-extbinary or llvm-text");
    return BR2PGO_UNSUPPORTED;
}

static int use(struct writer *writer, uint32_t name, struct br2pgo_error *err)
{
    size_t length;
    const char *text = br2_strings_get(&writer->profile->names, name, &length);
    if (length == 0 || length >= UINT32_MAX || memchr(text, '\0', length) != NULL) {
        return refuse(err, "a function name that is empty or contains a NUL byte");
    }
    if (writer->places[name] == UNUSED) {
        writer->places[name] = 0;
        writer->order[writer->count++] = name;
    }
    return 0;
}

static bool fits(struct br2_place place)
{
    return place.offset <= 0xffff && place.discriminator <= 0xffff;
}

/* Finds the names in use, and what has no place in the format. */
static int use_function(struct writer *writer, const struct br2_function_profile *function,
                        struct br2pgo_error *err)
{
    int rc = use(writer, function->name, err);
    for (size_t i = 0; rc == 0 && i < function->sample_count; i++) {
        const struct br2_body_sample *sample = &function->samples[i];
        if (!fits(sample->place)) {
            return refuse(err, "a line offset or discriminator of more than 16 bits");
        }
        for (size_t t = 0; rc == 0 && t < sample->target_count; t++) {
            rc = use(writer, sample->targets[t].name, err);
        }
    }
    for (size_t i = 0; rc == 0 && i < function->callsite_count; i++) {
        if (!fits(function->callsites[i].place)) {
            return refuse(err, "a line offset or discriminator of more than 16 bits");
        }
        rc = use_function(writer, function->callsites[i].callee, err);
    }
    return rc;
}

static int compare_names(const void *a, const void *b, void *user)
{
    return br2_profile_compare_names(user, *(const uint32_t *)a, *(const uint32_t *)b);
}

static int compare_functions(const void *a, const void *b, void *user)
{
    const struct br2_function_profile *x = *(const struct br2_function_profile *const *)a;
    const struct br2_function_profile *y = *(const struct br2_function_profile *const *)b;
    return br2_profile_compare_names(user, x->name, y->name);
}

static int compare_targets(const void *a, const void *b, void *user)
{
    const struct br2_call_target *x = a;
    const struct br2_call_target *y = b;
    return br2_profile_compare_names(user, x->name, y->name);
}

/* `number` as an array's size: no array is NULL. */
static size_t at_least_one(size_t number)
{
    return number != 0 ? number : 1;
}

static int collect_names(struct writer *writer, struct br2pgo_error *err)
{
    const struct br2_profile *profile = writer->profile;
    size_t room = at_least_one(profile->names.count);
    writer->order = br2_realloc_array(NULL, room, sizeof *writer->order);
    writer->places = br2_realloc_array(NULL, room, sizeof *writer->places);
    if (writer->order == NULL || writer->places == NULL) {
        return br2_fail_memory(err);
    }
    memset(writer->places, 0xff, room * sizeof *writer->places);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < profile->function_count; i++) {
        rc = use_function(writer, profile->functions[i], err);
    }
    qsort_r(writer->order, writer->count, sizeof *writer->order, compare_names,
            (void *)(uintptr_t)profile);
    for (size_t i = 0; i < writer->count; i++) {
        writer->places[writer->order[i]] = (uint32_t)i + 1; /* 0 is the empty name */
    }
    return rc;
}

static int collect_files(struct writer *writer, struct br2pgo_error *err)
{
    const struct br2_profile *profile = writer->profile;
    size_t room = at_least_one(profile->files.count);
    writer->files = br2_realloc_array(NULL, room, sizeof *writer->files);
    writer->file_places = br2_realloc_array(NULL, room, sizeof *writer->file_places);
    if (writer->files == NULL || writer->file_places == NULL) {
        return br2_fail_memory(err);
    }
    memset(writer->file_places, 0xff, room * sizeof *writer->file_places);
    for (size_t i = 0; i < writer->count; i++) {
        size_t length;
        const char *text = br2_profile_file(profile, writer->order[i], &length);
        if (text == NULL) {
            continue;
        }
        if (length >= UINT32_MAX || memchr(text, '\0', length) != NULL) {
            return refuse(err, "a file name that contains a NUL byte");
        }
        uint32_t file = br2_strings_find(&profile->files, text, length);
        if (writer->file_places[file] == UNUSED) {
            writer->file_places[file] = (uint32_t)writer->file_count;
            writer->files[writer->file_count++] = file;
        }
    }
    return 0;
}

/* Version 1 counts 4-byte words and pads, the others count bytes; both include a NUL. */
static void write_string(struct writer *writer, const char *text, size_t length)
{
    static const uint8_t zeros[4];
    size_t size = writer->version == 1 ? (length / 4 + 1) * 4 : length + 1;
    br2_buf_le32(writer->out, (uint32_t)(writer->version == 1 ? size / 4 : size));
    br2_buf_put(writer->out, text, length);
    br2_buf_put(writer->out, zeros, size - length);
}

/* A section's length, in words as version 1 has them. GCC ignores it, and so it is in the other
 * versions, whose strings are not made of words (create_gcov counts them so too). */
static void write_length(struct writer *writer, uint64_t words)
{
    br2_buf_le32(writer->out, words <= UINT32_MAX ? (uint32_t)words : 0);
}

static int write_summary(struct writer *writer, struct br2pgo_error *err)
{
    struct br2_summary summary;
    int rc = br2_profile_summarise(writer->profile, &summary, err);
    if (rc != 0) {
        return rc;
    }
    br2_buf_le32(writer->out, BR2_GCOV_SUMMARY); /* this section has no length */
    br2_buf_le64(writer->out, summary.total_count);
    br2_buf_le64(writer->out, summary.max_count);
    br2_buf_le64(writer->out, summary.max_head);
    br2_buf_le64(writer->out, summary.count_count);
    br2_buf_le64(writer->out, summary.function_count);
    br2_buf_le64(writer->out, BR2_SUMMARY_ENTRIES);
    for (size_t i = 0; i < BR2_SUMMARY_ENTRIES; i++) {
        br2_buf_le32(writer->out, br2_summary_cutoffs[i]);
        br2_buf_le64(writer->out, summary.entries[i].min_count);
        br2_buf_le64(writer->out, summary.entries[i].count_count);
    }
    return 0;
}

static void write_files(struct writer *writer)
{
    br2_buf_le32(writer->out, (uint32_t)writer->file_count);
    for (size_t i = 0; i < writer->file_count; i++) {
        size_t length;
        const char *text = br2_strings_get(&writer->profile->files, writer->files[i], &length);
        write_string(writer, text, length);
    }
}

static uint32_t file_place(const struct writer *writer, uint32_t name)
{
    size_t length;
    const char *text = br2_profile_file(writer->profile, name, &length);
    if (text == NULL) {
        return BR2_GCOV_NO_FILE;
    }
    return writer->file_places[br2_strings_find(&writer->profile->files, text, length)];
}

static void write_names(struct writer *writer)
{
    uint64_t words = 1 + 2; /* the number of names, and the empty one */
    for (size_t i = 0; i < writer->count; i++) {
        size_t length;
        br2_strings_get(&writer->profile->names, writer->order[i], &length);
        words += 1 + (length + 4) / 4;
    }
    br2_buf_le32(writer->out, BR2_GCOV_NAMES);
    write_length(writer, words);
    if (writer->version >= BR2_GCOV_VERSION_3) {
        write_files(writer);
    }
    br2_buf_le32(writer->out, (uint32_t)writer->count + 1);
    write_string(writer, "", 0);
    if (writer->version >= BR2_GCOV_VERSION_3) {
        br2_buf_le32(writer->out, BR2_GCOV_NO_FILE);
    }
    for (size_t i = 0; i < writer->count; i++) {
        size_t length;
        const char *text = br2_strings_get(&writer->profile->names, writer->order[i], &length);
        write_string(writer, text, length);
        if (writer->version >= BR2_GCOV_VERSION_3) {
            br2_buf_le32(writer->out, file_place(writer, writer->order[i]));
        }
    }
}

static uint64_t count_words(const struct br2_function_profile *function)
{
    uint64_t words = 3 + 4 * (uint64_t)function->sample_count + function->callsite_count;
    for (size_t i = 0; i < function->sample_count; i++) {
        words += 5 * (uint64_t)function->samples[i].target_count;
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        words += count_words(function->callsites[i].callee);
    }
    return words;
}

static void write_place(struct writer *writer, struct br2_place place)
{
    br2_buf_le32(writer->out, place.offset << 16 | place.discriminator);
}

/* By name, as create_gcov has them: GCC looks for the busiest itself. */
static bool write_targets(struct writer *writer, const struct br2_body_sample *sample)
{
    size_t count = sample->target_count;
    if (count > writer->target_capacity) {
        struct br2_call_target *grown =
            br2_realloc_array(writer->targets, count, sizeof *writer->targets);
        if (grown == NULL) {
            return false;
        }
        writer->targets = grown;
        writer->target_capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        writer->targets[i] = sample->targets[i];
    }
    if (count > 1) {
        qsort_r(writer->targets, count, sizeof *writer->targets, compare_targets,
                (void *)(uintptr_t)writer->profile);
    }
    for (size_t i = 0; i < count; i++) {
        br2_buf_le32(writer->out, BR2_GCOV_INDIRECT_CALL);
        br2_buf_le64(writer->out, writer->places[writer->targets[i].name]);
        br2_buf_le64(writer->out, writer->targets[i].count);
    }
    return true;
}

/* Recursion: as deep as functions are inlined, which the makers of profiles limit. */
static bool write_body(struct writer *writer, const struct br2_function_profile *function)
{
    br2_buf_le32(writer->out, writer->places[function->name]);
    br2_buf_le32(writer->out, (uint32_t)function->sample_count);
    br2_buf_le32(writer->out, (uint32_t)function->callsite_count);
    for (size_t i = 0; i < function->sample_count; i++) {
        const struct br2_body_sample *sample = &function->samples[i];
        write_place(writer, sample->place);
        br2_buf_le32(writer->out, (uint32_t)sample->target_count);
        br2_buf_le64(writer->out, sample->count);
        if (!write_targets(writer, sample)) {
            return false;
        }
    }
    for (size_t i = 0; i < function->callsite_count; i++) {
        write_place(writer, function->callsites[i].place);
        if (!write_body(writer, function->callsites[i].callee)) {
            return false;
        }
    }
    return true;
}

static int write_functions(struct writer *writer, struct br2pgo_error *err)
{
    size_t count = writer->profile->function_count;
    const struct br2_function_profile **order = br2_calloc(count, sizeof(*order));
    if (order == NULL) {
        return br2_fail_memory(err);
    }
    uint64_t words = 1 + 2 * (uint64_t)count;
    for (size_t i = 0; i < count; i++) {
        order[i] = writer->profile->functions[i];
        words += count_words(order[i]);
    }
    qsort_r(order, count, sizeof(*order), compare_functions, (void *)(uintptr_t)writer->profile);
    br2_buf_le32(writer->out, BR2_GCOV_FUNCTIONS);
    write_length(writer, words);
    br2_buf_le32(writer->out, (uint32_t)count);
    bool written = true;
    for (size_t i = 0; written && i < count; i++) {
        br2_buf_le64(writer->out, order[i]->head);
        if (writer->version >= BR2_GCOV_VERSION_3) {
            br2_buf_le64(writer->out, order[i]->first_seen);
        }
        written = write_body(writer, order[i]);
    }
    br2_free(order);
    return written ? 0 : br2_fail_memory(err);
}

/* No GCC reads it, but the tools of create_gcov do not go without. */
static int write_working_sets(struct writer *writer, struct br2pgo_error *err)
{
    struct br2_summary_entry sets[BR2_GCOV_WORKING_SETS];
    int rc = br2_profile_working_sets(writer->profile, BR2_GCOV_WORKING_SETS, sets, err);
    if (rc != 0) {
        return rc;
    }
    br2_buf_le32(writer->out, BR2_GCOV_WORKING_SET);
    br2_buf_le32(writer->out, 3 * BR2_GCOV_WORKING_SETS);
    for (size_t i = 0; i < BR2_GCOV_WORKING_SETS; i++) {
        uint64_t count = sets[i].count_count;
        br2_buf_le32(writer->out, count <= UINT32_MAX ? (uint32_t)count : UINT32_MAX);
        br2_buf_le64(writer->out, sets[i].min_count);
    }
    return 0;
}

static int check_profile(const struct br2_profile *profile, unsigned version,
                         struct br2pgo_error *err)
{
    if (version < 1 || version > BR2_GCOV_VERSION_3) {
        return br2_fail(err, BR2PGO_INVALID,
                        "GCC profiles have no version %u: they have 1, 2 and 3", version);
    }
    if (profile->function_count == 0) {
        return br2_fail(err, BR2PGO_USELESS, "no function is in the profile");
    }
    if (profile->md5_names) {
        return refuse(err, "MD5 hashes instead of names");
    }
    if (profile->has_checksums) {
        return refuse(err, "pseudo-probe checksums");
    }
    return profile->fs_discriminators ? refuse(err, "flow-sensitive discriminators") : 0;
}

int br2_gcov_write(const struct br2_profile *profile, const struct br2_write_options *options,
                   struct br2_buf *out, struct br2pgo_error *err)
{
    bool chosen = options != NULL && options->gcov_version != 0;
    struct writer writer = {
        .profile = profile,
        .out = out,
        .version = chosen ? options->gcov_version : BR2_GCOV_DEFAULT,
    };
    int rc = check_profile(profile, writer.version, err);
    rc = rc != 0 ? rc : collect_names(&writer, err);
    if (rc == 0 && writer.version >= BR2_GCOV_VERSION_3) {
        rc = collect_files(&writer, err);
    }
    if (rc == 0) {
        br2_buf_le32(out, BR2_GCOV_MAGIC);
        br2_buf_le32(out, writer.version);
        br2_buf_le32(out, 0); /* a time stamp, ignored */
    }
    if (rc == 0 && writer.version >= BR2_GCOV_VERSION_3) {
        rc = write_summary(&writer, err);
    }
    if (rc == 0) {
        write_names(&writer);
        rc = write_functions(&writer, err);
    }
    if (rc == 0) {
        br2_buf_le32(out, BR2_GCOV_MODULES);
        br2_buf_le32(out, 1); /* word */
        br2_buf_le32(out, 0); /* modules: GCC stops at any other number */
    }
    if (rc == 0 && writer.version < BR2_GCOV_VERSION_3) {
        rc = write_working_sets(&writer, err);
    }
    writer_done(&writer);
    return rc;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "adcg", 4) == 0;
}

const struct br2_format br2_format_gcov = {
    .name = "gcov",
    .suffixes = {".gcov"},
    .description = "GCC AutoFDO profile (gcc -fauto-profile)",
    .product = BR2_PRODUCT_PROFILE,
    .gcc_rules = true,
    .binary = true,
    .capabilities = BR2_CAN_GCC_VERSION,
    .probe = probe,
    .write_profile = br2_gcov_write,
    .read_profile = br2_gcov_read,
};
