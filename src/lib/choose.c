/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which of the recorded images is the one, and which file on this machine is it? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "lib/all_images.h"
#include "lib/match.h"

/* Without being told, an image is taken when it has this share of the records that lie in files,
 * and no other has half as many. */
#define CLEAR_SHARE 0.5

/* An image of any recording, by what identifies it. */
struct candidate {
    const struct br2_dso *dso;
    uint64_t count;
};

struct candidates {
    struct candidate *items;
    size_t count;
    size_t capacity;
    struct br2_strings keys; /* same numbers as items, until those are sorted */
    uint64_t records;        /* of all that lie in files */
};

static void candidates_done(struct candidates *candidates)
{
    br2_free(candidates->items);
    br2_strings_done(&candidates->keys);
}

uint32_t br2_image_number(struct br2_strings *images, const struct br2_dso *dso)
{
    struct br2_buf key = {0};
    if (dso->build_id.size != 0) {
        br2_buf_put(&key, dso->build_id.bytes, dso->build_id.size);
    } else {
        br2_buf_le64(&key, dso->inode);
        br2_buf_str(&key, dso->path);
    }
    uint32_t number = BR2_NO_STRING;
    if (!key.failed) {
        number = br2_strings_add(images, (const char *)key.bytes, key.size);
    }
    br2_buf_done(&key);
    return number;
}

static bool add_candidate(struct candidates *candidates, const struct br2_dso *dso, uint64_t count)
{
    if (!br2_grow(&candidates->items, &candidates->capacity, candidates->count,
                  sizeof *candidates->items)) {
        return false;
    }
    uint32_t number = br2_image_number(&candidates->keys, dso);
    if (number == candidates->count) {
        candidates->items[candidates->count++] = (struct candidate){.dso = dso};
    }
    if (number != BR2_NO_STRING) {
        candidates->items[number].count += count;
    }
    return number != BR2_NO_STRING;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left;
    const struct candidate *b = right;
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return strcmp(a->dso->path, b->dso->path);
}

static int find_candidates(struct br2pgo_conversion *conversion, struct candidates *ret,
                           struct br2pgo_error *err)
{
    *ret = (struct candidates){0};
    for (size_t i = 0; i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        const struct br2_dsos *dsos = br2_recording_dsos(recording);
        for (size_t k = 0; k < dsos->count; k++) {
            if (!dsos->items[k].file || recording->sources[k] == 0) {
                continue;
            }
            if (!add_candidate(ret, &dsos->items[k], recording->sources[k])) {
                candidates_done(ret);
                return br2_fail_memory(err);
            }
            ret->records += recording->sources[k];
        }
    }
    if (ret->count != 0) {
        qsort(ret->items, ret->count, sizeof *ret->items, compare_candidates);
    }
    return 0;
}

/* "'/usr/bin/a' 61.0 %, '/lib/b.so' 12.0 %": the first few. */
static void describe(const struct candidates *candidates, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < candidates->count && i < 5; i++) {
        double share = 100.0 * (double)candidates->items[i].count / (double)candidates->records;
        int length = snprintf(text + used, size - used, "%s'%s' %.1f %%", i != 0 ? ", " : "",
                              candidates->items[i].dso->path, share);
        if (length < 0 || (size_t)length >= size - used) {
            return;
        }
        used += (size_t)length;
    }
}

static bool is_library(const char *path)
{
    const char *so = strstr(br2_base_name(path), ".so");
    while (so != NULL && so[3] != '\0' && so[3] != '.') {
        so = strstr(so + 3, ".so");
    }
    return so != NULL;
}

static bool is_clear(const struct candidates *candidates)
{
    const struct candidate *first = &candidates->items[0];
    bool half = (double)first->count >= CLEAR_SHARE * (double)candidates->records;
    bool ahead = candidates->count == 1 || candidates->items[1].count <= first->count / 2;
    return half && ahead && !first->dso->kernel && !is_library(first->dso->path);
}

int br2_take_recorded_image(struct br2pgo_conversion *conversion, const char *path,
                            struct br2pgo_error *err)
{
    size_t length;
    const char *root = br2_image_root(conversion, &length);
    conversion->image_path = br2_format("%.*s%s", (int)length, root, path);
    conversion->image_chosen = true;
    return conversion->image_path != NULL ? 0 : br2_fail_memory(err);
}

/* Whether a recording does not say which file it is of. */
static bool has_unnamed(const struct br2pgo_conversion *conversion)
{
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_dsos *dsos = br2_recording_dsos(&conversion->recordings[i]);
        for (size_t k = 0; k < dsos->count; k++) {
            if (dsos->items[k].path[0] == '\0') {
                return true;
            }
        }
    }
    return false;
}

