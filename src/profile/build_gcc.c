/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What only the profiles of GCC need. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "profile/build_private.h"
#include "profile/constructor.h"
#include "profile/fit.h"

/* Discriminators under which one call site is written again. A line with more blocks is a macro's,
 * and its lowest are those that were there before code was inlined. */
#define SECOND_CALLSITES_MAX 16

/* A name and a file together, as one string; freed with br2_buf_done. Of the file the base name:
 * that is what GCC 16 compares (--param profile-func-internal-id=0). */
static struct br2_buf pair_key(const char *name, size_t length, const char *file)
{
    struct br2_buf key = {0};
    br2_buf_put(&key, name, length);
    br2_buf_u8(&key, 0);
    br2_buf_str(&key, br2_base_name(file));
    return key;
}

static int note_file(struct builder *builder, const char *name, size_t length, const char *file,
                     struct br2pgo_error *err)
{
    struct name_files *files = &builder->files;
    size_t names = files->names.count;
    size_t pairs = files->pairs.count;
    uint32_t number = br2_strings_add(&files->names, name, length);
    uint32_t pair = BR2_NO_STRING;
    struct br2_buf key = pair_key(name, length, file);
    if (!key.failed) {
        pair = br2_strings_add(&files->pairs, (const char *)key.bytes, key.size);
    }
    br2_buf_done(&key);
    if (number == BR2_NO_STRING || pair == BR2_NO_STRING ||
        !br2_grow(&files->files, &files->files_capacity, names, sizeof *files->files) ||
        !br2_grow(&files->ordinals, &files->ordinals_capacity, pairs, sizeof *files->ordinals)) {
        return br2_fail_memory(err);
    }
    if (number == names) {
        files->files[number] = 0;
    }
    if (pair == pairs) {
        files->ordinals[pair] = files->files[number]++;
    }
    return 0;
}

int br2_build_note_files(struct builder *builder, const struct br2_debug_function *debug,
                         struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < debug->scope_count; i++) {
        const char *name = debug->scopes[i].name;
        size_t length = br2_canonical_length(name, strlen(name), builder->options->suffixes, 0);
        if (length != 0) {
            rc = note_file(builder, name, length, br2_debug_file_path(debug->scopes[i].decl_file),
                           err);
        }
    }
    return rc;
}

/* Where functions of different files have one name, GCC 16 tells ".lto_priv.N" ones apart by their
 * files: it cuts the suffix for the comparison with the function's own name. */
static char *name_in_file(const struct builder *builder, const char *name, size_t length,
                          const char *file)
{
    const struct name_files *files = &builder->files;
    uint32_t number = br2_strings_find(&files->names, name, length);
    if (number == BR2_NO_STRING || files->files[number] < 2) {
        return br2_strndup(name, length);
    }
    struct br2_buf key = pair_key(name, length, file);
    if (key.failed) {
        br2_buf_done(&key);
        return NULL;
    }
    uint32_t pair = br2_strings_find(&files->pairs, (const char *)key.bytes, key.size);
    br2_buf_done(&key);
    if (pair == BR2_NO_STRING) { /* a file none of whose functions ran */
        return br2_strndup(name, length);
    }
    return br2_format("%.*s.lto_priv.%u", (int)length, name, files->ordinals[pair]);
}

int br2_build_file_name(struct builder *builder, const char *name, size_t length, const char *file,
                        uint32_t *ret, struct br2pgo_error *err)
{
    char *text = name_in_file(builder, name, length, file);
    *ret = BR2_NO_STRING;
    if (text != NULL) {
        br2_make_concrete(text, length);
        *ret = br2_profile_name(builder->profile, text, strlen(text));
        br2_free(text);
    }
    if (*ret == BR2_NO_STRING ||
        (file[0] != '\0' && !br2_profile_set_file(builder->profile, *ret, file, strlen(file)))) {
        return br2_fail_memory(err);
    }
    return 0;
}

/* A row of the line table that belongs to a scope's own code. */
struct row {
    uint32_t scope;
    uint32_t line;
    uint32_t discriminator;
};

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    if (a->scope != b->scope) {
        return a->scope < b->scope ? -1 : 1;
    }
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    return a->discriminator < b->discriminator ? -1 : a->discriminator > b->discriminator;
}

/* The rows that have a discriminator, sorted, each once. */
static size_t collect_rows(const struct builder *builder, const struct source_function *function,
                           struct row *rows)
{
    const struct br2_debug_function *debug = function->debug;
    size_t count = 0;
    for (size_t i = 0; i < debug->location_count; i++) {
        const struct br2_location *location = &debug->locations[i];
        struct br2_place place = br2_build_place(builder, function, &debug->scopes[location->scope],
                                                 location->line, location->discriminator);
        if (location->line != 0 && place.discriminator != 0) {
            rows[count++] = (struct row){location->scope, location->line, place.discriminator};
        }
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_rows(&rows[kept - 1], &rows[i]) != 0) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

/* Index of the first row that is not before `row`. */
static size_t first_row(const struct row *rows, size_t count, struct row row)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&rows[middle], &row) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int add_second(struct builder *builder, const struct source_function *function, size_t scope,
                      uint32_t discriminator, struct br2pgo_error *err)
{
    if (!br2_grow(&builder->second, &builder->second_capacity, builder->second_count,
                  sizeof *builder->second)) {
        return br2_fail_memory(err);
    }
    const struct br2_scope *callee = &function->debug->scopes[scope];
    const struct br2_scope *caller = &function->debug->scopes[callee->parent];
    builder->second[builder->second_count++] = (struct second_callsite){
        .caller = function->nodes[callee->parent],
        .callee = function->nodes[scope],
        .place = {.offset = (callee->call_line - caller->decl_line) & 0xffff,
                  .discriminator = discriminator},
    };
    return 0;
}

