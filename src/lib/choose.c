/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which of the recorded images is the one, and which file on this machine is it? */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "lib/all_images.h"
#include "lib/conversion.h"

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
        const struct br2_dsos *dsos = br2_spaces_dsos(recording->spaces);
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

/* The folder that recorded paths begin at, without the slash they begin with. */
static const char *get_root(const struct br2pgo_conversion *conversion, size_t *ret_length)
{
    const char *root = conversion->options.sysroot != NULL ? conversion->options.sysroot : "";
    *ret_length = strlen(root);
    while (*ret_length != 0 && root[*ret_length - 1] == '/') {
        --*ret_length;
    }
    return root;
}

int br2_take_recorded_image(struct br2pgo_conversion *conversion, const char *path,
                            struct br2pgo_error *err)
{
    size_t length;
    const char *root = get_root(conversion, &length);
    conversion->image_path = br2_format("%.*s%s", (int)length, root, path);
    conversion->image_chosen = true;
    return conversion->image_path != NULL ? 0 : br2_fail_memory(err);
}

/* Whether a recording does not say which file it is of. */
static bool has_unnamed(const struct br2pgo_conversion *conversion)
{
    for (size_t i = 0; i < conversion->recording_count; i++) {
        const struct br2_dsos *dsos = br2_spaces_dsos(conversion->recordings[i].spaces);
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

/* How surely a recorded image is the file that was opened. */
enum match {
    MATCH_NO,
    MATCH_OTHER_BUILD, /* same path or name, another build-id */
    MATCH_UNNAMED,     /* the recording does not say which file it is of */
    MATCH_NAME,        /* same base name, and its mappings fit the file's segments */
    MATCH_PATH,
    MATCH_INODE,
    MATCH_BUILD_ID,
};

struct fit {
    const struct br2_image *image;
    bool fits;
};

/* Whether code can be where a mapping says: its first byte in the file is in a code segment's
 * pages. */
static void check_mapping(void *user, const struct br2_mapping *mapping)
{
    struct fit *fit = user;
    const struct br2_segment *segments;
    size_t count = br2_image_segments(fit->image, &segments);
    uint64_t length = mapping->end - mapping->start;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = segments[i].mapped_offset;
        if (mapping->file_offset <= first && first - mapping->file_offset < length) {
            fit->fits = true;
        }
    }
}

static bool mappings_fit(const struct br2_recording *recording, uint32_t dso,
                         const struct br2_image *image)
{
    struct fit fit = {.image = image};
    br2_spaces_each_mapping(recording->spaces, dso, check_mapping, &fit);
    return fit.fits;
}

/* The image's file, looked at once. */
struct file_identity {
    struct stat st;
    char real[PATH_MAX]; /* "" where it cannot be resolved */
    /* The clearly busiest executable, where the user says that a file of another name and build is
     * still it; else NULL. */
    const char *stands_for;
};

static bool same_path(const struct br2pgo_conversion *conversion, const struct br2_dso *dso,
                      const struct file_identity *file)
{
    const char *path = conversion->image_path;
    size_t length;
    const char *root = get_root(conversion, &length);
    if (strcmp(path, dso->path) == 0 ||
        (strncmp(path, root, length) == 0 && strcmp(path + length, dso->path) == 0)) {
        return true;
    }
    return strcmp(file->real, dso->path) == 0;
}

/* The same base name; a kernel module may be recorded as "[name]", with '_' for '-'. */
static bool same_name(const char *image_path, const char *recorded)
{
    const char *image = br2_base_name(image_path);
    if (recorded[0] != '[') {
        return strcmp(image, br2_base_name(recorded)) == 0;
    }
    size_t length = strlen(recorded);
    if (length < 3 || recorded[length - 1] != ']' || strlen(image) != length - 2 + 3 ||
        strcmp(image + length - 2, ".ko") != 0) {
        return false;
    }
    for (size_t i = 0; i < length - 2; i++) {
        char c = image[i] == '-' ? '_' : image[i];
        if (c != recorded[i + 1]) {
            return false;
        }
    }
    return true;
}

static enum match match_dso(const struct br2pgo_conversion *conversion,
                            const struct br2_recording *recording, uint32_t number,
                            const struct file_identity *file)
{
    const struct br2_dso *dso = &br2_spaces_dsos(recording->spaces)->items[number];
    const struct br2_build_id *build_id = br2_image_build_id(conversion->image);
    if (dso->path[0] == '\0') {
        return MATCH_UNNAMED;
    }
    bool path = same_path(conversion, dso, file);
    bool name = same_name(conversion->image_path, dso->path) ||
                (file->stands_for != NULL && strcmp(file->stands_for, dso->path) == 0);
    if (dso->build_id.size != 0 && build_id->size != 0) {
        if (br2_build_id_equal(&dso->build_id, build_id)) {
            return MATCH_BUILD_ID;
        }
        if (!conversion->options.ignore_build_id) {
            return path || name ? MATCH_OTHER_BUILD : MATCH_NO;
        }
    }
    const struct stat *st = &file->st;
    if (dso->inode != 0 && dso->inode == st->st_ino && dso->device_major == major(st->st_dev) &&
        dso->device_minor == minor(st->st_dev)) {
        return MATCH_INODE;
    }
    if (path) {
        return MATCH_PATH;
    }
    return name && mappings_fit(recording, number, conversion->image) ? MATCH_NAME : MATCH_NO;
}

/* How well a recording knows the file that was opened. */
struct matching {
    enum match best;
    const struct br2_dso *dso; /* the busiest of those that match so well */
    uint64_t records;          /* of all that match so well */
};

/* Marks the image numbers that match as well as the best one does. */
static struct matching match_recording(const struct br2pgo_conversion *conversion,
                                       struct br2_recording *recording,
                                       const struct file_identity *file)
{
    const struct br2_dsos *dsos = br2_spaces_dsos(recording->spaces);
    struct matching matching = {.best = MATCH_NO};
    for (uint32_t i = 0; i < dsos->count; i++) {
        enum match match = match_dso(conversion, recording, i, file);
        recording->is_image[i] = false; /* of an image before this one it may be another */
        matching.best = match > matching.best ? match : matching.best;
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < dsos->count && matching.best != MATCH_NO; i++) {
        if (match_dso(conversion, recording, i, file) != matching.best) {
            continue;
        }
        recording->is_image[i] = matching.best > MATCH_OTHER_BUILD;
        matching.records += recording->sources[i];
        if (matching.dso == NULL || recording->sources[i] > most) {
            most = recording->sources[i];
            matching.dso = &dsos->items[i];
        }
    }
    return matching;
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
            counted = stats->records - stats->wrong_path - stats->empty - stats->stale -
                      conversion->recordings[i].kernel_records -
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
static int match_recordings(struct br2pgo_conversion *conversion, const struct file_identity *file,
                            struct matching *ret, struct br2pgo_error *err)
{
    bool several = conversion->recording_count > 1;
    const struct br2_dso *named = NULL;
    uint64_t records = 0;
    *ret = (struct matching){.best = MATCH_NO};
    for (size_t i = 0; i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        struct matching matching = match_recording(conversion, recording, file);
        if (matching.best == MATCH_OTHER_BUILD && matching.records != 0 && matching.dso != NULL &&
            !(several && conversion->options.skip_bad)) {
            return refuse_build_id(conversion, several ? recording : NULL, matching.dso, err);
        }
        if (matching.best <= MATCH_OTHER_BUILD) {
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
        } else if (matching.best == MATCH_NAME && matching.dso != NULL &&
                   (named == NULL || strcmp(named->path, matching.dso->path) != 0)) {
            named = matching.dso;
            note_name(conversion, named);
        }
    }
    ret->records = records;
    return 0;
}

static struct file_identity identify(const struct br2pgo_conversion *conversion)
{
    struct file_identity file = {0};
    if (stat(conversion->image_path, &file.st) != 0) {
        file.st.st_ino = 0;
    }
    if (realpath(conversion->image_path, file.real) == NULL) {
        file.real[0] = '\0';
    }
    return file;
}

static int match_image(struct br2pgo_conversion *conversion, const struct candidates *candidates,
                       struct br2pgo_error *err)
{
    struct file_identity file = identify(conversion);
    bool clear = candidates->count != 0 && is_clear(candidates);
    if (clear && conversion->options.ignore_build_id) {
        file.stands_for = candidates->items[0].dso->path;
    }
    struct matching matching;
    int rc = match_recordings(conversion, &file, &matching, err);
    if (rc != 0) {
        return rc;
    }
    if (matching.best == MATCH_OTHER_BUILD) {
        return refuse_build_id(conversion, NULL, matching.dso, err);
    }
    if (matching.best == MATCH_NO && clear && has_other_build_id(conversion, candidates)) {
        return refuse_build_id(conversion, NULL, candidates->items[0].dso, err);
    }
    if (matching.best == MATCH_NO || matching.records == 0) {
        return refuse_image(conversion, candidates, err);
    }
    /* Of all images, the table of results says it. */
    bool tell = conversion->image_chosen && !conversion->borrows_recordings;
    if (matching.best == MATCH_UNNAMED) {
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