/* Sets the image's path to that of the clearly busiest executable. */
static int choose_path(struct br2pgo_conversion *conversion, const struct candidates *candidates,
                       struct br2pgo_error *err)
{
    if (candidates->count == 0 && has_unnamed(conversion)) {
        br2_fail(err, BR2PGO_AMBIGUOUS, "'%s' does not say which program it is of",
                 conversion->recordings[0].path);
        br2_hint(err, "name it with --binary FILE");
        return BR2PGO_AMBIGUOUS;
    }
    if (candidates->count == 0) {
        br2_fail(err, BR2PGO_USELESS, "no branch record lies in a file that the recording knows");
        br2_hint(err, "see what it holds: br2pgo inspect '%s'", conversion->recordings[0].path);
        return BR2PGO_USELESS;
    }
    if (!is_clear(candidates)) {
        char list[900];
        describe(candidates, list, sizeof list);
        br2_fail(err, BR2PGO_AMBIGUOUS,
                 "no executable has clearly most of the branch records: which one is meant?");
        br2_hint(err, "choose with --binary FILE; records by image: %s", list);
        return BR2PGO_AMBIGUOUS;
    }
    return br2_take_recorded_image(conversion, candidates->items[0].dso->path, err);
}

/* `recording`: the one that knows another build; NULL where there is only one. */
static int refuse_build_id(const struct br2pgo_conversion *conversion,
                           const struct br2_recording *recording, const struct br2_dso *dso,
                           struct br2pgo_error *err)
{
    char recorded[2 * BR2_BUILD_ID_MAX + 1];
    char present[2 * BR2_BUILD_ID_MAX + 1];
    br2_build_id_text(&dso->build_id, recorded);
    br2_build_id_text(br2_image_build_id(conversion->image), present);
    if (recording == NULL) {
        br2_fail(err, BR2PGO_USELESS,
                 "'%s' has build-id %s, but the recording is of '%s' with build-id %s",
                 conversion->image_path, present, dso->path, recorded);
    } else {
        br2_fail(err, BR2PGO_USELESS, "'%s' has build-id %s, but '%s' is of '%s' with build-id %s",
                 conversion->image_path, present, recording->path, dso->path, recorded);
    }
    br2_hint(err, "give the very file that was recorded with --binary, or --ignore-build-id if the "
                  "code is the same");
    return BR2PGO_USELESS;
}

/* Whether the busiest image and the file both have a build-id, so that they are told apart by it.
 */
static bool has_other_build_id(const struct br2pgo_conversion *conversion,
                               const struct candidates *candidates)
{
    return candidates->items[0].dso->build_id.size != 0 &&
           br2_image_build_id(conversion->image)->size != 0 && !conversion->options.ignore_build_id;
}

static int refuse_image(const struct br2pgo_conversion *conversion,
                        const struct candidates *candidates, struct br2pgo_error *err)
{
    char list[900];
    describe(candidates, list, sizeof list);
    br2_fail(err, BR2PGO_USELESS, "no branch record lies in '%s'", conversion->image_path);
    bool unsure = candidates->count != 0 && is_clear(candidates) &&
                  candidates->items[0].dso->build_id.size == 0;
    if (list[0] != '\0') {
        br2_hint(err, "records by image: %s%s", list,
                 unsure ? "; if it is that under another name, --ignore-build-id says so" : "");
    } else {
        br2_hint(err, "see what was recorded: br2pgo inspect '%s'", conversion->recordings[0].path);
    }
    return BR2PGO_USELESS;
}

/* Records that were counted: not those of a wrong path, empty or older than an empty one, nor those
 * left out. Of a recording of straight runs alone, those. */
static uint64_t all_records(const struct br2pgo_conversion *conversion)
{
    uint64_t records = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_count_stats *stats = &conversion->recordings[i].stats;
        uint64_t counted = stats->lone_runs;
        if (stats->records != 0) {
            counted = stats->records - stats->wrong_path - stats->not_taken - stats->empty -
                      stats->stale - conversion->recordings[i].kernel_records -
                      conversion->recordings[i].rare_records;
        }
        records += conversion->recordings[i].factor * counted;
    }
    return records;
}

static void note_name(struct br2pgo_conversion *conversion, const struct br2_dso *dso)
{
    bool differs = dso->build_id.size != 0 && br2_image_build_id(conversion->image)->size != 0;
    br2_note(conversion, BR2PGO_NOTE_WARNING, "'%s' is taken for the recorded '%s'%s",
             conversion->image_path, dso->path,
             differs ? ", although their build-ids differ"
                     : " by its name and code segments: there is no build-id to compare");
}

/* Looks for the image in every recording. A recording of another build of it ends the search; one
 * without it is said to add nothing. Sets `ret` to the best match, with the records of all. */