int br2_build_second_callsites(struct builder *builder, const struct source_function *function,
                               struct br2pgo_error *err)
{
    const struct br2_debug_function *debug = function->debug;
    struct row *rows = br2_calloc(debug->location_count, sizeof *rows);
    if (rows == NULL) {
        return br2_fail_memory(err);
    }
    size_t count = collect_rows(builder, function, rows);
    int rc = 0;
    for (size_t i = 1; rc == 0 && i < debug->scope_count; i++) {
        if (function->nodes[i] == NULL ||
            function->nodes[i] == function->nodes[debug->scopes[i].parent]) {
            continue;
        }
        struct row row = {debug->scopes[i].parent, debug->scopes[i].call_line, 0};
        size_t at = first_row(rows, count, row);
        for (size_t n = 0; rc == 0 && n < SECOND_CALLSITES_MAX && at + n < count &&
                           rows[at + n].scope == row.scope && rows[at + n].line == row.line;
             n++) {
            rc = add_second(builder, function, i, rows[at + n].discriminator, err);
        }
    }
    br2_free(rows);
    return rc;
}

static int copy_samples(struct br2_function_profile *to, const struct br2_function_profile *from,
                        struct br2pgo_error *err)
{
    for (size_t i = 0; i < from->sample_count; i++) {
        struct br2_body_sample *sample = br2_profile_sample(to, from->samples[i].place);
        if (sample == NULL) {
            return br2_fail_memory(err);
        }
        sample->count = from->samples[i].count;
        for (size_t t = 0; t < from->samples[i].target_count; t++) {
            const struct br2_call_target *target = &from->samples[i].targets[t];
            if (!br2_profile_target(sample, target->name, target->count)) {
                return br2_fail_memory(err);
            }
        }
    }
    return 0;
}

/*
 * Under the call statement's discriminator GCC 13 to 15 only ask whether to inline, for which they
 * look at the total; once it is inlined, they look for everything in it under discriminator 0. So
 * what is inlined in the second copy is there by its total alone: whole copies of copies would
 * double with every level.
 */
static int copy_callee(struct builder *builder, const struct second_callsite *second,
                       struct br2pgo_error *err)
{
    const struct br2_function_profile *from = second->callee;
    struct br2_profile *profile = builder->profile;
    if (from->total == 0 ||
        br2_profile_find_inlinee(profile, second->caller, second->place, from->name) != NULL) {
        return 0;
    }
    struct br2_function_profile *to =
        br2_profile_inlinee(profile, second->caller, second->place, from->name);
    int rc = to != NULL ? copy_samples(to, from, err) : br2_fail_memory(err);
    for (size_t i = 0; rc == 0 && i < from->callsite_count; i++) {
        const struct br2_callsite *inner = &from->callsites[i];
        if (inner->place.discriminator != 0 || inner->callee->total == 0) {
            continue;
        }
        struct br2_function_profile *copy =
            br2_profile_inlinee(profile, to, inner->place, inner->callee->name);
        struct br2_body_sample *sample =
            copy != NULL ? br2_profile_sample(copy, (struct br2_place){0}) : NULL;
        if (sample == NULL) {
            return br2_fail_memory(err);
        }
        sample->count = inner->callee->total;
    }
    return rc;
}

static bool has_lines(const struct br2_function_profile *function)
{
    bool any = function->sample_count != 0;
    for (size_t i = 0; !any && i < function->callsite_count; i++) {
        any = has_lines(function->callsites[i].callee);
    }
    return any;
}

/*
 * The line of a call that was inlined and never ran is known not to run. GCC reads the profile when
 * it has inlined what the profile has counts for, and nothing more of that size: such a call still
 * stands there. Without a record of its line, a branch to it would be as good as even.
 * Recursion: as deep as functions are inlined.
 */
static int add_idle_calls(struct br2_function_profile *function, struct br2pgo_error *err)
{
    for (size_t i = 0; i < function->callsite_count; i++) {
        struct br2_function_profile *callee = function->callsites[i].callee;
        int rc = add_idle_calls(callee, err);
        if (rc != 0) {
            return rc;
        }
        if (callee->total == 0 && has_lines(callee) &&
            br2_profile_sample(function, function->callsites[i].place) == NULL) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

int br2_build_finish_gcc(struct builder *builder, struct br2pgo_error *err)
{
    struct br2_profile *profile = builder->profile;
    br2_profile_derive_totals(profile);
    bool idle = builder->options->rules != BR2_RULES_GCC_16;
    for (size_t i = 0; idle && i < profile->function_count; i++) {
        int rc = add_idle_calls(profile->functions[i], err);
        if (rc != 0) {
            return rc;
        }
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        br2_profile_floor_head(profile->functions[i]);
        if (builder->options->rules == BR2_RULES_GCC_16) {
            br2_profile_drop_targets(profile->functions[i]);
        }
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < builder->second_count; i++) {
        rc = copy_callee(builder, &builder->second[i], err);
    }
    if (rc == 0 && builder->second_count != 0) {
        br2_profile_derive_totals(profile);
    }
    return rc;
}

void br2_build_gcc_done(struct builder *builder)
{
    br2_strings_done(&builder->files.names);
    br2_strings_done(&builder->files.pairs);
    br2_free(builder->files.files);
    br2_free(builder->files.ordinals);
    br2_free(builder->second);
}