static int match_recordings(struct br2pgo_conversion *conversion,
                            const struct br2_file_identity *file, struct br2_matching *ret,
                            struct br2pgo_error *err)
{
    bool several = conversion->recording_count > 1;
    const struct br2_dso *named = NULL;
    uint64_t records = 0;
    *ret = (struct br2_matching){.best = BR2_MATCH_NO};
    for (size_t i = 0; i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        struct br2_matching matching = br2_match_recording(conversion, recording, file);
        if (matching.best == BR2_MATCH_OTHER_BUILD && matching.records != 0 &&
            matching.dso != NULL && !(several && conversion->options.skip_bad)) {
            return refuse_build_id(conversion, several ? recording : NULL, matching.dso, err);
        }
        if (matching.best <= BR2_MATCH_OTHER_BUILD) {
            matching.records = 0;
        }
        records += matching.records;
        if (matching.best > ret->best) {
            *ret = matching;
        }
        if (matching.records == 0 && several && !conversion->borrows_recordings) {
            br2_note(conversion, BR2PGO_NOTE_WARNING,
                     "'%s' has no branch record in '%s': it adds nothing", recording->path,
                     conversion->image_path);
        } else if (matching.best == BR2_MATCH_NAME && matching.dso != NULL &&
                   (named == NULL || strcmp(named->path, matching.dso->path) != 0)) {
            named = matching.dso;
            note_name(conversion, named);
        }
    }
    ret->records = records;
    return 0;
}

static int match_image(struct br2pgo_conversion *conversion, const struct candidates *candidates,
                       struct br2pgo_error *err)
{
    struct br2_file_identity file = br2_identify(conversion);
    bool clear = candidates->count != 0 && is_clear(candidates);
    if (clear && conversion->options.ignore_build_id) {
        file.stands_for = candidates->items[0].dso->path;
    }
    struct br2_matching matching;
    int rc = match_recordings(conversion, &file, &matching, err);
    if (rc != 0) {
        return rc;
    }
    if (matching.best == BR2_MATCH_OTHER_BUILD) {
        return refuse_build_id(conversion, NULL, matching.dso, err);
    }
    if (matching.best == BR2_MATCH_NO && clear && has_other_build_id(conversion, candidates)) {
        return refuse_build_id(conversion, NULL, candidates->items[0].dso, err);
    }
    if (matching.best == BR2_MATCH_NO || matching.records == 0) {
        return refuse_image(conversion, candidates, err);
    }
    /* Of all images, the table of results says it. */
    bool tell = conversion->image_chosen && !conversion->borrows_recordings;
    if (matching.best == BR2_MATCH_UNNAMED) {
        br2_note(conversion, BR2PGO_NOTE_DETAIL,
                 "image: '%s', as given: the recording does not name it", conversion->image_path);
        return 0;
    }
    br2_note(conversion, tell ? BR2PGO_NOTE_CHOICE : BR2PGO_NOTE_DETAIL,
             "image: '%s', %.1f %% of the branch records start in it", conversion->image_path,
             100.0 * (double)matching.records / (double)all_records(conversion));
    return 0;
}

static int open_image(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc;
    struct stat st;
    if (conversion->image_chosen && stat(conversion->image_path, &st) == 0 &&
        !S_ISREG(st.st_mode)) {
        /* A recording may name anything, also a pipe that nobody writes to. */
        rc = br2_fail(err, BR2PGO_IO, "'%s' is not a regular file", conversion->image_path);
    } else {
        rc = br2_image_open(conversion->image_path, &conversion->image, err);
    }
    if (rc == BR2PGO_IO && conversion->image_chosen && br2_download_image(conversion)) {
        return 0;
    }
    if (rc != 0 && conversion->image_chosen) {
        br2_hint(err, "that is where the recording says the busiest program lies: give it with "
                      "--binary FILE, or the folder it lies below with --sysroot");
    }
    return rc;
}

/* Executables and libraries: what the kernel runs of itself has no profile. */
int br2_list_images(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct candidates candidates;
    int rc = find_candidates(conversion, &candidates, err);
    if (rc != 0) {
        return rc;
    }
    conversion->parts = br2_calloc(candidates.count, sizeof *conversion->parts);
    for (size_t i = 0; conversion->parts != NULL && i < candidates.count; i++) {
        const struct candidate *candidate = &candidates.items[i];
        if (candidate->dso->kernel) {
            continue;
        }
        struct br2_image_part part = {
            .path = br2_strdup(candidate->dso->path),
            .records = candidate->count,
            .share = (double)candidate->count / (double)all_records(conversion),
        };
        if (part.path == NULL) {
            rc = br2_fail_memory(err);
            break;
        }
        conversion->parts[conversion->part_count++] = part;
    }
    candidates_done(&candidates);
    return conversion->parts != NULL ? rc : br2_fail_memory(err);
}

int br2_choose_image(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct candidates candidates;
    int rc = find_candidates(conversion, &candidates, err);
    if (rc != 0) {
        return rc;
    }
    if (conversion->image_path == NULL) {
        rc = choose_path(conversion, &candidates, err);
    }
    if (rc == 0) {
        rc = open_image(conversion, err);
    }
    if (rc == 0) {
        rc = match_image(conversion, &candidates, err);
    }
    candidates_done(&candidates);
    return rc;
}
